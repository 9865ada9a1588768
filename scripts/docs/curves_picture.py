"""Draw runs' learning curves against one anchor: ``curves_picture.py ANCHOR NAME=RUN_URI … > docs/images/NAME.svg``."""

import sys

from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.experiments.drawing import curves_drawing
from nashdex.experiments.estimates import ClusteredEstimate
from nashdex.experiments.report import ArmCurve, CurvePoint
from nashdex.store import open_store
from nashdex.store.documents import read_from_shards

_SECONDS_PER_MINUTE = 60


def curve(run_uri: str, anchor: str) -> ArmCurve:
    """Return the greedy learning curve of a run's iteration 1, which trained one policy."""
    (trained,) = read_from_shards(open_store(run_uri), 1, StepName.TRAIN, 1, TRAINING_RESULT, TrainingResult)
    points = tuple(
        CurvePoint(
            decisions=each.decisions,
            cpu_minutes=each.cpu_seconds / _SECONDS_PER_MINUTE,
            score=ClusteredEstimate(value=each.score, low=each.low, high=each.high, unit="battles"),
        )
        for each in trained.evaluations
        if each.anchor == anchor and each.style == "greedy"
    )
    return ArmCurve(anchor=anchor, style="greedy", points=points)


if __name__ == "__main__":
    wanted, *runs = sys.argv[1:]
    named = (run.partition("=") for run in runs)
    sys.stdout.write(curves_drawing([(name, (curve(uri, wanted),)) for name, _, uri in named]) or "")
