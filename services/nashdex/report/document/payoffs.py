"""The payoff matrix, its cyclic part, and the mixture against the anchors."""

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Model
from nashdex.core.ids import PolicyIdField
from nashdex.metagame.evidence.intervals import Estimate, Interval

MAX_PICTURED_POLICIES = 60
"""Most points of an embedding: readers cannot tell more apart in one picture."""


class Cell(Model):
    """The row policy's score against the column policy, from battles."""

    wins: NonNegativeInt
    draws: NonNegativeInt
    losses: NonNegativeInt
    rate: Estimate = Field(description="(wins + draws/2) / games, Wilson interval by side-swapped pairs.")
    effective_battles: NonNegativeFloat = Field(description="Independent battles that would be as sure.")


class PayoffMatrix(Model):
    """Rows and columns by falling rating."""

    policies: tuple[PolicyIdField, ...]
    cells: tuple[tuple[Cell | None, ...], ...] | None = Field(
        description="Counts from the ledger. A cell is null on the diagonal and for a pair without battles; the whole "
        "table is null where payoffs are exact."
    )
    exact: tuple[tuple[float, ...], ...] | None = Field(
        description="For a tabular game: expected payoffs to the row, mean over both seatings, in the game's units."
    )
    imputed: tuple[tuple[PolicyIdField, PolicyIdField], ...] = Field(
        description="Pairs without battles, whose payoffs were imputed to solve the game."
    )
    battles: NonNegativeInt = Field(description="In the ledger.")
    full_table_battles: NonNegativeInt | None = Field(
        description="What a uniform schedule would have played; null under that schedule and where payoffs are exact."
    )


class EmbeddingPoint(Model):
    """A policy's place in the disc."""

    policy: PolicyIdField
    x: float
    y: float


class Embedding(Model):
    """The largest disc of the payoffs' cyclic part: the cross product of two points is what it adds to a payoff."""

    points: tuple[EmbeddingPoint, ...] = Field(description="Points by falling rating.")
    share: float = Field(description="Share of the cyclic part's squared norm that this disc explains.")
    share_interval: Interval | None = Field(
        description="95 %, conservative: noise spreads over all discs, so it reaches up three times as far as "
        "posterior draws of the payoffs reach down. Null where payoffs are exact."
    )


class Intransitivity(Model):
    """How far payoffs are from what ratings predict: ‖A − A_BT‖, root mean square over the cells, in expected score."""

    value: NonNegativeFloat
    interval: Interval = Field(description="95 %, conservative.")
    by_chance: NonNegativeFloat = Field(
        description="95 % of transitive games with the same number of battles stay below this."
    )


class AnchorScore(Model):
    """An expected score against an anchor, from the ledger."""

    opponent: PolicyIdField
    rate: Estimate
    games: NonNegativeInt = Field(description="Battles with the anchor, by the policy or by the mixture's members.")


class NewestTrained(Model):
    """How strong the newest trained policy is, and how strong the policy is that training began with."""

    policy: PolicyIdField
    scores: tuple[AnchorScore, ...] = Field(description="Against the anchors that it has met.")
    base: PolicyIdField | None = Field(description="Where training began; null where that is the newest policy.")
    base_scores: tuple[AnchorScore, ...] = Field(description="Scores of the base against the other anchors.")


class AnchorPayoff(Model):
    """The expected payoff of the final mixture against an anchor of a tabular game."""

    opponent: PolicyIdField
    payoff: float = Field(description="Exact, mean over both seatings, in the game's units.")
