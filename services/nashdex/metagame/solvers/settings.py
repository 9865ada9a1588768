"""Settings of the solve step."""

from typing import Literal

from pydantic import Field

from nashdex.core.section import Section


class SolveSettings(Section):
    """Solving the empirical game."""

    meta_solver: Literal[
        "nash",
        "regret-matching",
        "prd",
        "alpha-rank",
        "uniform",
        "last",
        "last-k",
        "recency",
        "rectified-nash",
        "magnet",
    ] = Field("nash", description="Gives the meta-strategy.")
    alpha: float | None = Field(None, gt=0, description="Selection intensity of alpha-rank; by default swept.")
    population_size: int = Field(50, ge=2, le=10_000, description="Finite population of alpha-rank.")
    last_k: int = Field(5, ge=1, description="Newest policies that last-k plays.")
    recency_temperature: float = Field(1.0, gt=0, description="Of recency's softmax, in policies.")
    temperature: float = Field(0.1, gt=0, description="Weight of magnet's pull towards uniform, in payoff.")
    num_iterations: int = Field(
        100_000, ge=1, le=100_000_000, description="Of regret-matching, prd and magnet, at most."
    )
    unplayed: Literal["block", "bradley-terry", "interval"] = Field(
        "block", description="Payoff of a pair that has not played: refuse, predict from ratings, or assume the worst."
    )
    num_draws: int = Field(500, ge=100, le=100_000, description="Posterior draws behind every interval.")
