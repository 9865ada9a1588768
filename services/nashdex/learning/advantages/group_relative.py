"""Group-relative advantages: a decision's return beside the returns of comparable decisions, without a critic.

Shao et al. 2024 (DeepSeekMath, section 4.1, GRPO), with groups by circumstances instead of repeated prompts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashdex.learning.advantages.discounting import discounted_returns
from nashdex.learning.advantages.interface import AdvantageEstimator, Circumstances, Estimates, Trajectory
from nashdex.settings.advantages import GroupRelativeSettings, Stratum

_LEAST_DEVIATION = 1e-6
"""Smallest deviation of a group's returns: less is rounding."""


@dataclass(frozen=True)
class _Groups:
    """Statistics of the group of each of N decisions."""

    num_episodes: NDArray[np.int64]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]


def estimate(trajectories: Sequence[Trajectory], discount: float, settings: GroupRelativeSettings) -> Estimates:
    """Return (R − mean) / deviation of the decision's group, for the return R from the decision on.

    A decision in a group of one episode, or of equal returns, has no estimate.
    """
    returns = np.concatenate([discounted_returns(one.rewards, discount) for one in trajectories]).astype(np.float64)
    episodes = np.repeat(np.arange(len(trajectories)), [len(one.rewards) for one in trajectories])
    columns = _columns(trajectories, settings)
    labels = np.zeros(len(returns), np.int64)
    chosen: _Groups | None = None
    for column in columns:
        # A group of all strata so far: the group before it, divided by one more.
        labels = np.unique(np.column_stack([labels, column]), axis=0, return_inverse=True)[1].reshape(-1)
        finer = _groups(labels, episodes, returns)
        large = finer.num_episodes >= settings.min_episodes
        chosen = finer if chosen is None else _where(large, finer, chosen)
    assert chosen is not None, "the settings ask for one stratum at least"
    counts = (chosen.num_episodes > 1) & (chosen.deviation > _LEAST_DEVIATION)
    advantages = np.where(counts, (returns - chosen.mean) / np.where(counts, chosen.deviation, 1.0), 0.0)
    return Estimates(advantages.astype(np.float32), counts=counts, measured={"grouped_share": float(counts.mean())})


def _columns(trajectories: Sequence[Trajectory], settings: GroupRelativeSettings) -> list[NDArray[np.int64]]:
    """Return each stratum's number for each decision, (N,)."""
    circumstances = [one.circumstances for one in trajectories]
    known = [one for one in circumstances if one is not None]
    assert len(known) == len(circumstances), "the estimator declares that it uses circumstances"
    return [_column(stratum, known, settings.turns_a_bucket) for stratum in settings.strata]


def _column(stratum: Stratum, circumstances: Sequence[Circumstances], turns_a_bucket: int) -> NDArray[np.int64]:
    if stratum == "turn":
        return np.concatenate([one.turns for one in circumstances]) // turns_a_bucket
    if stratum == "faints":
        return np.concatenate([one.faint_differences for one in circumstances])
    numbers: dict[object, int] = {}
    by_episode = [numbers.setdefault(getattr(one, stratum), len(numbers)) for one in circumstances]
    return np.repeat(np.array(by_episode, np.int64), [len(one.turns) for one in circumstances])


def _groups(labels: NDArray[np.int64], episodes: NDArray[np.int64], returns: NDArray[np.float64]) -> _Groups:
    size = np.bincount(labels)
    mean = np.bincount(labels, returns) / size
    variance = np.bincount(labels, np.square(returns - mean[labels])) / size
    pairs = np.unique(np.column_stack([labels, episodes]), axis=0)
    num_episodes = np.bincount(pairs[:, 0], minlength=len(size))
    return _Groups(num_episodes[labels], mean[labels], np.sqrt(variance)[labels])


def _where(condition: NDArray[np.bool_], one: _Groups, other: _Groups) -> _Groups:
    return _Groups(
        np.where(condition, one.num_episodes, other.num_episodes),
        np.where(condition, one.mean, other.mean),
        np.where(condition, one.deviation, other.deviation),
    )


GROUP_RELATIVE = AdvantageEstimator(
    settings=GroupRelativeSettings,
    summary="returns relative to those of comparable decisions, in units of their deviation; no critic learns",
    estimate=estimate,
    uses_critic=False,
    uses_circumstances=True,
)
