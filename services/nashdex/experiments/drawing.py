"""An experiment's learning curves as one SVG file, by the report's own charts."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from markupsafe import Markup

from nashdex.experiments.report import ArmCurve, CurvePoint
from nashdex.report.page.charts import NUM_COLOURS
from nashdex.report.page.charts.axes import HEIGHT, WIDTH
from nashdex.report.page.charts.lines import Point, Series, line_chart

_COLOURS = (
    "#2f6fb0", "#d9822b", "#3f9142", "#b5476b", "#7b5cb8", "#8a6d3b", "#2a9d9a", "#c0504d", "#6b7a2f", "#5c646e",
)  # fmt: skip
_STYLE = """
svg { font-family: system-ui, sans-serif; } .paper { fill: #fdfdfb; }
.tick { font-size: 11px; fill: #5c646e; } .title { font-size: 12px; font-weight: 600; fill: #1d2126; }
.grid { stroke: #dfe1dc; } .axis { stroke: #5c646e; opacity: .7; }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; } .band { opacity: .16; stroke: none; }
.dash1, .dash2 { stroke-dasharray: 6 8; } .dash2 { stroke-dashoffset: 7; }
"""
_TITLE, _ROW, _GAP = 20, 15, 12
_MILLION = 1e6
_CPU_MINUTES = "CPU-minutes"

Arm: TypeAlias = tuple[str, Sequence[ArmCurve]]
"""A name and its learning curves."""


def curves_drawing(arms: Sequence[Arm], *, by_cpu_minutes: bool = False) -> str | None:
    """Return an SVG file with a chart for each anchor and style; None if nothing was evaluated during training.

    Scores are over decisions, or over CPU-minutes.
    """
    kinds = dict.fromkeys((curve.anchor, curve.style) for _, curves in arms for curve in curves)
    if not kinds:
        return None
    num_rows = sum(bool(curves) for _, curves in arms)
    height = _TITLE + HEIGHT + _ROW * num_rows + _GAP
    x_label = _CPU_MINUTES if by_cpu_minutes else "million decisions"
    parts = [_chart(arms, kind, x_label, height * place) for place, kind in enumerate(kinds)]
    colours = "".join(
        f".c{i} {{ fill: {colour}; }} .line.c{i} {{ fill: none; stroke: {colour}; }}\n"
        for i, colour in enumerate(_COLOURS[:NUM_COLOURS])
    )
    total = height * len(kinds)
    return str(
        Markup(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{2}" height="{3}">\n'
            '<style>{4}</style>\n<rect class="paper" width="{0}" height="{1}"/>\n{5}\n</svg>\n'
        ).format(WIDTH, total, 2 * WIDTH, 2 * total, Markup(_STYLE + colours), Markup("\n").join(parts))  # noqa: S704 - constants
    )


def _chart(arms: Sequence[Arm], kind: tuple[str, str], x_label: str, top: int) -> Markup:
    anchor, style = kind
    series = list(_series(arms, kind, x_label))
    drawn = line_chart(series, label=f"Score against {anchor} by {x_label}", x_label=x_label, include=(0.5,))
    rows = [
        Markup(
            '<rect class="{}" x="10" y="{}" width="9" height="9"/><text class="tick" x="24" y="{}">{}</text>'
        ).format(one.colour, top + _TITLE + HEIGHT + _ROW * row, top + _TITLE + HEIGHT + _ROW * row + 9, one.name)
        for row, one in enumerate(series)
    ]
    title = Markup('<text class="title" x="10" y="{}">Score against {}, {} play</text>').format(top + 15, anchor, style)
    inner = Markup('<svg x="0" y="{}" width="{}" height="{}">{}</svg>').format(top + _TITLE, WIDTH, HEIGHT, drawn)
    return title + inner + Markup("").join(rows)


def _series(arms: Sequence[Arm], kind: tuple[str, str], x_label: str) -> Iterator[Series]:
    for place, (name, curves) in enumerate(arms):
        for curve in curves:
            if (curve.anchor, curve.style) == kind:
                points = [_point(point, x_label) for point in curve.points]
                yield Series(name, f"c{place % NUM_COLOURS}", points, has_band=True)


def _point(point: CurvePoint, x_label: str) -> Point:
    title = (
        f"{point.score.value:.3f} [{point.score.low:.3f}, {point.score.high:.3f}] after {point.decisions:,.0f} "
        f"decisions, {point.cpu_minutes:,.1f} CPU-minutes"
    )
    low, high = max(0.0, point.score.low), min(1.0, point.score.high)
    x = point.cpu_minutes if x_label == _CPU_MINUTES else point.decisions / _MILLION
    return Point(x, point.score.value, low, high, title)
