"""Meta-solvers that look at no payoff: baselines and controls. All but ``uniform`` go by age, oldest policy first."""

from collections.abc import Callable

import numpy as np

from nashdex.metagame.solvers.solution import Floats, MetaSolver, PairSolution, Solution

Weights = Callable[[int], Floats]
"""Probabilities (K,) of K policies, oldest first."""


def equal(size: int) -> Floats:
    """Return equal weights: the mixture that fictitious play answers."""
    return np.full(size, 1.0 / size)


def newest(size: int, count: int) -> Floats:
    """Return equal weights for the ``count`` newest policies, or for all where there are fewer."""
    weights = np.zeros(size)
    weights[-count:] = 1.0 / min(count, size)
    return weights


def recent(size: int, temperature: float) -> Floats:
    """Return the softmax of −age / temperature, both in policies; the newest has age 0."""
    ages = np.arange(size)[::-1]
    weights: Floats = np.exp(-ages / temperature)
    weights /= weights.sum()
    return weights


def baseline(name: str, weights: Weights, *reads: str) -> MetaSolver:
    """Return the meta-solver that gives every population of one size the same ``weights``."""

    def one_population(payoffs: Floats) -> Solution:
        strategy = weights(len(payoffs))
        return Solution(strategy, float(strategy @ payoffs @ strategy), 0.0, "closed-form")

    def two_populations(payoffs: Floats) -> PairSolution:
        row, column = (weights(size) for size in payoffs.shape)
        return PairSolution(row, column, float(row @ payoffs @ column), 0.0, "closed-form")

    def batched(payoffs: Floats) -> Floats:
        return np.broadcast_to(weights(payoffs.shape[1]), payoffs.shape[:2])

    return MetaSolver(
        name, "nothing to solve", one_population, two_populations, batched=batched, by_age=True, reads=frozenset(reads)
    )
