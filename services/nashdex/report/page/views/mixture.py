"""What the mixtures play: tables and charts of the meta-strategy."""

from collections.abc import Iterable, Mapping

from markupsafe import Markup

from nashdex.core.ids import PolicyId
from nashdex.report.document import IterationRow, Report
from nashdex.report.page.charts.bars import Segment, share_bar, stacked_bars
from nashdex.report.page.charts.lines import Point, Series, line_chart
from nashdex.report.words.texts import percent

Names = Mapping[PolicyId, str]
_VISIBLE_SHARE = 0.0005
"""The smallest probability that rounds to 0.1 %."""
_MOST_SHARES_LISTED = 50
"""Cells in the table of each played policy's probability in every iteration."""


def likely(report: Report) -> list[PolicyId]:
    """Return the policies that the newest mixture plays, or may by its intervals: the most probable first."""
    row = report.iterations[-1]
    shares = sorted(row.meta_strategy, key=lambda share: (-share.probability.value, -share.probability.high))
    return [share.policy for share in shares if share.probability.high >= _VISIBLE_SHARE]


def share_bars(report: Report, names: Names, colours: Mapping[PolicyId, str]) -> dict[PolicyId, Markup]:
    """Return a bar with its interval for each policy's probability in the newest mixture."""
    return {
        row.id: share_bar(
            row.probability.value,
            row.probability.low,
            row.probability.high,
            colour=colours[row.id],
            title=f"{names[row.id]}: {percent(row.probability.value)} "
            f"({percent(row.probability.low)} to {percent(row.probability.high)})",
        )
        for row in report.policies
    }


def ever_played(report: Report) -> set[PolicyId]:
    """Return the policies that some iteration's mixture plays."""
    return {s.policy for row in report.iterations for s in row.meta_strategy if s.probability.value > 0}


def lists_shares(report: Report) -> bool:
    """Say whether the page lists every policy's probability in every iteration: else ``report.json`` alone does."""
    return len(report.iterations) * len(ever_played(report)) <= _MOST_SHARES_LISTED


def strategy_chart(report: Report, names: Names, colours: Mapping[PolicyId, str]) -> Markup:
    """Return a stacked bar an iteration; policies without a colour of their own are one segment, on top."""
    bars = [(str(row.iteration), list(_segments(row, names, colours))) for row in report.iterations]
    return stacked_bars(bars, label="Probability of each policy by iteration", x_label="iteration")


def _segments(row: IterationRow, names: Names, colours: Mapping[PolicyId, str]) -> Iterable[Segment]:
    played = [share for share in row.meta_strategy if share.probability.value > 0]
    for share in played:
        if colours[share.policy] != "other":
            value = share.probability
            text = percent(value.value)
            if value.low < value.high:
                text += f" ({percent(value.low)} to {percent(value.high)})"
            title = f"Iteration {row.iteration}, {names[share.policy]}: {text}"
            yield Segment(value.value, colours[share.policy], title)
    others = [share.probability.value for share in played if colours[share.policy] == "other"]
    if others:
        title = f"Iteration {row.iteration}, {len(others)} other policies: {percent(sum(others))} together"
        yield Segment(sum(others), "other", title)


def entropy_chart(report: Report, most: float) -> Markup:
    """Return the entropy of the mixtures; the axis covers ``most``, the entropy of the newest population."""
    points = [
        Point(row.iteration, row.entropy.value, title=f"Iteration {row.iteration}: {row.entropy.value:.3f} nats")
        for row in report.iterations
    ]
    series = Series("entropy", "c0", points)
    label = "Entropy of the mixture by iteration"
    return line_chart([series], label=label, x_label="iteration", include=(0.0, most), whole_x=True)
