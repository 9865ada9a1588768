"""The members of the population, as they are after the last iteration."""

from collections.abc import Sequence

from pydantic import Field, NonNegativeInt

from nashdex.core.documents import Model
from nashdex.core.ids import PolicyId, PolicyIdField
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.metagame.population import Kind, display_names
from nashdex.metagame.ratings.ladder import LadderRating
from nashdex.report.document.estimates import EloEstimate


class PolicyRow(Model):
    """One member of the population."""

    id: PolicyIdField
    short_id: str = Field(
        description="The first characters of the id, enough to tell the members apart, and how it plays."
    )
    name: str
    kind: Kind
    iteration: int | None = Field(description="Iteration that trained it; null for the initial population.")
    parent: PolicyIdField | None
    anchor: bool = Field(description="True for the frozen policies that progress is measured against.")
    probability: Estimate = Field(description="In the last meta-strategy.")
    rating: EloEstimate
    ladder: LadderRating | None = Field(description="Null where payoffs are exact.")
    games: NonNegativeInt = Field(description="Battles in the ledger.")


def policy_names(policies: Sequence[PolicyRow]) -> dict[PolicyId, str]:
    """Return the name that the report shows for each policy, which ``RUN#NAME`` reads too."""
    return display_names(policies, {row.id: row.short_id for row in policies})
