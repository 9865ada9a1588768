"""Situations of a seat's decisions: its team, the turn, and how many Pokémon are left."""

import numpy as np
from numpy.typing import NDArray

from nashdex.games.interface import Situations
from nashdex.games.space import Space

_TURN_SCALE = 100
_LARGEST_TEAM = 6
"""What the observation's ``turn`` and ``…_left`` are divided by."""


def situations(space: Space, observations: NDArray[np.float32]) -> Situations:
    """Return the situation of each of T decisions, from observations of shape (T, F).

    Turns above 100 count as 100. A team is named by the numbers of its species at the first decision, sorted, so two
    teams of the same species have one name.
    """
    left = [np.rint(_LARGEST_TEAM * _field(space, observations, f"{side}_left")) for side in ("own", "opponent")]
    species = space.view(observations[:1], "own", "species").reshape(-1).astype(np.int64)
    return Situations(
        team=",".join(map(str, np.sort(species))),
        turns=np.rint(_TURN_SCALE * _field(space, observations, "turn")).astype(np.int64),
        faint_differences=(left[0] - left[1]).astype(np.int64),
    )


def _field(space: Space, observations: NDArray[np.float32], name: str) -> NDArray[np.float32]:
    return space.view(observations, "field", name)[:, 0, 0]
