"""Shows on standard error how much of an unknown total is done: a line in a terminal, otherwise one now and then."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

_TERMINAL_EVERY_SECONDS: Final = 0.2
_LINE_EVERY_SECONDS: Final = 10.0


@contextmanager
def counter(unit: str) -> Iterator[Callable[[int], None]]:
    """Yield what to call with the number of units done so far."""
    is_terminal = sys.stderr.isatty()
    every = _TERMINAL_EVERY_SECONDS if is_terminal else _LINE_EVERY_SECONDS
    began_seconds = shown_seconds = time.monotonic()

    def show(done: int) -> None:
        nonlocal shown_seconds
        now = time.monotonic()
        if now - shown_seconds < every:
            return
        shown_seconds = now
        text = f"{done:,} {unit}, {done / (now - began_seconds):.1f} a second"
        sys.stderr.write(f"\r{text}" if is_terminal else f"{text}\n")
        sys.stderr.flush()

    try:
        yield show
    finally:
        if is_terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
