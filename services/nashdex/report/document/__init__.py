"""``report.json``: exactly the numbers of the report's page."""

from nashdex.report.document.cost import Cost, Used, UsedInterval
from nashdex.report.document.estimates import EloEstimate
from nashdex.report.document.iteration import (
    Collection,
    Curve,
    IterationRow,
    OpponentScore,
    Probability,
    StepUse,
    Throughput,
    Training,
)
from nashdex.report.document.payoffs import (
    MAX_PICTURED_POLICIES,
    AnchorPayoff,
    AnchorScore,
    Cell,
    Embedding,
    EmbeddingPoint,
    Intransitivity,
    NewestTrained,
    PayoffMatrix,
)
from nashdex.report.document.policies import PolicyRow, policy_names
from nashdex.report.document.replays import MAX_EMBEDDED_BYTES, Replay, replays_to_embed
from nashdex.report.document.report import Progress, Report

__all__ = [
    "MAX_EMBEDDED_BYTES",
    "MAX_PICTURED_POLICIES",
    "AnchorPayoff",
    "AnchorScore",
    "Cell",
    "Collection",
    "Cost",
    "Curve",
    "EloEstimate",
    "Embedding",
    "EmbeddingPoint",
    "Intransitivity",
    "IterationRow",
    "NewestTrained",
    "OpponentScore",
    "PayoffMatrix",
    "PolicyRow",
    "Probability",
    "Progress",
    "Replay",
    "Report",
    "StepUse",
    "Throughput",
    "Training",
    "Used",
    "UsedInterval",
    "policy_names",
    "replays_to_embed",
]
