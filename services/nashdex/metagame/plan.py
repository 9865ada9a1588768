"""What one iteration is to do, decided before any of it runs and stored as ``plan.json``."""

from pydantic import Field, NonNegativeInt

from nashdex.core.documents import Document
from nashdex.core.ids import PolicyIdField
from nashdex.core.results import Oracle
from nashdex.metagame.population import Population


class IterationPlan(Document):
    """The work of one iteration. Steps take everything else from the run's settings."""

    iteration: NonNegativeInt
    oracle: Oracle = Field(description="How this iteration's policy is trained.")
    population: Population = Field(description="The members before this iteration.")
    opponents: dict[PolicyIdField, float] = Field(description="Meta-strategy that the learner plays and answers.")
    learner: PolicyIdField = Field(description="Who sits in the learner's seat: the teacher, or the policy to improve.")
