"""Draw learning curves that docs keep as a table, so that a picture outlives the runs.

curves_picture.py table ANCHOR NAME=RUN_URI … >> docs/research/NAME.csv   appends the greedy curves of runs
curves_picture.py draw ANCHOR docs/research/NAME.csv > docs/images/NAME.svg                   over decisions
curves_picture.py draw-cpu ANCHOR docs/research/NAME.csv > docs/images/NAME-cpu-minutes.svg   over CPU-minutes
"""

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.store import open_store
from nashdex.store.documents import read_from_shards
from nashdex_lab.experiments.estimates import ClusteredEstimate
from nashdex_lab.experiments.page import CPU_MINUTES, DECISIONS, curves_drawing
from nashdex_lab.experiments.report import ArmCurve, CurvePoint

_SECONDS_PER_MINUTE = 60


def rows_of_run(name: str, run_uri: str, anchor: str) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a run's greedy learning curve in iteration 1, which trained one policy."""
    (trained,) = read_from_shards(open_store(run_uri), 1, StepName.TRAIN, 1, TRAINING_RESULT, TrainingResult)
    for each in trained.evaluations:
        if each.anchor == anchor and each.style == "greedy":
            minutes = each.cpu_seconds / _SECONDS_PER_MINUTE
            yield (
                name,
                str(each.decisions),
                f"{minutes:.1f}",
                f"{each.score:.3f}",
                f"{each.low:.3f}",
                f"{each.high:.3f}",
            )


def curves(table: Path, anchor: str) -> list[tuple[str, tuple[ArmCurve, ...]]]:
    """Return the curves of a table by the name of the run, in its order."""
    points: dict[str, list[CurvePoint]] = {}
    with table.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            score = ClusteredEstimate(
                value=float(row["score"]), low=float(row["low"]), high=float(row["high"]), unit="battles"
            )
            point = CurvePoint(decisions=float(row["decisions"]), cpu_minutes=float(row["cpu_minutes"]), score=score)
            points.setdefault(row["run"], []).append(point)
    return [(name, (ArmCurve(anchor=anchor, style="greedy", points=tuple(each)),)) for name, each in points.items()]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["table", wanted, *runs]:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            for run in runs:
                name, _, uri = run.partition("=")
                writer.writerows(rows_of_run(name, uri, wanted))
        case ["draw" | "draw-cpu" as kind, wanted, table]:
            axis = CPU_MINUTES if kind == "draw-cpu" else DECISIONS
            sys.stdout.write(curves_drawing(curves(Path(table), wanted), axis) or "")
        case _:
            sys.exit(__doc__)
