"""``first-action``: plays the lowest legal action. In Kuhn poker it always passes."""

import numpy as np
from numpy.typing import NDArray

from nashdex.games.interface import Decisions
from nashdex.games.space import Space
from nashdex.policies.interface import Actions
from nashdex.policies.scripted.declaration import SINGLES_AND_DOUBLES, ScriptedPlayer, ScriptedPolicy


class FirstActionPlayer(ScriptedPlayer):
    """Plays the lowest legal action."""

    def __init__(self, space: Space) -> None:
        del space

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row; the choice is certain, so log-probabilities are 0."""
        del uniforms
        actions = decisions.legal.actions[decisions.legal.offsets[:-1]]
        return Actions(actions.astype(np.int64), np.zeros(len(decisions), dtype=np.float32))


FIRST_ACTION = ScriptedPolicy(FirstActionPlayer, slots=SINGLES_AND_DOUBLES)
