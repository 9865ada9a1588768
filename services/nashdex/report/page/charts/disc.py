"""A game's cyclic part: policies as points in a plane, labelled where there is room."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from nashdex.report.page.charts.axes import LETTER

WIDTH, HEIGHT = 460, 400
_MARGIN = 44
_SMALLEST_RADIUS, _LARGEST_RADIUS = 3.5, 13.0
_LINE = 12.0
"""Height of a label's line, in the drawing's units."""
_GAP = 3.0


@dataclass(frozen=True, slots=True)
class Dot:
    """One policy."""

    x: float
    y: float
    """Upwards."""
    share: float
    """Probability in the meta-strategy; sets the area."""
    colour: str
    name: str
    title: str


@dataclass(frozen=True, slots=True)
class _Box:
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "_Box") -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def inside(self) -> bool:
        return self.left >= 0 and self.top >= 0 and self.right <= WIDTH and self.bottom <= HEIGHT


def disc_chart(dots: Sequence[Dot], *, label: str) -> Markup:
    """Return ``dots`` around their common centre, which is marked. Labels that would overlap are left out.

    Earlier dots get their labels first. ``label`` describes the chart for screen readers.
    """
    reach = max(math.hypot(dot.x, dot.y) for dot in dots) or 1.0
    scale = (min(WIDTH, HEIGHT) / 2 - _MARGIN) / reach
    centre_x, centre_y = WIDTH / 2, HEIGHT / 2
    circles = [
        (
            centre_x + scale * dot.x,
            centre_y - scale * dot.y,
            _SMALLEST_RADIUS + (_LARGEST_RADIUS - _SMALLEST_RADIUS) * math.sqrt(dot.share),
        )
        for dot in dots
    ]
    ring = scale * reach
    parts = [
        Markup('<circle class="ring" cx="{}" cy="{}" r="{:.1f}"/>').format(centre_x, centre_y, ring),
        Markup('<path class="axis" d="M{} {}h12m-6 -6v12"/>').format(centre_x - 6, centre_y),
    ]
    # The largest first, so that no point hides a smaller one.
    for dot, (x, y, radius) in sorted(zip(dots, circles, strict=True), key=lambda drawn: -drawn[1][2]):
        parts.append(
            Markup('<circle class="dot {}" cx="{:.1f}" cy="{:.1f}" r="{:.1f}"><title>{}</title></circle>').format(
                dot.colour, x, y, radius, dot.title
            )
        )
    taken = [
        _Box(centre_x - 6, centre_y - 6, centre_x + 6, centre_y + 6),
        *(_Box(x - radius, y - radius, x + radius, y + radius) for x, y, radius in circles),
    ]
    for dot, circle in zip(dots, circles, strict=True):
        box = _free_place(dot.name, circle, taken)
        if box is not None:
            taken.append(box)
            parts.append(
                Markup('<text class="label" x="{:.1f}" y="{:.1f}">{}</text>').format(box.left, box.bottom - 3, dot.name)
            )
    return Markup('<svg class="disc" role="img" aria-label="{}" viewBox="0 0 {} {}">{}</svg>').format(
        label, WIDTH, HEIGHT, Markup("").join(parts)
    )


def _free_place(name: str, circle: tuple[float, float, float], taken: Sequence[_Box]) -> _Box | None:
    """Return where a label fits beside its circle: right, left, above, below, then from one of its ends or corners."""
    x, y, radius = circle
    width, away = LETTER * len(name), radius + _GAP
    corner = away * math.sqrt(0.5)
    for left, middle in (
        (x + away, y),
        (x - away - width, y),
        (x - width / 2, y - away - _LINE / 2),
        (x - width / 2, y + away + _LINE / 2),
        (x, y - away - _LINE / 2),
        (x - width, y - away - _LINE / 2),
        (x, y + away + _LINE / 2),
        (x - width, y + away + _LINE / 2),
        (x + corner, y - corner - _LINE / 2),
        (x + corner, y + corner + _LINE / 2),
        (x - corner - width, y - corner - _LINE / 2),
        (x - corner - width, y + corner + _LINE / 2),
    ):
        box = _Box(left, middle - _LINE / 2, left + width, middle + _LINE / 2)
        if box.inside() and not any(box.overlaps(other) for other in taken):
            return box
    return None
