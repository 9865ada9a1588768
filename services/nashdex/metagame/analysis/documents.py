"""The published solution of the empirical game: the shipped mixture, and its analysis."""

from typing import Annotated

from pydantic import Field, NonNegativeFloat, PositiveInt, model_validator

from nashdex.core.documents import Document, Model
from nashdex.core.ids import PolicyIdField
from nashdex.metagame.analysis.exploitability import Exploitabilities
from nashdex.metagame.evidence.estimates import CONFIDENCE
from nashdex.metagame.evidence.intervals import Estimate, Interval
from nashdex.metagame.evidence.matrix import Coverage, IntervalWidths
from nashdex.metagame.evidence.pairs import PairStatistics
from nashdex.metagame.ratings.table import RatingTable

Probability = Annotated[float, Field(ge=0.0, le=1.0)]

SUPPORT_THRESHOLD = 0.01
"""A policy is in the support when the mixture plays it more often than this."""
_SUM_TOLERANCE = 1e-9


class MetaStrategy(Document):
    """``meta_strategy.json``: how often the mixture plays each policy."""

    meta_strategy: dict[PolicyIdField, Probability]
    meta_solver: str
    value: float = Field(description="Expected score of the mixture against itself, minus ½: 0 by symmetry.")
    residual: NonNegativeFloat = Field(description="How far the mixture is from what its solver promises, in score.")
    status: str = Field(description="optimal, imprecise (see the residual), or closed-form: nothing to solve.")
    unique: bool = Field(description="False where the solver had to choose among many; nash takes maximum entropy.")
    intervals: dict[PolicyIdField, Interval] = Field(
        description="Interval of each probability, over the posterior draws."
    )
    interval_estimator: str = Field(
        "posterior-quantiles",
        description="The solver's answers on draws of all payoffs from their posterior, widened to hold the value.",
    )
    confidence: float = Field(CONFIDENCE, description="Confidence of each interval here.")
    entropy: Estimate = Field(description="In nats; its interval is over the same draws, and conservative.")

    @model_validator(mode="after")
    def _is_a_distribution(self) -> "MetaStrategy":
        total = sum(self.meta_strategy.values())
        if abs(total - 1.0) > _SUM_TOLERANCE:
            raise ValueError(f"the probabilities of the meta-strategy add up to {total}; expected 1")
        return self


class DominantPolicy(Model):
    """A policy that the mixture plays."""

    policy: PolicyIdField
    probability: Probability


class MetaGameAnalysis(RatingTable, Document):
    """``meta_game_analysis.json``: exploitability, ratings, and how sure any of it is."""

    exploitability: Exploitabilities
    dominant_policies: tuple[DominantPolicy, ...] = Field(description="Who is played, by falling probability.")
    support: tuple[PolicyIdField, ...] = Field(description=f"Policies with a probability above {SUPPORT_THRESHOLD}.")
    support_probability: dict[PolicyIdField, Probability] = Field(description="Share of draws with it in the support.")
    support_stability: Probability = Field(description="Share of draws with exactly the same support.")
    coverage: Coverage
    pairs: PairStatistics | None = Field(description="Null where payoffs are exact.")
    interval_widths: IntervalWidths
    imputed_cells: tuple[tuple[PolicyIdField, PolicyIdField], ...] = Field(
        description="Pairs without battles, whose payoff was imputed; none while unplayed cells block. In a population "
        "of more than 257 policies, those of the support."
    )
    num_draws: PositiveInt = Field(description="Posterior draws and bootstrap samples behind the intervals.")
