"""Which division of battles to take: the one whose mixture is expected to lose least in the true game.

Cells matter jointly: what one is worth depends on the others. So whole divisions are compared, not cells, by
resampling (a knowledge gradient, Frazier, Powell and Dayanik 2009, of a batch). A draw of the payoffs from their
posterior plays the truth; the battles of a division are drawn from it and counted; the game is solved again; and the
loss of that mixture is max_i (Aσ)_i in the draw. All divisions see the same truths, so their differences are known
better than their losses.
K policies, T truths.
"""

from collections.abc import Callable, Sequence

import numpy as np

from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.estimates import EVEN, Floats, Integers
from nashdex.metagame.plan import FurtherBattles
from nashdex.metagame.tournament.allocation import BATTLES_A_PAIR

NUM_TRUTHS = 64
_SURE = 1.5
"""Standard errors by which a division must be better than the even one to be taken instead."""

Division = Sequence[FurtherBattles]


def even_division(
    policies: Sequence[PolicyId], games: Integers, *, num_battles: int, most_battles: int
) -> list[FurtherBattles]:
    """Return ``num_battles`` divided evenly: each pair of battles to the cell that has fewest, then by id.

    Args:
        policies: their ids; the result does not depend on the order.
        games: battles so far, of shape (K, K).
        num_battles: to divide; an odd last one is left over.
        most_battles: of a cell, including those it has.
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
    """Return what the mixture loses in each truth after the battles of ``division``, shape (T,).

    Args:
        division: battles by cell.
        policies: the order of the arrays.
        games: battles so far, of shape (K, K).
        payoffs: A = P̂ − ½ so far, of shape (K, K).
        truths: draws of A, of shape (T, K, K).
        solve: takes matrices of shape (T, K, K) to their mixtures of shape (T, K).
        seed: of the battles.
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

    Args:
        divisions: the first is the one to fall back to.
        policies: the order of the arrays.
        games: battles so far, of shape (K, K).
        payoffs: A so far, of shape (K, K).
        drawn: posterior draws of A, of shape (D, K, K).
        solve: takes matrices to their mixtures.
        seed: of the battles that are drawn.
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
