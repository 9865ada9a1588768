"""The gauges of a run's newest iteration, from its report and analysis. The one place where they are set."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from nashdex.core.errors import DataError
from nashdex.core.steps import StepName
from nashdex.metagame.analysis.documents import MetaGameAnalysis
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.report.assembly.uses import in_sequence
from nashdex.report.document import Report, Throughput
from nashdex.store.verdict import Phase
from nashdex.telemetry import metrics
from nashdex.telemetry.metric import Metric

LARGEST = 1e18
"""Largest exported value. Seconds, battles and decisions of any run are far below it."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A gauge's value, with its labels besides the process's own."""

    metric: Metric
    value: float
    labels: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse values that no gauge can show: otherwise one run could fail the scrape of all runs."""
        if not abs(self.value) <= LARGEST:
            raise DataError(f"the value of {self.metric.name} is beyond ± {LARGEST:.0e}; a document was altered")


def iteration_facts(report: Report, analysis: MetaGameAnalysis) -> Iterator[Fact]:
    """Yield the facts of the newest iteration in ``report``; ``analysis`` belongs to the same iteration."""
    newest = report.iterations[-1]
    yield Fact(metrics.ITERATIONS, len(report.iterations))
    yield Fact(metrics.PLANNED_ITERATIONS, report.planned_iterations)
    yield Fact(metrics.POPULATION_SIZE, len(report.policies))
    yield Fact(metrics.META_STRATEGY_ENTROPY, newest.entropy.value)
    yield Fact(metrics.META_STRATEGY_SUPPORT, len(analysis.support))
    yield Fact(metrics.SUPPORT_STABILITY, analysis.support_stability)
    yield Fact(metrics.PAYOFF_COVERAGE, analysis.coverage.share)
    yield Fact(metrics.PAYOFF_INTERVAL_WIDTH, analysis.interval_widths.largest)
    yield Fact(metrics.INTRANSITIVITY, analysis.intransitivity)
    yield Fact(metrics.INTRANSITIVITY_BY_CHANCE, analysis.intransitivity_by_chance)
    if (exact := analysis.exploitability.exact) is not None and exact.nash_conv is not None:
        yield Fact(metrics.NASH_CONV, exact.nash_conv)
    for estimate in newest.exploitability:
        yield from _bounds(metrics.EXPLOITABILITY, estimate, estimator=estimate.estimator)
        values = [e.value for row in report.iterations for e in row.exploitability if e.estimator == estimate.estimator]
        since = values[::-1].index(min(values))
        yield Fact(metrics.ITERATIONS_SINCE_LOWEST, since, {"estimator": estimate.estimator})
    if report.progress is not None:
        yield from _bounds(metrics.PROGRESS_ELO, report.progress.elo)
    yield Fact(metrics.ITERATION_ROLLBACKS, sum(training.rollbacks for training in newest.training))
    train = {"step": StepName.TRAIN.value}
    yield Fact(metrics.ITERATION_SECONDS, max((training.seconds for training in newest.training), default=0.0), train)
    yield from _cumulative(report)
    yield from _throughput(newest.collection.throughput, step=StepName.COLLECT)
    yield from _throughput(newest.evaluation, step=StepName.EVALUATE)


def phase_facts(phase: Phase) -> Iterator[Fact]:
    """Yield 1 for the phase of a run, and 0 for every other phase, to reset the series of an earlier phase."""
    for each in Phase:
        yield Fact(metrics.RUN_PHASE, float(each is phase), {"phase": each.value})


def _bounds(metric: Metric, interval: Estimate, **labels: str) -> Iterator[Fact]:
    for bound, value in (("value", interval.value), ("low", interval.low), ("high", interval.high)):
        yield Fact(metric, value, {**labels, "bound": bound})


def _cumulative(report: Report) -> Iterator[Fact]:
    """Yield what the whole run has used."""
    rows = report.iterations
    for step, seconds in (
        (StepName.COLLECT, sum(row.collection.throughput.cpu_seconds for row in rows)),
        (StepName.EVALUATE, sum(row.evaluation.cpu_seconds for row in rows)),
    ):
        yield Fact(metrics.RUN_CPU_SECONDS, seconds, {"step": step.value})
    yield from _used(report)


def _used(report: Report) -> Iterator[Fact]:
    """Yield the resources used by the steps, and the run's output.

    Battles of collect and evaluate have their own measurements of time.
    """
    totals: dict[str, tuple[float, float]] = {}
    for row in report.iterations:
        for used in row.steps:
            cpu, gpu = totals.get(used.step.value, (0.0, 0.0))
            totals[used.step.value] = (cpu + used.cpu_seconds, gpu + used.gpu_seconds)
    measured = {StepName.COLLECT.value, StepName.EVALUATE.value}
    for step, (cpu, gpu) in totals.items():
        if step not in measured:
            yield Fact(metrics.RUN_CPU_SECONDS, cpu, {"step": step})
        yield Fact(metrics.RUN_GPU_SECONDS, gpu, {"step": step})
    newest = report.iterations[-1].steps
    sequence = in_sequence(newest)
    wall_seconds = sum(used.seconds for used in sequence)
    for used in newest:
        labels = {"step": used.step.value}
        if used.step.value not in measured:
            yield Fact(metrics.ITERATION_CPU_SECONDS, used.cpu_seconds, labels)
        yield Fact(metrics.ITERATION_GPU_SECONDS, used.gpu_seconds, labels)
        if wall_seconds and used in sequence:
            yield Fact(metrics.ITERATION_STEP_SHARE, used.seconds / wall_seconds, labels)
    if report.cost is not None and report.cost.gained_elo is not None:
        yield Fact(metrics.GAINED_ELO, report.cost.gained_elo)
    if report.cost is not None and report.cost.lowered_exploitability is not None:
        yield Fact(metrics.LOWERED_EXPLOITABILITY, report.cost.lowered_exploitability)


def _throughput(played: Throughput, *, step: StepName) -> Iterator[Fact]:
    labels = {"step": step.value}
    yield Fact(metrics.ITERATION_SECONDS, played.seconds, labels)
    yield Fact(metrics.ITERATION_CPU_SECONDS, played.cpu_seconds, labels)
    yield Fact(metrics.ITERATION_BATTLES, played.battles, labels)
    yield Fact(metrics.ITERATION_DECISIONS, played.decisions, labels)
    yield Fact(metrics.ITERATION_FAILED_BATTLES, sum(played.failures.values()), labels)
