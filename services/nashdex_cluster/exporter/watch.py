"""The runs of a store and the facts of each, read repeatedly; a run that cannot be read keeps its last facts."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from statistics import median

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from nashdex.core import keys
from nashdex.core.documents import describe_problems
from nashdex.core.errors import ConfigurationError, DataError, StoppedError, TryAgainError
from nashdex.core.ids import ID_PATTERN, RunId
from nashdex.core.steps import StepName
from nashdex.core.stopping import check_stop
from nashdex.metagame.analysis.documents import MetaGameAnalysis
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.report.assembly.cost import in_sequence
from nashdex.report.document import PolicyRow, Report, Throughput
from nashdex.store.protocol import ObjectStore
from nashdex.store.verdict import Phase, Verdict, read_verdict
from nashdex.telemetry import metrics
from nashdex.telemetry.metric import Metric

NUM_POLICIES = 20
"""Policies of a run that have series of their own, unless the exporter is started with another number."""

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


def iteration_facts(report: Report, analysis: MetaGameAnalysis, num_policies: int = NUM_POLICIES) -> Iterator[Fact]:
    """Yield the facts of the newest iteration in ``report``.

    Only ``num_policies`` policies have facts of their own, so that their number does not grow with the population.
    """
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
    yield from _policies(report.policies, num_policies)
    yield from _cumulative(report)
    yield from _throughput(newest.collection.throughput, step=StepName.COLLECT)
    yield from _throughput(newest.evaluation, step=StepName.EVALUATE)


def _bounds(metric: Metric, interval: Estimate, **labels: str) -> Iterator[Fact]:
    for bound, value in (("value", interval.value), ("low", interval.low), ("high", interval.high)):
        yield Fact(metric, value, {**labels, "bound": bound})


def _policies(rows: Sequence[PolicyRow], num_policies: int) -> Iterator[Fact]:
    """Yield the facts of the policies with the largest shares, among equal shares by rating, and of all others."""
    ranked = sorted(rows, key=lambda row: (-row.probability.value, -row.rating.elo.value, row.id))
    for row in ranked[:num_policies]:
        yield Fact(metrics.POLICY_META_STRATEGY, row.probability.value, {"policy": row.id})
        yield Fact(metrics.POLICY_ELO, row.rating.elo.value, {"policy": row.id})
    others = ranked[num_policies:]
    yield Fact(metrics.OTHER_POLICIES, len(others))
    yield Fact(metrics.OTHER_POLICIES_META_STRATEGY, sum(row.probability.value for row in others))
    if others:
        elo = [row.rating.elo.value for row in others]
        for statistic, value in (("lowest", min(elo)), ("median", median(elo)), ("highest", max(elo))):
            yield Fact(metrics.OTHER_POLICIES_ELO, value, {"statistic": statistic})


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
    if report.cost.gained_elo is not None:
        yield Fact(metrics.GAINED_ELO, report.cost.gained_elo)
    if report.cost.lowered_exploitability is not None:
        yield Fact(metrics.LOWERED_EXPLOITABILITY, report.cost.lowered_exploitability)


def _throughput(played: Throughput, *, step: StepName) -> Iterator[Fact]:
    labels = {"step": step.value}
    yield Fact(metrics.ITERATION_SECONDS, played.seconds, labels)
    yield Fact(metrics.ITERATION_CPU_SECONDS, played.cpu_seconds, labels)
    yield Fact(metrics.ITERATION_BATTLES, played.battles, labels)
    yield Fact(metrics.ITERATION_DECISIONS, played.decisions, labels)
    yield Fact(metrics.ITERATION_FAILED_BATTLES, sum(played.failures.values()), labels)


_LOOK_AT_INACTIVE_EVERY_SCANS = 20
"""A run without news for a day seldom has news half a minute later, and a store may hold thousands of them."""

_MAX_CONFIG_BYTES = 1 << 20
_MAX_REPORT_BYTES = 32 << 20
"""Largest document that is read whole. A larger one would take the exporter's memory from every other run."""
_MOST_FOLDERS = 32
"""Folders of iterations that one look asks for a report, the newest first. A run that works has one without."""
_MOST_NEW_REPORTS = 64
"""Reports that one look at a run counts. The next look goes on from there."""
_UNREACHABLE_AFTER_RUNS = 3
"""After this many runs in a row whose objects cannot be reached, the store itself cannot."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run and its facts."""

    run: RunId
    format: str
    facts: tuple[Fact, ...]


class _Config(BaseModel):
    """The keys of ``config.json`` for the exporter. Others are ignored, so runs of other versions are followed too."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: str = Field(max_length=100)
    iterations: int = Field(ge=1, le=keys.MAX_ITERATIONS)


@dataclass(slots=True)
class _Watched:
    """The state of a run between two scans."""

    store: ObjectStore
    config: _Config
    facts: tuple[Fact, ...]
    changed_seconds: float
    """Time, by the watch's clock, at which the run or one of its reports was first seen or the run ended."""
    num_reports: int = 0
    phase: Phase = Phase.RUNNING

    @property
    def is_finished(self) -> bool:
        return self.num_reports >= self.config.iterations


class Watch:
    """Follows every run of a store.

    A run is active until ``active_seconds`` pass without a new report and since its end. Reports carry no time of
    writing, so a process that has just started takes every run without a verdict as new.

    The first look at a run costs one LIST and five requests, however many reports the run has; each later look
    costs two, and at every twentieth scan one more: a run that was deleted and begun again lacks its newest report.
    A fault of one run ends the look at that run alone. A run's folder cannot prolong a look: scans and documents have
    limits.
    """

    def __init__(
        self,
        store: ObjectStore,
        active_seconds: float,
        clock: Callable[[], float] = time.monotonic,
        unix_time: Callable[[], float] = time.time,
        num_policies: int = NUM_POLICIES,
    ) -> None:
        self._store = store
        self._active_seconds = active_seconds
        self._clock = clock
        self._unix_time = unix_time
        self._num_policies = num_policies
        self._watched: dict[RunId, _Watched] = {}
        self._ended_long_ago: set[RunId] = set()
        self._problems: dict[RunId, str] = {}
        self._num_scans = 0

    def scan(self, on_run: Callable[[], None] = lambda: None) -> None:
        """Look for new runs and new reports. After an error the last facts stay.

        ``on_run`` is called after each run.

        Raises:
            TryAgainError: the store cannot be reached.
            ConfigurationError: the store refuses the credentials, or the bucket does not exist.
            StoppedError: the process was asked to stop.
        """
        looks_at_inactive = self._num_scans % _LOOK_AT_INACTIVE_EVERY_SCANS == 0
        runs = {RunId(name) for name in self._store.folders() if re.fullmatch(ID_PATTERN, name)}
        num_unreachable = 0
        for run in sorted(runs):
            check_stop()
            try:
                self._look_at(run, even_inactive=looks_at_inactive)
                self._problems.pop(run, None)
                num_unreachable = 0
            except StoppedError:
                raise
            except TryAgainError as error:
                num_unreachable += 1
                if num_unreachable >= min(_UNREACHABLE_AFTER_RUNS, len(runs)):
                    raise
                self._note(run, f"{error}")
            except (DataError, ConfigurationError) as error:
                self._note(run, f"{error}")
            except Exception as error:  # noqa: BLE001 - a run that shows a defect must not end the export of the others
                self._note(run, f"{type(error).__name__}: {error}: unexpected error; please report this bug")
            on_run()
        for run in self._watched.keys() - runs:
            del self._watched[run]
        for run in self._problems.keys() - runs:
            del self._problems[run]
        self._ended_long_ago &= runs
        self._num_scans += 1

    def active(self) -> tuple[RunFacts, ...]:
        """Return the facts of every active run."""
        return tuple(
            # 0 for every other phase resets the series of an earlier one.
            RunFacts(
                run,
                watched.config.format,
                (
                    *watched.facts,
                    *(Fact(metrics.RUN_PHASE, float(each is watched.phase), {"phase": each.value}) for each in Phase),
                ),
            )
            for run, watched in sorted(self._watched.items())
            if self._is_active(watched)
        )

    @property
    def num_unreadable(self) -> int:
        """Runs with a document that cannot be read; they keep their last facts."""
        return len(self._problems)

    def _note(self, run: RunId, problem: str) -> None:
        """Keep what is wrong with a run, and log it once."""
        if self._problems.get(run) != problem:
            _log.warning(problem, run=run)
        self._problems[run] = problem

    def _is_active(self, watched: _Watched) -> bool:
        return self._clock() - watched.changed_seconds < self._active_seconds

    def _look_at(self, run: RunId, *, even_inactive: bool) -> None:
        watched = self._watched.get(run)
        if watched is not None and even_inactive and not _has_its_reports(watched):
            del self._watched[run]  # it was deleted and begun again between two scans
            watched = None
        if watched is None:
            if even_inactive or run not in self._ended_long_ago:
                self._begin(run)
        elif not watched.is_finished and (even_inactive or self._is_active(watched)):
            self._follow(watched)

    def _begin(self, run: RunId) -> None:
        """Start to follow a run, unless it ended long ago, or is still being created, or the folder holds no run."""
        store = self._store.at(run)
        verdict = read_verdict(store)
        ended_seconds_ago = self._unix_time() - verdict.ended_timestamp_seconds if verdict else 0.0
        if ended_seconds_ago >= self._active_seconds:
            self._ended_long_ago.add(run)
            return
        self._ended_long_ago.discard(run)
        config = _read_config(store)
        if config is None:
            return
        facts = (Fact(metrics.ITERATIONS, 0), Fact(metrics.PLANNED_ITERATIONS, config.iterations))
        watched = _Watched(store, config, facts, self._clock())
        self._watched[run] = watched
        self._read_reports(watched, _count_reports(store, config.iterations))
        watched.changed_seconds = self._clock() - max(0.0, ended_seconds_ago)
        watched.phase = _phase(watched, verdict)

    def _follow(self, watched: _Watched) -> None:
        """Read the newest report and the verdict, if they are new."""
        count, store = watched.num_reports, watched.store
        most = min(watched.config.iterations, count + _MOST_NEW_REPORTS)
        while count < most and store.exists(keys.published(count, keys.REPORT)):
            count += 1
        self._read_reports(watched, count)
        phase = _phase(watched, None if watched.is_finished else read_verdict(store))
        if phase is not watched.phase:
            watched.phase, watched.changed_seconds = phase, self._clock()

    def _read_reports(self, watched: _Watched, count: int) -> None:
        if count > watched.num_reports:
            watched.facts = _newest_facts(watched.store, count - 1, self._num_policies)
            watched.num_reports, watched.changed_seconds = count, self._clock()


def _has_its_reports(watched: _Watched) -> bool:
    """Say whether the newest report that was counted is still there."""
    return not watched.num_reports or watched.store.exists(keys.published(watched.num_reports - 1, keys.REPORT))


def _phase(watched: _Watched, verdict: Verdict | None) -> Phase:
    """Return the phase of a run. All its reports are enough for success, because it may have no verdict."""
    if watched.is_finished:
        return Phase.SUCCEEDED
    return Phase.RUNNING if verdict is None else verdict.phase


def _read_config(store: ObjectStore) -> _Config | None:
    """Return what ``config.json`` says; None if there is none."""
    if not store.exists(keys.CONFIG):
        return None
    try:
        return _Config.model_validate_json(store.get(keys.CONFIG, _MAX_CONFIG_BYTES))
    except ValidationError as error:
        raise DataError(f"{store.uri}/{keys.CONFIG} holds no settings of a run: {describe_problems(error)}") from error


def _count_reports(store: ObjectStore, iterations: int) -> int:
    """Return the number of iterations up to the newest one with a report, by one LIST of the iterations' folders.

    Only folders that a run of ``iterations`` makes count, and only the newest of them are asked.
    """
    names = set(islice(store.at(keys.ITERATIONS).folders(), 2 * keys.MAX_ITERATIONS))
    begun = (number for number in reversed(range(iterations)) if keys.iteration_folder(number) in names)
    for newest in islice(begun, _MOST_FOLDERS):
        if store.exists(keys.published(newest, keys.REPORT)):
            return newest + 1
    return 0


def _newest_facts(store: ObjectStore, iteration: int, num_policies: int) -> tuple[Fact, ...]:
    report_key, analysis_key = (keys.published(iteration, name) for name in (keys.REPORT, keys.META_GAME_ANALYSIS))
    report = Report.from_json(store.get(report_key, _MAX_REPORT_BYTES), f"{store.uri}/{report_key}")
    analysis = MetaGameAnalysis.from_json(store.get(analysis_key, _MAX_REPORT_BYTES), f"{store.uri}/{analysis_key}")
    return tuple(iteration_facts(report, analysis, num_policies))
