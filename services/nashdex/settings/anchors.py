"""Further opponents of a training, and the anchors of its learning curve."""

import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeVar

from pydantic import Field, field_validator

from nashdex.core.ids import PolicyId
from nashdex.core.section import Needs, Section, Share
from nashdex.core.user_input import expected_one_of
from nashdex.settings.population import SCRIPTED_NAMES

T = TypeVar("T")

START = "start"
"""The anchor for the policy at the start of the training."""

FIRST = "first"
"""The anchor for the policy of the run's first iteration, such as the clone."""

OPPONENTS = "opponents"
"""The anchor for the plan's mixture of opponents. Each pair of battles draws one opponent."""

NAMED_ANCHORS = (START, FIRST, OPPONENTS)
"""The anchors of every evaluation besides scripted policies."""

_LATER: Final = re.compile(r"after-([1-9]\d{0,15})")
"""Names of anchors that are earlier weights of the network in training, by their decisions."""

Style = Literal["greedy", "sampled"]
"""Way of an evaluated network to play: its most likely action, or an action drawn from its probabilities."""


def _different(values: tuple[T, ...], noun: str) -> tuple[T, ...]:
    """Return ``values``, if they are different; ``noun`` names one of them in the message.

    Raises:
        ValueError: one is repeated.
    """
    if len(set(values)) < len(values):
        raise ValueError(f"{', '.join(map(str, values))}: a {noun} is repeated; expected each {noun} once")
    return values


def _known(names: tuple[str, ...], others: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return ``names``, if they are different and each is a scripted policy or one of ``others``.

    Raises:
        ValueError: a name is unknown or repeated.
    """
    for name in _different(names, "name"):
        if name not in others and name not in SCRIPTED_NAMES:
            known = (*others, *(("after-DECISIONS",) if others else ()), *SCRIPTED_NAMES.names)
            raise ValueError(f"unknown anchor {name!r}: {expected_one_of(name, known)}")
    return names


class ScriptedAnchors(Section):
    """Scripted policies as opponents in training. The report states this of each such policy."""

    share: Share = Field(
        0.0, description="Share of the learner's battles with itself in which a scripted policy sits opposite."
    )
    policies: Annotated[tuple[str, ...], Needs("share")] = Field(
        ("heuristic",), min_length=1, description="Scripted policies, in equal shares."
    )

    def shares(self) -> dict[PolicyId, float]:
        """Return each policy's share of the learner's battles with itself; nothing where there are none."""
        each = self.share / len(self.policies)
        return {PolicyId(policy): each for policy in self.policies} if self.share else {}

    @field_validator("policies")
    @classmethod
    def _are_known(cls, policies: tuple[str, ...]) -> tuple[str, ...]:
        return _known(policies)


class PoolSettings(Section):
    """Earlier weights of the network in training, as opponents beside its newest self."""

    share: Share = Field(
        0.2,
        description="Share of the learner's battles with itself in which an older snapshot sits opposite; 0 for none.",
    )
    size: Annotated[int, Needs("share")] = Field(
        20, ge=1, le=1000, description="Largest number of snapshots; a new one replaces the oldest."
    )
    every_decisions: Annotated[int, Needs("share")] = Field(250_000, ge=1, description="Decisions between snapshots.")
    anchors: ScriptedAnchors = Field(ScriptedAnchors(), description="Scripted policies among the opponents.")


class EvaluationSettings(Section):
    """Battles against fixed anchors during training: the learning curve."""

    every_decisions: int = Field(0, ge=0, description="Decisions between evaluations; 0 for none.")
    battles: Annotated[int, Needs("every_decisions")] = Field(
        400, ge=4, le=1_000_000, multiple_of=2, description="Battles against each anchor, in side-swapped pairs."
    )
    anchors: Annotated[tuple[str, ...], Needs("every_decisions")] = Field(
        ("heuristic", START),
        min_length=1,
        description="Scripted policies; `start` is the policy at the start of the training, `first` the policy of "
        "the run's first iteration, `opponents` the training's mixture of opponents; `after-1000000` is the network "
        "after a million decisions, an anchor of the evaluations after that.",
    )
    styles: Annotated[tuple[Style, ...], Needs("every_decisions")] = Field(
        ("greedy",), min_length=1, description="Ways of the network to play: greedy, sampled."
    )

    @property
    def later_anchors(self) -> Mapping[PolicyId, int]:
        """Decisions after which the network becomes an anchor of later evaluations, by the anchor's name."""
        return {PolicyId(name): int(found[1]) for name in self.anchors if (found := _LATER.fullmatch(name))}

    def is_due(self, before: int, now: int, *, is_last: bool) -> bool:
        """Say whether to evaluate at ``now`` decisions, when the round began at ``before``."""
        if not self.every_decisions:
            return False
        return is_last or now // self.every_decisions > before // self.every_decisions

    @field_validator("styles")
    @classmethod
    def _are_different(cls, values: tuple[Style, ...]) -> tuple[Style, ...]:
        return _different(values, "value")

    @field_validator("anchors")
    @classmethod
    def _are_known(cls, anchors: tuple[str, ...]) -> tuple[str, ...]:
        later = tuple(filter(_LATER.fullmatch, anchors))
        if anchors[0] in later:
            raise ValueError(
                f"the first anchor is {anchors[0]!r}, which early evaluations lack; expected another first"
            )
        return _known(anchors, (*NAMED_ANCHORS, *later))
