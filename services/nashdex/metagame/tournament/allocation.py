"""Which cells get further battles: those whose uncertainty moves the meta-strategy most. K policies, D draws, T truths.

Posterior draws of the payoffs, each solved, show the variance of the meta-strategy σ. A cell's *influence* is the part
of this variance explained by a straight line in the cell's own draw, Σ_k cov(σ_k, P_ij)² / var(P_ij): the first-order
Sobol index of a linear model (Saltelli et al. 2008, section 1.2), not divided by the total. Cells are drawn
independently, so influences do not overlap.

A cell that has n battles and gets m more keeps (n + 1) / (n + 1 + m) of its posterior variance, on average over their
outcomes (Beta with Jeffreys' prior), so they promise to remove its influence times m / (n + 1 + m). Promises fall with
every pair of battles, so giving each pair to the cell that promises most is the best division of a budget. Everything
follows ids: among equal promises, the first by ids wins.

Cells matter jointly: the worth of one depends on the others. So whole divisions are compared, not cells, by
resampling (a knowledge gradient, Frazier, Powell and Dayanik 2009, of a batch), and the one is taken whose mixture is
expected to lose least in the true game. A draw of the payoffs from their posterior plays the truth; the battles of a
division are drawn from it and counted; the game is solved again; and the loss of that mixture is max_i (Aσ)_i in the
draw. All divisions see the same truths, so their differences are known better than their losses.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from heapq import merge
from itertools import islice
from typing import NamedTuple

import numpy as np

from nashdex.core.ids import PolicyId
from nashdex.metagame.analysis.documents import SUPPORT_THRESHOLD
from nashdex.metagame.evidence.estimates import EVEN, NORMAL_QUANTILE, Floats, Integers
from nashdex.metagame.plan import FurtherBattles

BATTLES_A_PAIR = 2
"""Side-swapped."""


def influence(drawn: Floats, strategies: Floats) -> Floats:
    """Return how much of the meta-strategy's variance each cell explains, symmetric, of shape (K, K).

    Two kinds of cells get 0. Cells of two policies outside the support of every draw: their payoff cannot change the
    equilibrium. Cells that explain no more than an unrelated one does by chance in one case of twenty, 1.96² / D of the
    variance.

    ``drawn`` are D ≥ 2 draws of P or A, shape (D, K, K), and ``strategies`` their mixtures, shape (D, K).
    """
    num_draws = len(drawn)
    moves = strategies - strategies.mean(axis=0)
    payoffs = drawn - drawn.mean(axis=0)
    covariances = moves.T @ payoffs.reshape(num_draws, -1) / num_draws
    variances = (payoffs**2).mean(axis=0)
    explained = np.zeros_like(variances)
    np.divide((covariances**2).sum(axis=0).reshape(variances.shape), variances, out=explained, where=variances > 0)
    by_chance = NORMAL_QUANTILE**2 / num_draws * float((moves**2).mean(axis=0).sum())
    played = np.any(strategies > SUPPORT_THRESHOLD, axis=0)
    matters = np.logical_or.outer(played, played) & (explained > by_chance)
    return np.where(matters, explained, 0.0)


def contest(drawn: Floats, strategies: Floats) -> Floats:
    """Return each cell's variance, times the squared weight that equilibria of the draws put on it, shape (K, K).

    A cell that only matters together with others moves no mixture by itself, so its influence is small; but some
    draw's mixture meets it. The weight is the mean over the draws of σ_i + σ_j. Arguments are as in ``influence``.
    """
    met = strategies.mean(axis=0)
    weights: Floats = (met[:, None] + met[None, :]) ** 2 * drawn.var(axis=0)
    np.fill_diagonal(weights, 0.0)
    return weights


def divided(
    policies: Sequence[PolicyId], games: Integers, weights: Floats, *, num_battles: int, most_battles: int
) -> list[FurtherBattles]:
    """Give each pair of battles to the cell that promises most, by ``weights``: influence or contest, shape (K, K).

    ``games`` are the battles so far, shape (K, K). A cell gets at most ``most_battles``, including those it has, and
    an odd last battle is left over. The result does not depend on the order of ``policies``.

    Returns:
        The cells that get battles, in the order of ids. Fewer than ``num_battles`` in all, or none, where no further
        battles under ``most_battles`` a cell promise anything.
    """
    promises = [
        _promises(one, other, float(weights[i, j]), int(games[i, j]), most_battles)
        for i, one in enumerate(policies)
        for j, other in enumerate(policies)
        if one < other and weights[i, j] > 0
    ]
    best = islice(merge(*promises), num_battles // BATTLES_A_PAIR)
    pairs = Counter((promise.a, promise.b) for promise in best)
    return [FurtherBattles(a=a, b=b, battles=BATTLES_A_PAIR * count) for (a, b), count in sorted(pairs.items())]


class _Promise(NamedTuple):
    """One more pair of battles of a cell. Sorts by what it promises, the most first, then by id."""

    negative_reduction: float
    a: PolicyId
    b: PolicyId


def _promises(one: PolicyId, other: PolicyId, influence: float, met: int, most_battles: int) -> Iterator[_Promise]:
    """Yield what each further pair of battles of a cell promises: less and less."""
    for more in range(0, most_battles - met - BATTLES_A_PAIR + 1, BATTLES_A_PAIR):
        before, after = met + 1 + more, met + 1 + more + BATTLES_A_PAIR
        reduction = influence * (met + 1) * (1 / before - 1 / after)
        # Sums over draws in another order of policies differ in their last bits.
        yield _Promise(-float(f"{reduction:.9e}"), one, other)


NUM_TRUTHS = 64
_SURE = 1.5
"""Standard errors by which a division must be better than the even one to be taken instead."""

Division = Sequence[FurtherBattles]


def even_division(
    policies: Sequence[PolicyId], games: Integers, *, num_battles: int, most_battles: int
) -> list[FurtherBattles]:
    """Return ``num_battles`` divided evenly: each pair of battles to the cell that has fewest, then by id.

    ``games`` and ``most_battles`` are as in ``divided``.
    """
    cells = sorted(
        (one, other, int(games[i, j]))
        for i, one in enumerate(policies)
        for j, other in enumerate(policies)
        if one < other
    )
    have = np.array([played for _, _, played in cells])
    given = np.zeros(len(cells), dtype=np.int64)
    for _ in range(num_battles // BATTLES_A_PAIR):
        total = have + given
        open_cells = np.flatnonzero(total + BATTLES_A_PAIR <= most_battles)
        if not len(open_cells):
            break
        given[open_cells[total[open_cells].argmin()]] += BATTLES_A_PAIR
    return [
        FurtherBattles(a=a, b=b, battles=int(number)) for (a, b, _), number in zip(cells, given, strict=True) if number
    ]


def expected_losses(
    division: Division,
    policies: Sequence[PolicyId],
    games: Integers,
    payoffs: Floats,
    truths: Floats,
    solve: Callable[[Floats], Floats],
    *,
    seed: int,
) -> Floats:
    """Return the mixture's loss in each truth after the battles of ``division``, shape (T,).

    ``games`` are the battles so far and ``payoffs`` A = P̂ − ½, shape (K, K) in the order of ``policies``; ``truths``
    are draws of A, (T, K, K), and ``solve`` returns their mixtures, (T, K).
    """
    place = {policy: index for index, policy in enumerate(policies)}
    after = np.repeat(payoffs[None], len(truths), axis=0)
    generator = np.random.default_rng(seed)
    for cell in sorted(division, key=lambda cell: (cell.a, cell.b)):
        i, j = place[cell.a], place[cell.b]
        chances = np.clip(truths[:, i, j] + EVEN, 0.0, 1.0)
        scored = generator.binomial(cell.battles, chances) - EVEN * cell.battles
        met = int(games[i, j])
        mean = (met * payoffs[i, j] + scored) / (met + cell.battles)
        after[:, i, j], after[:, j, i] = mean, -mean
    mixtures = solve(after)
    losses: Floats = np.einsum("tij,tj->ti", truths, mixtures).max(axis=1)
    return losses


def best_division(
    divisions: Sequence[Division],
    policies: Sequence[PolicyId],
    games: Integers,
    payoffs: Floats,
    drawn: Floats,
    solve: Callable[[Floats], Floats],
    *,
    seed: int,
) -> Division:
    """Return the division with the least expected loss, or the first one where none is clearly better.

    Arguments are as in ``expected_losses``; ``drawn`` are posterior draws of A, shape (D, K, K).
    """
    truths = drawn[:NUM_TRUTHS]
    losses = [expected_losses(each, policies, games, payoffs, truths, solve, seed=seed) for each in divisions]
    best, least = divisions[0], 0.0
    for division, loss in zip(divisions[1:], losses[1:], strict=True):
        saved = losses[0] - loss
        error = float(saved.std(ddof=1)) / np.sqrt(len(saved))
        gain = float(saved.mean())
        if gain > max(least, _SURE * error) and division:
            best, least = division, gain
    return best
