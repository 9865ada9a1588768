"""Which cells further battles should go to: those whose uncertainty moves the meta-strategy most. K policies, D draws.

Posterior draws of the payoffs, each solved again, show how much the meta-strategy σ is in doubt. A cell's *influence*
is the part of that variance which a straight line in its own draw explains, Σ_k cov(σ_k, P_ij)² / var(P_ij): the
first-order Sobol index of a linear model (Saltelli et al. 2008, section 1.2), not divided by the total. Cells are
drawn independently, so influences do not overlap.

A cell that has n battles and gets m more keeps (n + 1) / (n + 1 + m) of its posterior variance, on average over what
they may show (Beta with Jeffreys' prior), so its influence times m / (n + 1 + m) is what they promise. Promises
fall with every pair of battles, so giving each pair to the cell that promises most is the best division of a budget.
Everything follows ids: of equal promises, the cell whose ids come first.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from nashdex.metagame.analysis.documents import SUPPORT_THRESHOLD
from nashdex.metagame.evidence.estimates import NORMAL_QUANTILE, Floats, Integers

Name = TypeVar("Name", bound=str)

BATTLES_A_PAIR = 2
"""Side-swapped: the unit of everything that is played."""


class FurtherBattles(NamedTuple, Generic[Name]):
    """Battles that a cell is to get beyond those it has."""

    a: Name
    """Before b by id."""
    b: Name
    num_battles: int
    """Even."""


def influence(drawn: Floats, strategies: Floats) -> Floats:
    """Return how much of the meta-strategy's variance each cell explains, symmetric, of shape (K, K).

    Two kinds of cells get 0: those neither of whose policies is in the support of any draw, for an equilibrium stays
    one whatever such a cell holds; and those that explain no more than an unrelated cell does by chance in one case of
    twenty, 1.96² / D of the variance.

    Args:
        drawn: draws of P or A, of shape (D, K, K), D at least 2.
        strategies: the mixture of each, of shape (D, K).
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


def decisive_cells(
    policies: Sequence[Name],
    games: Integers,
    drawn: Floats,
    strategies: Floats,
    *,
    num_battles: int,
    most_battles: int,
) -> list[FurtherBattles[Name]]:
    """Divide ``num_battles`` among the cells whose uncertainty moves the meta-strategy.

    Args:
        policies: their ids; the result does not depend on the order.
        games: battles so far, of shape (K, K).
        drawn: posterior draws of P or A, of shape (D, K, K).
        strategies: the meta-strategy of each draw, of shape (D, K), by the solver in use.
        num_battles: to give away; an odd last one is not.
        most_battles: of a cell, those it has included.

    Returns:
        The cells that get any, in the order of ids. Fewer battles than ``num_battles``, and none in the end, where
        only so many promise anything under ``most_battles``: what is left is not worth playing.
    """
    influences = influence(drawn, strategies)
    promises = [
        _promises(one, other, influences[i, j], int(games[i, j]), most_battles)
        for i, one in enumerate(policies)
        for j, other in enumerate(policies)
        if one < other and influences[i, j] > 0
    ]
    best = islice(merge(*promises), num_battles // BATTLES_A_PAIR)
    pairs = Counter((promise.a, promise.b) for promise in best)
    return [FurtherBattles(*cell, BATTLES_A_PAIR * count) for cell, count in sorted(pairs.items())]


class _Promise(NamedTuple, Generic[Name]):
    """One more pair of battles of a cell. Sorts by what it promises, the most first, then by id."""

    negative_reduction: float
    a: Name
    b: Name


def _promises(one: Name, other: Name, influence: float, met: int, most_battles: int) -> Iterator[_Promise[Name]]:
    """Yield what each further pair of battles of a cell promises: less and less."""
    for more in range(0, most_battles - met - BATTLES_A_PAIR + 1, BATTLES_A_PAIR):
        before, after = met + 1 + more, met + 1 + more + BATTLES_A_PAIR
        reduction = influence * (met + 1) * (1 / before - 1 / after)
        # Sums over draws in another order of policies differ in their last bits.
        yield _Promise(-float(f"{reduction:.9e}"), one, other)
