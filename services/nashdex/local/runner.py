"""Executes the plan on this machine: one process per step and shard, retried by exit code, stopped in order."""

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt, wait_exponential

from nashdex.core import keys
from nashdex.core.errors import (
    ConfigurationError,
    DataError,
    ExitCode,
    InternalError,
    InterruptedByUserError,
    NashdexError,
    StoppedError,
    TryAgainError,
)
from nashdex.core.machine import state_folder
from nashdex.core.steps import StepName
from nashdex.local.display import Display
from nashdex.local.processes import Start, last_error, run_process, start_command, stop_on_signals
from nashdex.local.step_progress import StepProgress
from nashdex.planning.dag import PlannedStep, iteration_steps, num_shards
from nashdex.runs.creation import Run
from nashdex.store.attempt import find_manifest
from nashdex.store.naming import parse_uri
from nashdex.store.verdict import Phase, record_end, reopen


def logs_folder(run: Run) -> Path:
    """Return the folder for the run's local logs: inside the run if it is a directory, else in the user's state folder.

    Logs are not part of a run: no step reads them, and other machines keep their own.
    """
    place = parse_uri(run.store.uri)
    if isinstance(place, Path):
        return place / "logs"
    return state_folder() / run.id / "logs"


def report_address(run: Run, iteration: int) -> str:
    """Return the URL of an iteration's report page; for a bucket, its key and the command that downloads it."""
    place = parse_uri(run.store.uri)
    key = keys.published(iteration, keys.REPORT_PAGE)
    if isinstance(place, Path):
        return (place / key).as_uri()
    return f"{run.store.uri}/{key} (to open it: nashdex report {run.store.uri} --output report.html)"


GO_ON = "run the same command again to go on"

_RETRIED_EXITS = {ExitCode.TRY_AGAIN, ExitCode.STOPPED, 128 + signal.SIGKILL, -signal.SIGKILL, -signal.SIGTERM}
"""Something outside was unavailable, or the kernel (out of memory) or an operator killed the process."""

_FAILURES: dict[int, type[NashdexError]] = {
    ExitCode.CONFIGURATION: ConfigurationError,
    ExitCode.DATA: DataError,
} | dict.fromkeys(_RETRIED_EXITS, TryAgainError)

StepCommand = Callable[[StepName, int, int], Sequence[str]]
"""Returns the command for a step, iteration and shard."""

_METRICS_PORT = "NASHDEX_METRICS_PORT"
_SMALLEST_FREE_BYTES = 16 << 10
"""Less space on the disk of a log explains why it holds no message."""


@dataclass(frozen=True)
class RunnerOptions:
    """How the runner handles its processes. Nothing here changes a result."""

    num_processes: int
    logs: Path
    """Folder for the log files, one per shard."""
    grace_seconds: float = 20.0
    """From SIGTERM to SIGKILL."""
    num_tries: int = 4
    """Attempts at each shard before the run gives up."""
    first_wait_seconds: float = 1.0
    """Before the second attempt; doubled before each later one."""


def step_command(run_uri: str, program: Sequence[str]) -> StepCommand:
    """Return the function for a run's ``nashdex step`` commands, which start with ``program``."""

    def command(step: StepName, iteration: int, shard: int) -> Sequence[str]:
        where = ["--run", run_uri, "--iteration", str(iteration), "--shard", str(shard)]
        return [*program, "step", step, *where, "--stop-at-end-of-input"]

    return command


def run_plan(
    run: Run,
    *,
    options: RunnerOptions,
    display: Display,
    command: StepCommand,
    start: Start = start_command,
    on_iteration: Callable[[int], None] = lambda _: None,
) -> None:
    """Run every iteration of ``run`` that is not done yet, and record in its store how it ended.

    ``command`` returns the command of each shard, and ``on_iteration`` is called with each finished iteration.

    Raises:
        NashdexError: a step failed after all attempts, with its exit code and message; the others were stopped.
        StoppedError: the process got SIGTERM or SIGHUP, or SIGINT (InterruptedByUserError); no process is left.
    """
    if _METRICS_PORT in os.environ:
        display.say(
            f"{_METRICS_PORT} has no effect here: a run is many processes, and a port serves one. For the metrics of "
            "one step, run it with `nashdex step`"
        )
    runner = _Runner(run, options, display, command, start)
    reopen(run.store)
    try:
        asyncio.run(runner.run(on_iteration))
    except (NashdexError, OSError) as error:  # such as a full disk of the logs, which need not be the store's
        phase = Phase.STOPPED if isinstance(error, StoppedError) else Phase.FAILED
        with suppress(NashdexError):  # the store may be what failed
            record_end(run.store, phase, runner.iteration, str(error))
        raise
    record_end(run.store, Phase.SUCCEEDED, runner.iteration)


class _Runner:
    def __init__(self, run: Run, options: RunnerOptions, display: Display, command: StepCommand, start: Start) -> None:
        self._run = run
        self._options = options
        self._display = display
        self._command = command
        self._start = start
        self._slots = asyncio.Semaphore(options.num_processes)
        self._groups: set[int] = set()
        self._environment = _environment_of_steps()
        self.iteration = 0
        """The current iteration."""

    async def run(self, on_iteration: Callable[[int], None]) -> None:
        received = stop_on_signals(
            self._groups, self._display.say, "stopping: steps save their work; interrupt again to kill them"
        )
        self._options.logs.mkdir(parents=True, exist_ok=True)
        try:
            for iteration in range(self._run.settings.iterations):
                self.iteration = iteration
                await self._run_iteration(iteration)
                on_iteration(iteration)
        except asyncio.CancelledError:
            stopped = InterruptedByUserError if received[:1] == [signal.SIGINT] else StoppedError
            raise stopped(f"stopped; every process has ended; {GO_ON}") from None

    async def _run_iteration(self, iteration: int) -> None:
        tasks: dict[StepName, asyncio.Task[None]] = {}

        async def run_after(step: PlannedStep) -> None:
            for earlier in step.after:
                await tasks[earlier]
            await self._run_step(step, iteration)

        try:
            async with asyncio.TaskGroup() as group:
                for step in iteration_steps(self._run.settings):
                    tasks[step.name] = group.create_task(run_after(step))
        except BaseExceptionGroup as failures:
            raise _first_failure(failures) from None

    async def _run_step(self, step: PlannedStep, iteration: int) -> None:
        shards = range(num_shards(self._run.settings, step.name))
        progress = StepProgress(iteration, step.name, len(shards), began=time.monotonic())
        missing = [k for k in shards if find_manifest(self._run.store, iteration, step.name, k) is None]
        # What runs beside another step must not wait until that step is done.
        slots = asyncio.Semaphore(len(missing)) if step.is_service else self._slots
        if not missing:
            return
        self._display.step_began(progress)
        async with asyncio.TaskGroup() as group:
            for shard in missing:
                group.create_task(self._run_shard(progress, shard, slots))
        self._display.step_ended(progress, time.monotonic() - progress.began)

    async def _run_shard(self, progress: StepProgress, shard: int, slots: asyncio.Semaphore) -> None:
        """Run a shard until its manifest exists, within the allowed number of attempts."""

        def say_retry(state: RetryCallState) -> None:
            if state.outcome is not None and state.next_action is not None:
                self._display.say(f"{state.outcome.exception()}; retrying in {state.next_action.sleep:.0f} s")

        tries = AsyncRetrying(
            retry=retry_if_exception_type(TryAgainError),
            stop=stop_after_attempt(self._options.num_tries),
            wait=wait_exponential(multiplier=self._options.first_wait_seconds, max=60),
            before_sleep=say_retry,
            reraise=True,
        )
        async for attempt in tries:
            with attempt:
                async with slots:
                    await self._try_shard(progress, shard)

    async def _try_shard(self, progress: StepProgress, shard: int) -> None:
        step, iteration = progress.step, progress.iteration
        log = self._options.logs / f"{iteration:04d}-{step}-{shard:05d}.log"
        log_began = log.stat().st_size if log.exists() else 0

        def on_line(line: bytes) -> None:
            progress.update(line, time.monotonic())
            self._display.step_moved(progress)

        code = await run_process(
            self._command(step, iteration, shard),
            start=self._start,
            log=log,
            on_line=on_line,
            groups=self._groups,
            grace_seconds=self._options.grace_seconds,
            environment=self._environment,
        )
        name = f"{step} of iteration {iteration}, shard {shard}"
        if code != ExitCode.OK:
            failure = _FAILURES.get(code, InternalError)
            raise failure(f"{name}: {last_error(log, log_began) or _describe_exit(code, log)} (log: {log})")
        if find_manifest(self._run.store, iteration, step, shard) is None:
            raise InternalError(f"{name} exited with 0 but left no manifest (log: {log})")


def _environment_of_steps() -> dict[str, str]:
    """Return the environment of the steps' processes, whose logs are files for people."""
    environment = {"NASHDEX_LOG_FORMAT": "console"} | os.environ
    environment["NASHDEX_DEBUG"] = "1"  # a traceback belongs in the log
    environment.pop(_METRICS_PORT, None)  # one port cannot serve several processes
    return environment


def _first_failure(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first single exception in nested groups."""
    first = failures.exceptions[0]
    return _first_failure(first) if isinstance(first, BaseExceptionGroup) else first


def _describe_exit(code: int, log: Path) -> str:
    """Return how a step ended that left no message in its log."""
    if shutil.disk_usage(log.parent).free < _SMALLEST_FREE_BYTES:
        return f"the disk or quota is full, also for its message; make room and run again (exit code {code})"
    if code < 0:
        return f"ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
