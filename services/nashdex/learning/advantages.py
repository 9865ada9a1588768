"""Advantages and returns of one episode of T decisions."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from nashdex.trajectory.episode import Episode


def generalised_advantages(
    rewards: NDArray[np.float32], values: NDArray[np.float32], discount: float, lam: float, bootstrap: float = 0.0
) -> NDArray[np.float32]:
    """Return generalised advantage estimates of one episode, shape (T,) (Schulman et al. 2016, equation 16).

    δ_t = r_t + γ V_{t+1} − V_t and Â_t = Σ (γλ)^l δ_{t+l}. ``bootstrap`` is the value after the last decision: 0 where
    the battle ended there, the critic's where it was merely cut off.
    """
    following = np.append(values[1:], np.float32(bootstrap)).astype(np.float64)
    deltas = rewards + discount * following - values
    advantages = np.empty(len(deltas))
    running = 0.0
    for t in range(len(deltas) - 1, -1, -1):
        running = deltas[t] + discount * lam * running
        advantages[t] = running
    return advantages.astype(np.float32)


def discounted_returns(rewards: NDArray[np.float32], discount: float) -> NDArray[np.float32]:
    """Return Σ γ^l r_{t+l} of one episode that ended, shape (T,)."""
    return generalised_advantages(rewards, np.zeros_like(rewards), discount, 1.0)


def split_rows(values: NDArray[np.float32], episodes: Sequence[Episode]) -> Iterator[NDArray[np.float32]]:
    """Yield the part of ``values`` (N,) that belongs to each episode."""
    yield from np.split(values, np.cumsum([len(e) for e in episodes])[:-1])
