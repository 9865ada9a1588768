"""The rewards of ``train.reward``, step by step. N steps, F observation values."""

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError
from nashdex.games.space import Space
from nashdex.learning.rewards import REWARDS

_EVEN = 0.5


class StepRewards:
    """The reward called ``kind`` of each step in ``space``.

    Raises:
        ConfigurationError: there is no such reward, or ``space`` does not have it.
    """

    def __init__(self, space: Space, kind: str, discount: float) -> None:
        self._reward = REWARDS[kind]
        if not self._reward.fits(space.game, space.num_slots):
            raise ConfigurationError(f"{space.format} has no reward {kind!r}; expected 'win-loss'")
        self._space = space
        self._discount = discount

    def of_steps(self, before: NDArray[np.float32], after: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the rewards of steps within battles, shape (N,), from neighbouring observations, each (N, F)."""
        pairs = np.stack([before, after], axis=1).reshape(-1, before.shape[1])
        found: NDArray[np.float32] = self._rewards(pairs, _EVEN)[::2]
        return found

    def of_last_step(self, before: NDArray[np.float32], score: float) -> float:
        """Return the reward of the step that ends a battle, from the last observation, shape (F,)."""
        return float(self._rewards(before[None], score)[0])

    def _rewards(self, observations: NDArray[np.float32], score: float) -> NDArray[np.float32]:
        return self._reward.compute(self._space, observations, score, self._discount)
