"""The names of an iteration's steps."""

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
