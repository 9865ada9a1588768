"""The steps of an iteration, and how a step's items are split over its shards."""

from enum import StrEnum


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
