"""A fixed policy or mixture, in every iteration: what an exploiter trains against."""

from collections.abc import Iterator

from nashdex.core.ids import PolicyId
from nashdex.metagame.opponents.interface import OpponentRule, Situation
from nashdex.settings.opponents import TargetSettings


def shares(settings: TargetSettings) -> dict[PolicyId, float]:
    """Return the mixture, by id; its shares sum to 1."""
    total = sum(settings.mixture.values())
    return {policy: share / total for policy, share in sorted(settings.mixture.items())}


def mixture(settings: TargetSettings, situation: Situation) -> dict[PolicyId, float]:
    """Return the target, and from iteration 1 on the learner's own share."""
    target = shares(settings)
    if situation.iteration == 0 or settings.itself == 0 or situation.learner in target:
        return target
    return {policy: (1 - settings.itself) * share for policy, share in target.items()} | {
        situation.learner: settings.itself
    }


def problems(settings: TargetSettings) -> Iterator[str]:
    """Yield a target that is empty or never met."""
    if not settings.mixture:
        yield "opponents.mixture is empty; expected at least one policy and its share, such as { max-power = 1 }"
    if settings.itself >= 1:
        yield "opponents.itself is 1, so the target is never met; expected less"


TARGET = OpponentRule(
    settings=TargetSettings,
    summary="a fixed policy or mixture: the opponent of an exploiter",
    words="the target",
    mixture=mixture,
    meets_itself=True,
    is_fixed=True,
    problems=problems,
)
