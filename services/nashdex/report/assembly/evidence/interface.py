"""The parts of a report that depend on the kind of payoff evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nashdex.core.ids import PolicyId
from nashdex.report.document import (
    AnchorPayoff,
    AnchorScore,
    Embedding,
    IterationRow,
    NewestTrained,
    PayoffMatrix,
    Progress,
)
from nashdex.report.sources import IterationSources
from nashdex.settings.run import RunSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What the parts are made from."""

    settings: RunSettings
    last: IterationSources
    rows: Sequence[IterationRow]
    """Every iteration so far."""
    names: Mapping[PolicyId, str]
    """Display names."""
    base: PolicyId | None
    """The first trained network."""
    anchors: Sequence[PolicyId]
    by_rating: Sequence[PolicyId]
    """The members by falling rating."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Fields of the same names in ``Report``."""

    leading_findings: tuple[str, ...] = ()
    """``findings`` before that about the mixture."""
    findings: tuple[str, ...]
    """``findings`` after it."""
    payoffs: PayoffMatrix
    embedding: Embedding | None
    anchor_scores: tuple[AnchorScore, ...] = ()
    anchor_payoffs: tuple[AnchorPayoff, ...] = ()
    trained: NewestTrained | None = None
    progress: Progress | None = None
