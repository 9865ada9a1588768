"""Print what the tests took, as Markdown: each part, and the slowest tests with what their file is for.

Reads the files that ``make test`` and ``make slow-test`` leave in ``.test-times``. Seconds of CPU are a test's
own process and of the children that it waited for: they hardly depend on what else the machine does.
"""

import argparse
import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[1]
TIMES = ROOT / ".test-times"
CPU_SECONDS = "cpu_seconds"


@dataclass(frozen=True, slots=True)
class TestTime:
    """One test: what pytest measured of it, its fixtures included."""

    part: str
    file: str
    name: str
    seconds: float
    cpu_seconds: float


def read_times(folder: Path) -> Iterator[TestTime]:
    """Yield the tests of every ``PART.xml`` in ``folder``; skipped ones are left out."""
    for path in sorted(folder.glob("*.xml")):
        for case in ET.parse(path).iter("testcase"):  # noqa: S314 - our own pytest wrote it
            if case.find("skipped") is not None:
                continue
            properties = {one.get("name"): one.get("value", "0") for one in case.iter("property")}
            yield TestTime(
                part=path.stem,
                file=f"{case.get('classname', '').replace('.', '/')}.py",
                name=case.get("name", ""),
                seconds=float(case.get("time", 0)),
                cpu_seconds=float(properties.get(CPU_SECONDS) or 0),
            )


def purpose(file: str) -> str:
    """Return the first line of a test file's docstring."""
    path = ROOT / file
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) if path.is_file() else None
    return (text or "").partition("\n")[0].rstrip(".")


def table(times: list[TestTime], slowest: int) -> Iterator[str]:
    """Yield the lines of both tables."""
    yield "| part | tests | seconds | seconds of CPU |"
    yield "|---|---|---|---|"
    for part in dict.fromkeys(time.part for time in times):
        of_part = [time for time in times if time.part == part]
        sums = sum(time.seconds for time in of_part), sum(time.cpu_seconds for time in of_part)
        yield f"| `make {part}` | {len(of_part):,} | {sums[0]:,.0f} | {sums[1]:,.0f} |"
    yield ""
    yield "| test | seconds | seconds of CPU | its file tests |"
    yield "|---|---|---|---|"
    for time in sorted(times, key=lambda time: -time.cpu_seconds)[:slowest]:
        where = time.file.removeprefix("tests/").removesuffix(".py").rpartition("/")[2]
        yield f"| `{where}`: `{time.name}` | {time.seconds:.0f} | {time.cpu_seconds:.0f} | {purpose(time.file)} |"


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slowest", type=int, default=10, help="how many tests to list (default: 10)")
    arguments = parser.parse_args()
    times = list(read_times(TIMES))
    if not times:
        sys.stderr.write(f"{TIMES} holds no times: run `make test` or `make slow-test` first\n")
        return 65
    sys.stdout.write("\n".join(table(times, arguments.slowest)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
