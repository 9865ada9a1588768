"""Layout of observations and actions of a tabular game. S information states, F features."""

import numpy as np
from numpy.typing import NDArray

from nashdex.games.space import ObservationBlock, ObservationField, Space
from nashdex.games.tabular.tree import GameTree

GAME = "tabular"
"""``Space.game`` of every tabular game."""
STATE = "state"
"""The only block, and its field that names the information state; 0 is no state."""


def tabular_space(tree: GameTree) -> Space:
    """Return the space of ``tree``: its information state by number and by features. Its version is the game's."""
    num_features = tree.features.shape[1]
    fields = (
        ObservationField(
            name=STATE, offset=0, size=1, kind="category", vocabulary=STATE, description="Number of the state, from 1."
        ),
        ObservationField(
            name="information", offset=1, size=num_features, kind="number", description="The seat's information."
        ),
    )
    return Space(
        game=GAME,
        format=tree.format,
        version=tree.version,
        observation_size=1 + num_features,
        num_actions=tree.num_actions,
        actions=tree.action_names,
        vocabularies={STATE: tree.num_states + 1},
        blocks=(ObservationBlock(name=STATE, offset=0, rows=1, stride=1 + num_features, fields=fields),),
    )


def observations_of(tree: GameTree) -> NDArray[np.float32]:
    """Return the observation of each information state, shape (S, 1 + F)."""
    numbers = np.arange(1, tree.num_states + 1, dtype=np.float32)
    return np.column_stack([numbers, tree.features])


def observed_states(space: Space, observations: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the information state of each of N observations, shape (N,)."""
    return space.view(observations, STATE, STATE)[:, 0, 0].astype(np.int64) - 1
