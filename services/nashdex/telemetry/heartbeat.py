"""Whether work advances. A process that runs but gets nothing done is not healthy."""

import time

from nashdex.telemetry import metrics

_last_seconds = time.monotonic()


def beat() -> None:
    """Say that work advanced just now."""
    beat_without_advance()
    metrics.LAST_ADVANCE.set(time.time())


def beat_without_advance() -> None:
    """Say that the process is well though work did not advance: starting it anew would not bring what it waits for."""
    global _last_seconds  # noqa: PLW0603 - a process has one heart
    _last_seconds = time.monotonic()


def seconds_since_beat() -> float:
    """Return the time since work last advanced, or since the process began, in seconds."""
    return time.monotonic() - _last_seconds
