"""A fixed policy or mixture, in every iteration: what an exploiter trains against."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field, PositiveFloat

from nashdex.core.ids import PolicyId, PolicyIdField
from nashdex.core.section import Choice
from nashdex.metagame.opponents.interface import OpponentRule, Situation


class TargetSettings(Choice):
    """A fixed policy or mixture. `nashdex exploit` writes this section and stores the policies with the run."""

    kind: Literal["target"] = "target"
    mixture: dict[PolicyIdField, PositiveFloat] = Field(
        default_factory=dict,
        description="How often each policy is met: scripted policies, and policies that are stored with the run.",
    )


def shares(settings: TargetSettings) -> dict[PolicyId, float]:
    """Return the mixture, by id; its shares sum to 1."""
    total = sum(settings.mixture.values())
    return {policy: share / total for policy, share in sorted(settings.mixture.items())}


def mixture(settings: TargetSettings, _situation: Situation) -> dict[PolicyId, float]:
    """Return the target."""
    return shares(settings)


def problems(settings: TargetSettings) -> Iterator[str]:
    """Yield a target that is empty."""
    if not settings.mixture:
        yield "opponents.mixture is empty; expected at least one policy and its share, such as { max-power = 1 }"


TARGET = OpponentRule(
    settings=TargetSettings,
    summary="a fixed policy or mixture: the opponent of an exploiter",
    words="the target",
    mixture=mixture,
    is_fixed=True,
    problems=problems,
)
