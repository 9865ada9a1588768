"""``report.json``: every number that the report's page shows, and nothing that it does not."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Document, Model
from nashdex.core.ids import PolicyId, PolicyIdField, RunIdField
from nashdex.metagame.analysis.exploitability import Estimator
from nashdex.metagame.plan import OpponentRule
from nashdex.metagame.population import Kind
from nashdex.metagame.ratings.ladder import LadderRating
from nashdex.metagame.tournament.gate import GateDecision


class Interval(Model):
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float


class Rating(Model):
    """Bradley–Terry maximum a posteriori, in Elo."""

    elo: Interval
    standard_error: NonNegativeFloat = Field(description="Elo.")


class PolicyRow(Model):
    """One member of the population, as it stands after the last iteration."""

    id: PolicyIdField
    short_id: str = Field(description="The first characters of the id, enough to tell the members apart.")
    name: str
    kind: Kind
    iteration: int | None = Field(description="Iteration that trained it; none for what the run began with.")
    parent: PolicyIdField | None
    anchor: bool = Field(description="One of the frozen policies that progress is measured against.")
    probability: Interval = Field(description="In the last meta-strategy.")
    rating: Rating
    ladder: LadderRating | None = Field(description="Null where payoffs are exact.")
    games: NonNegativeInt = Field(description="Battles in the ledger.")


def policy_names(policies: Sequence[PolicyRow]) -> dict[PolicyId, str]:
    """Return what people call each policy: its name, with its short id where two share one."""
    times = Counter(row.name for row in policies)
    return {row.id: row.name if times[row.name] == 1 else f"{row.name} {row.short_id}" for row in policies}


class Cell(Model):
    """The row policy's score against the column policy, from battles."""

    wins: NonNegativeInt
    draws: NonNegativeInt
    losses: NonNegativeInt
    rate: Interval = Field(description="(wins + draws/2) / games, Wilson interval.")


class PayoffMatrix(Model):
    """Who does how well against whom. Rows and columns by falling rating."""

    policies: tuple[PolicyIdField, ...]
    cells: tuple[tuple[Cell | None, ...], ...] | None = Field(
        description="The ledger; a policy against itself and an unplayed pair are absent. Null where payoffs are exact."
    )
    exact: tuple[tuple[float, ...], ...] | None = Field(
        description="Of a tabular game: expected payoffs to the row, mean over both seatings, in the game's units."
    )
    imputed: tuple[tuple[PolicyIdField, PolicyIdField], ...] = Field(
        description="Pairs that were not played and whose payoff was made up to solve the game."
    )
    battles: NonNegativeInt = Field(description="In the ledger.")
    full_table_battles: NonNegativeInt | None = Field(
        description="What a uniform schedule would have played; null under that schedule and where payoffs are exact."
    )


class EmbeddingPoint(Model):
    """A policy's place in the picture of the cyclic part."""

    policy: PolicyIdField
    x: float
    y: float


class Embedding(Model):
    """The largest disc of the payoffs' cyclic part: the cross product of two points is what it adds to a payoff."""

    points: tuple[EmbeddingPoint, ...] = Field(description="By falling rating.")
    share: float = Field(description="Of the cyclic part's squared norm that this disc explains.")


class Probability(Model):
    """A policy's share in a meta-strategy."""

    policy: PolicyIdField
    probability: Interval


class Exploitability(Model):
    """One of the exploitabilities. Different estimators are never compared or mixed."""

    estimator: Estimator
    gap: Interval = Field(
        description="Score above ½, or payoff in the game's units where payoffs are exact. For the estimator exact, "
        "NashConv over the number of players."
    )
    nash_conv: float | None = Field(None, description="Of the estimator exact: summed over the players.")
    games: NonNegativeInt | None = Field(description="Battles behind it, where it is an estimate of its own.")
    policy: PolicyIdField | None = Field(description="The best response, where there is one.")


class OpponentScore(Model):
    """The learner against one opponent while collecting."""

    opponent: PolicyIdField
    wins: NonNegativeInt
    draws: NonNegativeInt
    losses: NonNegativeInt
    rate: Interval = Field(description="Wilson interval.")


class Throughput(Model):
    """What one step of one iteration played, over all its shards."""

    battles: NonNegativeInt
    decisions: NonNegativeInt = Field(description="By both seats.")
    seconds: NonNegativeFloat = Field(description="Wall time of the slowest shard.")
    cpu_seconds: NonNegativeFloat = Field(description="Of all processes of all shards, user and system.")
    battles_per_second: NonNegativeFloat | None = Field(description="By wall time: all shards at once.")
    decisions_per_second: NonNegativeFloat | None = Field(description="By wall time: all shards at once.")
    decisions_per_cpu_second: NonNegativeFloat | None
    failures: dict[str, NonNegativeInt] = Field(description="Failed tries by cause; each was replayed.")
    rejected_choices: NonNegativeInt


class Collection(Model):
    """The battles that one iteration learned from."""

    learner: PolicyIdField
    recorded_decisions: NonNegativeInt
    throughput: Throughput
    opponents: tuple[OpponentScore, ...]


class Curve(Model):
    """One measured value over optimiser steps: at most ``CURVE_POINTS`` points, evenly spaced, of six digits each."""

    name: str
    updates: tuple[NonNegativeInt, ...]
    values: tuple[float, ...]


class Training(Model):
    """One trained policy."""

    policy: PolicyIdField
    parent: PolicyIdField | None
    oracle: str
    preset: str
    reference: str = Field(description="Where the KL reference came from.")
    num_updates: NonNegativeInt
    num_decisions: NonNegativeInt
    num_parameters: NonNegativeInt
    rollbacks: NonNegativeInt
    seconds: NonNegativeFloat
    summary: dict[str, float]
    curves: tuple[Curve, ...]


class GateOutcome(Model):
    """Whether a new policy was let into the population, and on what evidence."""

    policy: PolicyIdField
    parent: PolicyIdField | None = Field(description="Whom it had to beat.")
    decision: GateDecision
    wins: NonNegativeInt
    draws: NonNegativeInt
    losses: NonNegativeInt
    payoff: float | None = Field(description="Of a tabular game, in place of battles.")


class IterationRow(Model):
    """One iteration."""

    iteration: NonNegativeInt
    sources: str = Field(description="Digest of the attempts that the row was read from.")
    versions: dict[str, str] = Field(description="Of what made the iteration, by name.")
    oracle: str
    rule: OpponentRule = Field(description="Where the opponents came from.")
    gates: tuple[GateOutcome, ...] = Field(description="Empty in a run without a gate.")
    new_policies: tuple[PolicyIdField, ...]
    meta_solver: str
    meta_strategy: tuple[Probability, ...]
    entropy: NonNegativeFloat = Field(description="Of the meta-strategy, in nats.")
    support: tuple[PolicyIdField, ...] = Field(description="Policies with a probability above 0.01.")
    support_stability: float = Field(description="Share of posterior draws with the same support.")
    exploitability: tuple[Exploitability, ...]
    collection: Collection
    training: tuple[Training, ...]
    evaluation: Throughput
    seconds: NonNegativeFloat = Field(description="Wall time, each step counted by its slowest shard.")


class Intransitivity(Model):
    """How far payoffs are from what ratings say: ‖A − A_BT‖, root mean square over the cells, in expected score."""

    value: NonNegativeFloat
    by_chance: NonNegativeFloat = Field(description="What 95 % of transitive games with as many battles stay below.")


class AnchorScore(Model):
    """What the final mixture is expected to score against an anchor, from the ledger."""

    opponent: PolicyIdField
    rate: Interval
    games: NonNegativeInt = Field(description="Battles between the mixture's members and the anchor.")


class AnchorPayoff(Model):
    """What the final mixture gets against an anchor of a tabular game."""

    opponent: PolicyIdField
    payoff: float = Field(description="Expected, mean over both seatings, in the game's units. No sampling.")


class Progress(Model):
    """The best policy against the policy that training began with."""

    best: PolicyIdField
    base: PolicyIdField
    elo: Interval = Field(description="Elo(best) − Elo(base).")
    standard_error: NonNegativeFloat


class Replay(Model):
    """One stored battle."""

    policies: tuple[PolicyIdField, PolicyIdField] = Field(description="By seat.")
    winner: PolicyIdField | None = Field(description="None for a draw.")
    turns: NonNegativeInt
    iteration: NonNegativeInt
    name: str = Field(description="Unique in the run.")
    key: str = Field(description="Of the log, relative to the run's URI.")
    shard: NonNegativeInt = Field(description="Of evaluate.")
    object: str = Field(description="The log's name among the shard's objects.")
    size_bytes: NonNegativeInt


class Report(Document):
    """A run, after one iteration."""

    run: RunIdField
    format: str
    mode: str
    seed: NonNegativeInt
    iteration: NonNegativeInt
    planned_iterations: NonNegativeInt
    versions: dict[str, str]
    settings: dict[str, Any]
    anchor_scores: tuple[AnchorScore, ...] = Field(description="Empty where payoffs are exact.")
    anchor_payoffs: tuple[AnchorPayoff, ...] = Field(description="Empty where payoffs come from battles.")
    progress: Progress | None = Field(
        description="None while the run has trained nothing beyond its first policy, or has too few battles to tell."
    )
    findings: tuple[str, ...] = Field(description="The same in words.")
    warnings: tuple[str, ...]
    policies: tuple[PolicyRow, ...] = Field(description="By falling rating.")
    payoffs: PayoffMatrix
    embedding: Embedding | None = Field(
        description="None where no cyclic part stands out, or the population is too large for a picture."
    )
    intransitivity: Intransitivity
    iterations: tuple[IterationRow, ...]
    replays: tuple[Replay, ...]


MAX_PICTURED_POLICIES = 60
"""More points than this cannot be told apart in one picture."""
MAX_EMBEDDED_BYTES = 2_000_000
"""Of battle logs in one page, so that it can be sent. The rest stay in the store and are named by their keys."""


def replays_to_embed(report: Report, max_bytes: int = MAX_EMBEDDED_BYTES) -> tuple[Replay, ...]:
    """Return the replays that fit into a page: of every match-up the newest first, then the next of each."""
    seen: Counter[frozenset[str]] = Counter()
    ranked = []
    for replay in sorted(report.replays, key=lambda r: (-r.iteration, r.name)):
        ranked.append((seen[frozenset(replay.policies)], replay))
        seen[frozenset(replay.policies)] += 1
    chosen, room = [], max_bytes
    for _, replay in sorted(ranked, key=lambda entry: entry[0]):
        if replay.size_bytes <= room:
            chosen.append(replay)
            room -= replay.size_bytes
    return tuple(chosen)
