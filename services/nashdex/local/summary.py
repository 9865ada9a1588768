"""What an iteration came to, in a few lines for people, from its ``report.json``."""

from nashdex.core import keys
from nashdex.core.ids import PolicyId
from nashdex.local.step_progress import describe_seconds
from nashdex.solver.report_document import Interval, IterationRow, Report
from nashdex.store.documents import read_published
from nashdex.store.protocol import ObjectStore


def summarise(store: ObjectStore, iteration: int) -> str:
    """Return the summary of an iteration whose report step is done.

    Raises:
        DataError: the report is missing or altered.
    """
    return describe_iteration(read_published(store, iteration, keys.REPORT, Report), iteration)


def describe_iteration(report: Report, iteration: int) -> str:
    """Return the lines of one iteration of ``report``."""
    row = next(row for row in report.iterations if row.iteration == iteration)
    names = {policy.id: policy.name for policy in report.policies}
    played = (
        f"{row.collection.throughput.battles:,} battles collected, {row.evaluation.battles:,} evaluated, "
        f"{describe_seconds(row.seconds)}"
    )
    lines = [f"iteration {iteration} ({iteration + 1} of {report.planned_iterations}): {played}"]
    for policy in row.new_policies:
        lines.append(f"  new policy      {names[policy]} ({policy})")
        lines.append(f"  its win rates   {' · '.join(_scores_against_anchors(report, policy))}")
    lines.append(f"  best response   {_best_response_gap(row)}")
    shares = sorted(row.meta_strategy, key=lambda share: -share.probability.value)
    support = [
        f"{names[share.policy]} {share.probability.value:.2f}" for share in shares if share.policy in row.support
    ]
    lines.append(f"  meta-strategy   {' · '.join(support)}")
    return "\n".join(lines)


def _scores_against_anchors(report: Report, policy: PolicyId) -> list[str]:
    order = report.payoffs.policies
    anchors = {row.id: row.name for row in report.policies if row.anchor and row.id != policy}
    scores = []
    for opponent, cell in zip(order, report.payoffs.cells[order.index(policy)], strict=True):
        if cell is not None and opponent in anchors:
            scores.append(f"{anchors[opponent]} {_interval(cell.rate)}")
    return scores


def _best_response_gap(row: IterationRow) -> str:
    gap = next((e.gap for e in row.exploitability if e.estimator == "best_response_gap"), None)
    if gap is not None:
        return f"gap {_interval(gap)}"
    if not row.new_policies:
        return "no gap: nobody new is in the population"
    return "no gap: the first policy answers no meta-strategy"


def _interval(interval: Interval) -> str:
    return f"{interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]"
