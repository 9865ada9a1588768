"""The names of an iteration's steps."""

from enum import StrEnum


class StepName(StrEnum):
    """One step of an iteration, in the order in which they run. Not every run has a gate."""

    PLAN = "plan"
    COLLECT = "collect"
    TRAIN = "train"
    GATE = "gate"
    EVALUATE = "evaluate"
    SOLVE = "solve"
    REPORT = "report"
