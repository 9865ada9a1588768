"""Bars: one stacked bar per iteration, and small ones for the cells of a table."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from nashdex.report.page.charts.axes import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, grid, svg

_WIDEST_BAR = 48


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a stacked bar."""

    share: float
    colour: str
    title: str


def stacked_bars(bars: Sequence[tuple[str, Sequence[Segment]]], *, label: str, x_label: str) -> Markup:
    """Return one bar of height 1 for each (name, segments), the first segment lowest."""
    if not bars:
        return Markup('<p class="none">Nothing was measured.</p>')
    pitch = (WIDTH - LEFT - RIGHT) / len(bars)
    width = min(0.82 * pitch, _WIDEST_BAR)

    def py(y: float) -> float:
        return HEIGHT - BOTTOM - y * (HEIGHT - TOP - BOTTOM)

    def px(x: float) -> float:
        return LEFT + (x + 0.5) * pitch

    shown_every = math.ceil(len(bars) / 12)
    parts = [grid(px, [], [(py(tick), f"{tick:.2f}") for tick in (0.0, 0.25, 0.5, 0.75, 1.0)], x_label)]
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
                    px(index), HEIGHT - BOTTOM + 13, name
                )
            )
    return svg(label, parts, WIDTH, HEIGHT)


def whisker(value: float, low: float, high: float, *, axis: tuple[float, float], colour: str, title: str) -> Markup:
    """Return one value with its interval on a horizontal ``axis``, for a table cell."""
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
    return svg(title, parts, width, height)


def share_bar(value: float, low: float, high: float, *, colour: str, title: str) -> Markup:
    """Return a bar from 0 to ``value`` of 1 with its interval, for a table cell."""
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
    return svg(title, parts, width, height)
