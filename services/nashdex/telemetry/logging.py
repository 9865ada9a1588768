"""Logs on standard error: readable lines on a terminal, one JSON object per line elsewhere.

Standard output is reserved for a command's result. Logs of libraries take the same path, and every line is redacted. A
step's JSON lines have its run, iteration, step, shard and attempt; lines for people do not, because they would all be
the same.

A step also writes its log to the store while it runs, so that it outlives the pod.
Lines go there in parts: after a minute, then after ever longer pauses of up to eight minutes, and at the end, with the
traceback of a failure. A process that is killed loses the lines since the last part. The store's failures are not the
step's: lines wait for the next part, up to a limit, and the end waits ten seconds.
"""

import logging
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Literal, Self

import structlog

from nashdex.core.errors import NashdexError
from nashdex.core.redaction import Redaction
from nashdex.core.work import present_work
from nashdex.settings.process import TelemetrySettings, load_telemetry_settings


def configure_logging(settings: TelemetrySettings | None = None) -> None:
    """Set up structlog and the standard library's logging. Call once, before the first log line.

    Without ``settings``, the environment's.

    Raises:
        ConfigurationError: a variable of the environment has a wrong value.
    """
    settings = settings or load_telemetry_settings()
    terminal = sys.stderr.isatty()
    log_format: Literal["console", "json"] = settings.log_format or ("console" if terminal else "json")
    shared = _processors(log_format)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        json_formatter()
        if log_format == "json"
        else _formatter(
            shared,
            structlog.dev.ConsoleRenderer(
                colors=terminal, exception_formatter=structlog.dev.plain_traceback, pad_event_to=0, sort_keys=False
            ),
        )
    )
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)  # of libraries
    logging.captureWarnings(capture=True)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=_loggers(settings.log_level.upper()),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _loggers(level: str) -> Callable[..., logging.Logger]:
    """Return what gives structlog its loggers: those of nashdex and its plug-ins, all with this level."""
    named_by_caller = structlog.stdlib.LoggerFactory([__name__])
    number = logging.getLevelNamesMapping()[level]

    def logger(*names: object) -> logging.Logger:
        found = named_by_caller(*names)
        if found.level != number:
            found.setLevel(number)
        return found

    return logger


def json_formatter() -> logging.Formatter:
    """Return what formats a record as one redacted JSON object."""
    renderer = structlog.processors.JSONRenderer(ensure_ascii=False)
    return _formatter(_processors("json"), _add_work, renderer)


def _formatter(
    shared: list[structlog.typing.Processor], *last: structlog.typing.Processor
) -> structlog.stdlib.ProcessorFormatter:
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.stdlib.ExtraAdder(), *shared],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
    )


def _processors(log_format: Literal["console", "json"]) -> list[structlog.typing.Processor]:
    """Return what every event passes through, ours and from libraries."""
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(
            fmt="%H:%M:%S" if log_format == "console" else "iso", utc=log_format == "json"
        ),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        _redacting(),
    ]


def _redacting() -> structlog.typing.Processor:
    redaction = Redaction()

    def redact(
        logger: structlog.typing.WrappedLogger, method: str, event: structlog.typing.EventDict
    ) -> structlog.typing.EventDict:
        del logger, method
        return redaction.fields(event)

    return redact


def _add_work(
    logger: structlog.typing.WrappedLogger, method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Add what the process works on; a field of the event itself wins."""
    del logger, method
    work = present_work()
    return event if work is None else {**asdict(work), **event}


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
        try:
            line = self.format(record)
        except Exception:  # noqa: BLE001 - as of every handler: a library's wrong call to its log must not end the step
            self.handleError(record)
            return
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
        # Half a surrogate pair, as in a name that is no UTF-8, has no UTF-8; its escape means the same in JSON.
        data = "".join(f"{line}\n" for line in lines).encode(errors="backslashreplace")
        try:
            self._put(self._key(self._num_parts), data)
        except NashdexError:
            with self._guard:
                self._lines = (lines + self._lines)[-_MAX_LINES:]
        else:
            self._num_parts += 1
