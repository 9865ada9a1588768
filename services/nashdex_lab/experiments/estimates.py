"""Elo against fixed references, and intervals whose unit is the seed.

S seeds of one arm. Battles of one seed share a training, so they say nothing about another training: the seed is the
cluster. An arm's Elo is the mean over its seeds, with Student's interval of S − 1 degrees of freedom. With one seed
there is no error between seeds: the interval covers the battles alone, and says so.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field
from scipy.special import ndtri, stdtrit

from nashdex.metagame.evidence.estimates import CONFIDENCE, NORMAL_QUANTILE
from nashdex.metagame.evidence.intervals import Estimate
from nashdex_lab.experiments.records import Match

ELO_PER_STRENGTH = 400.0 / math.log(10.0)
_MOST_ELO = 4000.0
_STEPS = 60
"""Bisections: from 8,000 Elo to far below a thousandth."""
_PRIOR_BATTLES = 0.5
"""Won and lost against each anchor beside the real ones (Jeffreys), so that 1,000 wins are no infinite Elo."""

Unit = Literal["seeds", "battles"]


class ClusteredEstimate(Estimate):
    """An estimate whose interval, by itself of 95 %, says what it counts as independent."""

    unit: Unit = Field(description="What was counted as independent: `battles` where there is one seed only.")


def fixed_reference_elo(matches: Mapping[str, Match], anchors: Mapping[str, float]) -> tuple[float, float]:
    """Return a policy's Elo by its scores against anchors of fixed Elo, and its standard error by battles.

    The maximum of the Bradley–Terry likelihood in one unknown: the Elo at which the expected scores add up to the
    real ones. The error follows from the intervals of the matches, which count side-swapped pairs.
    """
    scores = {
        anchor: (match.score * match.battles + _PRIOR_BATTLES) / (match.battles + 2 * _PRIOR_BATTLES)
        for anchor, match in matches.items()
    }

    def excess(elo: float) -> float:
        return sum(matches[a].battles * (scores[a] - _expected(elo - anchors[a])) for a in matches)

    low, high = -_MOST_ELO, _MOST_ELO
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    elo = (low + high) / 2
    information, variance = 0.0, 0.0
    for anchor, match in matches.items():
        expected = _expected(elo - anchors[anchor])
        information += match.battles * expected * (1 - expected) / ELO_PER_STRENGTH
        variance += (match.battles * (match.high - match.low) / (2 * NORMAL_QUANTILE)) ** 2
    return elo, math.sqrt(variance) / information


def _expected(elo: float) -> float:
    return 1.0 / (1.0 + math.exp(-elo / ELO_PER_STRENGTH))


def over_seeds(values: Sequence[float], battle_errors: Sequence[float]) -> ClusteredEstimate:
    """Return the mean of one value a seed, with its interval.

    ``battle_errors`` are the standard errors of ``values`` by their battles, shape (S,) each; used where S is 1.
    """
    mean = math.fsum(values) / len(values)
    if len(values) == 1:
        half = NORMAL_QUANTILE * battle_errors[0]
        return ClusteredEstimate(value=mean, low=mean - half, high=mean + half, unit="battles")
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    half = quantile((1 + CONFIDENCE) / 2, len(values) - 1) * math.sqrt(variance / len(values))
    return ClusteredEstimate(value=mean, low=mean - half, high=mean + half, unit="seeds")


def quantile(probability: float, degrees_of_freedom: float) -> float:
    """Return a quantile of Student's t, or of the normal distribution for infinitely many degrees of freedom.

    Exact: the expansion elsewhere needs three degrees of freedom.
    """
    return float(ndtri(probability) if math.isinf(degrees_of_freedom) else stdtrit(degrees_of_freedom, probability))
