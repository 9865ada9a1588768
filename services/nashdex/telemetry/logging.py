"""Logs on standard error: lines for people on a terminal, one JSON object a line for machines.

Standard output is left to what a command answers. Everything goes one way, the libraries' own logs too, and every
line passes the redaction.
"""

import logging
import sys
from typing import Literal

import structlog

from nashdex.telemetry.redaction import Redaction
from nashdex.telemetry.settings import TelemetrySettings


def configure_logging(settings: TelemetrySettings) -> None:
    """Set up structlog and the standard library's logging. Call once, before anything logs."""
    terminal = sys.stderr.isatty()
    log_format: Literal["console", "json"] = settings.log_format or ("console" if terminal else "json")
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(
            fmt="%H:%M:%S" if log_format == "console" else "iso", utc=log_format == "json"
        ),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        Redaction(),
    ]
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if log_format == "json"
        else structlog.dev.ConsoleRenderer(
            colors=terminal, exception_formatter=structlog.dev.plain_traceback, pad_event_to=0, sort_keys=False
        )
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.ExtraAdder(), *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
    root.addHandler(handler)
    # Libraries are heard when something is wrong; nashdex as the settings say.
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
