"""Advantage estimators: how much better each decision was than expected, and what the critic learns.

The setting ``train.oracle.advantages`` chooses one. Imports no torch. N decisions, T decisions of one episode.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from nashdex.core.plugins import Registry
from nashdex.core.section import Choice
from nashdex.settings.advantages import ADVANTAGE_KINDS, GaeSettings, GroupRelativeSettings, Stratum, VTraceSettings

S = TypeVar("S", bound=Choice)


@dataclass(frozen=True)
class Circumstances:
    """Circumstances of an episode's decisions. Decisions under equal circumstances are comparable."""

    policy: str
    """The policy that acted; newer weights are another policy."""
    opponent: str
    teams: tuple[str, str]
    """The own team and the opponent's; empty where unknown."""
    turns: NDArray[np.int64]
    """Turn of each decision, (T,)."""
    faint_differences: NDArray[np.int64]
    """Pokémon left, own minus the opponent's, (T,)."""


@dataclass(frozen=True)
class Trajectory:
    """One episode, which ended, as estimators see it."""

    rewards: NDArray[np.float32]
    """(T,)."""
    values: NDArray[np.float32]
    """Values by the learner's critic when the round begins, (T,)."""
    log_ratios: NDArray[np.float32]
    """log π(action) − log μ(action), (T,): π is the learner when the round begins, μ the policy that acted. 0 up to
    rounding if both are the same policy."""
    circumstances: Circumstances | None = None
    """Circumstances of the decisions; None unless the estimator asks for them."""


@dataclass(frozen=True)
class Estimates:
    """Result of an estimator: one row a decision, episode after episode."""

    advantages: NDArray[np.float32]
    """(N,)."""
    returns: NDArray[np.float32] | None = None
    """Targets of the critic, (N,); None if the critic learns nothing."""
    counts: NDArray[np.bool_] | None = None
    """(N,), false where a decision has no estimate: its advantage is then 0. None: all have one."""
    measured: Mapping[str, float] = field(default_factory=dict)
    """Values for the curve and the summary, each one of the oracle's ``metrics``."""


@dataclass(frozen=True, kw_only=True)
class AdvantageEstimator(Generic[S]):
    """One way to estimate advantages. This is the whole of its surface."""

    settings: type[S]
    """The section ``[train.oracle.advantages]``. Its ``kind`` is the estimator's name."""
    summary: str
    """Description of the estimator in one line, for the documentation."""
    estimate: Callable[[Sequence[Trajectory], float, S], Estimates]
    """Returns the estimates of a round's episodes, for a discount γ."""
    off_policy: bool = False
    """Whether the estimator accepts battles of older weights; otherwise, such battles are an error."""
    uses_critic: bool = True
    """Whether the estimator uses the values of a critic; then the critic has to learn."""
    uses_circumstances: bool = False
    """Whether the estimator reads ``Trajectory.circumstances``."""

    @property
    def name(self) -> str:
        """The name that settings use."""
        name: str = self.settings.model_fields["kind"].default
        return name


def generalised_advantages(
    rewards: NDArray[np.float32], values: NDArray[np.float32], discount: float, lam: float
) -> NDArray[np.float32]:
    """Return generalised advantage estimates of one episode, shape (T,) (Schulman et al. 2016, equation 16).

    δ_t = r_t + γ V_{t+1} − V_t and Â_t = Σ (γλ)^l δ_{t+l}; after the battle's last decision V is 0.
    """
    following = np.append(values[1:], np.float32(0.0)).astype(np.float64)
    deltas = rewards + discount * following - values
    advantages = np.empty(len(deltas))
    running = 0.0
    for t in range(len(deltas) - 1, -1, -1):
        running = deltas[t] + discount * lam * running
        advantages[t] = running
    return advantages.astype(np.float32)


def _gae(trajectories: Sequence[Trajectory], discount: float, settings: GaeSettings) -> Estimates:
    """Return advantages, and returns Â + V for the critic."""
    advantages = np.concatenate(
        [generalised_advantages(one.rewards, one.values, discount, settings.lam) for one in trajectories]
    )
    return Estimates(advantages, advantages + np.concatenate([one.values for one in trajectories]))


GAE = AdvantageEstimator(
    settings=GaeSettings,
    summary="sums of temporal differences, whose weights fall by γλ a decision",
    estimate=_gae,
)


def discounted_returns(rewards: NDArray[np.float32], discount: float) -> NDArray[np.float32]:
    """Return Σ γ^l r_{t+l} of one episode that ended, shape (T,)."""
    return generalised_advantages(rewards, np.zeros_like(rewards), discount, 1.0)


def v_trace(
    rewards: NDArray[np.float32],
    values: NDArray[np.float32],
    ratios: NDArray[np.float64],
    discount: float,
    settings: VTraceSettings,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return advantages and targets of the critic of one episode that ended, each of shape (T,).

    v_t = V_t + δ_t + γ c_t (v_{t+1} − V_{t+1}) with δ_t = ρ_t (r_t + γ V_{t+1} − V_t), ρ_t = min(ρ̄, ratio) and
    c_t = λ min(c̄, ratio) (equation 1 and remark 2). Advantages are ρ_t (r_t + γ q_{t+1} − V_t) (section 4.2) with
    q = V + λ (v − V) for the next state, so that at ratios of 1 they are generalised advantages for every λ, and the
    paper's for λ = 1.
    """
    rho, c = np.minimum(settings.rho_bar, ratios), settings.lam * np.minimum(settings.c_bar, ratios)
    following = np.append(values[1:], np.float32(0.0)).astype(np.float64)
    deltas = rho * (rewards + discount * following - values)
    errors = np.zeros(len(deltas) + 1)
    for t in range(len(deltas) - 1, -1, -1):
        errors[t] = deltas[t] + discount * c[t] * errors[t + 1]
    advantages = rho * (rewards + discount * (following + settings.lam * errors[1:]) - values)
    return advantages.astype(np.float32), (values + errors[:-1]).astype(np.float32)


def effective_sample_share(ratios: NDArray[np.float64]) -> float:
    """Return Kish's effective sample size (Σw)² / Σw² of N weights, as a share of N: 1 if all are equal."""
    return float(ratios.sum() ** 2 / np.square(ratios).sum() / len(ratios))


def _v_trace(trajectories: Sequence[Trajectory], discount: float, settings: VTraceSettings) -> Estimates:
    """Return advantages, and targets for the critic; measure the importance ratios before they are truncated."""
    ratios = [np.exp(one.log_ratios, dtype=np.float64) for one in trajectories]
    found = [
        v_trace(one.rewards, one.values, ratio, discount, settings)
        for one, ratio in zip(trajectories, ratios, strict=True)
    ]
    of_all = np.concatenate(ratios)
    return Estimates(
        advantages=np.concatenate([advantages for advantages, _ in found]),
        returns=np.concatenate([targets for _, targets in found]),
        measured={
            "importance_ratio_mean": float(of_all.mean()),
            "importance_ratio_max": float(of_all.max()),
            "effective_sample_share": effective_sample_share(of_all),
        },
    )


V_TRACE = AdvantageEstimator(
    settings=VTraceSettings,
    summary="GAE with truncated importance ratios, for battles that older weights played",
    estimate=_v_trace,
    off_policy=True,
)


_LEAST_DEVIATION = 1e-6
"""Smallest deviation of a group's returns: a smaller one is rounding."""


@dataclass(frozen=True)
class _Groups:
    """Statistics of the group of each of N decisions."""

    num_episodes: NDArray[np.int64]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]


def _group_relative(trajectories: Sequence[Trajectory], discount: float, settings: GroupRelativeSettings) -> Estimates:
    """Return (R − mean) / deviation of the decision's group, for the return R from the decision on.

    A decision in a group of one episode, or of equal returns, has no estimate.
    """
    returns = np.concatenate([discounted_returns(one.rewards, discount) for one in trajectories]).astype(np.float64)
    episodes = np.repeat(np.arange(len(trajectories)), [len(one.rewards) for one in trajectories])
    columns = _columns(trajectories, settings)
    labels = np.zeros(len(returns), np.int64)
    chosen: _Groups | None = None
    for column in columns:
        # Each stratum divides the groups of the strata before it.
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
    summary="a return relative to the returns of comparable decisions, in units of their deviation; no critic learns",
    estimate=_group_relative,
    uses_critic=False,
    uses_circumstances=True,
)


_HERE: Final = "nashdex.learning.advantages"

ADVANTAGES: Registry[AdvantageEstimator[Any]] = Registry.of(
    ADVANTAGE_KINDS,
    AdvantageEstimator,
    {
        "gae": f"{_HERE}:GAE",
        "v-trace": f"{_HERE}:V_TRACE",
        "group-relative": f"{_HERE}:GROUP_RELATIVE",
    },
)
"""By the name that ``train.oracle.advantages.kind`` uses."""
