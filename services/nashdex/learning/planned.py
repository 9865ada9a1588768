"""The battles that a training wants, as data: those of a round, and those of an evaluation.

Which battles these are follows from the data alone, so that the training process and an actor play the same ones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from nashdex.core.documents import Model
from nashdex.core.ids import PolicyId, PolicyIdField
from nashdex.core.section import Share
from nashdex.learning.settings import Style
from nashdex.policies.mixture import Mixture
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment

NEWEST: Final = PolicyId("newest")
"""The policy that acts with the current weights. It is not stored."""
EVALUATED: Final[dict[Style, PolicyId]] = {"sampled": NEWEST, "greedy": PolicyId("newest@greedy")}
"""The same, as it is evaluated."""


class RoundBattles(Model):
    """One round of the network in training, in side-swapped pairs."""

    kind: Literal["round"] = "round"
    round: NonNegativeInt = Field(description="Rounds of the training before.")
    seed: int
    num_battles: PositiveInt
    opponents: dict[PolicyIdField, NonNegativeFloat] = Field(description="The plan's mixture; `newest` is itself.")
    snapshots: tuple[PolicyIdField, ...] = Field(description="Earlier weights that sit opposite instead of itself.")
    snapshot_share: Share = Field(description="Share of its battles with itself in which they do.")
    records_opponents: bool = Field(description="Whether every opponent's seat is recorded too.")
    deadline_seconds: PositiveFloat

    @property
    def size(self) -> int:
        """The number of battles."""
        return self.num_battles

    def assignments(self, teams: Sequence[str], numbers: range) -> Iterator[Assignment]:
        """Yield the battles with these ``numbers``."""
        battles = PairedBattles(self.seed, teams, self.deadline_seconds)
        mixture = Mixture({PolicyId(policy): share for policy, share in self.opponents.items()})
        for number in numbers:
            opponent = mixture.draw(battles.pair_uniform(number, "opponent"))
            if opponent == NEWEST and self.snapshots:
                drawn = battles.pair_uniform(number, "snapshot")
                if drawn < self.snapshot_share:
                    opponent = PolicyId(self.snapshots[int(drawn / self.snapshot_share * len(self.snapshots))])
            record_opponent = opponent == NEWEST or self.records_opponents
            yield battles.assignment(number, (NEWEST, opponent), record=True, record_opponent=record_opponent)


class EvaluationBattles(Model):
    """Matches of the network in training, each of the same battles."""

    kind: Literal["evaluation"] = "evaluation"
    round: NonNegativeInt = Field(description="Rounds of the training before.")
    seed: int
    battles_each: PositiveInt
    matches: tuple[tuple[Style, PolicyIdField], ...] = Field(description="How the network plays, and the anchor.")
    deadline_seconds: PositiveFloat

    @property
    def size(self) -> int:
        """The number of battles of all matches."""
        return len(self.matches) * self.battles_each

    def assignments(self, teams: Sequence[str], numbers: range) -> Iterator[Assignment]:
        """Yield the battles with these ``numbers``, which count through all matches."""
        battles = PairedBattles(self.seed, teams, self.deadline_seconds)
        for number in numbers:
            match, battle = divmod(number, self.battles_each)
            style, anchor = self.matches[match]
            assignment = battles.assignment(battle, (EVALUATED[style], PolicyId(anchor)))
            yield replace(assignment, number=number)


PlannedBattles = RoundBattles | EvaluationBattles
"""What a training may want to have played next."""
