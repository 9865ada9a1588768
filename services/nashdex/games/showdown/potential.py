"""The potential of the shaped reward: half the difference of the HP that the sides have left."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from nashdex.games.space import Space

_SHAPING_SCALE = 0.5
POTENTIAL_SHARES: Final[dict[str, float]] = {"win-loss": 0.0, "shaped": 1.0}
"""Factor of the potential by reward. Adding the product to a critic's values gives chances to win, −1 to 1."""


def potential(space: Space, observations: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the shaped reward's potential, shape (T,), of observations (T, F): half the difference of HP left.

    Values under the shaped reward are values under win/loss minus it.
    """
    own, opponent = (_remaining(space, observations, block) for block in ("own", "opponent"))
    return _SHAPING_SCALE * (own - opponent)


def _remaining(space: Space, observations: NDArray[np.float32], block: str) -> NDArray[np.float32]:
    """Return a side's share of HP left, shape (T,); a Pokémon that was not seen yet counts as full."""
    hp = space.view(observations, block, "hp")[..., 0]
    present = space.view(observations, block, "present")[..., 0]
    remaining: NDArray[np.float32] = (hp * present).sum(axis=1) / present.sum(axis=1)
    return remaining
