"""The payoff matrix as a heat map, and the picture of its cyclic part."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.report.document import Cell, Report
from nashdex.report.page.charts.disc import Dot, disc_chart
from nashdex.report.words.texts import percent, signed

Density = Literal["full", "values", "colours"]

MOST_FULL, MOST_VALUES = 10, 20
"""Policies in a heat map with the cells' intervals, and in one with their values."""
NUM_SHADES = 12
_STRONGEST_SHADE = 0.6


@dataclass(frozen=True, slots=True)
class CellView:
    """One cell of the heat map."""

    style: str
    title: str
    value: float | None
    """None where there is nothing to show."""
    shown: str = ""
    interval: Estimate | None = None


@dataclass(frozen=True, slots=True)
class MatrixView:
    """The heat map."""

    density: Density
    rows: Sequence[Sequence[CellView]]


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
        f"{cell.losses} losses in {games} battles, as sure as {cell.effective_battles:.0f} independent ones",
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


def disc_view(report: Report, names: Mapping[PolicyId, str], colours: Mapping[PolicyId, str]) -> Markup | None:
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
