"""The runs of a store, and the facts of each: read again and again, kept where reading fails."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

import structlog
from pydantic import BaseModel, ConfigDict, PositiveInt, ValidationError

from nashdex.core import keys
from nashdex.core.documents import describe_problems
from nashdex.core.errors import DataError
from nashdex.core.ids import ID_PATTERN, RunId
from nashdex.core.stopping import check_stop
from nashdex.exporter.facts import Fact, RunReport, iteration_facts
from nashdex.metagame.analysis.documents import MetaGameAnalysis
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry import metrics

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run and what is known of it."""

    run: RunId
    format: str
    facts: tuple[Fact, ...]


class _Config(BaseModel):
    """The parts of ``config.json`` that are told."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: str
    iterations: PositiveInt


@dataclass(slots=True)
class _Watched:
    """What is remembered of a run between two scans."""

    store: ObjectStore
    config: _Config
    facts: tuple[Fact, ...]
    changed_seconds: float
    """When something new was last seen of it, by the watch's clock."""
    num_reports: int = 0

    @property
    def is_finished(self) -> bool:
        return self.num_reports >= self.config.iterations


class Watch:
    """Follows every run of a store.

    A run is active until nothing new was seen of it for ``active_seconds``. Reports do not say when they were written,
    so to a process that has just begun every run is new.
    """

    def __init__(self, store: ObjectStore, active_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._active_seconds = active_seconds
        self._clock = clock
        self._watched: dict[RunId, _Watched] = {}
        self._problems: dict[RunId, str] = {}

    def scan(self) -> None:
        """Look for new runs and new reports. Where it raises, what was known stays.

        Raises:
            TryAgainError: the store cannot be reached.
            ConfigurationError: the store refuses the credentials, or the bucket does not exist.
            StoppedError: the process was asked to stop.
        """
        runs = {RunId(name) for name in self._store.folders() if re.fullmatch(ID_PATTERN, name)}
        for run in sorted(runs):
            check_stop()
            try:
                watched = self._watched.get(run) or self._begin(run)
                if watched is not None and not watched.is_finished:
                    self._follow(watched)
                self._problems.pop(run, None)
            except DataError as error:
                if self._problems.get(run) != str(error):
                    _log.warning(f"{error}", run=run)
                self._problems[run] = str(error)
        for run in self._watched.keys() - runs:
            del self._watched[run]

    def active(self) -> tuple[RunFacts, ...]:
        """Return the facts of every active run."""
        now = self._clock()
        return tuple(
            RunFacts(run, watched.config.format, watched.facts)
            for run, watched in sorted(self._watched.items())
            if now - watched.changed_seconds < self._active_seconds
        )

    @property
    def num_unreadable(self) -> int:
        """Runs with a document that cannot be read; what was known of them before stays."""
        return len(self._problems)

    def _begin(self, run: RunId) -> _Watched | None:
        """Remember a run, unless the folder is somebody else's or the run is still being created."""
        store = self._store.at(run)
        if not store.exists(keys.CONFIG):
            return None
        try:
            config = _Config.model_validate_json(store.get(keys.CONFIG))
        except ValidationError as error:
            raise DataError(f"{store.uri}/{keys.CONFIG} holds no settings: {describe_problems(error)}") from error
        facts = (Fact(metrics.ITERATIONS, 0), Fact(metrics.PLANNED_ITERATIONS, config.iterations))
        self._watched[run] = _Watched(store, config, facts, self._clock())
        return self._watched[run]

    def _follow(self, watched: _Watched) -> None:
        """Read the newest report, if it is one that was not there before."""
        count, store = watched.num_reports, watched.store
        while count < watched.config.iterations and store.exists(keys.published(count, keys.REPORT)):
            count += 1
        if count > watched.num_reports:
            watched.facts = _newest_facts(store, count - 1)
            watched.num_reports, watched.changed_seconds = count, self._clock()


def _newest_facts(store: ObjectStore, iteration: int) -> tuple[Fact, ...]:
    report_key, analysis_key = (keys.published(iteration, name) for name in (keys.REPORT, keys.META_GAME_ANALYSIS))
    try:
        report = RunReport.model_validate_json(store.get(report_key))
    except ValidationError as error:
        raise DataError(f"{store.uri}/{report_key} does not say what it should: {describe_problems(error)}") from error
    analysis = MetaGameAnalysis.from_json(store.get(analysis_key), f"{store.uri}/{analysis_key}")
    return tuple(iteration_facts(report, analysis))
