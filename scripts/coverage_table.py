"""Print the coverage of lines and branches by package, as Markdown: ``coverage_table.py COVERAGE.json``."""

import json
import sys
from collections import defaultdict
from pathlib import Path, PurePath
from typing import Any

_PACKAGES = {path.parent.name for path in (Path(__file__).parents[1] / "services").glob("nashdex*/__init__.py")}
_COUNTS = ("covered_lines", "num_statements", "covered_branches", "num_branches")


def rows(files: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return a row for each package, and one for all: its name, lines, share of them, branches, share of them."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0] * len(_COUNTS))
    for name, file in files.items():
        parts = PurePath(name).parts
        package = next(i for i, part in enumerate(parts) if part in _PACKAGES)
        inner = parts[package + 1 : -1]
        for row in ("all", inner[0] if parts[package] == "nashdex" and inner else parts[package]):
            for place, count in enumerate(_COUNTS):
                counts[row][place] += file["summary"][count]
    ordered = sorted(counts.items(), key=lambda row: (row[0] != "all", row[0]))
    return [
        (row, f"{lines:,}", _share(covered, lines), f"{branches:,}", _share(taken, branches))
        for row, (covered, lines, taken, branches) in ordered
    ]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


def main(path: Path) -> None:
    """Print the table of a report that ``coverage json`` wrote."""
    header = ("package", "lines", "reached", "branches", "taken")
    table = [header, ("---",) * len(header), *rows(json.loads(path.read_text())["files"])]
    sys.stdout.write("".join(f"| {' | '.join(row)} |\n" for row in table))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
