"""Players of other programs as policies: each seat plays in a child process, several at once, asked over a pipe.

This machine's own configuration names the players. Nothing that a store names is imported or started.
"""

import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict, deque
from contextlib import suppress
from typing import Any, Final

import numpy as np
import structlog
from numpy.typing import NDArray

from nashdex.core.address import Address
from nashdex.core.child_cpu import ChildCpu
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId, policy_id
from nashdex.games.interface import Decisions, Failure
from nashdex.games.showdown.external_causes import CRASH, DEADLINE, GARBAGE, UNAVAILABLE
from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.games.space import Space
from nashdex.policies.interface import Actions
from nashdex.settings.external import ExternalPlayer, declared_player
from nashdex.store.protocol import ObjectStore

_MODULE: Final = "nashdex.games.showdown.external_player"
_READ_BYTES: Final = 1 << 16
_STOP_SECONDS: Final = 5.0
_RETRY_SECONDS: Final = 0.2
_SECRETS: Final = ("AWS_", "NASHDEX_", "WANDB_")
"""Beginnings of variables that a player of another program does not get."""


def environment_of_players() -> dict[str, str]:
    """Return this process's environment without its secrets and settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_SECRETS)}


class PlayerLostError(Exception):
    """The process crashed, missed its deadline or wrote garbage. ``cause`` says which; it has been killed."""

    def __init__(self, cause: str, detail: str) -> None:
        super().__init__(detail)
        self.cause = cause


class PlayerProcess:
    """One process with a player: a child, over a pipe, or one that listens elsewhere. It answers in the order asked."""

    def __init__(self, name: str, declared: ExternalPlayer, space: Space, *, waits: bool) -> None:
        """Start or reach it. Raise ConfigurationError if nothing listens at its address.

        With ``waits``, a player that does not listen yet has its ``start_seconds`` to begin.
        """
        assert not declared.plays_by_websocket, "programs that play by websocket have no pipe"
        self._name = name
        self._declared = declared
        address, seconds = declared.address, declared.start_seconds
        self._connection = None if address is None else reach(name, address, seconds, waits=waits)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        self._process: subprocess.Popen[bytes] | None = None
        self._cpu = ChildCpu(None)
        if self._connection is not None:
            self._to = self._from = self._connection.fileno()
        else:
            self._process = self._child(declared, space)
            self._cpu = ChildCpu(self._process.pid)
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._to = self._process.stdin.fileno()
            self._from = self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        self._unread = b""
        self._lines: deque[bytes] = deque()
        if self._connection is not None:
            hello = {"format": space.format, "slots": space.num_slots}
            self.send(hello, time.monotonic() + seconds)

    def _child(self, declared: ExternalPlayer, space: Space) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - this machine's own configuration names it
            [sys.executable, "-m", _MODULE, str(declared.player_class), space.format, str(space.num_slots)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
            cwd=declared.folder,
            env=environment_of_players(),
        )

    def check_ready(self) -> None:
        """Wait until the player is loaded.

        Raises:
            ConfigurationError: it cannot be loaded; quotes why.
        """
        try:
            said = self.receive(time.monotonic() + self._declared.start_seconds)
        except PlayerLostError as error:
            raise ConfigurationError(f"{self._name} is not available: {error}") from error
        if "refusal" in said:
            self.kill()
            raise ConfigurationError(f"{self._name} is not available: {said['refusal']}")

    def send(self, message: dict[str, Any], deadline: float) -> None:
        """Write a message before ``deadline``, in seconds of the monotonic clock.

        Raises:
            PlayerLostError: the process does not read it.
        """
        left = memoryview(json.dumps(message).encode() + b"\n")
        while left:
            _, writable, _ = select.select([], [self._to], [], max(0.0, deadline - time.monotonic()))
            if not writable:
                raise self._lost(DEADLINE, "it reads nothing")
            try:
                left = left[os.write(self._to, left) :]
            except BlockingIOError:
                continue
            except (BrokenPipeError, ConnectionError) as error:
                raise self._lost(CRASH, "it ended") from error

    def receive(self, deadline: float) -> dict[str, Any]:
        """Return the next message before ``deadline``, in seconds of the monotonic clock.

        Raises:
            PlayerLostError: it does not come, or is no message.
        """
        while not self._lines:
            readable, _, _ = select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))
            if not readable:
                raise self._lost(DEADLINE, f"no answer within {self._declared.decision_seconds:g} s")
            try:
                read = os.read(self._from, _READ_BYTES)
            except ConnectionError:
                read = b""
            if not read:
                raise self._lost(CRASH, "it ended")
            *whole, self._unread = (self._unread + read).split(b"\n")
            self._lines += whole
        line = self._lines.popleft()
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise self._lost(GARBAGE, f"it wrote {line[:80]!r}")
        return message

    def cpu_seconds(self) -> float:
        """Return its CPU time so far, user and system, in seconds; 0 of one elsewhere."""
        return self._cpu.seconds()

    def close(self) -> None:
        """End the process. Safe to call twice."""
        self._cpu.stop()
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill the process, or leave the one that listens elsewhere. Safe to call twice."""
        self._errors.close()
        if self._connection is not None:
            self._connection.close()
        if self._process is None:
            return
        self._cpu.stop()
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _lost(self, cause: str, detail: str) -> PlayerLostError:
        if self._process is None:
            self.kill()
            return PlayerLostError(cause, f"{detail}, at {self._declared.address}")
        self._cpu.stop()
        if cause == CRASH:
            # Its exit code is known a moment after its pipe has closed.
            try:
                code = self._process.wait(_STOP_SECONDS)
                detail = f"it ended with {code}"
            except subprocess.TimeoutExpired:
                detail = "it closed its pipe"
        self._errors.seek(0)
        said = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        self.kill()
        return PlayerLostError(cause, f"{detail}; its last words: {said[-1][:200]}" if said else detail)


_log = structlog.get_logger()


def reach(name: str, address: str, seconds: float, *, waits: bool) -> socket.socket:
    """Return a connection to the player ``name`` at ``address``, HOST:PORT.

    With ``waits``, what does not listen yet has ``seconds`` to begin.

    Raises:
        ConfigurationError: nothing listens there.
    """
    place = Address.of(address)
    deadline = time.monotonic() + seconds
    told = False
    while True:
        try:
            return socket.create_connection((place.host, place.port), timeout=seconds)
        except OSError as error:
            if waits and isinstance(error, ConnectionRefusedError) and time.monotonic() < deadline:
                if not told:
                    _log.info(f"{name} does not listen at {address} yet; waiting up to {seconds:g} s")
                    told = True
                time.sleep(_RETRY_SECONDS)
                continue
            raise ConfigurationError(f"{name} is not available: nothing answers at {address} ({error})") from error


_Key = tuple[int, int]
_FORGET_SECONDS: Final = 1.0


class ExternalPolicy:
    """Implements ``policies.interface.Policy`` and ``WithProcesses``.

    A crash, a deadline missed or garbage makes a battle void, never lost. An illegal order, or one outside the request,
    becomes Showdown's default, the first legal action: poke-env's player ends there too.
    """

    needs_lines = True
    needs_state = False
    view = None

    def __init__(self, policy: PolicyId, declared: ExternalPlayer, space: Space) -> None:
        """Start one process.

        Raises:
            ConfigurationError: the player cannot be loaded, or does not play in ``space``.
        """
        if space.game != SHOWDOWN:
            raise ConfigurationError(f"{policy} does not play {space.format}; expected a Showdown format")
        if declared.plays_by_websocket:
            raise ConfigurationError(
                f"{policy} plays by websocket, which only `nashdex battle` offers, with it as --p1 or --p2, and the "
                "tournament of a run that it is a member of"
            )
        self.id = policy
        self._declared = declared
        self._space = space
        self._processes: list[PlayerProcess] = []
        self._seats: dict[_Key, PlayerProcess] = {}
        self._orphans: set[_Key] = set()
        """Seats whose process was lost with another seat's battle."""
        self._spent_cpu_seconds = 0.0
        self.num_defaults = 0
        """Number of illegal orders; the first legal action was played instead."""
        # A sidecar may begin to listen after this process has started; one that is lost later is not waited for.
        self._start(waits=True)

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row; log-probabilities count as 0. ``Actions.void`` names the battles that have no answer."""
        action = np.empty(len(decisions), dtype=np.int64)
        void: dict[int, Failure] = {}
        asked: defaultdict[PlayerProcess, list[int]] = defaultdict(list)
        for row, key in enumerate(zip(decisions.battle.tolist(), decisions.seat.tolist(), strict=True)):
            action[row] = decisions.legal[row][0]
            if key in self._orphans:
                void[key[0]] = _orphan(key[0])
                continue
            try:
                process = self._process_of(key)
                process.send(_question(decisions, key, uniforms[row]), self._deadline(1))
                asked[process].append(row)
            except (PlayerLostError, ConfigurationError) as error:
                void[key[0]] = self._fail(key, error)
        for process, rows in asked.items():
            # One process answers its rows one after another.
            deadline = self._deadline(len(rows))
            for row in rows:
                key = (int(decisions.battle[row]), int(decisions.seat[row]))
                if self._seats.get(key) is not process:
                    void.setdefault(key[0], _orphan(key[0]))
                    continue
                try:
                    said = process.receive(deadline)
                except PlayerLostError as error:
                    void[key[0]] = self._fail(key, error)
                    continue
                if "cause" in said:
                    void[key[0]] = Failure(key[0], str(said["cause"]), f"{self.id}: {said.get('detail')}")
                else:
                    action[row] = self._legal(said, decisions.legal[row], action[row])
        return Actions(action, np.zeros(len(action), dtype=np.float32), void)

    def forget(self, battle: int, seat: int) -> None:
        """Let the seat's process forget it."""
        self._orphans.discard((battle, seat))
        process = self._seats.pop((battle, seat), None)
        if process is None:
            return
        try:
            process.send({"forget": [battle, seat]}, time.monotonic() + _FORGET_SECONDS)
        except PlayerLostError as error:
            self._drop(process, error)

    def cpu_seconds(self) -> float:
        """Return the CPU time of its processes so far, user and system, in seconds."""
        return self._spent_cpu_seconds + sum(process.cpu_seconds() for process in self._processes)

    def close(self) -> None:
        """End its processes."""
        for process in self._processes:
            self._spent_cpu_seconds += process.cpu_seconds()
            process.close()
        self._processes, self._seats = [], {}

    def _deadline(self, num_decisions: int) -> float:
        return time.monotonic() + self._declared.decision_seconds * num_decisions

    def _legal(self, said: dict[str, Any], legal: NDArray[np.uint16], default: np.int64) -> np.int64:
        chosen = said.get("action")
        if isinstance(chosen, int) and chosen in legal:
            return np.int64(chosen)
        self.num_defaults += 1
        if self.num_defaults == 1:
            _log.warning(
                "an order is not legal; the first legal action is played", player=self.id, order=said.get("order")
            )
        return default

    def _start(self, *, waits: bool = False) -> PlayerProcess:
        process = PlayerProcess(self.id, self._declared, self._space, waits=waits)
        process.check_ready()
        self._processes.append(process)
        return process

    def _process_of(self, key: _Key) -> PlayerProcess:
        """Return the process that plays a seat: for a new seat an idle one, else a new one, else the least busy."""
        if key not in self._seats:
            busy = dict.fromkeys(self._processes, 0)
            for process in self._seats.values():
                busy[process] += 1
            least = min(busy, key=lambda process: busy[process], default=None)
            if least is None or (busy[least] and len(busy) < self._declared.most_at_once):
                least = self._start()
            self._seats[key] = least
        return self._seats[key]

    def _fail(self, key: _Key, error: PlayerLostError | ConfigurationError) -> Failure:
        process = self._seats.pop(key, None)
        if process is not None and isinstance(error, PlayerLostError):
            self._drop(process, error)
        cause = error.cause if isinstance(error, PlayerLostError) else UNAVAILABLE
        return Failure(key[0], cause, f"{self.id}: {error}")

    def _drop(self, process: PlayerProcess, error: PlayerLostError) -> None:
        """Forget a process that was killed. The battles of its other seats are void: their past is lost."""
        _log.warning("a player's process was lost", player=self.id, cause=error.cause, detail=str(error))
        if process in self._processes:
            self._processes.remove(process)
            self._spent_cpu_seconds += process.cpu_seconds()
        self._orphans |= {key for key, other in self._seats.items() if other is process}
        self._seats = {key: other for key, other in self._seats.items() if other is not process}


def _orphan(battle: int) -> Failure:
    return Failure(battle, CRASH, "its process was lost with another battle")


def _question(decisions: Decisions, key: _Key, uniform: float) -> dict[str, Any]:
    said = decisions.lines[key]
    battle, seat = key
    return {"battle": battle, "seat": seat, "lines": said.lines, "request": said.request, "uniform": float(uniform)}


def load_external(store: ObjectStore, policy: PolicyId, space: Space, device: str) -> ExternalPolicy:
    """Return the player that this machine declares under the id, in the form of ``sources.PolicySource.player``.

    Raises:
        ConfigurationError: it declares none, or the player is not available.
    """
    del store, device
    return ExternalPolicy(policy_id(policy), declared_player(policy), space)
