"""The work of one iteration, decided before any of it runs and stored as ``plan.json``."""

from collections.abc import Iterable
from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator

from nashdex.core.documents import Document, Model
from nashdex.core.ids import GREEDY, SAMPLED, BarePolicyIdField, PlayedPolicy, PolicyId, PolicyIdField
from nashdex.core.results import TrainingResult
from nashdex.metagame.opponents.registry import OPPONENT_RULES
from nashdex.metagame.population import Population, Reset


class FurtherBattles(Model):
    """Further battles of a cell, because they may move the meta-strategy."""

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
    role: str | None = Field(None, description="Whose turn it is, in a league with roles, such as main-exploiter.")
    reset: Reset | None = Field(None, description="Why the role starts again from the first network, if it does.")
    plays: Literal["sampled", "greedy"] = Field(
        "sampled", description="How the iteration's new policies play as members of the population."
    )
    is_scored: bool = Field(
        True,
        description="Whether the new policies answer the opponents. The network that an exploiter starts from does "
        "not, and plays only a few battles in the tournament.",
    )
    further: tuple[FurtherBattles, ...] = Field(
        (),
        description="Battles of members beyond every new cell's first ones: the adaptive schedule's, or of cells "
        "that sparse matchmaking left out before.",
    )
    met: tuple[PolicyIdField, ...] | None = Field(
        None,
        exclude_if=lambda met: met is None,
        description="Members that a new policy meets, under sparse matchmaking. Without this key it meets all.",
    )

    @field_validator("opponents")
    @classmethod
    def _is_a_mixture(cls, opponents: dict[str, float]) -> dict[str, float]:
        if not opponents or min(opponents.values()) < 0 or sum(opponents.values()) <= 0:
            raise ValueError("the shares are no mixture; expected shares from 0 on, and one above 0")
        return opponents

    def learns_from_both_seats(self, opponent: PolicyId) -> bool:
        """Say whether training learns from both seats of the learner's battles with ``opponent``.

        It does where the rule pairs the learner with itself. A learner that is also a member of the meta-strategy
        answers itself from one seat, like any other opponent. So does one that begins with its fixed target's weights.

        Raises:
            ConfigurationError: no installed package provides the plan's rule.
        """
        rule = OPPONENT_RULES[self.rule]
        if not rule.meets_itself or opponent != self.learner:
            return False
        # A fixed target is what the run began with, or its first plan's opponents, where the learner is a teacher.
        began_with = {entry.id for entry in self.population.policies if entry.iteration is None}
        return not (rule.is_fixed and (self.iteration == 0 or opponent in began_with))

    @property
    def answered(self) -> dict[PolicyId, float]:
        """The mixture that a best response is scored against: the opponents without the learner's own newest self.

        Where the learner meets only itself, that is the opponent.
        """
        others = {p: share for p, share in self.opponents.items() if not self.learns_from_both_seats(p)}
        total = sum(others.values())
        return {policy: share / total for policy, share in others.items()} if total else dict(self.opponents)

    def member(self, result: TrainingResult) -> PolicyId:
        """Return the id of a new policy as a member of the population, which says how it plays."""
        temperature = GREEDY if self.plays == "greedy" else SAMPLED
        return PlayedPolicy(PlayedPolicy.of(PolicyId(result.policy)).policy, temperature).id

    def grown(self, admitted: Iterable[TrainingResult]) -> Population:
        """Return the population after the admitted results of this iteration joined."""
        return self.population.grown(((self.member(result), result) for result in admitted), self.iteration, self.role)
