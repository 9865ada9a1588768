"""The work of one iteration, decided before any of it runs and stored as ``plan.json``."""

from pydantic import Field, NonNegativeInt, PositiveInt

from nashdex.core.documents import Document, Model
from nashdex.core.ids import BarePolicyIdField, PolicyId, PolicyIdField
from nashdex.metagame.opponents.registry import OPPONENT_RULES
from nashdex.metagame.population import Population


class FurtherBattles(Model):
    """Battles that a cell gets beyond those that it has, because they may move the meta-strategy."""

    a: PolicyIdField = Field(description="Before b by id.")
    b: PolicyIdField
    battles: PositiveInt


class IterationPlan(Document):
    """The work of one iteration. Steps take everything else from the run's settings."""

    iteration: NonNegativeInt
    oracle: str = Field(description="The oracle that trains this iteration's policies, such as ppo.")
    population: Population = Field(description="The members before this iteration.")
    rule: str = Field(description="The opponent rule that chose the opponents, such as meta-strategy.")
    opponents: dict[PolicyIdField, float] = Field(description="Mixture that the learner plays and answers.")
    learner: BarePolicyIdField = Field(
        description="Who sits in the learner's seat: the teacher, or the policy to improve. With an oracle that plays "
        "no battles: the newest member."
    )
    further: tuple[FurtherBattles, ...] = Field(
        (), description="Of the adaptive schedule; every cell's first battles come on top."
    )

    def learns_from_both_seats(self, opponent: PolicyId) -> bool:
        """Say whether training learns from both seats of the learner's battles with ``opponent``.

        It does where the rule pairs the learner with itself. A learner that is also a member of the meta-strategy
        answers itself from one seat, like any other opponent.

        Raises:
            ConfigurationError: no installed package provides the plan's rule.
        """
        return OPPONENT_RULES[self.rule].meets_itself and opponent == self.learner
