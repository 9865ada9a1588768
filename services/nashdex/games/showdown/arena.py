"""Battles over several gateways, with those that die, hang or grow replaced."""

import select
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from nashdex.core.errors import TryAgainError
from nashdex.core.seeds import hex_seed
from nashdex.games.interface import Events, Failure, Outcome, RunningBattle, SeatLines
from nashdex.games.showdown.frames import ChannelStuckError
from nashdex.games.showdown.gateway import Gateway, GatewaySettings
from nashdex.games.space import Space
from nashdex.telemetry import metrics

FAILURE_CAUSES = (
    "deadline",
    "simulator_error",
    "tracker_error",
    "illegal_team",
    "bad_start",
    "gateway_died",
    "gateway_hung",
)
"""Why a battle may fail. The last two are said here, the others by the gateway."""

_POLL_SECONDS = 1.0
_HANG_SECONDS = 60.0
"""A gateway answers a batch in milliseconds; one that owes an answer and is silent for so long is stuck."""


class _Worker:
    """One gateway with the battles that run on it."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self.battles: set[int] = set()
        self.num_unanswered = 0
        """Decisions that the gateway waits for."""
        self.lines: dict[tuple[int, int], SeatLines] = {}
        self.retiring = False
        self.active_at = time.monotonic()
        self.asked_at: float | None = None
        """When it was sent what it owes an answer to; None where it owes none."""

    @property
    def owes_answer(self) -> bool:
        return bool(self.battles) and not self.num_unanswered

    def is_stuck(self, now: float) -> bool:
        return self.owes_answer and now - self.active_at > _HANG_SECONDS

    def flush(self) -> None:
        """Send what waits to be sent, unless the gateway still owes an answer to what was sent before.

        Battles that end are told of before the decisions of the same moment. The battles that then start go with the
        answers to those decisions: sent at once, they would come back as a small batch of their own, turn after turn.
        """
        if self.asked_at is not None:
            return
        if self.owes_answer:
            self.asked_at = time.monotonic()
        self.gateway.flush()

    def act(self, battle: NDArray[np.int64], seat: NDArray[np.int8], action: NDArray[np.int64]) -> None:
        """Answer decisions of its own battles."""
        self.num_unanswered -= len(battle)
        self.active_at = time.monotonic()
        self.gateway.act(battle, seat, action)

    def read(self, events: Events) -> None:
        """Add everything received to ``events``."""
        received = self.gateway.receive(0.0)
        while received is not None:
            self.active_at = time.monotonic()
            if isinstance(received, dict):
                self._take(received, events)
            else:
                self.num_unanswered += len(received)
                events.decisions.append(replace(received, lines=self.lines) if self.lines else received)
                self.lines = {}
            received = self.gateway.receive(0.0) if self.gateway.channel.has_frames else None
        if self.asked_at is not None and not self.owes_answer:
            metrics.GATEWAY_SECONDS.observe(time.monotonic() - self.asked_at)
            self.asked_at = None

    def _take(self, message: dict[str, Any], events: Events) -> None:
        match message["type"]:
            case "lines":
                for row in message["rows"]:
                    self.lines[row["battle"], row["seat"]] = SeatLines(row["lines"], row["request"])
            case "finished":
                for row in message["battles"]:
                    self.battles.discard(row["battle"])
                    events.outcomes.append(_outcome(row))
            case "failed":
                for row in message["battles"]:
                    self.battles.discard(row["battle"])
                    events.failures.append(Failure(row["battle"], row["cause"], row["detail"]))
            case "recycle":
                self.retiring = True
                metrics.GATEWAY_RECYCLES.add()


class ShowdownArena:
    """Plays battles of one format on ``num_gateways`` gateways; ``settings`` are by default the environment's.

    With several gateways one answers while another's decisions are looked at, so that no side waits for long.
    """

    def __init__(self, format_id: str, num_gateways: int, settings: GatewaySettings | None = None) -> None:
        self._format = format_id
        self._settings = settings
        self._num_gateways = num_gateways
        self._workers: list[_Worker] = []
        self._lost: list[Failure] = []
        self._spent_cpu_seconds = 0.0
        for cause in FAILURE_CAUSES:
            # Counted from 0, so that the first one is seen to be one more.
            metrics.FAILED_BATTLES.add(0, cause=cause)
        metrics.GATEWAY_RECYCLES.add(0)
        try:
            for _ in range(num_gateways):
                self._open_worker()
        except BaseException:
            self.close()
            raise
        self._space = self._workers[0].gateway.space
        self._versions = {"pokemon-showdown": self._workers[0].gateway.simulator_version}

    @property
    def space(self) -> Space:
        """What policies see and may do here."""
        return self._space

    @property
    def versions(self) -> dict[str, str]:
        """The simulator's version: that of the npm package."""
        return self._versions

    def start(self, battles: Sequence[RunningBattle]) -> None:
        """Start battles, each on the gateway that has the fewest."""
        batches: dict[int, list[RunningBattle]] = {}
        accepting = [index for index, worker in enumerate(self._workers) if not worker.retiring]
        for running in battles:
            index = min(accepting, key=lambda i: len(self._workers[i].battles))
            self._workers[index].battles.add(running.battle)
            batches.setdefault(index, []).append(running)
        for index, batch in batches.items():
            self._workers[index].active_at = time.monotonic()
            self._workers[index].gateway.send({"type": "start", "battles": [_start_row(running) for running in batch]})

    def poll(self) -> Events:
        """Send starts and answers, wait up to a second for something to happen, and return it.

        Observations and masks stay as they are until the next poll, which may use their memory for others.
        """
        for worker in list(self._workers):
            worker.gateway.channel.recycle()
            try:
                worker.flush()
            except ChannelStuckError as error:
                worker.gateway.kill()
                self._lose(worker, "gateway_hung", str(error))
            except TryAgainError as error:
                self._lose(worker, "gateway_died", str(error))
        events = Events([], [], self._lost)
        self._lost = []
        if not events.failures:
            for worker in self._ready_workers():
                try:
                    worker.read(events)
                except TryAgainError as error:
                    self._lose(worker, "gateway_died", str(error))
        now = time.monotonic()
        for worker in list(self._workers):
            if worker.is_stuck(now):
                worker.gateway.kill()
                self._lose(worker, "gateway_hung", f"silent for {_HANG_SECONDS:.0f} s")
            elif worker.retiring:
                self._retire(worker)
        return events

    def act(self, battle: NDArray[np.int64], seat: NDArray[np.int8], action: NDArray[np.int64]) -> None:
        """Answer decisions; those of battles whose gateway was lost meanwhile are dropped."""
        numbers = battle.tolist()
        for worker in self._workers:
            if worker.battles.issuperset(numbers):
                worker.act(battle, seat, action)
                break
            rows = np.flatnonzero([number in worker.battles for number in numbers])
            if len(rows):
                worker.act(battle[rows], seat[rows], action[rows])

    def resident_bytes(self) -> int:
        """Return the resident memory of the child gateways, in bytes."""
        return sum(process.memory_info().rss for process in self._processes())

    def cpu_seconds(self) -> float:
        """Return the CPU time of all child gateways so far, user and system."""
        return self._spent_cpu_seconds + sum(_cpu_seconds(process) for process in self._processes())

    def close(self) -> None:
        """Stop every gateway."""
        for worker in list(self._workers):
            self._close_worker(worker)

    def _open_worker(self) -> None:
        self._workers.append(_Worker(Gateway(self._format, self._settings)))

    def _close_worker(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        if worker.gateway.process_id:
            with suppress(psutil.Error):  # one that died took its times with it
                self._spent_cpu_seconds += _cpu_seconds(psutil.Process(worker.gateway.process_id))
        worker.gateway.close()

    def _ready_workers(self) -> list[_Worker]:
        ready = [worker for worker in self._workers if worker.gateway.channel.has_frames]
        if not ready:
            channels = {worker.gateway.channel: worker for worker in self._workers}
            readable, _, _ = select.select(list(channels), [], [], _POLL_SECONDS)
            ready = [channels[channel] for channel in readable]
        return ready

    def _lose(self, worker: _Worker, cause: str, detail: str) -> None:
        """Fail the battles of a gateway that went away, and put another in its place."""
        if worker not in self._workers:
            return
        self._close_worker(worker)
        for battle in worker.battles:
            self._lost.append(Failure(battle, cause, detail))
        self._open_worker()

    def _retire(self, worker: _Worker) -> None:
        """Let a gateway that has grown finish its battles while another takes the new ones."""
        if sum(not other.retiring for other in self._workers) < self._num_gateways:
            self._open_worker()
        if not worker.battles:
            self._close_worker(worker)

    def _processes(self) -> list[psutil.Process]:
        ids = [worker.gateway.process_id for worker in self._workers]
        return [psutil.Process(process_id) for process_id in ids if process_id]


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _start_row(running: RunningBattle) -> dict[str, Any]:
    spec = running.spec
    return {
        "battle": running.battle,
        "seed": hex_seed(spec.seed),
        "teams": spec.teams,
        "team_seeds": [hex_seed(seed) for seed in spec.team_seeds],
        "lines": running.lines,
        "log": spec.log,
        "deadline_seconds": spec.deadline_seconds,
    }


def _outcome(row: dict[str, Any]) -> Outcome:
    first, second = row["decisions"]
    return Outcome(
        battle=row["battle"],
        winner=row["winner"],
        turns=row["turns"],
        decisions=(first, second),
        rejected=row["rejected"],
        log=row["log"],
    )
