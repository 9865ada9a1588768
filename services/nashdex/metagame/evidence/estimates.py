"""From counts to payoffs: expected scores, their posterior, and intervals for display. K policies, D draws.

P̂ = (w + d/2) / n is the row's expected score; A = P̂ − ½ is antisymmetric with a zero diagonal. Each pair is one
binomial-like cell: its posterior is Beta(w + d/2 + ½, l + d/2 + ½), Jeffreys' prior with a draw as half a win.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nashdex.core.errors import DataError
from nashdex.core.seeds import derive_seed
from nashdex.metagame.evidence.counts import unplayed_cells

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Verdict = Literal["better", "worse", "undecided"]

CONFIDENCE = 0.95
"""Of every interval that nashdex prints."""
EVEN = 0.5
"""The expected score of equals."""
NORMAL_QUANTILE = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


def require_played(policies: Sequence[str], games: Integers) -> None:
    """Check that every pair has met.

    Raises:
        DataError: names the first pair that has not, and says what to do.
    """
    unplayed = unplayed_cells(policies, games.tolist())
    if unplayed:
        (one, other), others = unplayed[0], len(unplayed) - 1
        also = f" (and {others} more pairs)" if others else ""
        raise DataError(
            f"{one!r} has not played {other!r}{also}, and an unplayed cell has no payoff; "
            "play the missing battles (the evaluate step does) or leave the policy out"
        )


def expected_scores(wins: Integers, draws: Integers, games: Integers) -> Floats:
    """Return P̂ of shape (K, K): the row's expected score against the column, ½ on the diagonal.

    Every pair must have met: see ``require_played``.
    """
    off_diagonal = ~np.eye(len(games), dtype=bool)
    scores = np.full(games.shape, EVEN)
    np.divide(wins + draws / 2, games, out=scores, where=off_diagonal)
    return scores


def centred(scores: Floats) -> Floats:
    """Return A = P̂ − ½ of any shape (…, K, K), antisymmetric to the last bit."""
    upper = np.triu(scores - EVEN, k=1)
    antisymmetric: Floats = upper - np.swapaxes(upper, -1, -2)
    return antisymmetric


def beta_draws(wins: int, draws: int, losses: int, num_draws: int, seed: int) -> Floats:
    """Return draws of shape (D,) from the posterior of one cell's expected score."""
    generator = np.random.default_rng(seed)
    return generator.beta(wins + draws / 2 + 0.5, losses + draws / 2 + 0.5, size=num_draws)


def posterior_scores(
    policies: Sequence[str], wins: Integers, draws: Integers, games: Integers, *, num_draws: int, seed: int
) -> Floats:
    """Return draws of P of shape (D, K, K) from the posterior of every cell, ½ on the diagonals.

    A cell's draws follow from ``seed``, its two ids and its counts, so they neither depend on the order of the
    policies nor change when another policy joins.
    """
    cells = [(i, j) for i, one in enumerate(policies) for j, other in enumerate(policies) if one < other]
    drawn = np.empty((len(cells), num_draws))
    for place, (i, j) in enumerate(cells):
        losses = int(games[i, j] - wins[i, j] - draws[i, j])
        cell_seed = derive_seed(seed, "posterior", policies[i], policies[j])
        drawn[place] = beta_draws(int(wins[i, j]), int(draws[i, j]), losses, num_draws, cell_seed)
    rows, columns = np.array(cells, dtype=np.intp).reshape(-1, 2).T
    scores = np.full((num_draws, len(policies), len(policies)), EVEN)
    scores[:, rows, columns] = drawn.T
    scores[:, columns, rows] = 1.0 - drawn.T
    return scores


def wilson_interval(score: ArrayLike, games: ArrayLike) -> tuple[Floats, Floats]:
    """Return Wilson's 95 % interval of ``score`` (wins and half the draws) out of ``games``, element by element.

    Wilson (1927). Without games it is [0, 1].
    """
    s, n = np.asarray(score, dtype=np.float64), np.asarray(games, dtype=np.float64)
    z = NORMAL_QUANTILE
    spread = z * np.sqrt(s * (n - s) / np.maximum(n, 1.0) + z * z / 4)
    middle = s + z * z / 2
    low, high = (middle - spread) / (n + z * z), (middle + spread) / (n + z * z)
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def clustered_wilson_interval(scores: ArrayLike, clusters: ArrayLike) -> tuple[float, float]:
    """Return Wilson's 95 % interval of the mean of ``scores`` whose battles come in groups, such as side-swapped pairs.

    Battles of a group share teams, and in a match of mixtures the drawn members. Where they go together, N battles say
    less than N independent ones, so Wilson's N is divided by the design effect (Kish 1965): the variance of the mean
    by groups, over that of independent battles. A design effect below 1 counts as 1.

    Args:
        scores: shape (N,), each 1, ½ or 0, or between.
        clusters: shape (N,), whole numbers: the group of each battle.
    """
    each = np.asarray(scores, dtype=np.float64)
    groups = np.unique(np.asarray(clusters), return_inverse=True)[1]
    mean, num, num_groups = float(each.mean()), len(each), int(groups.max()) + 1
    independent = mean * (1 - mean) / num
    effect = 1.0
    if independent > 0 and num_groups > 1:
        by_group = np.bincount(groups, each - mean)
        effect = max(1.0, float(by_group @ by_group) / num**2 * num_groups / (num_groups - 1) / independent)
    low, high = wilson_interval(mean * num / effect, num / effect)
    return float(low), float(high)


def verdict(score: float, games: int) -> Verdict:
    """Say whether ``score`` out of ``games`` shows a difference: undecided while Wilson's interval holds ½."""
    low, high = wilson_interval(score, games)
    if low > EVEN:
        return "better"
    if high < EVEN:
        return "worse"
    return "undecided"
