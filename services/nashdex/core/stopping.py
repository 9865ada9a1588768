"""Clean shutdown: a signal sets a flag, and loops check it where stopping is safe.

An exception raised in the signal handler could interrupt an update halfway; a flag cannot.
"""

import signal
import threading
from types import FrameType

from nashdex.core.errors import StoppedError

_stop = threading.Event()


def install_stop_handlers(*signals: signal.Signals) -> None:
    """Turn signals, by default SIGTERM and SIGINT, into a request to stop, and forget earlier requests.

    Call it from the main thread.
    """
    _stop.clear()
    for number in signals or (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _request_stop)


def _request_stop(number: int, frame: FrameType | None) -> None:
    del number, frame
    _stop.set()


def stop_requested() -> bool:
    """Say whether the process was asked to stop."""
    return _stop.is_set()


def wait_for_stop(timeout_seconds: float) -> bool:
    """Wait until the process is asked to stop, or for ``timeout_seconds``; say whether it was."""
    return _stop.wait(timeout_seconds)


def check_stop() -> None:
    """Raise StoppedError if the process was asked to stop. Call it where stopping loses no work."""
    if _stop.is_set():
        raise StoppedError("stopped by a signal; run the same command again to continue")
