"""The battles that a training wants, as data: for a round, or for an evaluation.

The data alone determine the battles, so the training process and an actor play the same ones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from nashdex.core.documents import Model
from nashdex.core.ids import PolicyId, PolicyIdField
from nashdex.core.section import Share
from nashdex.games.teams import TeamPool
from nashdex.policies.mixture import Mixture
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment
from nashdex.settings.anchors import OPPONENTS, Style

NEWEST: Final = PolicyId("newest")
"""The policy that acts with the current weights. It is not stored."""
EVALUATED: Final[dict[Style, PolicyId]] = {"sampled": NEWEST, "greedy": PolicyId("newest@greedy")}
"""The same, as it is evaluated."""


class RoundBattles(Model):
    """One round of the network in training, in side-swapped pairs."""

    kind: Literal["round"] = "round"
    round: NonNegativeInt = Field(description="Number of earlier rounds of the training.")
    seed: int
    num_battles: PositiveInt
    opponents: dict[PolicyIdField, NonNegativeFloat] = Field(description="Plan's mixture; `newest` is this network.")
    snapshots: tuple[PolicyIdField, ...] = Field(description="Earlier weights, opponents in some battles with itself.")
    snapshot_share: Share = Field(description="Share of battles with itself that snapshots play.")
    scripted: tuple[PolicyIdField, ...] = Field((), description="Scripted policies, opponents in other such battles.")
    scripted_share: Share = Field(0.0, description="Share of battles with itself that scripted policies play.")
    records_opponents: bool = Field(description="Whether every opponent's seat is recorded too.")
    deadline_seconds: PositiveFloat

    @property
    def size(self) -> int:
        """The number of battles."""
        return self.num_battles

    def assignments(self, teams: Sequence[str] | TeamPool, numbers: range) -> Iterator[Assignment]:
        """Yield the battles with these ``numbers``."""
        battles = PairedBattles(self.seed, teams, self.deadline_seconds)
        mixture = Mixture({PolicyId(policy): share for policy, share in self.opponents.items()})
        for number in numbers:
            opponent = mixture.draw(battles.pair_uniform(number, "opponent"))
            if opponent == NEWEST and (self.snapshots or self.scripted):
                opponent = self._beside_itself(battles.pair_uniform(number, "snapshot"))
            record_opponent = opponent == NEWEST or self.records_opponents
            yield battles.assignment(number, (NEWEST, opponent), record=True, record_opponent=record_opponent)

    def _beside_itself(self, drawn: float) -> PolicyId:
        """Return who sits opposite in a battle of the network with itself, by a draw in [0, 1).

        Snapshots have the low end and scripted policies the high end, so that neither moves the battles of the other.
        """
        if self.snapshots and drawn < self.snapshot_share:
            return PolicyId(self.snapshots[int(drawn / self.snapshot_share * len(self.snapshots))])
        left = drawn - (1.0 - self.scripted_share)
        if self.scripted and left >= 0 and self.scripted_share > 0:
            place = int(left / self.scripted_share * len(self.scripted))
            return PolicyId(self.scripted[min(place, len(self.scripted) - 1)])
        return NEWEST


class EvaluationBattles(Model):
    """Matches of the network in training. All matches play the same battles."""

    kind: Literal["evaluation"] = "evaluation"
    round: NonNegativeInt = Field(description="Number of earlier rounds of the training.")
    seed: int
    battles_each: PositiveInt
    matches: tuple[tuple[Style, PolicyIdField], ...] = Field(description="How the network plays, and the anchor.")
    opponents: dict[PolicyIdField, NonNegativeFloat] = Field(
        default_factory=dict, description="Mixture behind the anchor `opponents`; empty without this anchor."
    )
    deadline_seconds: PositiveFloat

    @property
    def size(self) -> int:
        """The number of battles of all matches."""
        return len(self.matches) * self.battles_each

    def assignments(self, teams: Sequence[str] | TeamPool, numbers: range) -> Iterator[Assignment]:
        """Yield the battles with these ``numbers``, which count through all matches."""
        battles = PairedBattles(self.seed, teams, self.deadline_seconds)
        for number in numbers:
            match, battle = divmod(number, self.battles_each)
            style, anchor = self.matches[match]
            opponent = PolicyId(anchor)
            if anchor == OPPONENTS:
                mixture = Mixture({PolicyId(policy): share for policy, share in self.opponents.items()})
                opponent = mixture.draw(battles.pair_uniform(battle, "opponent"))
            assignment = battles.assignment(battle, (EVALUATED[style], opponent))
            yield replace(assignment, number=number)


PlannedBattles = RoundBattles | EvaluationBattles
"""Battles that a training may ask for."""
