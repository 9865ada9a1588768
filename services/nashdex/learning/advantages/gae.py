"""Generalised advantage estimation (Schulman et al. 2016). T decisions of one episode."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nashdex.learning.advantages.interface import AdvantageEstimator, Estimates, Trajectory
from nashdex.settings.advantages import GaeSettings


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


def estimate(trajectories: Sequence[Trajectory], discount: float, settings: GaeSettings) -> Estimates:
    """Return advantages, and returns Â + V for the critic."""
    advantages = np.concatenate(
        [generalised_advantages(one.rewards, one.values, discount, settings.lam) for one in trajectories]
    )
    return Estimates(advantages, advantages + np.concatenate([one.values for one in trajectories]))


GAE = AdvantageEstimator(
    settings=GaeSettings,
    summary="sums of temporal differences, whose weights fall by γλ a decision",
    estimate=estimate,
)
