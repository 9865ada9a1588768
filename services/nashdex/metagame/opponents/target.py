"""A fixed policy or mixture, in every iteration: what an exploiter trains against."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field, PositiveFloat

from nashdex.core.ids import PolicyId, PolicyIdField
from nashdex.core.section import Choice, Share
from nashdex.metagame.opponents.interface import OpponentRule, Situation


class TargetSettings(Choice):
    """A fixed policy or mixture. `nashdex exploit` writes this section and stores the policies with the run."""

    kind: Literal["target"] = "target"
    mixture: dict[PolicyIdField, PositiveFloat] = Field(
        default_factory=dict,
        description="How often each policy is met: scripted policies, and policies that are stored with the run.",
    )
    itself: Share = Field(
        0.0,
        description="Share of the battles in which the learner meets its newest self instead. A network with random "
        "weights never wins against a strong target, and learns from itself at first.",
    )
    plays: Literal["sampled", "greedy"] = Field(
        "sampled", description="How the trained best responses play as members, and so how they are scored."
    )


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
