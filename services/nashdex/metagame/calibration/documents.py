"""What ``nashdex calibrate`` publishes."""

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from nashdex.core.documents import Document, Model

TOLERATED = 0.01
"""Warn if the measured coverage is further than this from the nominal one and chance does not explain it."""
_SURE = 2.0
"""Standard errors that chance may explain."""


class CalibratedNumber(Model):
    """How often one kind of interval holds the truth."""

    name: str
    nominal: float
    coverage: float = Field(ge=0.0, le=1.0, description="Share of the simulated intervals that hold the truth.")
    standard_error: NonNegativeFloat = Field(
        description="Standard error of the coverage. Intervals of one tournament go together."
    )
    sets: PositiveInt = Field(description="Simulated tournaments.")
    conservative: bool = Field(description="Whether the interval holds more than its nominal share by intention.")

    @property
    def is_off(self) -> bool:
        """Whether the coverage is over 1 % off, more than chance explains; too low alone if it is conservative."""
        off = self.coverage - self.nominal
        if self.conservative:
            off = min(off, 0.0)
        return abs(off) > max(TOLERATED, _SURE * self.standard_error)


class Calibration(Document):
    """``calibration.json``: the coverage of a run's intervals, from tournaments of its own design."""

    policies: PositiveInt
    battles: NonNegativeInt = Field(description="Battles of each simulated tournament.")
    correlation: float = Field(description="Between the two battles of a simulated pair.")
    seed: NonNegativeInt
    seconds: NonNegativeFloat
    numbers: tuple[CalibratedNumber, ...]
    warnings: tuple[str, ...]


def warnings_of(numbers: tuple[CalibratedNumber, ...]) -> tuple[str, ...]:
    """Return a line for each number whose interval misses its nominal coverage."""
    return tuple(
        f"{number.name}: the {number.nominal:.0%} interval holds the truth in {number.coverage:.1%} of "
        f"{number.sets} simulated tournaments (standard error {number.standard_error:.1%})"
        for number in numbers
        if number.is_off
    )
