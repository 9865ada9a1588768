"""Write a step's log to the store while the step runs, so that it outlives the pod.

Lines go there in parts: after a minute, then after ever longer pauses of up to eight minutes, and at the end, with the
traceback of a failure. A process that is killed loses the lines since the last part. The store's failures are not the
step's: lines wait for the next part, up to a limit, and the end waits ten seconds.
"""

import logging
import traceback
from collections.abc import Callable
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Self

from nashdex.core.errors import NashdexError
from nashdex.telemetry.logging import json_formatter

_FIRST_PAUSE_SECONDS = 60.0
_LONGEST_PAUSE_SECONDS = 480.0
_END_SECONDS = 10.0
_MAX_LINES = 50_000
"""Lines that wait while the store does not respond; the oldest are dropped beyond."""

Put = Callable[[str, bytes], None]
"""Writes an object under a key."""


class LogArchive(logging.Handler):
    """Archives the lines that are logged while the context lasts.

    Args:
        put: writes an object; raises NashdexError if it cannot.
        key: returns the key of a part, from 0.
        first_pause_seconds: before the first part.
    """

    def __init__(
        self, put: Put, key: Callable[[int], str], *, first_pause_seconds: float = _FIRST_PAUSE_SECONDS
    ) -> None:
        super().__init__()
        self.setFormatter(json_formatter())
        self._put = put
        self._key = key
        self._pause_seconds = first_pause_seconds
        self._lines: list[str] = []
        self._num_parts = 0
        self._guard = Lock()
        self._ended = Event()
        self._thread = Thread(target=self._write_parts, name="log-archive", daemon=True)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line for the next part."""
        line = self.format(record)
        with self._guard:
            self._lines.append(line)
            del self._lines[:-_MAX_LINES]

    def __enter__(self) -> Self:
        logging.getLogger().addHandler(self)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        logging.getLogger().removeHandler(self)
        if kind is not None and error is not None:
            # The command line prints it when the step is over.
            message = "".join(traceback.format_exception_only(error)).strip()
            self.emit(logging.LogRecord(__name__, logging.ERROR, __file__, 0, message, None, (kind, error, trace)))
        self._ended.set()
        self._thread.join(_END_SECONDS)

    def _write_parts(self) -> None:
        while not self._ended.wait(self._pause_seconds):
            self._write_part()
            self._pause_seconds = min(2 * self._pause_seconds, _LONGEST_PAUSE_SECONDS)
        self._write_part()

    def _write_part(self) -> None:
        with self._guard:
            lines, self._lines = self._lines, []
        if not lines:
            return
        try:
            self._put(self._key(self._num_parts), "".join(f"{line}\n" for line in lines).encode())
        except NashdexError:
            with self._guard:
                self._lines = (lines + self._lines)[-_MAX_LINES:]
        else:
            self._num_parts += 1
