"""When the process last made progress. A process that runs without progress is not healthy."""

import time

from nashdex.telemetry import metrics

_last_seconds = time.monotonic()


def beat() -> None:
    """Record progress."""
    beat_without_advance()
    metrics.LAST_ADVANCE.set(time.time())


def beat_without_advance() -> None:
    """Stay healthy without progress, because a restart would not help."""
    global _last_seconds  # noqa: PLW0603 - a process has one heart
    _last_seconds = time.monotonic()


def seconds_since_beat() -> float:
    """Return the time since the last progress, or since the process started, in seconds."""
    return time.monotonic() - _last_seconds
