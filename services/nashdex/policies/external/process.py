"""A child process that plays, and the pipe to it."""

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections import deque
from contextlib import suppress
from typing import Any, Final

import psutil

from nashdex.core.errors import ConfigurationError
from nashdex.games.showdown.external_causes import CRASH, DEADLINE, GARBAGE
from nashdex.games.space import Space
from nashdex.settings.external import ExternalPlayer

_MODULE: Final = "nashdex.games.showdown.external_player"
_READ_BYTES: Final = 1 << 16
_STOP_SECONDS: Final = 5.0
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
    """One child process with a player. Its answers come in the order of what it is asked."""

    def __init__(self, name: str, declared: ExternalPlayer, space: Space) -> None:
        assert declared.player_class is not None, "programs that play by websocket have no pipe"
        self._name = name
        self._declared = declared
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        self._process = subprocess.Popen(  # noqa: S603 - this machine's own configuration names it
            [sys.executable, "-m", _MODULE, declared.player_class, space.format, str(space.num_slots)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
            cwd=declared.folder,
            env=environment_of_players(),
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to = self._process.stdin.fileno()
        self._from = self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        self._unread = b""
        self._lines: deque[bytes] = deque()

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
            except BrokenPipeError as error:
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
            read = os.read(self._from, _READ_BYTES)
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
        """Return its CPU time so far, user and system, in seconds; 0 once it has ended."""
        try:
            times = psutil.Process(self._process.pid).cpu_times()
        except psutil.Error:
            return 0.0
        return float(times.user + times.system)

    def close(self) -> None:
        """End the process. Safe to call twice."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill the process. Safe to call twice."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            if pipe is not None:
                pipe.close()

    def _lost(self, cause: str, detail: str) -> PlayerLostError:
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
