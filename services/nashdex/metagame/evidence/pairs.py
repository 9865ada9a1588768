"""Side-swapped pairs: their counts as documents hold them, and how the two battles of a pair go together."""

from collections.abc import Iterator
from typing import Self

import numpy as np
from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Model
from nashdex.metagame.evidence.estimates import NORMAL_QUANTILE, Floats, Integers
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.metagame.evidence.tally import Tally

CountTable = tuple[tuple[NonNegativeInt, ...], ...]


class PairCounts(Model):
    """Side-swapped pairs by their results, from the row's point of view. Shape (K, K) each."""

    won_both: CountTable = Field(description="The transpose counts pairs that the row lost twice.")
    won_and_drew: CountTable = Field(description="The transpose counts pairs that the row drew and lost.")
    split: CountTable = Field(description="One battle won by each; symmetric.")
    drew_both: CountTable = Field(description="Symmetric.")

    @classmethod
    def of(cls, tally: Tally) -> Self:
        """Return the pairs of ``tally``."""
        return cls(**{name: count_table(getattr(tally, name)) for name in cls.model_fields})


def count_table(counts: Integers) -> CountTable:
    """Return an array of counts as documents hold it."""
    return tuple(map(tuple, counts.tolist()))


class PairStatistics(Model):
    """Statistics of side-swapped pairs, from which the battles' errors follow."""

    num_pairs: NonNegativeInt = Field(description="Complete side-swapped pairs.")
    battles: NonNegativeInt
    effective_battles: NonNegativeFloat = Field(
        description="Independent battles without draws that would be as sure, summed over the cells."
    )
    correlation: Estimate | None = Field(
        description="Between the two scores of a pair, pooled over the cells. Below 0: the teams decide, and swapping "
        "them cancels their luck. Null without pairs, or where every battle of each cell ended alike."
    )


def pair_statistics(tally: Tally) -> PairStatistics:
    """Return the statistics of the pairs in ``tally``."""
    above = np.triu_indices(len(tally.games), k=1)
    return PairStatistics(
        num_pairs=int(tally.pairs[above].sum()),
        battles=int(tally.games[above].sum()),
        effective_battles=float(tally.effective_games()[above].sum()),
        correlation=_correlation(tally),
    )


def _correlation(tally: Tally) -> Estimate | None:
    """Return the pooled within-pair correlation ρ = Σ cov / Σ var, with ± 1.96 standard errors of that ratio.

    Over the N pairs of a cell, r₁ and r₂ being a pair's two residuals from the cell's mean, S = Σ (r₁ + r₂)² / 2 · N /
    (N − 1) estimates N σ² (1 + ρ), and Σ (r₁² + r₂²) / 2 + S / 2N estimates N σ², both without bias. The standard
    error is the linearised ratio's, pairs being independent (Cochran 1977, section 6.4).
    """
    kinds = _kinds(tally)
    pairs = sum(count for count, _, _ in kinds)
    mean = sum(count * (one + other) for count, one, other in kinds) / np.maximum(2 * pairs, 1)
    known = np.triu(pairs, k=1) > 1
    factor = np.where(known, pairs / np.maximum(pairs - 1, 1), 0.0)

    def parts() -> Iterator[tuple[Integers, Floats, Floats]]:
        """Yield each kind's pairs, their part of S and their part of N σ²: one kind at a time, as K may be large."""
        for count, one, other in kinds:
            joint = factor * (one + other - 2 * mean) ** 2 / 2
            alone = known * ((one - mean) ** 2 + (other - mean) ** 2) / 2
            yield np.where(known, count, 0), joint, alone + joint / (2 * np.maximum(pairs, 1))

    sums = [(float((count * both).sum()), float((count * own).sum())) for count, both, own in parts()]
    total = sum(own for _, own in sums)
    if total <= 0:
        return None
    ratio = sum(both for both, _ in sums) / total
    squares = sum(float((count * (both - ratio * own) ** 2).sum()) for count, both, own in parts())
    error = NORMAL_QUANTILE * float(np.sqrt(squares)) / total
    value = min(max(ratio - 1.0, -1.0), 1.0)
    return Estimate(value=value, low=max(ratio - 1.0 - error, -1.0), high=min(ratio - 1.0 + error, 1.0))


def _kinds(tally: Tally) -> list[tuple[Integers, float, float]]:
    """Return each kind of pair: its count in every cell, and the row's two scores."""
    return [
        (tally.won_both, 1.0, 1.0),
        (tally.won_and_drew, 1.0, 0.5),
        (tally.split, 1.0, 0.0),
        (tally.drew_both, 0.5, 0.5),
        (tally.won_and_drew.T, 0.5, 0.0),
        (tally.won_both.T, 0.0, 0.0),
    ]
