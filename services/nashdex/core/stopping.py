"""Clean shutdown: a signal sets a flag, and loops check it where stopping is safe.

An exception raised in the signal handler could interrupt an update halfway, and would be lost in code whose exceptions
Python ignores, such as a finaliser; a flag cannot. A second Ctrl-C raises KeyboardInterrupt at once.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from nashdex.core.errors import InterruptedByUserError, StoppedError

_stop = threading.Event()
_by_user = threading.Event()
"""Whether Ctrl-C was among the signals."""


def install_stop_handlers(*signals: signal.Signals) -> None:
    """Turn signals, by default SIGTERM and SIGINT, into a request to stop, and forget earlier requests.

    Call it from the main thread.
    """
    _stop.clear()
    _by_user.clear()
    for number in signals or (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _request_stop)


def _request_stop(number: int, frame: FrameType | None) -> None:
    del frame
    if number == signal.SIGINT:
        if _by_user.is_set():
            raise KeyboardInterrupt
        _by_user.set()
    _stop.set()


@contextmanager
def blocking_interrupts() -> Iterator[None]:
    """Block SIGINT, which child processes that start meanwhile inherit.

    Ctrl-C goes to every process of the terminal. It would end a child, perhaps one that is still importing, with a
    traceback; this process ends its children itself.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def stop_requested() -> bool:
    """Say whether the process was asked to stop."""
    return _stop.is_set()


def wait_for_stop(timeout_seconds: float) -> bool:
    """Wait until the process is asked to stop, or for ``timeout_seconds``; say whether it was."""
    return _stop.wait(timeout_seconds)


def check_stop() -> None:
    """Raise StoppedError if the process was asked to stop, by Ctrl-C InterruptedByUserError.

    Call it where stopping loses no work.
    """
    if _stop.is_set():
        stopped = InterruptedByUserError if _by_user.is_set() else StoppedError
        raise stopped("stopped by a signal; run the same command again")
