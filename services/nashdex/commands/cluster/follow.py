"""Following a run on a cluster until it ends."""

import time
from typing import TextIO

from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_exponential

from nashdex.cluster.client import Cluster
from nashdex.cluster.status import RunStatus, failure, run_status
from nashdex.cluster.submission import find_workflows
from nashdex.cluster.workflow_state import WorkflowState
from nashdex.core.errors import TryAgainError

_LOOK_EVERY_SECONDS = 3.0
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
    workflows = _look(cluster, run)
    with Live(console=console, auto_refresh=False, transient=False) as live:
        while True:
            status = run_status(run, workflows)
            if console.is_terminal:
                live.update(run_table(status), refresh=True)
            elif (line := state_line(status)) != shown:
                shown = line
                stream.write(f"{line}\n")
                stream.flush()
            if status.is_over:
                break
            time.sleep(_LOOK_EVERY_SECONDS)
            workflows = _look(cluster, run)
    if (failed := failure(run, workflows)) is not None:
        raise failed
    return status


@retry(
    retry=retry_if_exception_type(TryAgainError),
    stop=stop_after_delay(_PATIENCE_SECONDS),
    wait=wait_exponential(multiplier=1, max=15),
    reraise=True,
)
def _look(cluster: Cluster, run: str) -> list[WorkflowState]:
    """Return the run's workflows; retry while the cluster does not respond."""
    return find_workflows(cluster, run)
