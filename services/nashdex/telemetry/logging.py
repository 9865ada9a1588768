"""Logs on standard error: readable lines on a terminal, one JSON object per line elsewhere.

Standard output is reserved for a command's result. Logs of libraries take the same path, and every line is redacted. A
step's JSON lines have its run, iteration, step, shard and attempt; lines for people do not, because they would all be
the same.
"""

import logging
import sys
from dataclasses import asdict
from typing import Literal

import structlog

from nashdex.core.redaction import Redaction
from nashdex.core.work import present_work
from nashdex.settings.process import TelemetrySettings


def configure_logging(settings: TelemetrySettings) -> None:
    """Set up structlog and the standard library's logging. Call once, before the first log line."""
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
    # Libraries log warnings only; the settings decide what nashdex logs.
    root.setLevel(logging.WARNING)
    logging.getLogger("nashdex").setLevel(settings.log_level.upper())
    logging.captureWarnings(capture=True)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


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
