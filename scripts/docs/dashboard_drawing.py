"""Draw a Grafana dashboard from its panel list: ``dashboard_drawing.py > docs/images/dashboard.svg``.

Titles, kinds and places are the dashboard's own; the curves are made up.
"""

import json
import math
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Any

DASHBOARD = Path(__file__).parents[2] / "helm" / "nashdex" / "files" / "dashboards" / "run-overview.json"

_UNIT_WIDTH, _UNIT_HEIGHT = 40, 22
_GAP = 6
_COLOURS = ("#73bf69", "#f2cc0c", "#5794f2")
_STYLE = """\
text{font-family:system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:#d8d9da}
.title{font-size:12px}.row{font-size:14px;font-weight:600}.value{font-size:26px;fill:#73bf69;text-anchor:middle}
.note{font-size:12px;text-anchor:end}
.panel{fill:#181b1f;stroke:#2c3235}.axis{stroke:#2c3235}.curve{fill:none;stroke-width:1.6}"""


def drawing() -> str:
    """Return the SVG of the dashboard."""
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    panels = dashboard["panels"]
    width = 24 * _UNIT_WIDTH + 2 * _GAP
    height = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in panels) * _UNIT_HEIGHT + 44
    title = escape(dashboard["title"])
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">',
        f"<title>{title}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#111217"/>',
        f'<text class="row" x="{2 * _GAP}" y="26">{title}</text>',
        f'<text class="note" x="{width - 2 * _GAP}" y="26">layout; values and curves are made up</text>',
    ]
    for number, panel in enumerate(panels):
        lines += _panel(panel, number)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _panel(panel: dict[str, Any], number: int) -> Iterator[str]:
    place = panel["gridPos"]
    x, y = place["x"] * _UNIT_WIDTH + _GAP, place["y"] * _UNIT_HEIGHT + 40
    width, height = place["w"] * _UNIT_WIDTH - _GAP, place["h"] * _UNIT_HEIGHT - _GAP
    title = escape(panel["title"])
    if panel["type"] == "row":
        yield f'<text class="row" x="{x + _GAP}" y="{y + 15}">⌄ {title}</text>'
        return
    yield f'<rect class="panel" x="{x}" y="{y}" width="{width}" height="{height}" rx="3"/>'
    for line_number, line in enumerate(wrap(panel["title"], width // 7)):
        yield f'<text class="title" x="{x + 8}" y="{y + 17 + 14 * line_number}">{escape(line)}</text>'
    if panel["type"] == "stat":
        yield f'<text class="value" x="{x + width / 2}" y="{y + height - 18}">{7 + 5 * number % 23}</text>'
        return
    for share in (0.3, 0.55, 0.8):
        level = y + height * share
        yield f'<path class="axis" d="M{x + 30} {level:.0f} H{x + width - 10}"/>'
    for series in range(min(2, max(1, len(panel.get("targets", []))))):
        yield _curve(x + 30, y + 34, width - 40, height - 50, number + 3 * series, _COLOURS[series])


def _curve(x: float, y: float, width: float, height: float, seed: int, colour: str) -> str:
    """Return a made-up curve that differs by ``seed``."""
    points = []
    for step in range(41):
        share = step / 40
        level = 0.5 + 0.38 * math.cos(seed + 2.2 * share) * (1 - 0.5 * share) + 0.05 * math.sin(seed * 3 + 17 * share)
        points.append(f"{x + share * width:.1f} {y + (1 - level) * height:.1f}")
    return f'<path class="curve" stroke="{colour}" d="M{" L".join(points)}"/>'


if __name__ == "__main__":
    sys.stdout.write(drawing())
