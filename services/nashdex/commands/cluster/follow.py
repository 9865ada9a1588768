"""Following a run on a cluster until it ends."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TextIO

from nashdex.cluster.client import Cluster
from nashdex.cluster.status import RunStatus, failure, run_status
from nashdex.cluster.submission import watch_workflows
from nashdex.cluster.workflow_state import WorkflowState
from nashdex.core.errors import TryAgainError

_FIRST_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 1.0, 15.0
_PATIENCE_SECONDS = 120.0


def follow(cluster: Cluster, run: str, stream: TextIO) -> RunStatus:
    """Show the progress of a run until it ends: live on a terminal, else one line per change.

    Raises:
        NashdexError: the run failed; the first failure, with that step's exit code.
    """
    from rich.console import Console
    from rich.live import Live

    from nashdex.commands.cluster.status_table import run_table, state_line

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
