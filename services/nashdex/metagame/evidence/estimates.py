"""From counts to payoffs: expected scores, their posterior, and intervals for display. K policies, D draws.

P̂ = (w + d/2) / n is the row's expected score; A = P̂ − ½ is antisymmetric with a zero diagonal. A cell's posterior is
Beta(m P̂ + ½, m (1 − P̂) + ½), Jeffreys' prior with a draw as half a win, where m are the *sure* games: the effective
games by side-swapped pairs (``tally``), times (z / t)² with t Student's quantile, since the variance by pairs is itself
estimated. Wilson's intervals use the same m, so one estimator is behind every number.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from nashdex.core.errors import DataError
from nashdex.core.seeds import derive_seed
from nashdex.metagame.evidence.counts import unplayed_cells
from nashdex.metagame.evidence.tally import Floats, Integers, Tally, degrees_of_freedom, design_effect, in_blocks

__all__ = ["Floats", "Integers", "Tally"]

Verdict = Literal["better", "worse", "undecided"]

CONFIDENCE = 0.95
"""Confidence of every interval that nashdex prints."""
EVEN = 0.5
"""The expected score of equals."""
NORMAL_QUANTILE = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


def require_played(policies: Sequence[str], games: Integers) -> None:
    """Check that every pair has met.

    Raises:
        DataError: a pair has not met; names the first such pair and the remedy.
    """
    unplayed = unplayed_cells(policies, games.tolist())
    if unplayed:
        (one, other), others = unplayed[0], len(unplayed) - 1
        also = f" (and {others} more pairs)" if others else ""
        raise DataError(
            f"{one!r} has not played {other!r}{also}, and an unplayed cell has no payoff; "
            "play the missing battles (the evaluate step does) or leave the policy out"
        )


def expected_scores(tally: Tally) -> Floats:
    """Return P̂ of shape (K, K): the row's expected score against the column, ½ on the diagonal and where unplayed."""
    scores = np.full(tally.games.shape, EVEN)
    np.divide(tally.scores, tally.games, out=scores, where=tally.games > 0)
    return scores


def centred(scores: Floats) -> Floats:
    """Return A = P̂ − ½ of any shape (…, K, K), antisymmetric to the last bit."""
    upper = np.triu(scores - EVEN, k=1)
    return upper - np.swapaxes(upper, -1, -2)


def beta_draws(won: float, lost: float, num_draws: int, seed: int) -> Floats:
    """Return draws of shape (D,) from the posterior of one cell's expected score.

    ``won`` is the cell's score in sure games, ``lost`` the sure games without it.
    """
    return np.random.default_rng(seed).beta(won + 0.5, lost + 0.5, size=num_draws)


def posterior_scores(policies: Sequence[str], tally: Tally, *, num_draws: int, seed: int) -> Floats:
    """Return draws of P of shape (D, K, K) from the posterior of every cell, ½ on the diagonals.

    A cell's draws follow from ``seed``, its two ids and its counts, so they neither depend on the order of the
    policies nor change when another policy joins.
    """
    draw = posterior_of_cells(policies, tally, num_draws=num_draws, seed=seed)
    return next(score_blocks(policies, draw, num_draws=num_draws, block=num_draws))


CellDraws = Callable[[int, int], Floats]
"""Takes a cell's places, the policy whose id comes first before the other, to draws of its score, shape (D,)."""


def posterior_of_cells(policies: Sequence[str], tally: Tally, *, num_draws: int, seed: int) -> CellDraws:
    """Return a function that draws a cell's score from its posterior, as ``posterior_scores`` does."""
    games = sure_games(tally)
    won = tally.scores / np.maximum(tally.games, 1) * games

    def draws_of(i: int, j: int) -> Floats:
        cell_seed = derive_seed(seed, "posterior", policies[i], policies[j])
        return beta_draws(float(won[i, j]), float(won[j, i]), num_draws, cell_seed)

    return draws_of


def score_blocks(policies: Sequence[str], draw: CellDraws, *, num_draws: int, block: int) -> Iterator[Floats]:
    """Yield draws of P of shape (B, K, K), ``block`` at a time, ½ on the diagonals.

    Raises:
        TryAgainError: they need a temporary file, and it does not fit on its disk.
    """
    size = len(policies)
    ranks = np.empty(size, dtype=np.intp)
    ranks[sorted(range(size), key=policies.__getitem__)] = np.arange(size)
    rows, columns = np.nonzero(ranks[:, None] < ranks[None, :])
    cells = (draw(i, j) for i, j in zip(rows.tolist(), columns.tolist(), strict=True))
    for drawn in in_blocks(cells, len(rows), num_draws, block):
        scores = np.full((drawn.shape[1], size, size), EVEN)
        scores[:, rows, columns] = drawn.T
        scores[:, columns, rows] = 1.0 - drawn.T
        yield scores


class DrawnColumns:
    """Draws of single columns of A = P̂ − ½: what ``score_blocks`` gives, drawn when it is asked for, each time."""

    def __init__(self, policies: Sequence[str], draw: CellDraws, num_draws: int) -> None:
        self.num_draws = num_draws
        self.num_drawn = 0
        """Columns that were drawn so far, repeats included."""
        self._policies = policies
        self._draw = draw

    def __getitem__(self, place: int) -> Floats:
        """Return every policy's payoff against the policy at ``place``, shape (D, K)."""
        payoffs = np.zeros((len(self._policies), self.num_draws))
        for other in range(len(self._policies)):
            # As in ``centred``: a cell's payoff is that above the diagonal, and its mirror image the negative.
            if other < place:
                payoffs[other] = self._score(other, place) - EVEN
            elif other > place:
                payoffs[other] = -(self._score(place, other) - EVEN)
        self.num_drawn += 1
        return np.ascontiguousarray(payoffs.T)

    def _score(self, row: int, column: int) -> Floats:
        if self._policies[row] < self._policies[column]:
            return self._draw(row, column)
        return 1.0 - self._draw(column, row)


def sure_games(tally: Tally) -> Floats:
    """Return the games that intervals and the posterior count with, of shape (K, K): see the module."""
    return tally.effective_games() * (NORMAL_QUANTILE / student_quantile(tally.degrees_of_freedom())) ** 2


def student_quantile(degrees_of_freedom: ArrayLike) -> Floats:
    """Return the 97.5 % quantile of Student's t, element by element.

    Three terms of the expansion in 1 / degrees of freedom (Abramowitz and Stegun 1964, 26.7.5): from 3 degrees on
    within 1 % of the exact value.
    """
    freedom = np.asarray(degrees_of_freedom, dtype=np.float64)
    z = NORMAL_QUANTILE
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def cell_intervals(tally: Tally) -> tuple[Floats, Floats]:
    """Return Wilson's 95 % interval of every cell's expected score, (K, K) each, by side-swapped pairs.

    Without games it is [0, 1].
    """
    games = sure_games(tally)
    return wilson_interval(tally.scores / np.maximum(tally.games, 1) * games, games)


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


def count_interval(count: float) -> tuple[float, float]:
    """Return the 95 % score interval of the mean of a Poisson count: Wilson's for events without a number of trials.

    For events in a span of time, such as ends of battles. Battles end more evenly than Poisson events, which have no
    shortest duration, so their true interval is narrower.
    """
    z = NORMAL_QUANTILE
    spread = z * math.sqrt(count + z * z / 4)
    return max(0.0, count + z * z / 2 - spread), count + z * z / 2 + spread


def clustered_wilson_interval(scores: ArrayLike, clusters: ArrayLike) -> tuple[float, float]:
    """Return Wilson's 95 % interval of the mean of ``scores`` whose battles come in groups, such as side-swapped pairs.

    Battles of a group share teams, and in a match of mixtures the drawn members. The same estimator as
    ``cell_intervals``, for groups of any size and scores that are not all 1, ½ or 0.

    ``scores`` and the groups' numbers ``clusters`` have shape (N,).
    """
    each = np.asarray(scores, dtype=np.float64)
    groups = np.unique(np.asarray(clusters), return_inverse=True)[1]
    mean, num, num_groups = float(each.mean()), len(each), int(groups.max()) + 1
    sums = np.bincount(groups, each - mean)
    effect = design_effect(sums @ sums, num_groups, mean, num)
    quantile = student_quantile(degrees_of_freedom(num_groups)) if num_groups < num else NORMAL_QUANTILE
    sure = num / effect * (NORMAL_QUANTILE / quantile) ** 2
    low, high = wilson_interval(mean * sure, sure)
    return float(low), float(high)


def interval_of_mixture(
    shares: Floats, scores: Floats, games: Floats, degrees_of_freedom: Floats
) -> tuple[float, float]:
    """Return Wilson's 95 % interval of Σ w x, the score of a mixture from the scores of its independent cells.

    It counts with the games n* = p (1 − p) / V that give a proportion p this variance V (Korn and Graubard 1998,
    "Confidence intervals for proportions with small expected number of positive counts"). p and V = Σ w² x (1 − x) / n
    are of scores with half a win and half a loss more, so that cells without a loss have a variance. V has
    Satterthwaite's (1946) degrees of freedom. Of a single cell the interval is that cell's.

    Args:
        shares: w of shape (K,), which add up to 1.
        scores: x of shape (K,).
        games: n of shape (K,), effective games; infinite where a score is known.
        degrees_of_freedom: of each cell's variance, shape (K,).
    """
    uncertain = np.isfinite(games)
    value, part = float(shares @ scores), shares[uncertain]
    if not part.any():
        return value, value
    of, num = scores[uncertain], games[uncertain]
    likely = (of * num + 0.5) / (num + 1)
    variances = part**2 * likely * (1 - likely) / num
    mean = float(part @ likely + shares[~uncertain] @ scores[~uncertain])
    spread = float((variances**2 / degrees_of_freedom[uncertain]).sum())
    freedom = float(variances.sum()) ** 2 / spread if spread else np.inf
    sure = mean * (1 - mean) / variances.sum() * (NORMAL_QUANTILE / student_quantile(freedom)) ** 2
    low, high = wilson_interval(min(value, 1.0) * sure, sure)
    return float(low), float(high)


def verdict(score: float, games: int) -> Verdict:
    """Say whether ``score`` out of ``games`` shows a difference: undecided while Wilson's interval holds ½."""
    low, high = wilson_interval(score, games)
    if low > EVEN:
        return "better"
    if high < EVEN:
        return "worse"
    return "undecided"
