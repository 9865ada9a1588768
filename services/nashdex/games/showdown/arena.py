"""Plays battles on several gateways, and replaces gateways that die, hang or use too much memory."""

import select
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import numpy as np
import psutil
import structlog
from numpy.typing import NDArray

from nashdex.core.errors import TryAgainError
from nashdex.core.seeds import hex_seed
from nashdex.games.interface import Decisions, Events, Failure, Outcome, Position, RunningBattle, SeatLines
from nashdex.games.showdown.frames import ChannelClosedError, ChannelStuckError
from nashdex.games.showdown.gateway import Gateway, GatewaySettings, load_gateway_settings
from nashdex.games.showdown.protocol import (
    BattleStart,
    Failed,
    FailedBattle,
    FailureCause,
    Finished,
    FinishedBattle,
    GatewayMessage,
    Lines,
    Recycle,
    Rejected,
    Resume,
    Start,
    Stop,
    Validate,
    Validated,
)
from nashdex.games.space import Space
from nashdex.telemetry import metrics

FAILURE_CAUSES: tuple[str, ...] = (*get_args(FailureCause), "gateway_died", "gateway_hung")
"""Why a battle may fail. The gateway reports all but the last two."""

_log = structlog.get_logger()
_POLL_SECONDS = 1.0
_LARGEST_SILENCE_A_POLL = 0.25
"""Part of ``hang_seconds``: a gateway is silent for several polls before it is replaced."""


class _Worker:
    """One gateway and the battles that run on it."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self.battles: set[int] = set()
        self.num_unanswered = 0
        """Decisions that the gateway waits for."""
        self._stopping: deque[int] = deque()
        """Battles whose end the gateway has not confirmed: what it reports of them is older than the stop."""
        self.lines: dict[tuple[int, int], SeatLines] = {}
        self.retiring = False
        self.silent_seconds = 0.0
        """How long it has owed an answer and said nothing; usually an answer takes milliseconds."""
        self.asked_at: float | None = None
        """When the last flush was sent that it still has to answer; None if it owes no answer."""

    @property
    def owes_answer(self) -> bool:
        return bool(self.battles) and not self.num_unanswered

    def flush(self) -> None:
        """Send what is queued, unless the gateway still has to answer the previous flush.

        The gateway reports finished battles before the same tick's decisions. The battles that replace them are sent
        with the answers to those decisions: sent at once, they would form a small batch of their own every turn.
        """
        if self.asked_at is not None:
            return
        if self.owes_answer:
            self.asked_at = time.monotonic()
        self.gateway.flush()

    def act(self, battle: NDArray[np.int64], seat: NDArray[np.int8], action: NDArray[np.int64]) -> None:
        """Queue actions for decisions of this gateway's battles."""
        self.num_unanswered -= len(battle)
        self.gateway.act(battle, seat, action)

    def stop(self, battle: int, num_open: int) -> None:
        """Queue the end of a battle with ``num_open`` open decisions."""
        self.battles.discard(battle)
        self.num_unanswered -= num_open
        self.gateway.send(Stop(battles=(battle,)))
        # A stop has no answer. Its number may be started again before a failure that is under way arrives.
        self.gateway.send(Validate(teams=()))
        self._stopping.append(battle)

    def read(self, events: Events) -> None:
        """Add everything received to ``events``."""
        received = self.gateway.receive(0.0)
        while received is not None:
            self.silent_seconds = 0.0
            if isinstance(received, Decisions):
                self.num_unanswered += len(received)
                events.decisions.append(replace(received, lines=self.lines) if self.lines else received)
                self.lines = {}
            else:
                self._take(received, events)
            received = self.gateway.receive(0.0) if self.gateway.channel.has_frames else None
        if self.asked_at is not None and not self.owes_answer:
            metrics.GATEWAY_SECONDS.observe(time.monotonic() - self.asked_at)
            self.asked_at = None

    def _take(self, message: GatewayMessage, events: Events) -> None:
        match message:
            case Lines():
                for view in message.rows:
                    self.lines[view.battle, view.seat] = SeatLines(list(view.lines), view.request or {}, view.state)
            case Finished():
                for battle in message.battles:
                    self.battles.discard(battle.battle)
                    events.outcomes.append(_outcome(battle))
            case Failed():
                self._fail([failed for failed in message.battles if failed.battle not in self._stopping], events)
            case Validated():
                self._stopping.popleft()
            case Rejected():
                pass  # The seat's row comes again with ``asked_again``, and the outcome counts the rejections.
            case Recycle():
                _log.info("gateway is replaced", reason=message.reason)
                self.retiring = True
                metrics.GATEWAY_RECYCLES.add()
            case _:
                raise ChannelClosedError(f"the gateway sent an unexpected {type(message).__name__}")

    def _fail(self, battles: Sequence[FailedBattle], events: Events) -> None:
        """Add failed battles to ``events``, and take their decisions out of it: answers would answer nothing."""
        numbers = [failed.battle for failed in battles]
        self.battles.difference_update(numbers)
        events.failures.extend(Failure(failed.battle, failed.cause, failed.detail) for failed in battles)
        for at in reversed(range(len(events.decisions))):
            decisions = events.decisions[at]
            due = np.flatnonzero(~np.isin(decisions.battle, numbers))
            self.num_unanswered -= len(decisions) - len(due)
            events.decisions[at : at + 1] = [decisions.take(due)] if len(due) else []


class ShowdownArena:
    """Plays battles of one format on ``num_gateways`` gateways; ``settings`` default to the environment's.

    With two or more gateways, one computes while the policies answer another, so that neither side waits for long.
    """

    def __init__(self, format_id: str, num_gateways: int, settings: GatewaySettings | None = None) -> None:
        self._format = format_id
        self._settings = settings or load_gateway_settings()
        self._num_gateways = num_gateways
        self._workers: list[_Worker] = []
        self._lost: list[Failure] = []
        self._spent_cpu_seconds = 0.0
        self._polled_at = time.monotonic()
        for cause in FAILURE_CAUSES:
            # Export a 0 first, so that a rate over the counter includes the first failure.
            metrics.FAILED_BATTLES.add(0, cause=cause)
        metrics.GATEWAY_RECYCLES.add(0)
        try:
            self._open_workers()
        except BaseException:
            self.close()
            raise
        self._space = self._workers[0].gateway.space
        self._versions = {"pokemon-showdown": self._workers[0].gateway.simulator_version}

    @property
    def space(self) -> Space:
        """Layout of observations and actions."""
        return self._space

    @property
    def versions(self) -> dict[str, str]:
        """The simulator's version, by its npm package's name."""
        return self._versions

    @property
    def draws_choices(self) -> bool:
        """Whether it plays seats whose choices are only drawn: always."""
        return True

    def start(self, battles: Sequence[RunningBattle]) -> None:
        """Start battles, each on the gateway that runs the fewest."""
        batches: dict[int, list[RunningBattle]] = {}
        accepting = [index for index, worker in enumerate(self._workers) if not worker.retiring]
        for running in battles:
            index = min(accepting, key=lambda i: len(self._workers[i].battles))
            self._workers[index].battles.add(running.battle)
            batches.setdefault(index, []).append(running)
        for index, batch in batches.items():
            gateway = self._workers[index].gateway
            begun = tuple(_battle_start(running) for running in batch if running.spec.position is None)
            if begun:
                gateway.send(Start(battles=begun))
            for running in batch:
                if running.spec.position is not None:
                    gateway.send(_resume(running, running.spec.position))

    def poll(self) -> Events:
        """Send starts and actions, wait up to a second for events, and return them.

        Observations and legal actions are valid until the next poll, which may reuse their memory.
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
        self._count_silence()
        for worker in list(self._workers):
            if worker.silent_seconds > self._settings.hang_seconds:
                worker.gateway.kill()
                self._lose(worker, "gateway_hung", f"silent for {self._settings.hang_seconds:g} s")
            elif worker.retiring:
                self._retire(worker)
        return events

    def act(self, battle: NDArray[np.int64], seat: NDArray[np.int8], action: NDArray[np.int64]) -> None:
        """Queue actions for decisions; drop actions of battles whose gateway has been lost."""
        numbers = battle.tolist()
        for worker in self._workers:
            if worker.battles.issuperset(numbers):
                worker.act(battle, seat, action)
                break
            rows = np.flatnonzero([number in worker.battles for number in numbers])
            if len(rows):
                worker.act(battle[rows], seat[rows], action[rows])

    def stop(self, battle: int, num_open: int) -> None:
        """Forget a running battle that waits for answers to ``num_open`` decisions. Its number is free again."""
        self._lost = [failure for failure in self._lost if failure.battle != battle]
        for worker in self._workers:
            if battle in worker.battles:
                worker.stop(battle, num_open)

    def resident_bytes(self) -> int:
        """Return the resident memory of the child gateways, in bytes."""
        return sum(process.memory_info().rss for process in self._processes())

    def cpu_seconds(self) -> float:
        """Return the CPU time of all gateways so far, user and system, in seconds."""
        return self._spent_cpu_seconds + sum(worker.gateway.cpu_seconds() for worker in self._workers)

    def close(self) -> None:
        """Stop every gateway."""
        for worker in list(self._workers):
            self._close_worker(worker)

    def _open_workers(self) -> None:
        """Open gateways until as many as asked for take new battles."""
        while sum(not worker.retiring for worker in self._workers) < self._num_gateways:
            self._workers.append(_Worker(Gateway(self._format, self._settings)))

    def _close_worker(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        self._spent_cpu_seconds += worker.gateway.cpu_seconds()
        worker.gateway.close()

    def _ready_workers(self) -> list[_Worker]:
        ready = [worker for worker in self._workers if worker.gateway.channel.has_frames]
        if ready:
            return ready
        readable, _, _ = select.select([worker.gateway.channel for worker in self._workers], [], [], _POLL_SECONDS)
        return [worker for worker in self._workers if worker.gateway.channel in readable]

    def _count_silence(self) -> None:
        """Add the time since the last poll to the silence of the gateways that owe an answer.

        In a longer time the caller did something else, or the machine was suspended with its gateways.
        """
        now = time.monotonic()
        passed_seconds = min(now - self._polled_at, self._settings.hang_seconds * _LARGEST_SILENCE_A_POLL)
        self._polled_at = now
        for worker in self._workers:
            worker.silent_seconds = worker.silent_seconds + passed_seconds if worker.owes_answer else 0.0

    def _lose(self, worker: _Worker, cause: str, detail: str) -> None:
        """Fail the battles of a lost gateway, and open another unless it has been replaced."""
        if worker not in self._workers:
            return
        self._close_worker(worker)
        for battle in worker.battles:
            self._lost.append(Failure(battle, cause, detail))
        self._open_workers()

    def _retire(self, worker: _Worker) -> None:
        """Let a gateway that asked to be recycled finish its battles while another takes new ones."""
        self._open_workers()
        if not worker.battles:
            self._close_worker(worker)

    def _processes(self) -> list[psutil.Process]:
        ids = [worker.gateway.process_id for worker in self._workers]
        return [psutil.Process(process_id) for process_id in ids if process_id]


def _battle_start(running: RunningBattle) -> BattleStart:
    spec = running.spec
    first, second = spec.team_seeds
    return BattleStart(
        battle=running.battle,
        seed=hex_seed(spec.seed),
        teams=spec.teams,
        team_seeds=(hex_seed(first), hex_seed(second)),
        lines=running.lines,
        states=running.states,
        draws=_draws(running),
        log=spec.log,
        deadline_seconds=spec.deadline_seconds,
    )


def _resume(running: RunningBattle, position: Position) -> Resume:
    spec = running.spec
    return Resume(
        battle=running.battle,
        seat=position.seat,
        seen=position.seen,
        request=position.request,
        input=position.inputs,
        seed=hex_seed(spec.seed),
        teams=position.teams,
        lines=running.lines,
        states=running.states,
        draws=_draws(running),
        log=spec.log,
        deadline_seconds=spec.deadline_seconds,
    )


def _draws(running: RunningBattle) -> tuple[str | None, str | None]:
    first, second = (None if seed is None else hex_seed(seed) for seed in running.draws)
    return first, second


def _outcome(finished: FinishedBattle) -> Outcome:
    return Outcome(
        battle=finished.battle,
        winner=finished.winner,
        turns=finished.turns,
        decisions=finished.decisions,
        rejected=finished.rejected,
        log=finished.log,
    )
