"""Draw nashdex's rooms and the packages beside it from their imports: ``rooms_drawing.py > docs/images/rooms.svg``.

A box is one row above the highest one that it imports. An arrow that follows from others is left out.
"""

import ast
import sys
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from html import escape
from pathlib import Path

SERVICES = Path(__file__).parents[2] / "services"

_WIDTH, _ROW, _TOP = 760, 58, 44
_BOX_WIDTH, _BOX_HEIGHT = 124, 28
_STYLE = """\
text{font-family:system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;font-size:12px;fill:#1f2937}
text{text-anchor:middle}
.paper{fill:#fff}.box{fill:#eef2ff;stroke:#4f46e5;stroke-width:1.5}.note{font-size:12px;fill:#4b5563}
.line{fill:none;stroke:#6b7280;stroke-width:1.3}"""
_ARROW = (
    '<defs><marker id="a" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="6" markerHeight="6" orient="auto">'
    '<path d="M0 0 L10 5 L0 10z" fill="#6b7280"/></marker></defs>'
)

Imports = Mapping[str, frozenset[str]]


def imports_of_rooms() -> Imports:
    """Return what each room of nashdex and each package beside it imports, also for types and inside functions."""
    found: dict[str, set[str]] = {}
    for path in SERVICES.glob("nashdex*/**/*.py"):
        box = _box(path.relative_to(SERVICES).with_suffix("").parts)
        if box is None:
            continue
        imported = found.setdefault(box, set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (other := _box((node.module or "").split("."))) is not None:
                imported.add(other)
    return {room: frozenset(others - {room}) for room, others in found.items()}


def _box(parts: Sequence[str]) -> str | None:
    """Return the room or package of a module, None for nashdex's own ``__init__`` and for other projects."""
    if parts[0] != "nashdex":
        return parts[0] if parts[0].startswith("nashdex_") else None
    return parts[1] if len(parts) > 1 and not parts[1].startswith("__") else None


def rows_of(imports: Imports) -> dict[str, int]:
    """Return the row of each box, 0 for those that import none."""
    rows: dict[str, int] = {}
    for room in TopologicalSorter(imports).static_order():
        rows[room] = 1 + max((rows[other] for other in imports[room]), default=-1)
    return rows


def arrows_of(imports: Imports) -> dict[str, list[str]]:
    """Return the imports of each box that do not follow from others."""
    below: dict[str, set[str]] = {}
    for room in TopologicalSorter(imports).static_order():
        below[room] = set(imports[room]).union(*(below[other] for other in imports[room]))
    return {
        room: sorted(other for other in others if not any(other in below[between] for between in others))
        for room, others in imports.items()
    }


def drawing() -> str:
    """Return the SVG of the boxes, the command line near the top."""
    imports = imports_of_rooms()
    rows, arrows = rows_of(imports), arrows_of(imports)
    last = max(rows.values())
    height = _TOP + (last + 1) * _ROW
    places: dict[str, tuple[float, float]] = {}
    for row in range(last, -1, -1):
        users = {
            room: [places[user][0] for user in places if room in arrows[user]] for room in rows if rows[room] == row
        }
        order = sorted(users, key=lambda room: (sum(users[room]) / len(users[room]) if users[room] else 0.0, room))
        for number, room in enumerate(order):
            places[room] = (_WIDTH * (number + 1) / (len(order) + 1), _TOP + (last - row) * _ROW + _BOX_HEIGHT / 2)
    title = "The rooms of nashdex and the packages beside it: each imports only what is below it"
    note = "an arrow is an import; arrows that follow from others are left out"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{title}">',
        f"<title>{title}</title>",
        f"<style>{_STYLE}</style>",
        _ARROW,
        f'<rect class="paper" width="{_WIDTH}" height="{height}" rx="10"/>',
        f'<text class="note" x="{_WIDTH / 2}" y="24">{note}</text>',
    ]
    for room, others in arrows.items():
        for other in others:
            (x, y), (to_x, to_y) = places[room], places[other]
            y, to_y = y + _BOX_HEIGHT / 2, to_y - _BOX_HEIGHT / 2 - 1
            bend = (to_y - y) / 2
            path = f"M{x:.0f} {y:.0f} C{x:.0f} {y + bend:.0f} {to_x:.0f} {to_y - bend:.0f} {to_x:.0f} {to_y:.0f}"
            lines.append(f'<path class="line" marker-end="url(#a)" d="{path}"/>')
    for room, (x, y) in places.items():
        left, top = x - _BOX_WIDTH / 2, y - _BOX_HEIGHT / 2
        lines.append(
            f'<rect class="box" x="{left:.0f}" y="{top:.0f}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="6"/>'
            f'<text x="{x:.0f}" y="{y + 4.5:.0f}">{escape(room)}</text>'
        )
    return "\n".join([*lines, "</svg>"]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(drawing())
