"""Settings of the solve step."""

from typing import Annotated, Literal

from pydantic import Field

from nashdex.core.plugins import OneOf
from nashdex.core.section import Choice, Section
from nashdex.metagame.solvers.nash import NashSettings
from nashdex.metagame.solvers.registry import META_SOLVERS


class SolveSettings(Section):
    """Solving the empirical game."""

    meta_solver: Annotated[Choice, OneOf(META_SOLVERS, "nash")] = Field(
        NashSettings(), description="Chooses the meta-strategy: a name, or a section with `kind` and its settings."
    )
    unplayed: Literal["block", "bradley-terry", "interval"] = Field(
        "block", description="Payoff of a pair that has not played: refuse, predict from ratings, or assume the worst."
    )
    num_draws: int = Field(500, ge=100, le=100_000, description="Posterior draws behind every interval.")
