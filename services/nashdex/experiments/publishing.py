"""Writes the page of an experiment and its drawing beside the plan."""

from nashdex.experiments.drawing import curves_drawing
from nashdex.experiments.page import page
from nashdex.experiments.plan import Plan
from nashdex.experiments.records import Results, write_atomically
from nashdex.experiments.report import ExperimentReport, make_report


def publish(plan: Plan, results: Results) -> ExperimentReport:
    """Write ``FILE.md``, and ``FILE.svg`` where there are learning curves; return the report.

    Raises:
        TryAgainError: a file cannot be written.
    """
    report = make_report(plan, results)
    drawing, drawn = plan.beside(".svg"), curves_drawing([(arm.name, arm.curves) for arm in report.arms])
    if drawn is not None:
        write_atomically(drawing, drawn.encode())
    write_atomically(plan.beside(".md"), page(report, drawing.name if drawn else None).encode())
    return report
