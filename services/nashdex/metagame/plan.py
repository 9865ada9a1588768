"""What one iteration is to do, decided before any of it runs and stored as ``plan.json``."""

from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from nashdex.core.documents import Document, Model
from nashdex.core.ids import PolicyId, PolicyIdField
from nashdex.core.results import Oracle
from nashdex.metagame.population import Population

OpponentRule = Literal["initial", "meta-strategy", "self-play", "league"]
"""Where the opponents come from: what the run began with, uniformly; the iteration before; the learner; PFSP."""


class FurtherBattles(Model):
    """Battles that a cell gets beyond those that it has, because they may move the meta-strategy."""

    a: PolicyIdField = Field(description="Before b by id.")
    b: PolicyIdField
    battles: PositiveInt


class IterationPlan(Document):
    """The work of one iteration. Steps take everything else from the run's settings."""

    iteration: NonNegativeInt
    oracle: Oracle = Field(description="How this iteration's policy is trained.")
    population: Population = Field(description="The members before this iteration.")
    rule: OpponentRule = Field(description="Where the opponents come from.")
    opponents: dict[PolicyIdField, float] = Field(description="Mixture that the learner plays and answers.")
    learner: PolicyIdField = Field(
        description="Who sits in the learner's seat: the teacher, or the policy to improve. With an oracle that plays "
        "no battles: the newest member."
    )
    further: tuple[FurtherBattles, ...] = Field(
        (), description="Of the adaptive schedule; every cell's first battles come on top."
    )

    def learns_from_both_seats(self, opponent: PolicyId) -> bool:
        """Say whether both seats of the learner's battles with ``opponent`` are learned from.

        They are where the rule pairs it with itself, and not where it happens to be a member of the meta-strategy,
        which it answers from one seat like the others.
        """
        return self.rule in {"self-play", "league"} and opponent == self.learner
