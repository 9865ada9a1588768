"""Numbers with their uncertainty."""

from pydantic import Field, NonNegativeFloat

from nashdex.core.documents import Model
from nashdex.metagame.evidence.intervals import Estimate


class EloEstimate(Model):
    """A Bradley–Terry rating."""

    elo: Estimate
    standard_error: NonNegativeFloat = Field(description="Elo.")
