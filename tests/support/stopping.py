"""Requests to stop, made as Kubernetes and a terminal make them: by a signal."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from nashdex.core.stopping import install_stop_handlers

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stop_handlers() -> Iterator[None]:
    """Handle signals as a step does; afterwards no request is left, and the handlers are as before."""
    before = [signal.getsignal(number) for number in _SIGNALS]
    install_stop_handlers()
    try:
        yield
    finally:
        install_stop_handlers()
        for number, handler in zip(_SIGNALS, before, strict=True):
            signal.signal(number, handler)


@contextmanager
def asked_to_stop() -> Iterator[None]:
    """Be asked to stop by SIGTERM, until the end of the block."""
    with stop_handlers():
        signal.raise_signal(signal.SIGTERM)
        yield
