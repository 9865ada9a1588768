"""The rewards of nashdex. Under both, the best policy is the one that wins most."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.games.showdown.potential import potential
from nashdex.games.space import Space
from nashdex.learning.rewards.interface import Reward


def win_loss(space: Space, observations: NDArray[np.float32], score: float, discount: float) -> NDArray[np.float32]:
    """Return 0, and 2·score − 1 at the last decision: the payoff as a share of the largest."""
    del space, discount
    result = np.zeros(len(observations), dtype=np.float32)
    result[-1:] = 2.0 * score - 1.0
    return result


def shaped(space: Space, observations: NDArray[np.float32], score: float, discount: float) -> NDArray[np.float32]:
    """Return ``win_loss`` plus γΦ(next s) − Φ(s), where Φ is ``games.showdown.potential``, and 0 at the end.

    The best policy stays the best (Ng, Harada and Russell 1999, theorem 1).
    """
    result = win_loss(space, observations, score, discount)
    if len(result):
        now = potential(space, observations)
        following = np.append(now[1:], np.float32(0.0))
        result += discount * following - now
    return result


WIN_LOSS: Final = Reward(compute=win_loss)
SHAPED: Final = Reward(compute=shaped, games=frozenset({SHOWDOWN}))
