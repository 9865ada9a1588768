"""The opponent's choices as labels: the move by its id, or the species that it switched to.

Ids mean the same for both seats, and action numbers do not: the meaning of an opponent's action 7 depends on an order
that only the opponent sees.

Shapes: T and U decisions of one battle's seats, F observation values, C choices: moves, then species.
"""

import numpy as np
from numpy.typing import NDArray

from nashdex.games.space import Space
from nashdex.policies.networks.layout import layout_of

UNKNOWN = -1
"""Label of a decision at which the opponent made no choice."""


def num_choices(space: Space) -> int:
    """Return C."""
    return space.vocabularies["move"] + space.vocabularies["species"]


def choices(space: Space, observations: NDArray[np.float32], actions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what each of a seat's own actions (T,) chose, (T,), from its observations (T, F)."""
    layout = layout_of(space)
    is_move = np.array([target.is_move for target in layout.targets])[actions]
    rows = np.array([target.row for target in layout.targets])[actions]
    active = observations[:, layout.own.active].argmax(axis=1)
    decisions = np.arange(len(actions))
    species = space.view(observations, "own", "species")[decisions, np.where(is_move, 0, rows), 0]
    moves = space.view(observations, "own_moves", "move")
    used = moves[decisions, active * layout.own.moves_each + np.where(is_move, rows, 0), 0]
    chosen: NDArray[np.int64] = np.where(is_move, used, space.vocabularies["move"] + species).astype(np.int64)
    return chosen


def opponent_choices(
    space: Space,
    observations: NDArray[np.float32],
    opponent_observations: NDArray[np.float32],
    opponent_actions: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return what the opponent chose at the same moment as each of a seat's decisions (T, F), (T,).

    Both seats decide once a turn. A seat decides alone when it replaces a Pokémon that fainted; the label is then
    ``UNKNOWN``, as it is after a battle's end.
    """
    labels = np.full(len(observations), UNKNOWN, dtype=np.int64)
    mine = np.flatnonzero(space.view(observations, "field", "force_switch")[:, 0, 0] == 0)
    theirs = np.flatnonzero(space.view(opponent_observations, "field", "force_switch")[:, 0, 0] == 0)
    num_turns = min(len(mine), len(theirs))
    chosen = choices(space, opponent_observations, opponent_actions)
    labels[mine[:num_turns]] = chosen[theirs[:num_turns]]
    return labels
