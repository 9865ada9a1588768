"""Meta-solvers: from a payoff matrix to the mixture that is shipped and answered. Looked up by name.

Pure functions over arrays of payoffs to the row player: antisymmetric (K, K) for one population, (M, N) for two. Every
result follows the policy, not its place; ``last`` alone means a place, so its caller says what the order is (oldest
first). None returns NaN or a guess: what cannot be solved is an error.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError
from nashdex.metagame.nash import Equilibrium, symmetric_equilibrium, zero_sum_equilibrium

Floats = NDArray[np.float64]
Status = Literal["optimal", "imprecise", "closed-form"]
"""``optimal``: solved to machine precision. ``imprecise``: payoffs too far apart in size for that; the residual says
how good the answer is. ``closed-form``: nothing had to be solved."""

_PRECISION = 1e-9
"""Largest residual of an optimal answer, as a share of the largest payoff."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The mixture of one population."""

    strategy: Floats
    """Shape (K,), a probability vector."""
    value: float
    """σᵀAσ, which antisymmetry makes 0."""
    residual: float
    """How far the mixture is from what its solver promises, in payoff; for nash, max_i (Aσ)_i."""
    status: Status
    unique: bool = True
    """False where many mixtures keep the promise; nash then answers with that of maximum entropy."""


@dataclass(frozen=True, slots=True)
class PairSolution:
    """The mixtures of two populations."""

    row: Floats
    """Shape (M,), a probability vector."""
    column: Floats
    """Shape (N,), a probability vector."""
    value: float
    """pᵀMq: what the row player gets."""
    residual: float
    """As in Solution; for nash, max_i (Mq)_i − min_j (pᵀM)_j."""
    status: Status
    unique: bool = True


@dataclass(frozen=True, slots=True)
class MetaSolver:
    """One way to choose a mixture, for the kinds of game that it is defined for."""

    name: str
    one_population: Callable[[Floats], Solution]
    two_populations: Callable[[Floats], PairSolution]
    bimatrix: Callable[[Floats, Floats], PairSolution] | None = None
    """Takes the payoffs of both players, (M, N) each; None where a general-sum game has no such mixture."""


def nash(payoffs: Floats) -> Solution:
    """Return the equilibrium of one population: by linear programming, of maximum entropy among many."""
    found = symmetric_equilibrium(payoffs)
    sigma = found.row
    residual = max(0.0, float(np.max(payoffs @ sigma)))
    status = _status(found, residual, payoffs)
    return Solution(sigma, float(sigma @ payoffs @ sigma), residual, status, found.unique)


def nash_of_two(payoffs: Floats) -> PairSolution:
    """Return the equilibrium of two populations, each mixture of maximum entropy among that player's optimal ones."""
    found = zero_sum_equilibrium(payoffs)
    residual = max(0.0, float(np.max(payoffs @ found.column) - np.min(found.row @ payoffs)))
    value = float(found.row @ payoffs @ found.column)
    return PairSolution(found.row, found.column, value, residual, _status(found, residual, payoffs), found.unique)


def _status(found: Equilibrium, residual: float, payoffs: Floats) -> Status:
    precise = found.exact and residual <= _PRECISION * float(np.abs(payoffs).max())
    return "optimal" if precise else "imprecise"


def uniform(payoffs: Floats) -> Solution:
    """Return equal weights: the mixture that fictitious play answers."""
    return _chosen(payoffs, _equal)


def uniform_of_two(payoffs: Floats) -> PairSolution:
    """Return equal weights for both populations."""
    return _chosen_of_two(payoffs, _equal)


def last(payoffs: Floats) -> Solution:
    """Return the last policy alone: self-play against the newest."""
    return _chosen(payoffs, _newest)


def last_of_two(payoffs: Floats) -> PairSolution:
    """Return the last policy of each population alone."""
    return _chosen_of_two(payoffs, _newest)


def _equal(size: int) -> Floats:
    return np.full(size, 1.0 / size)


def _newest(size: int) -> Floats:
    weights = np.zeros(size)
    weights[-1] = 1.0
    return weights


def _chosen(payoffs: Floats, weights: Callable[[int], Floats]) -> Solution:
    sigma = weights(len(payoffs))
    return Solution(sigma, float(sigma @ payoffs @ sigma), 0.0, "closed-form")


def _chosen_of_two(payoffs: Floats, weights: Callable[[int], Floats]) -> PairSolution:
    row, column = (weights(size) for size in payoffs.shape)
    return PairSolution(row, column, float(row @ payoffs @ column), 0.0, "closed-form")


META_SOLVERS = {
    solver.name: solver
    for solver in (
        MetaSolver("nash", nash, nash_of_two),
        MetaSolver("uniform", uniform, uniform_of_two),
        MetaSolver("last", last, last_of_two),
    )
}


def meta_solver(name: str) -> MetaSolver:
    """Return the meta-solver called ``name``.

    Raises:
        ConfigurationError: there is none.
    """
    if name not in META_SOLVERS:
        raise ConfigurationError(f"there is no meta-solver {name!r}; expected one of {', '.join(META_SOLVERS)}")
    return META_SOLVERS[name]
