"""The report's charts as inline SVG, small enough for a phone, coloured by the page's own style sheet.

Colours are classes (``c0`` … ``c9``), so that one drawing serves light, dark and print. Every mark has a ``<title>``
with its numbers, which a browser shows on hover and a screen reader reads.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

WIDTH, HEIGHT = 320, 176
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 8, 8, 30
NUM_COLOURS = 10
_WIDEST_BAR = 48
_MOST_LARGE_MARKS = 25
_ROUNDING = 1e-6
_NO_RANGE = 1e-10
"""Values that differ by less than this differ by rounding."""
_OUTSIDE = 1e-3
"""Of a step, that may lie outside the ticks: a rounding error below 0 needs no tick of its own."""

SMALLEST = 1e-9
"""What is below this is zero up to rounding, and stands on the lowest line of a logarithmic axis."""
_MANY_TIMES = 100.0
_PLAIN_POWERS = range(-2, 4)
_SUPERSCRIPTS = str.maketrans("−0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

_Scale = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Point:
    """One measured value, with its interval where it has one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    title: str = ""
    """What hovering shows; empty draws no mark, only the line."""


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one thing, by rising x."""

    name: str
    colour: str
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a stacked bar."""

    share: float
    colour: str
    title: str


@dataclass(frozen=True, slots=True)
class _Axis:
    """Where values stand on a y axis."""

    ticks: Sequence[tuple[float, str]]
    """Scaled, by rising height, and what stands beside them."""
    scaled: _Scale


def nice_ticks(low: float, high: float, at_most: int = 5) -> list[float]:
    """Return at most ``at_most`` + 1 multiples of 1, 2, 2.5 or 5 times a power of ten that cover [low, high]."""
    if high - low < _NO_RANGE * max(1.0, abs(low), abs(high)):
        high = low + 1.0
    rough = (high - low) / at_most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(
        power * factor
        for factor in (1.0, 2.0, 2.5, 5.0, 10.0, 20.0)
        if math.ceil(high / (power * factor) - _OUTSIDE) - math.floor(low / (power * factor) + _OUTSIDE) <= at_most
    )
    first, last = math.floor(low / step + _OUTSIDE), math.ceil(high / step - _OUTSIDE)
    return [round(i * step, 12) for i in range(first, last + 1)]


def tick_labels(ticks: Sequence[float]) -> list[str]:
    """Return the ticks as text, all with as many decimals as their step needs."""
    step = min((b - a for a, b in itertools.pairwise(ticks)), default=1.0)
    decimals = next((d for d in range(9) if abs(step * 10**d - round(step * 10**d)) < _ROUNDING), 9)
    return [f"{tick:,.{decimals}f}".replace("-", "−") for tick in ticks]


def spans_decades(values: Sequence[float]) -> bool:
    """Say whether a logarithmic axis tells more than a linear one: no value is below 0, some 100 times others."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return low >= 0 and high >= _MANY_TIMES * max(low, SMALLEST)


def decade_powers(low: float, high: float, at_most: int = 5) -> list[int]:
    """Return at most ``at_most`` + 1 evenly spaced powers of ten that cover [low, high], both positive."""
    first, last = math.floor(math.log10(low) + _ROUNDING), math.ceil(math.log10(high) - _ROUNDING)
    step = max(1, math.ceil((last - first) / at_most))
    return list(range(last - step * max(1, math.ceil((last - first) / step)), last + 1, step))


def decade_label(power: int) -> str:
    """Return a power of ten as text: ``10``, ``0.1``, ``10⁻³``."""
    superscript = str(power).replace("-", "−").translate(_SUPERSCRIPTS)
    return f"{10.0**power:g}" if power in _PLAIN_POWERS else f"10{superscript}"


def _linear_axis(values: Sequence[float]) -> "_Axis":
    ticks = nice_ticks(min(values), max(values))
    return _Axis(list(zip(ticks, tick_labels(ticks), strict=True)), lambda y: y)


def _decade_axis(values: Sequence[float]) -> "_Axis":
    """Return powers of ten down to the smallest value that is not zero up to rounding, and a line for those below."""
    powers = decade_powers(min(v for v in values if v >= SMALLEST), max(values))
    ticks = [(float(power), decade_label(power)) for power in powers]
    zero = 2.0 * powers[0] - powers[1]
    if min(values) < SMALLEST:
        ticks = [(zero, "0"), *ticks]
    return _Axis(ticks, lambda y: math.log10(y) if y >= SMALLEST else zero)


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
        series: what to draw; none without points.
        label: what the chart shows, for those who cannot see it.
        x_label: what stands under the x axis.
        include: values of y that a linear axis always covers.
        whole_x: ticks only at whole x, for iterations.
        logarithmic: a y axis of powers of ten; something must reach ``SMALLEST``.
    """
    points = [point for one in series for point in one.points]
    if not points:
        return Markup('<p class="none">Nothing was measured.</p>')
    bounds = [v for p in points for v in (p.y, p.low, p.high) if v is not None]
    axis = _decade_axis(bounds) if logarithmic else _linear_axis([*bounds, *include])
    bottom, top = axis.ticks[0][0], axis.ticks[-1][0]
    xs = [p.x for p in points]
    x_low, x_high = min(xs), max(xs)
    if x_low == x_high:
        x_low, x_high = x_low - 0.5, x_high + 0.5
    elif whole_x:
        x_low, x_high = x_low - 0.2, x_high + 0.2
    x_ticks = [t for t in nice_ticks(x_low, x_high, 6) if x_low <= t <= x_high and (not whole_x or t == round(t))]

    def px(x: float) -> float:
        return _LEFT + (x - x_low) / (x_high - x_low) * (WIDTH - _LEFT - _RIGHT)

    def height(scaled: float) -> float:
        return HEIGHT - _BOTTOM - (scaled - bottom) / (top - bottom) * (HEIGHT - _TOP - _BOTTOM)

    def py(y: float) -> float:
        return height(axis.scaled(y))

    parts = [_axes(px, x_ticks, [(height(at), text) for at, text in axis.ticks], x_label)]
    for number, one in enumerate(series):
        path = "".join(f"{'L' if i else 'M'}{px(p.x):.1f} {py(p.y):.1f}" for i, p in enumerate(one.points))
        # Dashes differ, so that lines that lie on each other can all be seen.
        parts.append(
            Markup('<path class="line {} dash{}" d="{}"><title>{}</title></path>').format(
                one.colour, number, path, one.name
            )
        )
        radius = 3.5 if len(one.points) <= _MOST_LARGE_MARKS else 2.0
        parts.extend(_mark(p, one.colour, radius, px(p.x), py) for p in one.points if p.title)
    return _svg(label, parts, WIDTH, HEIGHT)


def stacked_bars(bars: Sequence[tuple[str, Sequence[Segment]]], *, label: str, x_label: str) -> Markup:
    """Return one bar of height 1 for each (name, segments), the first segment lowest."""
    if not bars:
        return Markup('<p class="none">Nothing was measured.</p>')
    pitch = (WIDTH - _LEFT - _RIGHT) / len(bars)
    width = min(0.82 * pitch, _WIDEST_BAR)

    def py(y: float) -> float:
        return HEIGHT - _BOTTOM - y * (HEIGHT - _TOP - _BOTTOM)

    def px(x: float) -> float:
        return _LEFT + (x + 0.5) * pitch

    shown_every = math.ceil(len(bars) / 12)
    parts = [_axes(px, [], [(py(tick), f"{tick:.2f}") for tick in (0.0, 0.25, 0.5, 0.75, 1.0)], x_label)]
    for index, (name, segments) in enumerate(bars):
        base = 0.0
        for segment in segments:
            parts.append(
                Markup('<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}">').format(
                    segment.colour,
                    px(index) - width / 2,
                    py(base + segment.share),
                    width,
                    py(base) - py(base + segment.share),
                )
                + Markup("<title>{}</title></rect>").format(segment.title)
            )
            base += segment.share
        if index % shown_every == 0:
            parts.append(
                Markup('<text class="tick" x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(
                    px(index), HEIGHT - _BOTTOM + 13, name
                )
            )
    return _svg(label, parts, WIDTH, HEIGHT)


def whisker(value: float, low: float, high: float, *, axis: tuple[float, float], colour: str, title: str) -> Markup:
    """Return one value with its interval on a horizontal ``axis``, to stand in a table's cell."""
    width, height = 125, 18

    def px(x: float) -> float:
        return 6 + (x - axis[0]) / (axis[1] - axis[0] or 1.0) * (width - 12)

    parts = [
        Markup('<line class="axis" x1="0" x2="{}" y1="9" y2="9"/>').format(width),
        Markup('<line class="line {}" x1="{:.1f}" x2="{:.1f}" y1="9" y2="9"/>').format(colour, px(low), px(high)),
        Markup('<circle class="{}" cx="{:.1f}" cy="9" r="4"><title>{}</title></circle>').format(
            colour, px(value), title
        ),
    ]
    return _svg(title, parts, width, height)


def share_bar(value: float, low: float, high: float, *, colour: str, title: str) -> Markup:
    """Return a bar from 0 to ``value`` of 1 with its interval, to stand in a table's cell."""
    width, height = 200, 18

    def px(x: float) -> float:
        return 2 + x * (width - 4)

    parts = [
        Markup('<rect class="back" x="2" y="4" width="{}" height="10"/>').format(width - 4),
        Markup('<rect class="{}" x="2" y="4" width="{:.1f}" height="10"><title>{}</title></rect>').format(
            colour, px(value) - 2, title
        ),
    ]
    if low < high:
        ends = Markup('<path class="interval" d="M{0:.1f} 9H{1:.1f}M{0:.1f} 6V12M{1:.1f} 6V12"/>')
        parts.append(ends.format(px(low), px(high)))
    return _svg(title, parts, width, height)


def _mark(point: Point, colour: str, radius: float, x: float, py: _Scale) -> Markup:
    whiskers = Markup("")
    if point.low is not None and point.high is not None:
        whiskers = Markup('<line class="line {}" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>').format(
            colour, x, x, py(point.low), py(point.high)
        )
    return whiskers + Markup('<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{}"><title>{}</title></circle>').format(
        colour, x, py(point.y), radius, point.title
    )


def _axes(px: _Scale, x_ticks: Sequence[float], y_ticks: Sequence[tuple[float, str]], x_label: str) -> Markup:
    """Return the grid; ``y_ticks`` are heights in the drawing and what stands beside them."""
    parts = []
    for height, text in y_ticks:
        parts.append(
            Markup('<line class="{}" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>').format(
                "axis" if _is_zero(text) else "grid", _LEFT, WIDTH - _RIGHT, height, height
            )
        )
        parts.append(
            Markup('<text class="tick" x="{}" y="{:.1f}" text-anchor="end">{}</text>').format(
                _LEFT - 6, height + 3.5, text
            )
        )
    parts.extend(
        Markup('<text class="tick" x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(
            px(tick), HEIGHT - _BOTTOM + 13, text
        )
        for tick, text in zip(x_ticks, tick_labels(x_ticks), strict=True)
    )
    parts.append(
        Markup('<text class="tick" x="{}" y="{}" text-anchor="middle">{}</text>').format(
            (_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 3, x_label
        )
    )
    return Markup("").join(parts)


def _is_zero(text: str) -> bool:
    return not text.strip("0.")


def _svg(label: str, parts: Sequence[Markup], width: int, height: int) -> Markup:
    return Markup('<svg role="img" aria-label="{}" viewBox="0 0 {} {}">{}</svg>').format(
        label, width, height, Markup("").join(parts)
    )
