"""A panel as lines of text."""

from collections.abc import Iterator

from nashdex.evaluator.panel import ANCHOR_ELO, Elo, Panel, PanelRow

HEADINGS = ("opponent", "score", "95 % interval", "draws as losses", "battles", "Elo difference")


def panel_cells(row: PanelRow) -> tuple[str, ...]:
    """Return a row's cells, in the order of ``HEADINGS``."""
    result = row.result
    lost = "" if result.score_draws_as_losses is None else f"{result.score_draws_as_losses:.3f}"
    return (
        result.p2,
        f"{result.score:.3f}",
        f"{result.low:.3f} to {result.high:.3f}",
        lost,
        f"{result.battles:,}",
        f"{row.elo.value:+.0f} ({row.elo.low:+.0f} to {row.elo.high:+.0f})",
    )


def panel_lines(panel: Panel) -> Iterator[str]:
    """Yield the table, then the rating and the worst matchup."""
    rows = [HEADINGS, *map(panel_cells, panel.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    if panel.elo is not None:
        yield f"{panel.policy} has Elo {_elo(panel.elo)} where {panel.anchor} has {ANCHOR_ELO:.0f}"
    worst = panel.worst.result
    yield f"worst matchup: {worst.p2}, {worst.score:.3f} ({worst.low:.3f} to {worst.high:.3f})"


def _elo(elo: Elo) -> str:
    return f"{elo.value:.0f} ({elo.low:.0f} to {elo.high:.0f})"
