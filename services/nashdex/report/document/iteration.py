"""What the report says of one iteration."""

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Model
from nashdex.core.ids import PolicyIdField
from nashdex.core.results import TrainedPolicy
from nashdex.core.steps import StepName
from nashdex.metagame.analysis.exploitability import ExploitabilityEstimate
from nashdex.metagame.evidence.intervals import Estimate, Interval
from nashdex.metagame.population import Reset
from nashdex.metagame.tournament.gate import GateResult


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
    """One trained policy, with curves that are short enough to draw."""

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
    meta_strategy: tuple[Probability, ...]
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
