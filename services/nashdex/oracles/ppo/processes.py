"""The processes of one training, which learn together over ``torch.distributed``: gloo on CPUs, NCCL on GPUs.

``python -m nashdex.oracles.ppo.training`` is a process other than 0. It also learns from the battles of process 0,
holds no state beyond that of process 0, and is killed when the training ends. Its standard input has one line, a JSON
object with the training's task, and then stays open as long as process 0 lives.
"""

import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

import structlog
import torch
from safetensors import torch as safetensors
from torch import Tensor, distributed

from nashdex.core import keys
from nashdex.core.child_cpu import ChildCpu
from nashdex.core.errors import ConfigurationError, DataError, ExitCode, InternalError, NashdexError, TryAgainError
from nashdex.core.ids import AttemptId
from nashdex.learning.experience import batching
from nashdex.learning.experience.batching import Batch
from nashdex.learning.updates.training import Step
from nashdex.metagame.plan import IterationPlan
from nashdex.oracles.interface import Task
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.settings.ppo import PpoSettings
from nashdex.settings.run import RunSettings
from nashdex.settings.train import TrainSettings
from nashdex.store import open_store
from nashdex.store.documents import read_published

_log = structlog.get_logger()

_READY: Final = b"ready\n"
"""Line that a process writes to standard output when it is about to join."""
_PATIENCE: Final = timedelta(days=7)
"""Longest wait for another process. Process 0 may wait for battles; the end of a process is noticed without a limit."""
_LAST_WORDS_SECONDS: Final = 10.0
"""How long to wait for the exit code of a process that is gone."""


class Processes:
    """One process's side of the group that trains a policy. Process 0 plays, measures, stores and reports."""

    def __init__(
        self,
        rank: int = 0,
        size: int = 1,
        others: Sequence["subprocess.Popen[bytes]"] = (),
    ) -> None:
        self.rank = rank
        self.size = size
        self._others = others
        self._cpu_of_others = [ChildCpu(process.pid) for process in others]

    @property
    def is_first(self) -> bool:
        """Whether this is process 0."""
        return self.rank == 0

    @property
    def cpu_seconds(self) -> float:
        """CPU time of the other processes, since they started; known to process 0."""
        return sum((cpu.seconds() for cpu in self._cpu_of_others), start=0.0)

    def broadcast(self, tensors: Mapping[str, Tensor] | None = None) -> Mapping[str, Tensor]:
        """Return the ``tensors`` of process 0, in the host's memory, in every process."""
        if self.size == 1:
            return tensors or {}
        data = safetensors.save({k: v.contiguous() for k, v in (tensors or {}).items()}) if self.is_first else b""
        size_bytes = torch.tensor([len(data)])
        with self._others_live():
            distributed.broadcast(size_bytes, 0)
            buffer = torch.empty(int(size_bytes), dtype=torch.uint8)
            if self.is_first:
                buffer = torch.frombuffer(bytearray(data), dtype=torch.uint8)
            distributed.broadcast(buffer, 0)
        return (tensors or {}) if self.is_first else safetensors.load(buffer.numpy().tobytes())

    def broadcast_values(self, values: Mapping[str, float]) -> Mapping[str, float]:
        """Return the ``values`` of process 0 in every process."""
        tensors = {name: torch.tensor(value, dtype=torch.float64) for name, value in values.items()}
        return {name: tensor.item() for name, tensor in self.broadcast(tensors).items()}

    def evaluate(self, network: ActorCritic, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return what ``batching.evaluate`` returns, in every process. Each computes its share of the chunks."""
        if self.size == 1:
            return batching.evaluate(network, batch)
        chunks = batching.chunks(batch)
        own = batching.evaluate_chunks(network, batch, chunks[self.rank :: self.size])
        # All of the own ones before the first exchange, so that no process waits for another chunk by chunk.
        found = dict(zip(range(self.rank, len(chunks), self.size), list(own), strict=True))
        log_probs, values = torch.empty(batch.masks.shape), torch.empty(len(batch))
        with self._others_live():
            for number, rows in enumerate(chunks):
                if number in found:
                    log_probs[rows], values[rows] = found[number]
                for part in (log_probs[rows], values[rows]):
                    distributed.broadcast(part, number % self.size)
        return log_probs, values

    def add_up(self, step: Step, network: ActorCritic, names: Collection[str]) -> None:
        """Replace gradients, loss and measurements by their sums over all processes.

        A process without a part of the step has no measurements, so all processes pass the ``names`` of all
        measurements.
        """
        unnamed = sorted(step.measured.keys() - set(names))
        assert not unnamed, f"the oracle's metrics do not say what these values mean: {', '.join(unnamed)}"
        if self.size == 1:
            return
        parameters = list(network.parameters())
        numbers = [step.loss, *(step.measured.get(name, 0.0) for name in names)]
        is_measured = [float(name in step.measured) for name in names]
        has_gradient = [float(parameter.grad is not None) for parameter in parameters]
        summed = torch.tensor([*numbers, *is_measured, *has_gradient], dtype=torch.float64)
        gradients = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in parameters])
        with self._others_live():
            distributed.all_reduce(summed)
            distributed.all_reduce(gradients)
        values, measured, counts = (
            part.tolist() for part in torch.split(summed, [len(numbers), len(names), len(parameters)])
        )
        step.loss = values[0]
        step.measured = {name: value for name, value, n in zip(names, values[1:], measured, strict=True) if n}
        parts = torch.split(gradients, [p.numel() for p in parameters])
        for parameter, part, count in zip(parameters, parts, counts, strict=True):
            parameter.grad = part.view_as(parameter) if count else None

    @contextmanager
    def _others_live(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            raise self._why(error) from error

    def _why(self, error: RuntimeError) -> NashdexError:
        """Return the reason why the connection ended: the exit code of a process that ended itself, or a kill."""
        for rank, process in enumerate(self._others, start=1):
            with suppress(subprocess.TimeoutExpired):
                ended = process.wait(_LAST_WORDS_SECONDS)
                if ended > 0 and (kind := _ERRORS.get(ended, InternalError)) is not TryAgainError:
                    return kind(f"process {rank} of this training ended with exit code {ended}; its message is above")
        reason = str(error).partition("\n")[0]
        return TryAgainError(
            f"another process of this training ended ({reason}); its message, if it left one, is above. Run the same "
            "command again to continue from the checkpoint"
        )


ALONE: Final = Processes()
_ERRORS: Final[Mapping[int, type[NashdexError]]] = {
    ExitCode.CONFIGURATION: ConfigurationError,
    ExitCode.DATA: DataError,
    ExitCode.TRY_AGAIN: TryAgainError,
}


@contextmanager
def started(task: Task) -> Iterator[Processes]:
    """Start ``train.num_processes`` − 1 others to learn along, until the context ends; return process 0's side.

    Raises:
        TryAgainError: one of them did not start.
    """
    size = task.settings.train.num_processes
    if size == 1:
        yield ALONE
        return
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="nashdex-"))
        meeting_place = Path(folder) / "meeting-place"
        others = [stack.enter_context(_started(task, meeting_place, rank)) for rank in range(1, size)]
        for rank, process in enumerate(others, start=1):
            assert process.stdout is not None, "it is a pipe"
            if process.stdout.readline() != _READY:
                raise TryAgainError(f"process {rank} of this training ended as it started; its message is above")
        _log.info(f"{size} processes train together", processes=[process.pid for process in others])
        stack.enter_context(_joined(meeting_place, 0, task.settings.train))
        for process in others:
            stack.callback(_end, process)  # before the group, or they would report that it is gone
        yield Processes(0, size, others)


@contextmanager
def _joined(meeting_place: Path, rank: int, train: TrainSettings) -> Iterator[None]:
    """Join the group of processes that meet at a new file."""
    on_gpu = train.device == "cuda"
    # All are on this machine, and nobody else can connect.
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo" if sys.platform == "linux" else "lo0")
    distributed.init_process_group(
        "cpu:gloo,cuda:nccl" if on_gpu else "gloo",
        init_method=meeting_place.resolve().as_uri(),
        rank=rank,
        world_size=train.num_processes,
        timeout=_PATIENCE,
        device_id=torch.device("cuda", rank) if on_gpu else None,
    )
    try:
        yield
    finally:
        distributed.destroy_process_group()


@contextmanager
def _started(task: Task, meeting_place: Path, rank: int) -> Iterator["subprocess.Popen[bytes]"]:
    """Start process ``rank``. It ends with this context, and whenever this process does."""
    process = subprocess.Popen(
        [sys.executable, "-m", "nashdex.oracles.ppo.training"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # a terminal's Ctrl-C is for process 0, which saves its work first
    )
    assert process.stdin is not None, "it is a pipe"
    described = {
        "rank": rank,
        "meeting_place": str(meeting_place),
        "store": task.store.uri,
        "settings": task.settings.model_dump(mode="json"),
        "iteration": task.plan.iteration,
        "shard": task.shard,
        "attempt": task.attempt,
    }
    try:
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


def main(learn_along: Callable[[Task, PpoSettings, Processes], None]) -> int:
    """Learn along until the last round is over, this process is killed or process 0 ends; return the exit code."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))  # process 0 logs
    described = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_process_0, name="lifeline", daemon=True).start()
    try:
        run, store = RunSettings.model_validate(described["settings"]), open_store(described["store"])
        plan = read_published(store, described["iteration"], keys.PLAN, IterationPlan)
        settings = run.train.section_of(plan.oracle)
        assert isinstance(settings, PpoSettings), "process 0 trains by PPO"
        task = Task(store, run, plan, described["shard"], AttemptId(described["attempt"]))
        sys.stdout.buffer.write(_READY)
        sys.stdout.buffer.flush()
        with _joined(Path(described["meeting_place"]), described["rank"], run.train):
            learn_along(task, settings, Processes(described["rank"], run.train.num_processes))
    except NashdexError as error:
        sys.stderr.write(f"process {described['rank']}: {error}\n")
        return error.exit_code
    return ExitCode.OK


def _end_with_process_0() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os._exit(0)
