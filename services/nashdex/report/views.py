"""What the page draws and lists, made of ``report.json``: charts, tables and the words on their marks."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from nashdex.core.ids import PolicyId
from nashdex.report import charts
from nashdex.report.disc import Dot, disc_chart
from nashdex.report.document import Cell, Curve, Exploitability, Interval, IterationRow, Report, Training
from nashdex.report.findings import percent, precise, signed
from nashdex.report.texts import ESTIMATORS, LEARNING_CHARTS, EstimatorText, LearningChart

Names = Mapping[PolicyId, str]
Density = Literal["full", "values", "colours"]

MOST_FULL, MOST_VALUES = 10, 20
"""Policies in a heat map that shows each cell's interval, and in one that shows its value."""
NUM_SHADES = 12
_STRONGEST_SHADE = 0.6
_VISIBLE_SHARE = 0.0005
"""A probability that 0.1 % is the nearest to."""
_MOST_SHARES_TOLD = 50
"""Cells of the table of each played policy's probability in every iteration."""


@dataclass(frozen=True, slots=True)
class CellView:
    """One cell of the heat map."""

    style: str
    title: str
    value: float | None
    """None where there is nothing to show."""
    shown: str = ""
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class MatrixView:
    """The heat map."""

    density: Density
    rows: Sequence[Sequence[CellView]]


@dataclass(frozen=True, slots=True)
class EstimatorView:
    """One estimator over the iterations."""

    text: EstimatorText
    chart: Markup | None
    logarithmic: bool
    entries: Sequence[Exploitability | None]


@dataclass(frozen=True, slots=True)
class LearningView:
    """One chart of learning curves."""

    text: LearningChart
    svg: Markup
    legend: Sequence[tuple[str, str]]


def colours_of(report: Report) -> dict[PolicyId, str]:
    """Give the policies that mixtures play most, over all iterations, a colour each; the others share a grey."""
    played: Counter[PolicyId] = Counter()
    for row in report.iterations:
        for share in row.meta_strategy:
            if share.probability.value > 0:
                played[share.policy] += share.probability.value  # type: ignore[assignment] # Counter holds floats too
    order = {policy: place for place, policy in enumerate(played)}
    most = sorted(played, key=lambda policy: (-played[policy], order[policy]))[: charts.NUM_COLOURS]
    coloured = {policy: f"c{place}" for place, policy in enumerate(sorted(most, key=order.__getitem__))}
    return {row.id: coloured.get(row.id, "other") for row in report.policies}


def matrix_view(report: Report) -> MatrixView:
    """Return the heat map, with as much text in a cell as the number of policies leaves room for."""
    policies, payoffs = report.payoffs.policies, report.payoffs
    size = len(policies)
    density: Density = "full" if size <= MOST_FULL else "values" if size <= MOST_VALUES else "colours"
    imputed = {frozenset(pair) for pair in payoffs.imputed}
    largest = _large_payoff(payoffs.exact or ())

    def cell(i: int, j: int) -> CellView:
        if i == j:
            return CellView("self", "", None)
        if payoffs.exact is not None:
            value = payoffs.exact[i][j]
            return CellView(_shade(min(max(value / largest, -1.0), 1.0)), signed(value, 4), value, signed(value, 2))
        found = payoffs.cells[i][j] if payoffs.cells is not None else None
        if found is not None:
            return _battles_cell(found)
        return CellView("self", "imputed" if frozenset((policies[i], policies[j])) in imputed else "unplayed", None)

    return MatrixView(density, [[cell(i, j) for j in range(size)] for i in range(size)])


def _large_payoff(payoffs: Sequence[Sequence[float]]) -> float:
    """Return what a twentieth of the payoffs exceed in size: a few extremes would make all others pale."""
    sizes = sorted(abs(value) for i, row in enumerate(payoffs) for j, value in enumerate(row) if i != j)
    return (sizes[len(sizes) * 19 // 20] if sizes else 0.0) or 1.0


def _battles_cell(cell: Cell) -> CellView:
    rate = cell.rate
    games = cell.wins + cell.draws + cell.losses
    clear = " clear" if rate.low > 0.5 or rate.high < 0.5 else ""  # noqa: PLR2004 - an even score
    return CellView(
        _shade(2 * rate.value - 1) + clear,
        f"{rate.value:.3f} ({rate.low:.3f} to {rate.high:.3f}): {cell.wins} wins, {cell.draws} draws, "
        f"{cell.losses} losses in {games} battles",
        rate.value,
        f"{rate.value:.2f}",
        rate,
    )


def _shade(strength: float) -> str:
    """Return the class of a strength from −1 to 1."""
    return f"{'w' if strength > 0 else 'l'}{round(abs(strength) * NUM_SHADES)}"


def shades() -> Iterable[tuple[str, str, str]]:
    """Yield class, colour and opacity of every shade of the heat map."""
    for number in range(NUM_SHADES + 1):
        for letter, colour in (("w", "win"), ("l", "lose")):
            yield f"{letter}{number}", colour, f"{_STRONGEST_SHADE * number / NUM_SHADES:.2f}"


def disc_view(report: Report, names: Names, colours: Mapping[PolicyId, str]) -> Markup | None:
    """Return the picture of the cyclic part, where the report has one."""
    if report.embedding is None:
        return None
    share = {row.id: row.probability.value for row in report.policies}
    dots = [
        Dot(
            point.x,
            point.y,
            share[point.policy],
            colours[point.policy],
            names[point.policy],
            f"{names[point.policy]}: {percent(share[point.policy])} of the mixture",
        )
        for point in sorted(report.embedding.points, key=lambda point: -share[point.policy])
    ]
    return disc_chart(dots, label="Who beats whom around a circle: the largest disc of the cyclic part of the payoffs")


def likely(report: Report) -> list[PolicyId]:
    """Return the policies that the newest mixture plays, or may by its intervals: the most probable first."""
    row = report.iterations[-1]
    shares = sorted(row.meta_strategy, key=lambda share: (-share.probability.value, -share.probability.high))
    return [share.policy for share in shares if share.probability.high >= _VISIBLE_SHARE]


def share_bars(report: Report, names: Names, colours: Mapping[PolicyId, str]) -> dict[PolicyId, Markup]:
    """Return a bar with its interval for each policy's probability in the newest mixture."""
    return {
        row.id: charts.share_bar(
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


def legend(colours: Mapping[PolicyId, str]) -> list[PolicyId]:
    """Return the policies that have a colour of their own, in the order of colours."""
    return sorted((policy for policy, colour in colours.items() if colour != "other"), key=colours.__getitem__)


def known_policies(report: Report, names: Names) -> dict[PolicyId, str]:
    """Return the members' names, and those of policies that were trained and not let into the population."""
    trained = {
        training.policy: f"{'clone' if training.oracle == 'clone' else 'best response'} {row.iteration}"
        for row in report.iterations
        for training in row.training
    }
    return trained | dict(names)


def shares_told(report: Report) -> bool:
    """Say whether the page lists every policy's probability in every iteration: else ``report.json`` alone does."""
    return len(report.iterations) * len(ever_played(report)) <= _MOST_SHARES_TOLD


def strategy_chart(report: Report, names: Names, colours: Mapping[PolicyId, str]) -> Markup:
    """Return a stacked bar an iteration; policies without a colour of their own are one segment, on top."""
    bars = [(str(row.iteration), list(_segments(row, names, colours))) for row in report.iterations]
    return charts.stacked_bars(bars, label="Probability of each policy by iteration", x_label="iteration")


def _segments(row: IterationRow, names: Names, colours: Mapping[PolicyId, str]) -> Iterable[charts.Segment]:
    played = [share for share in row.meta_strategy if share.probability.value > 0]
    for share in played:
        if colours[share.policy] != "other":
            value = share.probability
            text = percent(value.value)
            if value.low < value.high:
                text += f" ({percent(value.low)} to {percent(value.high)})"
            title = f"Iteration {row.iteration}, {names[share.policy]}: {text}"
            yield charts.Segment(value.value, colours[share.policy], title)
    others = [share.probability.value for share in played if colours[share.policy] == "other"]
    if others:
        title = f"Iteration {row.iteration}, {len(others)} other policies: {percent(sum(others))} together"
        yield charts.Segment(sum(others), "other", title)


def entropy_chart(report: Report, most: float) -> Markup:
    """Return the entropy of the mixtures; the axis covers ``most``, that of the newest population."""
    points = [
        charts.Point(row.iteration, row.entropy, title=f"Iteration {row.iteration}: {row.entropy:.3f} nats")
        for row in report.iterations
    ]
    series = charts.Series("entropy", "c0", points)
    label = "Entropy of the mixture by iteration"
    return charts.line_chart([series], label=label, x_label="iteration", include=(0.0, most), whole_x=True)


def estimator_views(report: Report) -> list[EstimatorView]:
    """Return each estimator over the iterations; one that was never published has no chart."""
    return [_estimator_view(report, text) for text in ESTIMATORS]


def _estimator_view(report: Report, text: EstimatorText) -> EstimatorView:
    entries = [next((e for e in row.exploitability if e.estimator == text.name), None) for row in report.iterations]
    points = [
        charts.Point(row.iteration, entry.gap.value, entry.gap.low, entry.gap.high, _gap_title(row.iteration, entry))
        for row, entry in zip(report.iterations, entries, strict=True)
        if entry is not None
    ]
    if not points:
        return EstimatorView(text, None, logarithmic=False, entries=entries)
    logarithmic = text.name == "exact" and charts.spans_decades([point.y for point in points])
    chart = charts.line_chart(
        [charts.Series(text.title, "c0", points)],
        label=f"{text.title} by iteration",
        x_label="iteration",
        whole_x=True,
        logarithmic=logarithmic,
    )
    return EstimatorView(text, chart, logarithmic, entries)


def _gap_title(iteration: int, entry: Exploitability) -> str:
    games = "" if entry.games is None else f", {entry.games} battles"
    if entry.gap.low == entry.gap.high:
        return f"Iteration {iteration}: {precise(entry.gap.value)}{games}"
    low, high = signed(entry.gap.low, 3), signed(entry.gap.high, 3)
    return f"Iteration {iteration}: {signed(entry.gap.value, 3)} ({low} to {high}){games}"


def whiskers(report: Report, names: Names, colours: Mapping[PolicyId, str]) -> dict[PolicyId, Markup]:
    """Return each policy's Elo with its interval, all on one axis."""
    rated: list[tuple[PolicyId, Interval]] = [(row.id, row.rating.elo) for row in report.policies]
    axis = (min(elo.low for _, elo in rated), max(elo.high for _, elo in rated))
    return {
        policy: charts.whisker(
            elo.value,
            elo.low,
            elo.high,
            axis=axis,
            colour=colours[policy],
            title=f"{names[policy]}: Elo {elo.value:.0f} ({elo.low:.0f} to {elo.high:.0f})",
        )
        for policy, elo in rated
    }


def learning_views(training: Training) -> list[LearningView]:
    """Return the charts of a training's curves, those that were measured."""
    curves = {curve.name: curve for curve in training.curves}
    views = []
    for text in LEARNING_CHARTS:
        found = [(curves[name], legend) for name, legend in text.curves if name in curves]
        if not found:
            continue
        series = [charts.Series(legend, f"c{i}", _points(curve)) for i, (curve, legend) in enumerate(found)]
        svg = charts.line_chart(series, label=f"{text.title} by update", x_label="update")
        views.append(LearningView(text, svg, [(one.colour, one.name) for one in series] if len(series) > 1 else []))
    return views


def _points(curve: Curve) -> list[charts.Point]:
    return [charts.Point(update, value) for update, value in zip(curve.updates, curve.values, strict=True)]
