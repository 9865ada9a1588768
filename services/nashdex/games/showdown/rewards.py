"""Rewards of a seat's decisions. Under the win/loss and the shaped one, the best policy is the one that wins most."""

import numpy as np
from numpy.typing import NDArray

from nashdex.games.interface import Reward
from nashdex.games.showdown.metamon_rewards import WEIGHTS, metamon_rewards
from nashdex.games.space import Space

REWARD_VERSION = "1"
_SHAPING_SCALE = 0.5


def potential(space: Space, observations: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the shaped reward's potential, shape (T,), of observations (T, F): half the difference of HP left.

    Values under the shaped reward are values under win/loss minus it.
    """
    own, opponent = (_remaining(space, observations, block) for block in ("own", "opponent"))
    found: NDArray[np.float32] = _SHAPING_SCALE * (own - opponent)
    return found


def rewards(
    kind: Reward, space: Space, observations: NDArray[np.float32], score: float, discount: float
) -> NDArray[np.float32]:
    """Return the rewards of T decisions, shape (T,), from observations of shape (T, F).

    ``win-loss``: 0, and 2·score − 1 at the last decision. ``shaped``: the same plus γΦ(next s) − Φ(s), where Φ is
    half the difference of the sides' remaining share of HP, and 0 at the end, so that the best policy stays the best
    (Ng, Harada and Russell 1999, theorem 1). The others are metamon's (``games.showdown.metamon_rewards``).

    Raises:
        ConfigurationError: the reward is one of metamon's, and a side has more than one active Pokémon.
    """
    result = np.zeros(len(observations), dtype=np.float32)
    if not len(result):
        return result
    if kind in WEIGHTS:
        return metamon_rewards(kind, space, observations, score)
    result[-1] = 2.0 * score - 1.0
    if kind == "shaped":
        now = potential(space, observations)
        following = np.append(now[1:], np.float32(0.0))
        result += discount * following - now
    return result


def _remaining(space: Space, observations: NDArray[np.float32], block: str) -> NDArray[np.float32]:
    """Return a side's share of HP left, shape (T,); a Pokémon that was not seen yet counts as full."""
    hp = space.view(observations, block, "hp")[..., 0]
    present = space.view(observations, block, "present")[..., 0]
    remaining: NDArray[np.float32] = (hp * present).sum(axis=1) / present.sum(axis=1)
    return remaining
