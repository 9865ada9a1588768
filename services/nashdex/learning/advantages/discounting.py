"""Discounted returns of one episode of T decisions."""

import numpy as np
from numpy.typing import NDArray

from nashdex.learning.advantages.gae import generalised_advantages


def discounted_returns(rewards: NDArray[np.float32], discount: float) -> NDArray[np.float32]:
    """Return Σ γ^l r_{t+l} of one episode that ended, shape (T,)."""
    return generalised_advantages(rewards, np.zeros_like(rewards), discount, 1.0)
