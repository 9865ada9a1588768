"""An experiment's learning curves as one SVG file, by the report's own charts."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

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

Arm: TypeAlias = tuple[str, Sequence[ArmCurve]]
"""A name and its learning curves."""


class Axis(NamedTuple):
    """What a chart's scores are drawn over."""

    label: str
    value: Callable[[CurvePoint], float]


DECISIONS = Axis("million decisions", lambda point: point.decisions / _MILLION)
CPU_MINUTES = Axis("CPU-minutes", lambda point: point.cpu_minutes)


def curves_drawing(arms: Sequence[Arm], axis: Axis = DECISIONS) -> str | None:
    """Return an SVG file with a chart for each anchor and style; None if nothing was evaluated during training.

    Arms with the same curves, such as those that share a run, are one line with both names.
    """
    arms = _with_equal_ones_joined(arms)
    kinds = dict.fromkeys((curve.anchor, curve.style) for _, curves in arms for curve in curves)
    if not kinds:
        return None
    num_rows = sum(bool(curves) for _, curves in arms)
    height = _TITLE + HEIGHT + _ROW * num_rows + _GAP
    parts = [_chart(arms, kind, axis, height * place) for place, kind in enumerate(kinds)]
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


def _with_equal_ones_joined(arms: Sequence[Arm]) -> list[Arm]:
    joined: list[Arm] = []
    for name, curves in arms:
        equal = next((place for place, (_, others) in enumerate(joined) if curves and others == curves), None)
        if equal is None:
            joined.append((name, curves))
        else:
            joined[equal] = (f"{joined[equal][0]}, {name}", curves)
    return joined


def _chart(arms: Sequence[Arm], kind: tuple[str, str], axis: Axis, top: int) -> Markup:
    anchor, style = kind
    series = list(_series(arms, kind, axis))
    drawn = line_chart(series, label=f"Score against {anchor} by {axis.label}", x_label=axis.label, include=(0.5,))
    rows = [
        Markup(
            '<rect class="{}" x="10" y="{}" width="9" height="9"/><text class="tick" x="24" y="{}">{}</text>'
        ).format(one.colour, top + _TITLE + HEIGHT + _ROW * row, top + _TITLE + HEIGHT + _ROW * row + 9, one.name)
        for row, one in enumerate(series)
    ]
    title = Markup('<text class="title" x="10" y="{}">Score against {}, {} play</text>').format(top + 15, anchor, style)
    inner = Markup('<svg x="0" y="{}" width="{}" height="{}">{}</svg>').format(top + _TITLE, WIDTH, HEIGHT, drawn)
    return title + inner + Markup("").join(rows)


def _series(arms: Sequence[Arm], kind: tuple[str, str], axis: Axis) -> Iterator[Series]:
    for place, (name, curves) in enumerate(arms):
        for curve in curves:
            if (curve.anchor, curve.style) == kind:
                points = [_point(point, axis) for point in curve.points]
                yield Series(name, f"c{place % NUM_COLOURS}", points, has_band=True)


def _point(point: CurvePoint, axis: Axis) -> Point:
    title = (
        f"{point.score.value:.3f} [{point.score.low:.3f}, {point.score.high:.3f}] after {point.decisions:,.0f} "
        f"decisions, {point.cpu_minutes:,.1f} CPU-minutes"
    )
    low, high = max(0.0, point.score.low), min(1.0, point.score.high)
    return Point(axis.value(point), point.score.value, low, high, title)
