"""Axes: ticks, their labels, and where values lie between them."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup


def svg(label: str, parts: Sequence[Markup], width: int, height: int) -> Markup:
    """Return ``parts`` as one drawing; ``label`` describes it to screen readers."""
    return Markup('<svg role="img" aria-label="{}" viewBox="0 0 {} {}">{}</svg>').format(
        label, width, height, Markup("").join(parts)
    )


WIDTH, HEIGHT = 320, 176
LEFT, RIGHT, TOP, BOTTOM = 46, 8, 8, 30
"""Margins around the plotted area."""
LETTER = 6.2
"""Width of a letter of a label: enough for every usual sans-serif font."""
_ROUNDING = 1e-6
_NO_RANGE = 1e-10
"""Values that differ by less than this differ by rounding."""
_OUTSIDE = 1e-3
"""Share of a step that may lie outside the ticks: a rounding error below 0 needs no tick."""

SMALLEST = 1e-9
"""What is below this is zero up to rounding, and lies on the lowest line of a logarithmic axis."""
_MANY_TIMES = 100.0
_PLAIN_POWERS = range(-2, 4)
_SMALLEST_PLAIN_POWER = -4
"""Ticks closer than this power of ten are written as its multiples."""
_SUPERSCRIPTS = str.maketrans("−0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Scale = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Axis:
    """A y axis."""

    ticks: Sequence[tuple[float, str]]
    """Scaled height and label, by rising height."""
    scaled: Scale


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
    """Return the ticks as text, all with as many decimals as their step needs, or with the same power of ten."""
    step = min((b - a for a, b in itertools.pairwise(ticks)), default=1.0)
    power = math.floor(math.log10(step) + _ROUNDING)
    if power < _SMALLEST_PLAIN_POWER:
        return [f"{tick / 10.0**power:.3g}·{decade_label(power)}".replace("-", "−") if tick else "0" for tick in ticks]
    decimals = next((d for d in range(9) if abs(step * 10**d - round(step * 10**d)) < _ROUNDING), 9)
    return [f"{tick:,.{decimals}f}".replace("-", "−") for tick in ticks]


def spans_decades(values: Sequence[float]) -> bool:
    """Say whether a logarithmic axis fits: no value is below 0, and the largest is 100 times the smallest."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return low >= 0 and high >= _MANY_TIMES * max(low, SMALLEST)


def decade_powers(low: float, high: float) -> list[int]:
    """Return at most 6 evenly spaced powers of ten that cover [low, high], both positive."""
    first, last = math.floor(math.log10(low) + _ROUNDING), math.ceil(math.log10(high) - _ROUNDING)
    step = max(1, math.ceil((last - first) / 5))
    return list(range(last - step * max(1, math.ceil((last - first) / step)), last + 1, step))


def decade_label(power: int) -> str:
    """Return a power of ten as text: ``10``, ``0.1``, ``10⁻³``."""
    superscript = str(power).replace("-", "−").translate(_SUPERSCRIPTS)
    return f"{10.0**power:g}" if power in _PLAIN_POWERS else f"10{superscript}"


def linear_axis(values: Sequence[float]) -> Axis:
    """Return a linear axis that covers ``values``."""
    ticks = nice_ticks(min(values), max(values))
    return Axis(list(zip(ticks, tick_labels(ticks), strict=True)), lambda y: y)


def decade_axis(values: Sequence[float]) -> Axis:
    """Return powers of ten down to the smallest value that is not zero up to rounding, and a line for those below."""
    powers = decade_powers(min(v for v in values if v >= SMALLEST), max(values))
    ticks = [(float(power), decade_label(power)) for power in powers]
    zero = 2.0 * powers[0] - powers[1]
    if min(values) < SMALLEST:
        ticks = [(zero, "0"), *ticks]
    return Axis(ticks, lambda y: math.log10(y) if y >= SMALLEST else zero)


def grid(px: Scale, x_ticks: Sequence[float], y_ticks: Sequence[tuple[float, str]], x_label: str) -> Markup:
    """Return grid lines and labels; ``y_ticks`` are heights in the drawing with their labels."""
    parts = []
    for height, text in y_ticks:
        parts.append(
            Markup('<line class="{}" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>').format(
                "axis" if _is_zero(text) else "grid", LEFT, WIDTH - RIGHT, height, height
            )
        )
        parts.append(
            Markup('<text class="tick" x="{}" y="{:.1f}" text-anchor="end">{}</text>').format(
                LEFT - 6, height + 3.5, text
            )
        )
    parts.extend(
        Markup('<text class="tick" x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(
            min(px(tick), WIDTH - LETTER * len(text) / 2), HEIGHT - BOTTOM + 13, text
        )
        for tick, text in zip(x_ticks, tick_labels(x_ticks), strict=True)
    )
    parts.append(
        Markup('<text class="tick" x="{}" y="{}" text-anchor="middle">{}</text>').format(
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 3, x_label
        )
    )
    return Markup("").join(parts)


def _is_zero(text: str) -> bool:
    return not text.strip("0.")
