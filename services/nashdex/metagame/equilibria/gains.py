"""What policies gain against mixtures. Payoffs to the row player; K policies of one population, M against N of two."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def gains(payoffs: Floats, strategy: Floats) -> Floats:
    """Return what each policy gets against ``strategy``: payoffs (…, M, N) and strategy (…, N) give (…, M)."""
    against: Floats = (payoffs @ strategy[..., None])[..., 0]
    return against


def payoff_scale(payoffs: Floats) -> Floats:
    """Return half the range of each matrix, shape (…, 1, 1), or 1 where all payoffs are equal.

    For antisymmetric payoffs this is the largest one. Adding a constant to all payoffs changes neither game nor scale.
    """
    largest, smallest = payoffs.max(axis=(-2, -1), keepdims=True), payoffs.min(axis=(-2, -1), keepdims=True)
    half_range: Floats = (largest - smallest) / 2
    return np.where(half_range > 0.0, half_range, 1.0)


def restricted_nash_conv(row_payoffs: Floats, column_payoffs: Floats, row: Floats, column: Floats) -> float:
    """Return the sum of both players' gains by their best responses within the matrix, payoffs (M, N) each.

    0 in equilibrium. For a whole game tree see ``games.tabular.values.nash_conv``.
    """
    row_gains, column_gains = row_payoffs @ column, row @ column_payoffs
    return max(0.0, float(row_gains.max() - row @ row_gains + column_gains.max() - column_gains @ column))


def restricted_exploitability(payoffs: Floats, strategy: Floats) -> float:
    """Return max_i (Aσ)_i − σᵀAσ: the gain of one population's best response; 0 in a symmetric equilibrium."""
    against = payoffs @ strategy
    return max(0.0, float(against.max() - strategy @ against))
