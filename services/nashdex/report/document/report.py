"""The whole document."""

from typing import Any

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Document, Model
from nashdex.core.ids import PolicyIdField, RunIdField
from nashdex.metagame.analysis.exploit import ExploitVerdict
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.metagame.evidence.pairs import PairStatistics
from nashdex.report.document.cost import Cost
from nashdex.report.document.iteration import IterationRow
from nashdex.report.document.payoffs import (
    AnchorPayoff,
    AnchorScore,
    Embedding,
    Intransitivity,
    NewestTrained,
    PayoffMatrix,
)
from nashdex.report.document.policies import PolicyRow
from nashdex.report.document.replays import Replay


class Progress(Model):
    """The best policy against the policy that training began with."""

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
    cost: Cost | None = Field(None, description="Null in reports that an older version wrote.")
    iterations: tuple[IterationRow, ...] = Field(min_length=1)
    replays: tuple[Replay, ...]
