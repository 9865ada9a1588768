"""The rules that judge an experiment: what is compared, by which test, stated before the first run."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from nashdex.core.section import ASKS_FOR_KIND, Section
from nashdex.core.user_input import expected_one_of

ArmName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{0,39}$")]
ELO = "elo"
EXPLOITER = "exploiter"
"""Measures: Elo against all anchors, and the score against the policy's own exploiter."""


def score_measures(anchors: Iterable[str], *, has_exploiter: bool) -> tuple[str, ...]:
    """Return what scores are against: the anchors, and the exploiter where there is one."""
    return (*anchors, *((EXPLOITER,) if has_exploiter else ()))


class Comparison(Section):
    """One arm against another, by one measure."""

    arm: ArmName = Field(description="The arm that is judged.")
    other: ArmName = Field(description="The arm that it is compared with.")
    measure: str = Field(
        ELO, description="`elo`, or the score against one of measure.anchors, or against the policy's own `exploiter`."
    )
    smallest_difference: float | None = Field(
        None,
        gt=0,
        le=1000,
        description="Smallest difference of interest, in Elo or as a score. `At most` is said only within it. By "
        "default verdict.smallest_difference_elo for Elo, and none for scores.",
    )

    def problems(self, arms: Sequence[str], anchors: Sequence[str]) -> Iterator[str]:
        """Yield what does not fit an experiment with these arms and anchors."""
        for name in (self.arm, self.other):
            if name not in arms:
                yield f"verdict.comparisons names {name!r}, which is not an arm; {expected_one_of(name, arms)}"
        if self.arm == self.other:
            yield f"verdict.comparisons compares {self.arm!r} with itself; expected two arms"
        if self.measure not in {ELO, *anchors}:
            known = expected_one_of(self.measure, (ELO, *anchors))
            yield f"verdict.comparisons has measure {self.measure!r}; {known}"


class DifferenceRule(Section):
    """Arms differ if Holm's test of all comparisons together says so (``comparing``)."""

    kind: Literal["difference"] = "difference"
    control: ArmName | None = Field(None, description="Compare every other arm with this one, by Elo.")
    comparisons: tuple[Comparison, ...] = Field((), description="Further comparisons.")
    level: float = Field(
        0.05, ge=0.001, le=0.2, description="Highest probability that any comparison shows a difference by chance."
    )
    smallest_difference_elo: float = Field(
        0.0, ge=0, le=1000, description="Smallest difference of interest, in Elo. 0: none, `at most` is never said."
    )
    variance: Literal["pooled", "paired"] = Field(
        "pooled",
        description="`pooled`: one variance between seeds for all arms, beside the error of the battles. `paired`: the "
        "differences of each comparison by seed, alone.",
    )

    def all_comparisons(self, arms: Sequence[str]) -> tuple[Comparison, ...]:
        """Return every comparison of an experiment with these arms, each with its smallest difference."""
        smallest = self.smallest_difference_elo or None
        control = self.control
        controlled = [Comparison(arm=arm, other=control) for arm in arms if control is not None and arm != control]
        return tuple(
            one.model_copy(update={"smallest_difference": smallest})
            if one.measure == ELO and one.smallest_difference is None
            else one
            for one in (*controlled, *self.comparisons)
        )

    def problems(self, arms: Sequence[str], anchors: Sequence[str]) -> Iterator[str]:
        """Yield what does not fit an experiment with these arms and anchors."""
        if self.control is not None and self.control not in arms:
            yield f"verdict.control {self.control!r} is not an arm; {expected_one_of(self.control, arms)}"
        elif self.control is not None and len(arms) == 1:
            yield "verdict.control is the only arm; expected a second one to compare with it"
        elif self.control is None and not self.comparisons:
            yield "verdict compares nothing; expected verdict.control, or verdict.comparisons with arm and other"
        for one in self.comparisons:
            yield from one.problems(arms, anchors)
        seen = set[tuple[frozenset[str], str]]()
        for one in self.all_comparisons(arms):
            key = (frozenset((one.arm, one.other)), one.measure)
            if key in seen:
                yield f"{one.arm!r} and {one.other!r} are compared twice by {one.measure}; expected once"
            seen.add(key)

    def words(self, comparisons: Sequence[Comparison]) -> str:
        """Return the rule for these comparisons as sentences."""
        together = f"all {len(comparisons)} comparisons together" if len(comparisons) > 1 else "the one comparison"
        kind = {
            "pooled": "Student's test, with one variance between seeds for all arms and the error of the battles,",
            "paired": "Student's test of the differences by seed",
        }[self.variance]
        most = (
            "`At most` is said where an interval lies within the comparison's smallest difference of interest. "
            if any(one.smallest_difference for one in comparisons)
            else ""
        )
        return (
            f"An arm is stronger or weaker if {kind} shows it after Holm's correction, at {self.level * 100:g} % for "
            f"{together}. {most}Otherwise no difference is shown, which does not show that there is none."
        )


class ScoreRule(Section):
    """An arm reaches the aim if the lower bound of its score against an anchor is high enough in each seed."""

    kind: Literal["score"] = "score"
    anchor: str = Field("heuristic", description="One of measure.anchors.")
    above: float = Field(gt=0, lt=1, description="What the lower 95 % bound of each seed has to exceed.")

    def all_comparisons(self, arms: Sequence[str]) -> tuple[Comparison, ...]:  # noqa: ARG002 - as the other rule
        """Return no comparison: each arm is judged by itself."""
        return ()

    def problems(self, arms: Sequence[str], anchors: Sequence[str]) -> Iterator[str]:  # noqa: ARG002 - as the other rule
        """Yield what does not fit an experiment with these anchors."""
        if self.anchor not in anchors:
            yield f"verdict.anchor {self.anchor!r} is not in measure.anchors; {expected_one_of(self.anchor, anchors)}"

    def words(self, comparisons: Sequence[Comparison]) -> str:  # noqa: ARG002 - as the other rule
        """Return the rule as a sentence."""
        return (
            f"An arm reaches the aim if the lower 95 % bound of its score against {self.anchor} is above "
            f"{self.above:g} in each seed."
        )


Rule = Annotated[DifferenceRule | ScoreRule, Field(discriminator="kind"), ASKS_FOR_KIND]
