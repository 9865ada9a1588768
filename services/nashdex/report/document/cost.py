"""What the run used, and what that bought."""

from pydantic import Field, NonNegativeFloat

from nashdex.core.documents import Model
from nashdex.core.steps import StepName


class Used(Model):
    """Processor time, of all processes of all steps. `nashdex cost` adds bytes and requests, and prices."""

    cpu_hours: NonNegativeFloat
    gpu_hours: NonNegativeFloat


class UsedInterval(Model):
    """Ends of a 95 % interval, by the interval of what was bought."""

    low: Used
    high: Used


class Cost(Model):
    """What the run used up to its newest iteration, without killed attempts and without the newest report step."""

    run: Used
    iteration: Used = Field(description="The newest one.")
    bottleneck: StepName | None = Field(description="The newest iteration's step with the longest wall time.")
    bottleneck_share: float = Field(
        description="Its share of the wall time of that iteration's steps, one after another."
    )
    gained_elo: float | None = Field(description="The progress; null where chance explains it, or if unknown.")
    lowered_exploitability: float | None = Field(
        description="By how much exploitability fell from its first value to its last, exact where it is known, else "
        "the best-response gap; null where chance explains the fall."
    )
    a_hundred_elo: Used | None = Field(description="The run's use for each 100 Elo gained.")
    a_hundred_elo_interval: UsedInterval | None = Field(None, description="The interval of that.")
    a_hundredth_of_exploitability: Used | None = Field(description="The run's use for each .01 of exploitability.")
    a_hundredth_of_exploitability_interval: UsedInterval | None = Field(None, description="The interval of that.")
