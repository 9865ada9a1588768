"""``random`` and ``first-action`` for every game; ``first-action`` always passes in Kuhn poker. And ``heuristic``."""

import numpy as np
from numpy.typing import NDArray

from nashdex.games.interface import Decisions
from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.games.space import Space
from nashdex.games.tabular.tree import uniform_table
from nashdex.policies.interface import Actions
from nashdex.policies.scripted.declaration import SINGLES_AND_DOUBLES, ScriptedPlayer, ScriptedPolicy


class UniformPlayer(ScriptedPlayer):
    """Draws uniformly from the legal actions."""

    def __init__(self, space: Space) -> None:
        del space

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row; the log-probability is −log(number of legal actions)."""
        counts = decisions.legal.counts
        places = np.minimum((uniforms * counts).astype(np.int64), counts - 1)
        actions = decisions.legal.actions[decisions.legal.offsets[:-1] + places]
        return Actions(actions.astype(np.int64), (0.0 - np.log(counts)).astype(np.float32))


RANDOM = ScriptedPolicy(UniformPlayer, slots=SINGLES_AND_DOUBLES, is_uniform=True, table=uniform_table)


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

HEURISTIC = ScriptedPolicy(
    "nashdex.policies.scripted.heuristic:HeuristicPlayer",
    games=frozenset({SHOWDOWN}),
    slots=SINGLES_AND_DOUBLES,
    needs_lines=True,
)
