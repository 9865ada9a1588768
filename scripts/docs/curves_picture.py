"""Draw runs' learning curves against one anchor: ``curves_picture.py ANCHOR NAME=RUN_URI … > docs/images/NAME.svg``."""

import sys

from nashdex.core import keys
from nashdex.experiments.drawing import curves_drawing
from nashdex.experiments.estimates import ClusteredEstimate
from nashdex.experiments.report import ArmCurve, ArmReport, CurvePoint
from nashdex.report.document import Report
from nashdex.store import open_store
from nashdex.store.documents import read_published

_SECONDS_PER_MINUTE = 60


def curve(run_uri: str, anchor: str) -> ArmCurve:
    """Return the greedy learning curve of a run's newest training, which is in iteration 1."""
    report = read_published(open_store(run_uri), 1, keys.REPORT, Report)
    points = tuple(
        CurvePoint(
            decisions=each.decisions,
            cpu_minutes=each.cpu_seconds / _SECONDS_PER_MINUTE,
            score=ClusteredEstimate(value=each.score, low=each.low, high=each.high, unit="battles"),
        )
        for each in report.iterations[-1].training[0].evaluations
        if each.anchor == anchor and each.style == "greedy"
    )
    return ArmCurve(anchor=anchor, style="greedy", points=points)


if __name__ == "__main__":
    wanted, *runs = sys.argv[1:]
    named = (run.partition("=") for run in runs)
    arms = [ArmReport.model_construct(name=name, curves=(curve(uri, wanted),)) for name, _, uri in named]
    sys.stdout.write(curves_drawing(arms) or "")
