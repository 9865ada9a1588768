"""What an advantage estimator is: the whole surface between it and the oracle. N decisions, T of one episode."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from nashdex.core.section import Choice

S = TypeVar("S", bound=Choice)


@dataclass(frozen=True)
class Circumstances:
    """Under what circumstances an episode's decisions were made: what makes decisions comparable."""

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
    """The critic's, of the learner as the round begins, (T,)."""
    log_ratios: NDArray[np.float32]
    """log π(action) − log μ(action), (T,): π is the learner as the round begins, μ the policy that acted. 0 up to
    rounding where that is the same policy."""
    circumstances: Circumstances | None = None
    """Circumstances of the decisions; None unless the estimator asks for them."""


@dataclass(frozen=True)
class Estimates:
    """What an estimator returns: one row a decision, episode after episode."""

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


AnyEstimator = AdvantageEstimator[Any]
