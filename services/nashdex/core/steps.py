"""The steps of an iteration, how a step's items are split over its shards, and the shard that this process works on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from nashdex.core.ids import AttemptId, new_attempt_id


class StepName(StrEnum):
    """One step of an iteration, in the order in which they start. Not every run has actors and a gate."""

    PLAN = "plan"
    COLLECT = "collect"
    TRAIN = "train"
    ACT = "act"
    GATE = "gate"
    EVALUATE = "evaluate"
    SOLVE = "solve"
    REPORT = "report"


def shard_range(num_items: int, num_shards: int, shard: int) -> range:
    """Return the items of ``shard``. Ranges are contiguous, disjoint and complete; sizes differ by at most one."""
    if not 0 <= shard < num_shards:
        raise ValueError(f"shard {shard} is not one of {num_shards}")
    return range(num_items * shard // num_shards, num_items * (shard + 1) // num_shards)


@dataclass(frozen=True)
class Work:
    """One attempt at a shard, for every line of the process's log.

    It belongs to the process, as the labels of its metrics do: lines of other threads and of libraries carry it too,
    which context variables would miss. A process works on one shard at a time.
    """

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
