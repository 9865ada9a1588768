"""Runs what is planned and not done, several runs at a time; each is a process of ``nashdex``.

Finished runs are kept. A run that was stopped or that failed continues where its own store says.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nashdex
from nashdex.core.errors import (
    ConfigurationError,
    DataError,
    ExitCode,
    InterruptedByUserError,
    StoppedError,
    TryAgainError,
)
from nashdex.core.ids import PolicyId
from nashdex.core.output_files import write_output
from nashdex.core.results import COLLECT_RESULT, TRAINING_RESULT, CollectResult, Evaluation, TrainingResult
from nashdex.core.steps import StepName
from nashdex.games.registry import FORMATS
from nashdex.local.processes import Child, last_error, run_process, stop_on_signals
from nashdex.policies.scripted.registry import SCRIPTED_POLICIES, scripted_policies_of
from nashdex.runs.creation import PreparedRun, Run, open_run, prepare_run
from nashdex.runs.fit import trains_networks
from nashdex.settings.ppo import PpoSettings
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import read_manifest
from nashdex.store.documents import read_written
from nashdex_lab.experiments import commands
from nashdex_lab.experiments.places import Place
from nashdex_lab.experiments.plan import Plan, PlannedRun, Plays
from nashdex_lab.experiments.records import (
    Exploited,
    Match,
    Registration,
    Results,
    RunRecord,
    Status,
    now,
    read_results,
)
from nashdex_lab.experiments.registration import has_run_begun, registered
from nashdex_lab.experiments.rules import EXPLOITER
from nashdex_lab.experiments.sentences import against

_SECONDS_PER_MINUTE = 60.0


def measured(record: RunRecord, run_uri: str, plays: Plays = "last") -> RunRecord:
    """Return ``record`` with what a finished run's store holds, without matches.

    Raises:
        DataError: a result is missing or altered.
    """
    run = open_run(run_uri)
    collected = sum(one.cpu_seconds for one in _collected(run))
    trainings = list(_trainings(run))
    decisions, cpu_seconds, curve = 0, 0.0, list[Evaluation]()
    for result in trainings:
        for evaluation in result.evaluations:
            before = {
                "decisions": decisions + evaluation.decisions,
                "cpu_seconds": cpu_seconds + evaluation.cpu_seconds,
            }
            curve.append(evaluation.model_copy(update=before))
        decisions += result.num_decisions
        cpu_seconds += result.cpu_seconds
    last = trainings[-1]
    policy = last.magnet if plays == "magnet" else last.policy
    assert policy is not None, "a run that plays its magnet has one (prepare)"
    return record.model_copy(
        update={
            "policy": policy,
            "decisions": decisions,
            "cpu_minutes": (collected + cpu_seconds) / _SECONDS_PER_MINUTE,
            "rollbacks": sum(result.rollbacks for result in trainings),
            "summary": last.summary,
            "curve": tuple(curve),
        }
    )


def _collected(run: Run) -> Iterator[CollectResult]:
    for iteration in range(run.settings.iterations):
        for shard in range(run.settings.collect.shards):
            manifest = read_manifest(run.store, iteration, StepName.COLLECT, shard)
            yield read_written(run.store, manifest, COLLECT_RESULT, CollectResult)


def _trainings(run: Run) -> Iterator[TrainingResult]:
    """Yield the result of each iteration's first training shard."""
    for iteration in range(run.settings.iterations):
        manifest = read_manifest(run.store, iteration, StepName.TRAIN, 0)
        yield read_written(run.store, manifest, TRAINING_RESULT, TrainingResult)


_EVERY_SECONDS = 60.0
_MAX_LINE_BYTES = 4096


@asynccontextmanager
async def newest_lines(
    log: Path, say: Callable[[str], None], *, every_seconds: float = _EVERY_SECONDS
) -> AsyncIterator[None]:
    """Pass the last line of ``log`` to ``say`` at intervals, where it is another than before."""

    async def report(said: str) -> None:
        while True:
            await asyncio.sleep(every_seconds)
            if (line := last_line(log)) != said:
                say(line)
                said = line

    reporting = asyncio.create_task(report(last_line(log)))
    try:
        yield
    finally:
        reporting.cancel()


def last_line(log: Path) -> str:
    """Return the last line of a log, empty if there is none."""
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _MAX_LINE_BYTES))
        lines = file.read().decode(errors="replace").splitlines()
    return lines[-1] if lines else ""


RESULTS_SUFFIX = ".results.json"
_GRACE_SECONDS = 60.0
"""From SIGTERM to SIGKILL: a run saves, and stops its own steps within 20 s."""
_DONE = (Status.COMPLETED, Status.INVALIDATED)
_PROGRAM = (sys.executable, "-m", "nashdex_cli")


@dataclass(frozen=True)
class ExperimentOptions:
    """Where an experiment's runs work, and what reports their progress."""

    place: Place
    """Where they work."""
    logs: Path
    """Folder for a log file of each run."""
    say: Callable[[str], None]
    """Called with each line for the user."""
    on_change: Callable[[Results], object] = lambda _: None
    """Called whenever results have been written."""


def prepare(plan: Plan) -> dict[str, PreparedRun]:
    """Return each run as it would be stored, by id: every setting is checked before anything runs.

    Raises:
        ConfigurationError: an arm's settings are wrong or do not go together, or its policy cannot be measured.
        DataError: the base settings or a file that they name is missing or wrong.
    """
    prepared: dict[str, PreparedRun] = {}
    for run in plan.runs:
        with _named_in_errors(plan, run):
            prepared[run.id] = prepare_run(plan.base, name=run.stored, overrides=list(run.overrides))
            oracle = prepared[run.id].settings.train.oracle
            if run.plays == "magnet" and not (isinstance(oracle, PpoSettings) and oracle.damping.reference == "ema"):
                raise ConfigurationError('it plays the magnet; expected train.oracle.damping.reference = "ema"')
            _check_measurement(plan, run, prepared[run.id].settings)
    return prepared


def _check_measurement(plan: Plan, run: PlannedRun, settings: RunSettings) -> None:
    """Check that the run's policy can be measured, because that begins only after its training.

    Raises:
        ConfigurationError: an anchor does not play the format, or the policy can have no exploiter.
    """
    measure, name, played = plan.experiment.measure, settings.format, FORMATS[settings.format]
    for anchor in measure.anchors:
        if not SCRIPTED_POLICIES[anchor].plays(name, played.game, played.num_slots):
            able = ", ".join(map(repr, scripted_policies_of(name, played.game, played.num_slots)))
            raise ConfigurationError(
                f"measure.anchors holds {anchor!r}, which does not play {name}; expected some of {able}"
            )
    if measure.exploiter is None:
        return
    if not trains_networks(settings.train):
        raise ConfigurationError(
            "measure.exploiter begins with a network's weights, and the policies of the oracle "
            f"{settings.train.oracle.kind!r} are tables; leave it out"
        )
    commands.exploiter_id(run)


@contextmanager
def _named_in_errors(plan: Plan, run: PlannedRun) -> Iterator[None]:
    try:
        yield
    except (ConfigurationError, DataError) as error:
        raise type(error)(f"{plan.path}, arm {run.arm!r} with seed {run.seed}: {error}") from error


def begin(plan: Plan, options: ExperimentOptions, prepared: dict[str, PreparedRun]) -> Results:
    """Return the experiment's results with a record for each run, and write them.

    Raises:
        ConfigurationError: what is registered has changed, a finished run had other settings, the store cannot be
            named, or a run that is not done cannot work in its place. Nothing is written then.
        DataError: the results' file holds something else.
    """
    path = plan.beside(RESULTS_SUFFIX)
    results = _registered(plan, prepared)
    assert results.registration is not None, "registered"
    for run in plan.runs:
        record = results.record(run.id)
        fingerprint = prepared[run.id].settings.fingerprint()
        if record is not None and record.status is not Status.PLANNED and record.settings != fingerprint:
            raise ConfigurationError(
                f"{path}: run {run.id} began with other settings than {plan.path} gives it now; restore them, or "
                "give the arm another name"
            )
        fresh = record or RunRecord(
            run=run.id, arm=run.arm, seed=run.seed, status=Status.PLANNED, command="", settings=fingerprint
        )
        update: dict[str, object] = {
            "settings": fingerprint,
            "stored": run.stored if run.stored != run.id else None,
        }
        if not has_run_begun(fresh):
            update["registration"] = results.registration.digest
        if fresh.policy is None:  # a finished run keeps the command that made it
            update["command"] = commands.as_typed(options.place.run_arguments(plan, run))
        if reason := plan.experiment.invalid.get(run.key):
            update |= {"status": Status.INVALIDATED, "reason": reason}
        elif fresh.status is Status.INVALIDATED:
            is_measured = fresh.scores.keys() >= set(plan.experiment.measure.scores)
            update |= {"status": Status.COMPLETED if is_measured else Status.PLANNED, "reason": ""}
        begun = fresh.model_copy(update=update)
        if begun.status not in _DONE:
            with _named_in_errors(plan, run):
                options.place.check(prepared[run.id])
        results = results.with_record(begun)
    _write(plan, results)
    return results


def register(plan: Plan) -> Registration:
    """Register a plan without running anything, and write its results' file.

    Raises:
        ConfigurationError: an arm's settings are wrong, or what is registered has changed after the first run began.
        DataError: a file is missing or wrong.
    """
    results = _registered(plan, prepare(plan))
    assert results.registration is not None, "registered"
    _write(plan, results)
    return results.registration


def _write(plan: Plan, results: Results) -> None:
    write_output({plan.beside(RESULTS_SUFFIX): results.to_json()}, "folder for the experiment")


def _registered(plan: Plan, prepared: dict[str, PreparedRun]) -> Results:
    found = read_results(plan.beside(RESULTS_SUFFIX))
    return registered(plan, found or Results(experiment=plan.name, began=now(), runs=()), prepared)


def run_experiment(plan: Plan, options: ExperimentOptions) -> Results:
    """Run every run that is not done, measure it, and return all results. A failed run does not stop the others.

    Raises:
        ConfigurationError: the plan or an arm's settings are wrong; nothing has run.
        DataError: a file is missing or wrong; nothing has run.
        StoppedError: the process got SIGTERM or SIGHUP, or SIGINT (InterruptedByUserError); no process is left.
    """
    prepared = prepare(plan)
    runner = _Runner(plan, options, prepared, begin(plan, options, prepared))
    asyncio.run(runner.run())
    return runner.results


class _Runner:
    def __init__(
        self, plan: Plan, options: ExperimentOptions, prepared: dict[str, PreparedRun], results: Results
    ) -> None:
        self.results = results
        self._plan = plan
        self._options = options
        self._prepared = prepared
        self._store = options.place.store
        self._slots = asyncio.Semaphore(plan.experiment.arms_at_once)
        self._in_turn = {run.stored: asyncio.Lock() for run in plan.runs}
        """Arms that share a run take turns."""
        self._groups: set[int] = set()

    async def run(self) -> None:
        received = stop_on_signals(
            self._groups, self._options.say, "stopping: runs save their work; interrupt again to kill them"
        )
        self._options.logs.mkdir(parents=True, exist_ok=True)
        missing = [run for run in self._plan.runs if self._record(run).status not in _DONE]
        self._options.say(f"{self._plan.name}: {len(missing)} of {len(self._plan.runs)} runs to do")
        try:
            async with asyncio.TaskGroup() as group:
                for run in missing:
                    group.create_task(self._run_one(run))
        except asyncio.CancelledError:
            stopped = InterruptedByUserError if received[:1] == [signal.SIGINT] else StoppedError
            raise stopped(self._options.place.stopped) from None
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None

    async def _run_one(self, run: PlannedRun) -> None:
        async with self._in_turn[run.stored], self._slots:
            self._update(run, status=Status.RUNNING, reason="", began=now(), version=nashdex.__version__)
            self._options.say(f"{run.key}: running as {run.stored}, log {self._log(run)}")
            try:
                async with newest_lines(self._log(run), lambda line: self._options.say(f"{run.key}: {line}")):
                    await self._nashdex(run, self._options.place.run_arguments(self._plan, run))
                self._write(measured(self._record(run), f"{self._store}/{run.stored}", run.plays))
                for anchor in self._plan.experiment.measure.anchors:
                    await self._match(run, anchor)
                await self._exploit(run)
            except asyncio.CancelledError:
                self._update(run, status=Status.PLANNED, reason="stopped; it continues where it was")
                raise
            except (ConfigurationError, DataError, TryAgainError) as error:
                self._update(run, status=Status.FAILED, reason=str(error), ended=now())
                self._options.say(f"{run.key}: failed: {error}")
                return
            self._update(run, status=Status.COMPLETED, ended=now())
            self._options.say(f"{run.key}: {self._described(run)}")

    async def _match(self, run: PlannedRun, anchor: str) -> None:
        """Play the run's policy against an anchor."""
        game_format = self._prepared[run.id].settings.format
        arguments = commands.match_arguments(
            self._plan.experiment.measure,
            game_format,
            f"{self._store}/{run.stored}",
            self._measured(run),
            anchor,
            run.seed,
        )
        found = await self._answer(run, arguments, anchor, {*Match.model_fields} - {"command"})
        if found["score"] is None:
            raise TryAgainError(f"no battle of {run.key} against {anchor} was finished; run again")
        match = Match.model_validate({**found, "command": commands.as_typed(arguments)})
        self._update(run, matches=self._record(run).matches | {anchor: match})

    async def _exploit(self, run: PlannedRun) -> None:
        """Train an exploiter against the run's policy, if the plan has one. What was trained of it is kept."""
        measure = self._plan.experiment.measure.exploiter
        if measure is None:
            return
        arguments = commands.exploit_arguments(self._plan, run, self._measured(run), measure, self._store)
        found = await self._answer(
            run, arguments, EXPLOITER, {"score", "low", "high", "battles", "decisions", "cpu_seconds"}
        )
        exploited = Exploited(
            score=1 - found["score"],
            low=1 - found["high"],
            high=1 - found["low"],
            battles=found["battles"],
            decisions=found["decisions"],
            cpu_minutes=found["cpu_seconds"] / _SECONDS_PER_MINUTE,
            command=commands.as_typed(arguments),
        )
        self._update(run, exploiter=exploited)

    def _measured(self, run: PlannedRun) -> PolicyId | None:
        """Return the policy of the run that is measured, None for the run's mixture."""
        return None if run.plays == "mixture" else self._record(run).policy

    async def _answer(self, run: PlannedRun, arguments: Sequence[str], name: str, keys: set[str]) -> dict[str, Any]:
        """Return these values of the JSON document that a command prints.

        Raises:
            DataError: it printed another.
            TryAgainError: it failed.
        """
        output = self._options.logs / f"{run.id}.{name}.json"
        await self._nashdex(run, arguments, output)
        try:
            found = json.loads(output.read_bytes())
            return {key: found[key] for key in keys}
        except (ValueError, KeyError) as error:
            raise DataError(f"{output} holds no result of nashdex {arguments[0]}: {error}") from error

    async def _nashdex(self, run: PlannedRun, arguments: Sequence[str], into: Path | None = None) -> None:
        """Run one command, with its standard output in ``into`` or in the run's log.

        Raises:
            TryAgainError: it failed.
        """
        log = self._log(run)
        began = log.stat().st_size if log.exists() else 0

        async def start(
            command: Sequence[str], *, stdin: int, output: int, progress: int, environment: dict[str, str]
        ) -> Child:
            with (into or log).open("wb" if into else "ab") as file:
                return await asyncio.create_subprocess_exec(
                    *command,
                    stdin=stdin,
                    stdout=file.fileno(),
                    stderr=output,
                    pass_fds=(progress,),
                    env=environment,
                    start_new_session=True,
                )

        code = await run_process(
            [*_PROGRAM, *arguments],
            start=start,
            log=log,
            on_line=lambda _: None,
            groups=self._groups,
            grace_seconds=_GRACE_SECONDS,
            environment=dict(os.environ),
        )
        if code != ExitCode.OK:
            raise TryAgainError(
                f"{last_error(log, began) or f'nashdex {arguments[0]} ended with exit code {code}'} (log: {log})"
            )

    def _log(self, run: PlannedRun) -> Path:
        return self._options.logs / f"{run.id}.log"

    def _described(self, run: PlannedRun) -> str:
        record = self._record(run)
        scores = [
            f"{one.score:.3f} [{one.low:.3f}, {one.high:.3f}] against {against(measure)}"
            for measure, one in record.scores.items()
        ]
        return f"{', '.join(scores)} after {record.cpu_minutes:.1f} CPU-minutes"

    def _record(self, run: PlannedRun) -> RunRecord:
        record = self.results.record(run.id)
        assert record is not None, "an experiment begins with a record for each run"
        return record

    def _update(self, run: PlannedRun, **values: object) -> None:
        self._write(self._record(run).model_copy(update=values))

    def _write(self, record: RunRecord) -> None:
        self.results = self.results.with_record(record)
        _write(self._plan, self.results)
        self._options.on_change(self.results)
