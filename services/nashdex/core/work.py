"""What this process works on, for every line of its log: the run, iteration, step, shard and attempt.

It belongs to the process, as the labels of its metrics do: lines of other threads and of libraries carry it too, which
context variables would miss. A process works on one shard at a time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from nashdex.core.ids import AttemptId, new_attempt_id
from nashdex.core.steps import StepName


@dataclass(frozen=True)
class Work:
    """One attempt at a shard."""

    run: str
    iteration: int
    step: StepName
    shard: int
    attempt: AttemptId


_present: list[Work] = []


@contextmanager
def working_on(run: str, iteration: int, step: StepName, shard: int) -> Iterator[Work]:
    """Begin an attempt at a shard, which lasts as long as the context."""
    work = Work(run, iteration, step, shard, new_attempt_id())
    _present.append(work)
    try:
        yield work
    finally:
        _present.remove(work)


def present_work() -> Work | None:
    """Return what the process works on; None outside ``working_on``."""
    return _present[-1] if _present else None
