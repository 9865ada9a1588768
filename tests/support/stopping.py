"""Requests to stop, made as Kubernetes and a terminal make them: by a signal."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from nashdex.core.stopping import install_stop_handlers
from nashdex.learning.updates.checkpoint import Checkpoint
from support.memory_store import MemoryStore

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


class InterruptingStore(MemoryStore):
    """A store in memory that keeps every checkpoint's document, and asks the process to stop after some of them."""

    def __init__(self) -> None:
        super().__init__()
        self.checkpoints: list[Checkpoint] = []
        self.stops_after: set[int] = set()
        """Numbers of optimiser steps. Each one is used up by its stop."""

    def put(self, key: str, data: bytes) -> None:
        """Write an object; if it is a checkpoint's document, keep it, and stop where asked to."""
        super().put(key, data)
        if key.endswith("/checkpoint.json"):
            checkpoint = Checkpoint.from_json(data, key)
            self.checkpoints.append(checkpoint)
            if checkpoint.state.update in self.stops_after:
                self.stops_after.remove(checkpoint.state.update)
                signal.raise_signal(signal.SIGTERM)
