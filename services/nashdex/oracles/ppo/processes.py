"""The further processes of a training: started with it, and ended with it."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import structlog
import torch

from nashdex.core.errors import TryAgainError
from nashdex.learning.hardware.process_group import ProcessGroup
from nashdex.learning.references import Reference
from nashdex.oracles.interface import Task
from nashdex.oracles.ppo.steps import OwnSteps, SharedSteps, Steps
from nashdex.policies.networks.actor_critic import ActorCritic

_log = structlog.get_logger()

READY = b"ready\n"
"""What a process writes to standard output when it is about to join."""


@contextmanager
def steps_of(task: Task, network: ActorCritic, reference: Reference | None, device: torch.device) -> Iterator[Steps]:
    """Return what computes gradients: this process, and ``train.num_processes`` − 1 others until the context ends.

    The others hold nothing that is not here, so they are killed at the end.

    Raises:
        TryAgainError: one of them did not start.
    """
    size = task.settings.train.num_processes
    if size == 1:
        yield OwnSteps()
        return
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="nashdex-"))
        meeting_place = Path(folder) / "meeting-place"
        started = [stack.enter_context(_started(task, meeting_place, rank)) for rank in range(1, size)]
        for rank, process in enumerate(started, start=1):
            assert process.stdout is not None, "it is a pipe"
            if process.stdout.readline() != READY:
                raise TryAgainError(f"process {rank} of this training ended as it started; its message is above")
        _log.info(f"{size} processes train together", processes=[process.pid for process in started])
        group = stack.enter_context(ProcessGroup(meeting_place, 0, size, device))
        for process in started:
            stack.callback(_end, process)  # before the group, or they would report that it is gone
        yield SharedSteps(group, network, reference)


@contextmanager
def _started(task: Task, meeting_place: Path, rank: int) -> Iterator["subprocess.Popen[bytes]"]:
    """Start process ``rank``. It ends with this context, and whenever this process does."""
    process = subprocess.Popen(
        [sys.executable, "-m", "nashdex.oracles.ppo.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None, "it is a pipe"
    described = {
        "rank": rank,
        "meeting_place": str(meeting_place),
        "store": task.store.uri,
        "settings": task.settings.model_dump(mode="json"),
        "iteration": task.plan.iteration,
    }
    try:
        # The pipe stays open: it ends with this process.
        with suppress(BrokenPipeError):  # then there is no answer either
            process.stdin.write(json.dumps(described).encode() + b"\n")
            process.stdin.flush()
        yield process
    finally:
        _end(process)
        with suppress(BrokenPipeError):
            process.stdin.close()
        if process.stdout is not None:
            process.stdout.close()


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
