"""Rewards by name: what a training maximises. T decisions of one seat, F observation values."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nashdex.core.plugins import Registry
from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.games.showdown.potential import potential
from nashdex.games.space import Space
from nashdex.settings.train import REWARD_NAMES


@dataclass(frozen=True, kw_only=True)
class Reward:
    """One reward. Its entry point has the same name."""

    compute: Callable[[Space, NDArray[np.float32], float, float], NDArray[np.float32]]
    """Returns the reward of each decision, shape (T,), given the space, the observations (T, F), the score (1 for a
    win, ½ for a draw, 0 for a loss, anything between in a game for stakes) and the discount γ."""
    games: frozenset[str] | None = None
    """Games that have it, by ``Space.game``: ``showdown``, ``tabular``. None: every game."""
    slots: frozenset[int] | None = None
    """Numbers of slots that one decision chooses for (``Space.num_slots``): 2 in doubles. None: any number."""
    reads_observations: bool = True
    """False if it is 0 at every decision but the last, and depends on the score alone."""
    version: str = "1"
    """Changes whenever ``compute`` returns other numbers for the same battle: it is part of a policy's id."""

    def fits(self, game: str, num_slots: int) -> bool:
        """Say whether spaces of ``num_slots`` of the game that ``Space.game`` names have it."""
        return (self.games is None or game in self.games) and (self.slots is None or num_slots in self.slots)


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


WIN_LOSS: Final = Reward(compute=win_loss, reads_observations=False)
SHAPED: Final = Reward(compute=shaped, games=frozenset({SHOWDOWN}))


REWARDS: Final[Registry[Reward]] = Registry.of(
    REWARD_NAMES,
    Reward,
    {
        "win-loss": "nashdex.learning.rewards:WIN_LOSS",
        "shaped": "nashdex.learning.rewards:SHAPED",
    },
)
"""By the name that ``train.reward`` uses."""
