"""Exact payoffs: every number is certain."""

import numpy as np

from nashdex.metagame.analysis.embedding import Payoffs, transitive_part
from nashdex.metagame.evidence.exact import ExactValues
from nashdex.report.assembly.evidence.embedding import embedding
from nashdex.report.assembly.evidence.interface import Context, Parts
from nashdex.report.assembly.iterations import estimates_by, newest_gap
from nashdex.report.document import AnchorPayoff, PayoffMatrix
from nashdex.report.words import findings


def exact_parts(context: Context, matrix: ExactValues) -> Parts:
    """Return the parts of a report whose payoffs are exact."""
    rows, names = context.rows, context.names
    ordered = matrix.restricted_to(context.by_rating)
    anchors = _anchor_payoffs(context, matrix)
    return Parts(
        findings=(
            findings.exact_finding(estimates_by(rows, "exact")),
            findings.unjudged_finding(rows[-1], names) or findings.exact_best_response_finding(newest_gap(rows), names),
            findings.anchor_payoffs_finding(anchors, names),
        ),
        payoffs=PayoffMatrix(
            policies=tuple(context.by_rating),
            cells=None,
            exact=ordered.payoffs,
            imputed=context.last.analysis.imputed_cells,
            battles=0,
            full_table_battles=None,
        ),
        embedding=embedding(context.by_rating, Payoffs(ordered.array(), transitive_part(ordered.array()))),
        anchor_payoffs=anchors,
    )


def _anchor_payoffs(context: Context, matrix: ExactValues) -> tuple[AnchorPayoff, ...]:
    """Return the mixture's payoff against each anchor that is not the whole mixture."""
    strategy = context.last.meta_strategy.meta_strategy
    mixed = np.array([strategy[policy] for policy in matrix.policies]) @ matrix.array()
    return tuple(
        AnchorPayoff(opponent=anchor, payoff=float(mixed[matrix.policies.index(anchor)]))
        for anchor in context.anchors
        if strategy[anchor] < 1.0
    )
