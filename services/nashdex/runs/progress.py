"""How far a run is, from the manifests in its store."""

from nashdex.core import keys
from nashdex.core.steps import StepName
from nashdex.runs.creation import Run


def first_without_report(run: Run) -> int:
    """Return the first iteration whose report is not done; the number of iterations if all are."""
    iterations = range(run.settings.iterations)
    return next((i for i in iterations if not run.store.exists(keys.manifest(i, StepName.REPORT, 0))), len(iterations))
