"""The table of a run's status, and following a run on a cluster until it ends."""

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TextIO

from rich.markup import escape
from rich.table import Table

from nashdex.core.errors import TryAgainError
from nashdex.core.redaction import clean
from nashdex.local.step_progress import describe_seconds
from nashdex_cluster.client import Cluster
from nashdex_cluster.status import IterationStatus, RunStatus, StepStatus, failure, is_stopped, run_status
from nashdex_cluster.submission import watch_workflows
from nashdex_cluster.training_rates import TrainingRates
from nashdex_cluster.workflow_state import WorkflowState

_STATES = {
    "Succeeded": "[green]done[/]",
    "Running": "[cyan]running[/]",
    "Pending": "[yellow]waiting[/]",
    "Failed": "[red]failed[/]",
    "Error": "[red]error[/]",
    "Skipped": "[dim]skipped[/]",
    "Omitted": "[dim]omitted[/]",
    "": "",
}


def runs_table(statuses: Iterable[RunStatus]) -> Table:
    """Return a table with one row per run."""
    table = Table("run", "state", "iterations", "time", "workflow", "message", box=None, pad_edge=False)
    for status in statuses:
        done = sum(iteration.phase == "Succeeded" for iteration in status.iterations)
        of = "" if status.last is None else f" of {status.last + 1}"
        table.add_row(
            status.run,
            _state(status.phase, status.message),
            f"{done}{of}",
            _time(status.seconds),
            status.workflow,
            _text(_why(status)),
        )
    return table


def run_table(status: RunStatus) -> Table:
    """Return a table with one row per iteration, and one per step of unfinished iterations."""
    table = Table(
        "iteration",
        "step",
        "state",
        "shards",
        "attempts",
        "time",
        "message",
        box=None,
        pad_edge=False,
        title_justify="left",
    )
    table.title = f"run {status.run}: {_state(status.phase, status.message)} {_message(status.phase, status.message)}"
    for iteration in status.iterations:
        table.add_row(*_iteration_row(iteration, status))
        if iteration.phase != "Succeeded":
            for step in iteration.steps:
                table.add_row(*_step_row(step))
    return table


def rates_table(rates: Iterable[TrainingRates]) -> Table:
    """Return a table with one row per training."""
    table = Table(
        "iteration",
        "shard",
        "round",
        "decisions/s",
        "battles/s",
        "weights' age",
        "learner waits",
        "actors wait",
        "actors",
        "dropped",
        box=None,
        pad_edge=False,
    )
    for one in rates:
        table.add_row(
            str(one.iteration),
            str(one.shard),
            str(one.round),
            f"{one.decisions_per_second:,.0f}",
            f"{one.battles_per_second:,.1f}",
            f"{one.staleness_versions:.1f} versions, {one.staleness_seconds:.0f} s",
            f"{one.learner_waiting_share:.0%}",
            f"{one.actors_waiting_share:.0%}",
            str(len(one.chunks_by_actor)),
            ", ".join(f"{number} {cause}" for cause, number in one.dropped.items()),
        )
    return table


def state_line(status: RunStatus) -> str:
    """Return the progress of a run in one line."""
    phase = "stopped" if is_stopped(status.phase, status.message) else status.phase.lower()
    if not status.iterations:
        return f"run {status.run}: {phase} {status.message}".strip()
    current = status.iterations[-1]
    return " ".join([f"run {status.run}: {phase}, iteration {current.iteration}", *_steps_of(current)])


def _steps_of(iteration: IterationStatus) -> Iterator[str]:
    if iteration.phase == "Succeeded":
        yield "done"
        return
    active = [step for step in iteration.steps if step.phase in {"Running", "Pending", "Failed", "Error"}]
    for step in active:
        yield f"{step.step} {step.done}/{step.shards} {step.phase.lower()}"


def _iteration_row(iteration: IterationStatus, status: RunStatus) -> tuple[str, ...]:
    of = "" if status.last is None else f" of {status.last}"
    name = f"{iteration.iteration}{of}"
    phase, message = iteration.phase, iteration.message
    return name, "", _state(phase, message), "", "", _time(iteration.seconds), _message(phase, message)


def _step_row(step: StepStatus) -> tuple[str, ...]:
    shards = f"{step.done}/{step.shards}" if step.shards else ""
    again = str(step.tries) if step.tries > step.shards else ""
    return "", step.step, _state(step.phase), shards, again, _time(step.seconds), _text(step.message)


def _why(status: RunStatus) -> str:
    if is_stopped(status.phase, status.message):
        return ""
    messages = [
        step.message
        for iteration in status.iterations
        for step in iteration.steps
        # Hide failures that a retry has superseded.
        if step.message and (status.is_over or step.phase in {"Pending", "Running"})
    ]
    return messages[-1] if messages and status.phase != "Succeeded" else status.message


def _text(message: str) -> str:
    """Return a message of Argo or of a step as a table shows it."""
    return escape(clean(message))


def _state(phase: str, message: str = "") -> str:
    if is_stopped(phase, message):
        return "[yellow]stopped[/]"
    return _STATES.get(phase, escape(phase.lower()))


def _message(phase: str, message: str) -> str:
    """Return the message of a Workflow; none if somebody stopped it, which its state says."""
    return "" if is_stopped(phase, message) else _text(message)


def _time(seconds: float | None) -> str:
    return "" if seconds is None else describe_seconds(seconds)


_FIRST_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 1.0, 15.0
_PATIENCE_SECONDS = 120.0


def follow(cluster: Cluster, run: str, stream: TextIO) -> RunStatus:
    """Show the progress of a run until it ends: live on a terminal, else one line per change.

    Raises:
        NashdexError: the run failed; the first failure, with that step's exit code.
    """
    from rich.console import Console
    from rich.live import Live

    console = Console(file=stream, highlight=False)
    shown = ""
    current: list[WorkflowState] = []
    live: Live | None = None
    with ExitStack() as stack:
        for workflows in _changes(cluster, run):
            current[:] = workflows
            status = run_status(run, current)
            if console.is_terminal:
                if live is None:
                    # Drawn every second, for its times.
                    live = Live(
                        console=console,
                        refresh_per_second=1,
                        get_renderable=lambda: run_table(run_status(run, current)),
                    )
                    stack.enter_context(live)
            elif (line := state_line(status)) != shown:
                shown = line
                stream.write(f"{line}\n")
                stream.flush()
            if status.is_over:
                break
    if (failed := failure(run, current)) is not None:
        raise failed
    return status


def _changes(cluster: Cluster, run: str) -> Iterator[list[WorkflowState]]:
    """Yield the run's Workflows after every change; begin again while the cluster does not respond."""
    last_seconds, pause_seconds = time.monotonic(), _FIRST_PAUSE_SECONDS
    while True:
        try:
            for workflows in watch_workflows(cluster, run):
                last_seconds, pause_seconds = time.monotonic(), _FIRST_PAUSE_SECONDS
                yield workflows
        except TryAgainError:
            if time.monotonic() - last_seconds > _PATIENCE_SECONDS:
                raise
        time.sleep(pause_seconds)
        pause_seconds = min(2 * pause_seconds, _MAX_PAUSE_SECONDS)
