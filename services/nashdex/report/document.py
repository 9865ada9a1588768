"""``report.json``: exactly the numbers of the report's page."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Document, Model
from nashdex.core.ids import PolicyId, PolicyIdField, RunIdField
from nashdex.core.results import TrainedPolicy
from nashdex.core.steps import StepName
from nashdex.metagame.analysis.exploit import ExploitVerdict
from nashdex.metagame.analysis.exploitability import ExploitabilityEstimate
from nashdex.metagame.evidence.intervals import Estimate, Interval
from nashdex.metagame.evidence.pairs import PairStatistics
from nashdex.metagame.population import Kind, Reset, display_names
from nashdex.metagame.ratings.ladder import LadderRating
from nashdex.metagame.tournament.gate import GateResult


class EloEstimate(Model):
    """A Bradley–Terry rating."""

    elo: Estimate
    standard_error: NonNegativeFloat = Field(description="Elo.")


class Used(Model):
    """Processor time, of all processes of all steps. `nashdex cost` adds bytes and requests, and prices."""

    cpu_hours: NonNegativeFloat
    gpu_hours: NonNegativeFloat


class UsedInterval(Model):
    """Ends of a 95 % interval, by the interval of what was bought."""

    low: Used
    high: Used


class Cost(Model):
    """What the run used up to its newest iteration, without killed attempts and without the newest report step."""

    run: Used
    iteration: Used = Field(description="The newest one.")
    bottleneck: StepName | None = Field(
        description="The newest iteration's step with the longest wall time, without its report step."
    )
    bottleneck_share: float = Field(
        description="Its share of the wall time of that iteration's steps before the report, one after another."
    )
    gained_elo: float | None = Field(description="The progress; null where chance explains it, or if unknown.")
    lowered_exploitability: float | None = Field(
        description="By how much exploitability fell from its first value to its last, exact where it is known, else "
        "the best-response gap; null where chance explains the fall."
    )
    a_hundred_elo: Used | None = Field(description="The run's use for each 100 Elo gained.")
    a_hundred_elo_interval: UsedInterval | None = Field(None, description="The interval of that.")
    a_hundredth_of_exploitability: Used | None = Field(description="The run's use for each .01 of exploitability.")
    a_hundredth_of_exploitability_interval: UsedInterval | None = Field(None, description="The interval of that.")


MAX_EMBEDDED_BYTES = 2_000_000
"""Battle logs in one page, so that it can be sent by mail. The rest stay in the store; the page shows their keys."""


class Replay(Model):
    """One stored battle."""

    policies: tuple[PolicyIdField, PolicyIdField] = Field(description="Policies by seat.")
    winner: PolicyIdField | None = Field(description="Null for a draw.")
    turns: NonNegativeInt
    iteration: NonNegativeInt
    name: str = Field(description="Unique in the run.")
    key: str = Field(description="Key of the log, relative to the run's URI.")
    shard: NonNegativeInt = Field(description="Shard of the evaluate step.")
    object: str = Field(description="The log's name among the shard's objects.")
    size_bytes: NonNegativeInt


MAX_EMBEDDED_BYTES_OF_MANY = 500_000
"""The same in the stored page of a population whose report has parts."""


def replays_to_embed(replays: Sequence[Replay], max_bytes: int = MAX_EMBEDDED_BYTES) -> tuple[Replay, ...]:
    """Return the replays that fit into a page: the newest of every match-up first, then the second newest of each."""
    seen: Counter[frozenset[str]] = Counter()
    ranked = []
    for replay in sorted(replays, key=lambda r: (-r.iteration, r.name)):
        ranked.append((seen[frozenset(replay.policies)], replay))
        seen[frozenset(replay.policies)] += 1
    chosen, room = [], max_bytes
    for _, replay in sorted(ranked, key=lambda entry: entry[0]):
        if replay.size_bytes <= room:
            chosen.append(replay)
            room -= replay.size_bytes
    return tuple(chosen)


class Probability(Model):
    """A policy's probability in a meta-strategy."""

    policy: PolicyIdField
    probability: Estimate


class StepUse(Model):
    """The resources of one step of one iteration, all shards together, without killed attempts."""

    step: StepName
    seconds: NonNegativeFloat = Field(description="Wall time of the slowest shard.")
    cpu_seconds: NonNegativeFloat
    gpu_seconds: NonNegativeFloat
    reads: NonNegativeInt = Field(description="Requests to the store that read.")
    writes: NonNegativeInt
    bytes_read: NonNegativeInt
    bytes_written: NonNegativeInt


class OpponentScore(Model):
    """The learner against one opponent while collecting."""

    opponent: PolicyIdField
    wins: NonNegativeInt
    draws: NonNegativeInt
    losses: NonNegativeInt
    rate: Estimate = Field(description="Wilson interval.")


class Throughput(Model):
    """What one step of one iteration played, over all its shards."""

    battles: NonNegativeInt
    decisions: NonNegativeInt = Field(description="Decisions of both seats.")
    seconds: NonNegativeFloat = Field(description="Wall time of the slowest shard.")
    cpu_seconds: NonNegativeFloat = Field(description="CPU time of all processes of all shards, user and system.")
    battles_per_second: NonNegativeFloat | None = Field(description="Battles per second of wall time, over all shards.")
    battles_per_second_interval: Interval | None = Field(
        None, description="Score interval of a Poisson count: how many battles would end in as many seconds again."
    )
    decisions_per_second: NonNegativeFloat | None = Field(description="Decisions per second of wall time, all shards.")
    decisions_per_cpu_second: NonNegativeFloat | None
    failures: dict[str, NonNegativeInt] = Field(description="Failed attempts by cause; each battle was replayed.")
    rejected_choices: NonNegativeInt


class Collection(Model):
    """The battles that an iteration trained on."""

    learner: PolicyIdField
    recorded_decisions: NonNegativeInt
    throughput: Throughput
    opponents: tuple[OpponentScore, ...]


class Curve(Model):
    """One measured value over optimiser steps: at most ``CURVE_POINTS`` points, evenly spaced, with six digits."""

    name: str
    updates: tuple[NonNegativeInt, ...]
    values: tuple[float, ...]


class Training(TrainedPolicy):
    """One trained policy, with curves that are short enough to draw.

    ``curves`` and ``evaluations`` are empty in iterations before the ten newest: their own reports have them.
    """

    curves: tuple[Curve, ...]


class IterationRow(Model):
    """One iteration."""

    iteration: NonNegativeInt
    sources: str = Field(description="Digest of the attempts that the row was read from.")
    versions: dict[str, str] = Field(description="Versions of the software that made the iteration, by name.")
    oracle: str
    rule: str = Field(description="Source of the opponents.")
    role: str | None = Field(None, description="Who trained, in a league with roles, such as main-exploiter.")
    reset: Reset | None = Field(None, description="Why the role started again from the first network, if it did.")
    gates: tuple[GateResult, ...] = Field(description="Empty in a run without a gate.")
    new_policies: tuple[PolicyIdField, ...]
    meta_solver: str
    meta_strategy: tuple[Probability, ...] = Field(
        description="Share of every policy; in a population of more than 64, of each that the mixture or a draw plays."
    )
    entropy: Estimate = Field(description="Entropy of the meta-strategy, in nats.")
    support: tuple[PolicyIdField, ...] = Field(description="Policies with a probability above 0.01.")
    support_stability: float = Field(description="Share of posterior draws with the same support.")
    exploitability: tuple[ExploitabilityEstimate, ...] = Field(
        description="Score above ½, or payoff in the game's units where payoffs are exact; for the estimator exact, "
        "NashConv over the number of players. Different estimators are never compared or mixed."
    )
    collection: Collection
    training: tuple[Training, ...]
    evaluation: Throughput
    steps: tuple[StepUse, ...] = Field((), description="What each step used; the report step itself is not there yet.")
    seconds: NonNegativeFloat = Field(description="Wall time: the slowest shard of each step, summed over the steps.")


MAX_PICTURED_POLICIES = 60
"""Most points of an embedding: readers cannot tell more apart in one picture."""


class Cell(Model):
    """The row policy's score against the column policy, from battles."""

    wins: NonNegativeInt
    draws: NonNegativeInt
    losses: NonNegativeInt
    rate: Estimate = Field(description="(wins + draws/2) / games, Wilson interval by side-swapped pairs.")
    effective_battles: NonNegativeFloat = Field(description="Independent battles that would be as sure.")


NUM_DRAWN_ITERATIONS = 10
"""Newest iterations whose learning curves a report holds and draws. Those of an older one are in its own report."""


class PayoffMatrix(Model):
    """Rows and columns by falling rating.

    In a population of more than 64 policies: the mixture's support, anchors, the newest policies and the highest rated
    ones. ``report_cells.js`` has all pairs.
    """

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
    num_omitted: NonNegativeInt = Field(
        0, exclude_if=lambda num: not num, description="Policies of a large population that have no row here."
    )
    num_imputed: NonNegativeInt | None = Field(
        None,
        exclude_if=lambda num: num is None,
        description="Imputed pairs of a large population. ``imputed`` has those of the rows here.",
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
    base: PolicyIdField | None = Field(description="Where its training began; null where that is the newest policy.")
    base_scores: tuple[AnchorScore, ...] = Field(description="Scores of the base against the other anchors.")


class AnchorPayoff(Model):
    """The expected payoff of the final mixture against an anchor of a tabular game."""

    opponent: PolicyIdField
    payoff: float = Field(description="Exact, mean over both seatings, in the game's units.")


class PolicyRow(Model):
    """One member of the population."""

    id: PolicyIdField
    short_id: str = Field(
        description="The first characters of the id, enough to tell the members apart, and how it plays."
    )
    name: str
    kind: Kind
    iteration: int | None = Field(description="Iteration that trained it; null for the initial population.")
    parent: PolicyIdField | None
    anchor: bool = Field(description="True for the frozen policies that progress is measured against.")
    probability: Estimate = Field(description="In the last meta-strategy.")
    rating: EloEstimate
    ladder: LadderRating | None = Field(description="Null where payoffs are exact.")
    games: NonNegativeInt = Field(description="Battles in the ledger.")
    retired: bool = Field(
        False,
        exclude_if=lambda retired: not retired,
        description="True for a member that the newest policies neither played nor trained against, by "
        "population.retire_after_iterations.",
    )


def policy_names(policies: Sequence[PolicyRow]) -> dict[PolicyId, str]:
    """Return the name that the report shows for each policy, which ``RUN#NAME`` reads too."""
    return display_names(policies, {row.id: row.short_id for row in policies})


class Progress(Model):
    """The best policy against the run's first network."""

    best: PolicyIdField
    base: PolicyIdField
    elo: Estimate = Field(description="Elo(best) − Elo(base).")
    standard_error: NonNegativeFloat


class Report(Document):
    """A run, after one iteration."""

    schema_version: int = 3

    run: RunIdField
    format: str
    opponents: str = Field(description="The run's opponent rule.")
    seed: NonNegativeInt
    iteration: NonNegativeInt
    planned_iterations: NonNegativeInt
    versions: dict[str, str]
    settings: dict[str, Any]
    anchor_scores: tuple[AnchorScore, ...] = Field(
        description="Scores of the final mixture. Empty where payoffs are exact."
    )
    anchor_payoffs: tuple[AnchorPayoff, ...] = Field(description="Empty where payoffs come from battles.")
    trained: NewestTrained | None = Field(
        None, description="Null where payoffs are exact and while nothing has been trained."
    )
    progress: Progress | None = Field(
        description="Null while no second policy has been trained, and while there are too few battles to tell."
    )
    findings: tuple[str, ...] = Field(description="The main results as sentences.")
    warnings: tuple[str, ...]
    exploits: tuple[ExploitVerdict, ...] = Field(
        (), description="What an exploiter's run scores against its target, after smaller budgets. Empty in other runs."
    )
    policies: tuple[PolicyRow, ...] = Field(description="Policies by falling rating.")
    payoffs: PayoffMatrix
    embedding: Embedding | None = Field(
        description="Null where the cyclic part is no larger than by chance, or the population is too large to draw."
    )
    pairs: PairStatistics | None = Field(description="How the two battles of a pair go together; null without battles.")
    intransitivity: Intransitivity
    cost: Cost
    iterations: tuple[IterationRow, ...] = Field(min_length=1)
    replays: tuple[Replay, ...]
