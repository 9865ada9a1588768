"""The runs of a store and the facts of each, read repeatedly; a run that cannot be read keeps its last facts."""

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
from nashdex.exporter.facts import Fact, iteration_facts
from nashdex.metagame.analysis.documents import MetaGameAnalysis
from nashdex.report.document import Report
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry import metrics

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run and its facts."""

    run: RunId
    format: str
    facts: tuple[Fact, ...]


class _Config(BaseModel):
    """What the exporter needs of ``config.json``, so that runs of other versions are followed too."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: str
    iterations: PositiveInt


@dataclass(slots=True)
class _Watched:
    """The state of a run between two scans."""

    store: ObjectStore
    config: _Config
    facts: tuple[Fact, ...]
    changed_seconds: float
    """When the run or a report of it was first seen, by the watch's clock."""
    num_reports: int = 0

    @property
    def is_finished(self) -> bool:
        return self.num_reports >= self.config.iterations


class Watch:
    """Follows every run of a store.

    A run is active until ``active_seconds`` pass without a new report. Reports carry no time of writing, so a process
    that has just started takes every run as new.
    """

    def __init__(self, store: ObjectStore, active_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._active_seconds = active_seconds
        self._clock = clock
        self._watched: dict[RunId, _Watched] = {}
        self._problems: dict[RunId, str] = {}

    def scan(self) -> None:
        """Look for new runs and new reports. After an error the last facts stay.

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
        """Runs with a document that cannot be read; they keep their last facts."""
        return len(self._problems)

    def _begin(self, run: RunId) -> _Watched | None:
        """Start to follow a run, unless the folder holds no run or the run is still being created."""
        store = self._store.at(run)
        if not store.exists(keys.CONFIG):
            return None
        try:
            config = _Config.model_validate_json(store.get(keys.CONFIG))
        except ValidationError as error:
            raise DataError(
                f"{store.uri}/{keys.CONFIG} holds no settings of a run: {describe_problems(error)}"
            ) from error
        facts = (Fact(metrics.ITERATIONS, 0), Fact(metrics.PLANNED_ITERATIONS, config.iterations))
        self._watched[run] = _Watched(store, config, facts, self._clock())
        return self._watched[run]

    def _follow(self, watched: _Watched) -> None:
        """Read the newest report, if it is new."""
        count, store = watched.num_reports, watched.store
        while count < watched.config.iterations and store.exists(keys.published(count, keys.REPORT)):
            count += 1
        if count > watched.num_reports:
            watched.facts = _newest_facts(store, count - 1)
            watched.num_reports, watched.changed_seconds = count, self._clock()


def _newest_facts(store: ObjectStore, iteration: int) -> tuple[Fact, ...]:
    report_key, analysis_key = (keys.published(iteration, name) for name in (keys.REPORT, keys.META_GAME_ANALYSIS))
    report = Report.from_json(store.get(report_key), f"{store.uri}/{report_key}")
    analysis = MetaGameAnalysis.from_json(store.get(analysis_key), f"{store.uri}/{analysis_key}")
    return tuple(iteration_facts(report, analysis))
