"""The resources that an iteration's steps used, from their manifests, and what they cost."""

from collections.abc import Iterable, Sequence
from statistics import NormalDist

from nashdex.core.steps import StepName
from nashdex.metagame.evidence.intervals import Estimate, Interval
from nashdex.report.document import Cost, IterationRow, Progress, StepUse, Used, UsedInterval
from nashdex.report.sources import IterationManifests
from nashdex.store.usage import WRITING


def step_uses(manifests: IterationManifests) -> tuple[StepUse, ...]:
    """Return what each step used, in the order of the steps."""
    found = []
    reported = () if manifests.report is None else (manifests.report,)
    for step, shards in (*manifests.by_step.items(), (StepName.REPORT, reported)):
        if not shards:
            continue
        requests = [(name in WRITING, number) for shard in shards for name, number in shard.store_requests.items()]
        found.append(
            StepUse(
                step=step,
                seconds=max(shard.seconds for shard in shards),
                cpu_seconds=sum(shard.cpu_seconds for shard in shards),
                gpu_seconds=sum(shard.gpu_seconds for shard in shards),
                reads=sum(number for is_write, number in requests if not is_write),
                writes=sum(number for is_write, number in requests if is_write),
                bytes_read=sum(shard.store_bytes_read for shard in shards),
                bytes_written=sum(shard.store_bytes_written for shard in shards),
            )
        )
    return tuple(found)


def in_sequence(steps: Iterable[StepUse]) -> tuple[StepUse, ...]:
    """Return the steps that run one after another: all but actors, which run beside the train step."""
    return tuple(used for used in steps if used.step is not StepName.ACT)


def bottleneck(steps: Sequence[StepUse]) -> tuple[StepName, float]:
    """Return the step with the longest wall time of an iteration's ``steps``, and its share of the whole."""
    sequence = in_sequence(steps)
    slowest = max(sequence, key=lambda used: used.seconds)
    total = sum(used.seconds for used in sequence)
    return slowest.step, slowest.seconds / total if total else 0.0


ELO_STEP = 100.0
GAP_STEP = 0.01
_HOUR_SECONDS = 3600.0
_CHANCE = 1e-4
"""A gain is shown only if its interval at 1 − this excludes 0: a price has no meaning where nothing was gained, and at
95 % every fortieth run without progress would print one."""
_STRETCH = NormalDist().inv_cdf(1 - _CHANCE / 2) / (2**0.5 * NormalDist().inv_cdf(0.975))
"""Two 95 % intervals of one length that do not overlap even if this much longer exclude chance at 1 − _CHANCE."""


def cost_of_rows(rows: Sequence[IterationRow], progress: Progress | None, num_policies: int) -> Cost:
    """Return the cost of a run with these iterations, the newest last, and a population of ``num_policies``."""
    run = _used(step for row in rows for step in row.steps)
    newest = rows[-1].steps
    slowest, share = bottleneck(newest) if newest else (None, 0.0)
    elo, fallen = gained_elo(progress, num_policies), lowered_exploitability(rows)
    return Cost(
        run=run,
        iteration=_used(newest),
        bottleneck=slowest,
        bottleneck_share=share,
        gained_elo=None if elo is None else elo.value,
        lowered_exploitability=None if fallen is None else fallen.value,
        a_hundred_elo=None if elo is None else _times(run, ELO_STEP / elo.value),
        a_hundred_elo_interval=None if elo is None else _interval(run, ELO_STEP, elo),
        a_hundredth_of_exploitability=None if fallen is None else _times(run, GAP_STEP / fallen.value),
        a_hundredth_of_exploitability_interval=None if fallen is None else _interval(run, GAP_STEP, fallen),
    )


def gained_elo(progress: Progress | None, num_policies: int) -> Estimate | None:
    """Return the progress with its 95 % interval; None if chance explains it.

    The policy was chosen as the best of the population, so the test that it is above the first one allows for as many
    comparisons (Bonferroni).
    """
    if progress is None:
        return None
    certain = NormalDist().inv_cdf(1 - _CHANCE / 2 / max(1, num_policies - 1))
    low = min(progress.elo.low, progress.elo.value - certain * progress.standard_error)
    return progress.elo if low > 0 else None


def lowered_exploitability(rows: Sequence[IterationRow]) -> Estimate | None:
    """Return how far exploitability fell: exact where it is known, else the best-response gap. None if it may not have.

    The interval is the widest that the two intervals allow, for the two gaps share battles.
    """
    for estimator in ("exact", "best_response_gap"):
        values = [each for row in rows for each in row.exploitability if each.estimator == estimator]
        if len(values) > 1:
            return fall(values[0], values[-1])
    return None


def fall(first: Estimate, last: Estimate) -> Estimate | None:
    """Return ``first`` − ``last`` with its interval; None if it may be 0 or less, or if ``last`` is below 0.

    Exploitability is never below 0: a best response that loses was trained too little to show any.
    """
    surely = first.value - _STRETCH * (first.value - first.low) - (last.value + _STRETCH * (last.high - last.value))
    if surely <= 0 or last.high < 0:
        return None
    value, low = max(0.0, last.value), max(0.0, last.low)
    return Estimate(value=first.value - value, low=first.low - last.high, high=first.high - low)


def ratio(amount: float, gained: Estimate) -> Estimate:
    """Return ``amount`` / ``gained``, whose interval is above 0."""
    return Estimate(value=amount / gained.value, low=amount / gained.high, high=amount / gained.low)


def _interval(used: Used, step: float, gained: Interval) -> UsedInterval:
    return UsedInterval(low=_times(used, step / gained.high), high=_times(used, step / gained.low))


def _used(steps: Iterable[StepUse]) -> Used:
    each = tuple(steps)
    return Used(
        cpu_hours=sum(step.cpu_seconds for step in each) / _HOUR_SECONDS,
        gpu_hours=sum(step.gpu_seconds for step in each) / _HOUR_SECONDS,
    )


def _times(used: Used, factor: float) -> Used:
    return Used(cpu_hours=used.cpu_hours * factor, gpu_hours=used.gpu_hours * factor)
