"""What a run used, from its rows, and what that bought."""

from collections.abc import Iterable, Sequence

from nashdex.report.assembly.uses import bottleneck
from nashdex.report.document import Cost, IterationRow, Progress, StepUse, Used

ELO_STEP = 100.0
GAP_STEP = 0.01
_HOUR_SECONDS = 3600.0


def cost_of_rows(rows: Sequence[IterationRow], progress: Progress | None) -> Cost:
    """Return the cost of a run with these iterations, the newest last."""
    run = _used(step for row in rows for step in row.steps)
    newest = rows[-1].steps
    slowest, share = bottleneck(newest) if newest else (None, 0.0)
    elo, fallen = gained_elo(progress), lowered_exploitability(rows)
    return Cost(
        run=run,
        iteration=_used(newest),
        bottleneck=slowest,
        bottleneck_share=share,
        gained_elo=elo,
        lowered_exploitability=fallen,
        a_hundred_elo=None if elo is None else _times(run, ELO_STEP / elo),
        a_hundredth_of_exploitability=None if fallen is None else _times(run, GAP_STEP / fallen),
    )


def gained_elo(progress: Progress | None) -> float | None:
    """Return the progress, if it is above 0."""
    return progress.elo.value if progress is not None and progress.elo.value > 0 else None


def lowered_exploitability(rows: Sequence[IterationRow]) -> float | None:
    """Return how far exploitability fell: exact where it is known, else the best-response gap. None if it did not."""
    for estimator in ("exact", "best_response_gap"):
        values = [each.gap.value for row in rows for each in row.exploitability if each.estimator == estimator]
        if len(values) > 1:
            return values[0] - values[-1] if values[0] > values[-1] else None
    return None


def _used(steps: Iterable[StepUse]) -> Used:
    each = tuple(steps)
    return Used(
        cpu_hours=sum(step.cpu_seconds for step in each) / _HOUR_SECONDS,
        gpu_hours=sum(step.gpu_seconds for step in each) / _HOUR_SECONDS,
    )


def _times(used: Used, factor: float) -> Used:
    return Used(cpu_hours=used.cpu_hours * factor, gpu_hours=used.gpu_hours * factor)
