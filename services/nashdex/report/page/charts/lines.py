"""Lines over a common x, with whiskers where points carry intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from nashdex.report.page.charts.axes import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Scale,
    decade_axis,
    grid,
    linear_axis,
    nice_ticks,
    svg,
)

_MOST_LARGE_MARKS = 25


@dataclass(frozen=True, slots=True)
class Point:
    """One measured value, with its interval where it has one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    title: str = ""
    """Shown on hover. An empty title draws no mark, only the line."""


@dataclass(frozen=True, slots=True)
class Series:
    """One line, by rising x."""

    name: str
    colour: str
    points: Sequence[Point]
    has_band: bool = False
    """Whether intervals are an area around the line, not whiskers."""


def line_chart(
    series: Sequence[Series],
    *,
    label: str,
    x_label: str,
    include: Sequence[float] = (0.0,),
    whole_x: bool = False,
    logarithmic: bool = False,
) -> Markup:
    """Return lines over a common x, with whiskers where points carry intervals.

    Args:
        series: the lines.
        label: description for screen readers.
        x_label: label of the x axis.
        include: values of y that a linear axis always covers.
        whole_x: ticks only at whole x, for iterations.
        logarithmic: a y axis of powers of ten; at least one value must reach ``SMALLEST``.
    """
    points = [point for one in series for point in one.points]
    if not points:
        return Markup('<p class="none">Nothing was measured.</p>')
    bounds = [v for p in points for v in (p.y, p.low, p.high) if v is not None]
    axis = decade_axis(bounds) if logarithmic else linear_axis([*bounds, *include])
    bottom, top = axis.ticks[0][0], axis.ticks[-1][0]
    xs = [p.x for p in points]
    x_low, x_high = min(xs), max(xs)
    if x_low == x_high:
        x_low, x_high = x_low - 0.5, x_high + 0.5
    elif whole_x:
        x_low, x_high = x_low - 0.2, x_high + 0.2
    x_ticks = [t for t in nice_ticks(x_low, x_high, 6) if x_low <= t <= x_high and (not whole_x or t == round(t))]

    def px(x: float) -> float:
        return LEFT + (x - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT)

    def height(scaled: float) -> float:
        return HEIGHT - BOTTOM - (scaled - bottom) / (top - bottom) * (HEIGHT - TOP - BOTTOM)

    def py(y: float) -> float:
        return height(axis.scaled(y))

    parts = [grid(px, x_ticks, [(height(at), text) for at, text in axis.ticks], x_label)]
    parts.extend(_band(one, px, py) for one in series if one.has_band)
    for number, one in enumerate(series):
        path = "".join(f"{'L' if i else 'M'}{px(p.x):.1f} {py(p.y):.1f}" for i, p in enumerate(one.points))
        # Dashes differ, so overlapping lines can all be seen.
        parts.append(
            Markup('<path class="line {} dash{}" d="{}"><title>{}</title></path>').format(
                one.colour, number, path, one.name
            )
        )
        radius = 3.5 if len(one.points) <= _MOST_LARGE_MARKS else 2.0
        parts.extend(_mark(p, one, radius, px(p.x), py) for p in one.points if p.title)
    return svg(label, parts, WIDTH, HEIGHT)


def _band(series: Series, px: Scale, py: Scale) -> Markup:
    """Return the area between the ends of the intervals."""
    bounded = [(p.x, p.low, p.high) for p in series.points if p.low is not None and p.high is not None]
    corners = [(x, high) for x, _, high in bounded] + [(x, low) for x, low, _ in reversed(bounded)]
    path = " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in corners)
    return Markup('<polygon class="band {}" points="{}"/>').format(series.colour, path)


def _mark(point: Point, series: Series, radius: float, x: float, py: Scale) -> Markup:
    whiskers, colour = Markup(""), series.colour
    if not series.has_band and point.low is not None and point.high is not None:
        whiskers = Markup('<line class="line {}" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>').format(
            colour, x, x, py(point.low), py(point.high)
        )
    return whiskers + Markup('<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{}"><title>{}</title></circle>').format(
        colour, x, py(point.y), radius, point.title
    )
