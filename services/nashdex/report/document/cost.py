"""What the run used, and what that bought."""

from pydantic import Field, NonNegativeFloat

from nashdex.core.documents import Model
from nashdex.core.steps import StepName


class Used(Model):
    """Processor time, of all processes of all steps. `nashdex cost` adds bytes and requests, and prices."""

    cpu_hours: NonNegativeFloat
    gpu_hours: NonNegativeFloat


class Cost(Model):
    """What the run used up to its newest iteration, without killed attempts and without the report step."""

    run: Used
    iteration: Used = Field(description="The newest one.")
    bottleneck: StepName | None = Field(description="The newest iteration's step with the longest wall time.")
    bottleneck_share: float = Field(description="Of the wall time of that iteration's steps, one after another.")
    gained_elo: float | None = Field(description="The progress; null where it is not above 0, or not known.")
    lowered_exploitability: float | None = Field(
        description="By how much exploitability fell from its first value to its last, exact where it is known, else "
        "the best-response gap; null where it did not fall."
    )
    a_hundred_elo: Used | None = Field(description="The run's use for each 100 Elo gained.")
    a_hundredth_of_exploitability: Used | None = Field(description="The run's use for each .01 of exploitability.")
