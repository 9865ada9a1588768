"""Numbers with their uncertainty."""

from pydantic import Field, NonNegativeFloat

from nashdex.core.documents import Model


class Interval(Model):
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float


class Rating(Model):
    """Bradley–Terry maximum a posteriori, in Elo."""

    elo: Interval
    standard_error: NonNegativeFloat = Field(description="Elo.")
