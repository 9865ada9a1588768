"""``random``: draws uniformly from the legal actions."""

import numpy as np
from numpy.typing import NDArray

from nashdex.games.interface import Decisions
from nashdex.games.space import Space
from nashdex.games.tabular.tree import uniform_table
from nashdex.policies.interface import Actions
from nashdex.policies.sampling import sample_masked
from nashdex.policies.scripted.declaration import ScriptedPlayer, ScriptedPolicy


class UniformPlayer(ScriptedPlayer):
    """Draws uniformly from the legal actions."""

    def __init__(self, space: Space) -> None:
        del space

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row; the log-probability is −log(number of legal actions)."""
        return sample_masked(np.zeros(decisions.mask.shape, np.float32), decisions.mask, uniforms)


RANDOM = ScriptedPolicy(UniformPlayer, table=uniform_table)
