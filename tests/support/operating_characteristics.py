"""How a truncated sequential test ends, exactly."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashdex.metagame.tournament.gate import SequentialTest


@dataclass(frozen=True, slots=True)
class OperatingCharacteristics:
    """How a truncated test ends."""

    accept: float
    """Probability."""
    reject: float
    undecided: float
    """Probability that the last look comes first."""
    expected_battles: float


def operating_characteristics(
    test: SequentialTest, outcomes: tuple[float, float, float], max_looks: int
) -> OperatingCharacteristics:
    """Return how ``test`` ends, by dynamic programming over the counts: exact, no simulation.

    Args:
        test: what is tested.
        outcomes: probability of a look's score being 0, ½ and 1: of pairs of battles without draws (see
            ``pair_outcomes``), or of single battles that are lost, drawn and won.
        max_looks: where the test is cut off.
    """
    possible = [(score, chance) for score, chance in zip((0.0, 0.5, 1.0), outcomes, strict=True) if chance > 0.0]
    factors = np.array([test.log_factors(score) for score, _ in possible])
    digits = (max_looks + 1) ** np.arange(len(possible))
    counts: NDArray[np.int64] = np.zeros((1, len(possible)), dtype=np.int64)
    """How often each outcome came up, of every history that is still without a decision; shape (H, 3)."""
    chances: NDArray[np.float64] = np.ones(1)
    accept = reject = expected_looks = 0.0
    for _ in range(max_looks):
        expected_looks += float(chances.sum())
        longer = np.concatenate([counts + one for one in np.eye(len(possible), dtype=np.int64)])
        _, first, same = np.unique(longer @ digits, return_index=True, return_inverse=True)
        counts = longer[first]
        chances = np.bincount(same, weights=np.concatenate([chance * chances for _, chance in possible])).astype(
            np.float64
        )
        against_low, against_high = (counts @ factors).T
        accepted = against_low >= test.accept_bound
        rejected = ~accepted & (against_high >= test.reject_bound)
        accept += float(chances[accepted].sum())
        reject += float(chances[rejected].sum())
        undecided = ~accepted & ~rejected
        counts, chances = counts[undecided], chances[undecided]
    return OperatingCharacteristics(accept, reject, float(chances.sum()), expected_looks * test.battles_per_look)


def pair_outcomes(score: float, correlation: float = 0.0) -> tuple[float, float, float]:
    """Return how likely a pair of battles without draws is lost, split and won, each battle won with ``score``.

    ``correlation`` of its two battles: 1 where teams and seed decide for the same policy twice, negative where
    they decide for a seat.

    Raises:
        ValueError: no two battles of this score have this correlation.
    """
    together = correlation * score * (1.0 - score)
    outcomes = (1.0 - score) ** 2 + together, 2.0 * (score * (1.0 - score) - together), score**2 + together
    if min(outcomes) < 0.0:
        raise ValueError(f"two battles of score {score} cannot have a correlation of {correlation}")
    return outcomes
