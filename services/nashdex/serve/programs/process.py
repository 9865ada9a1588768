"""A program that plays by websocket: a child process with a process group of its own, or one that runs elsewhere."""

import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from nashdex.core.errors import ConfigurationError
from nashdex.policies.external import environment_of_players
from nashdex.settings.external import ExternalPlayer, arguments_of

_STOP_SECONDS: Final = 3.0
_WATCH: Final = 'read -r _; kill -s KILL -- "-$0"'
"""A shell script that kills the process group $0 when its standard input ends, as it does if this process is killed."""
_MOST_WORDS: Final = 300
_TAIL_BYTES: Final = 4096


class Elsewhere:
    """A declared program that somebody else runs, such as Kubernetes: it is on the server by itself."""

    def __init__(self, name: str, declared: ExternalPlayer) -> None:
        self.name = name
        self._declared = declared
        self.is_started = False

    def start(self, values: Mapping[str, str]) -> None:
        """Count on it from here on."""
        del values
        self.is_started = True

    def exit_code(self) -> int | None:
        """Return None: nothing here sees it end."""
        return None

    def kill(self) -> None:
        """Count on it no more; whoever runs it ends it."""
        self.is_started = False

    def last_words(self) -> str:
        """Return where to look."""
        return f"it runs elsewhere, and is to be {self._declared.username!r} on the server at {self._declared.server}"


class Program:
    """One declared program. Every start appends its output to one log."""

    def __init__(self, name: str, declared: ExternalPlayer, log: Path) -> None:
        self.name = name
        self._declared = declared
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher: subprocess.Popen[bytes] | None = None
        self.is_quoted = False
        """Whether a message has named the log, so that it must be kept."""

    @property
    def is_started(self) -> bool:
        """Whether it was started and not killed since."""
        return self._process is not None

    def start(self, values: Mapping[str, str]) -> None:
        """Start it, with ``values`` for the names in its command's braces.

        Raises:
            ConfigurationError: there is no such program or folder.
        """
        assert self._process is None, "it is killed before it starts again"
        assert self._declared.command is not None, "only programs that play by websocket have a command"
        arguments = arguments_of(self._declared.command, values)
        with self.log.open("ab") as output:
            try:
                self._process = subprocess.Popen(  # noqa: S603 - this machine's own configuration names it
                    arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=self._declared.folder,
                    env=environment_of_players(),
                    start_new_session=True,
                )
            except OSError as error:
                raise ConfigurationError(
                    f"{self.name} is not available: {arguments[0]!r} cannot start: {error}"
                ) from error
        self._watcher = subprocess.Popen(  # noqa: S603 - a script of this module
            ["/bin/sh", "-c", _WATCH, str(self._process.pid)], stdin=subprocess.PIPE, start_new_session=True
        )

    def exit_code(self) -> int | None:
        """Return how it ended; None while it runs."""
        assert self._process is not None, "it was started"
        return self._process.poll()

    def kill(self) -> None:
        """End it and every process of its group. Safe to call twice."""
        process, self._process = self._process, None
        if process is None:
            return
        # Its group may outlive it.
        for stop in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, stop)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_STOP_SECONDS)
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.kill()
            watcher.communicate()

    def last_words(self) -> str:
        """Return where its output is, and the output's last line."""
        self.is_quoted = True
        with self.log.open("rb") as written:
            written.seek(max(0, self.log.stat().st_size - _TAIL_BYTES))
            lines = written.read().decode("utf-8", "replace").strip().splitlines()
        said = f"its last words: {lines[-1][:_MOST_WORDS]}" if lines else "it wrote nothing"
        return f"{said}; its output is in {self.log}"
