"""What a meta-solver is, and what it answers. K policies of one population; M against N of two; D drawn matrices."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Status = Literal["optimal", "imprecise", "converged", "not-converged", "closed-form"]
"""``optimal``: solved to machine precision. ``imprecise``: payoffs too far apart in size for that. ``converged``: the
residual of an iteration is within its solver's tolerance; ``not-converged``: it is not. ``closed-form``: nothing had to
be solved. But for the last, the residual says how good the answer is."""

_BATCH_SIZE = 100
"""Matrices solved side by side: enough to hide numpy's overhead, few enough to stop soon and to fit into a cache."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The mixture of one population."""

    strategy: Floats
    """Shape (K,), a probability vector."""
    value: float
    """σᵀAσ, which antisymmetry makes 0."""
    residual: float
    """How far the mixture is from what its solver promises (``MetaSolver.promise``); in payoff, or in probability."""
    status: Status
    unique: bool = True
    """False where many mixtures keep the promise; nash then answers with that of maximum entropy."""
    parameters: Mapping[str, float] = field(default_factory=dict)
    """What the answer depends on beside the payoffs, as it was in the end: a sweep's last α, the iterations done."""


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
    """As in Solution; where it is a gain, the sum of both players'."""
    status: Status
    unique: bool = True
    parameters: Mapping[str, float] = field(default_factory=dict)


def _ignore() -> None:
    pass


@dataclass(frozen=True, slots=True)
class MetaSolver:
    """One way to choose a mixture, with its parameters already bound."""

    name: str
    promise: str
    """What the residual measures, in a few words."""
    one_population: Callable[[Floats], Solution]
    """Takes antisymmetric payoffs of shape (K, K); any square ones where ``bimatrix`` is not None."""
    two_populations: Callable[[Floats], PairSolution]
    """Takes the row player's payoffs of a zero-sum game, shape (M, N)."""
    bimatrix: Callable[[Floats, Floats], PairSolution] | None = None
    """Takes the payoffs of both players, (M, N) each; None where a general-sum game has no such mixture."""
    batched: Callable[[Floats], Floats] | None = None
    """Mixtures (D, K) of antisymmetric payoffs (D, K, K) at once, where that is quicker than one by one."""
    by_age: bool = False
    """Whether places alone decide. A policy that joined twice then has two of them."""
    reads: frozenset[str] = frozenset()
    """Names of the ``SolverParameters`` that have an effect."""

    def one_population_of_many(self, payoffs: Floats, tick: Callable[[], None] = _ignore) -> Floats:
        """Return the mixture of each matrix of ``payoffs`` of shape (D, K, K), as an array of shape (D, K).

        For intervals: an iterating solver takes fewer or coarser steps here than for a single matrix (its module says
        which), far below what sampled payoffs leave open.

        Args:
            payoffs: antisymmetric matrices to the row player.
            tick: called D times in all, and may raise to stop.
        """
        strategies = np.empty(payoffs.shape[:2])
        size = 1 if self.batched is None else _BATCH_SIZE
        for start in range(0, len(payoffs), size):
            batch = payoffs[start : start + size]
            if self.batched is None:
                strategies[start] = self.one_population(batch[0]).strategy
            else:
                strategies[start : start + size] = self.batched(batch)
            for _ in batch:
                tick()
        return strategies


def gains(payoffs: Floats, strategy: Floats) -> Floats:
    """Return what each policy gets against ``strategy``: payoffs (…, M, N) and strategy (…, N) give (…, M)."""
    against: Floats = (payoffs @ strategy[..., None])[..., 0]
    return against


def payoff_scale(payoffs: Floats) -> Floats:
    """Return half the range of each matrix, shape (…, 1, 1), or 1 where all payoffs are equal.

    Of antisymmetric payoffs that is the largest one. A shift of all payoffs, which changes no game, does not change it.
    """
    largest, smallest = payoffs.max(axis=(-2, -1), keepdims=True), payoffs.min(axis=(-2, -1), keepdims=True)
    half_range: Floats = (largest - smallest) / 2
    return np.where(half_range > 0.0, half_range, 1.0)


def nash_conv(row_payoffs: Floats, column_payoffs: Floats, row: Floats, column: Floats) -> float:
    """Return what both players together gain by their best replies, payoffs of shape (M, N) each; 0 in equilibrium."""
    row_gains, column_gains = row_payoffs @ column, row @ column_payoffs
    return max(0.0, float(row_gains.max() - row @ row_gains + column_gains.max() - column_gains @ column))


def exploitability(payoffs: Floats, strategy: Floats) -> float:
    """Return max_i (Aσ)_i − σᵀAσ: what the best reply of one population gains; 0 in a symmetric equilibrium."""
    against = payoffs @ strategy
    return max(0.0, float(against.max() - strategy @ against))
