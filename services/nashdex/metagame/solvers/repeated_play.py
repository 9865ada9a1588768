"""Playing a learner against itself, or two against each other, and averaging their mixtures.

A learner holds its next mixture, and observes the payoff that each of its policies would have earned. In a zero-sum
game the exploitability of the average is the players' average regret.
"""

from typing import Protocol

import numpy as np

from nashdex.metagame.equilibria import (
    Floats,
    gains,
    payoff_scale,
    restricted_exploitability,
    restricted_nash_conv,
)
from nashdex.metagame.solvers.interface import PairSolution, Solution, Status

TOLERANCE = 0.01
"""Largest gain of a player's best response to converged averages, as a share of ``payoff_scale``."""
DRAW_SHARE = 10
"""The matrices of a posterior are played a tenth as long as a single one."""


class Learner(Protocol):
    """One player of a repeated game. This is the whole of the surface. Any number of games side by side: (…, K)."""

    strategy: Floats
    """Shape (…, K): what it plays next."""

    def observe(self, payoffs: Floats) -> None:
        """Learn from ``payoffs`` of shape (…, K): what each policy would have earned this time."""


def average_of_one(learner: Learner, payoffs: Floats, num_rounds: int, skipped: int = 0) -> Floats:
    """Return the average play of ``learner`` against itself; payoffs (…, K, K), the average (…, K).

    The first ``skipped`` rounds are played and not averaged.
    """
    total = np.zeros_like(learner.strategy)
    for number in range(num_rounds):
        if number >= skipped:
            total += learner.strategy
        learner.observe(gains(payoffs, learner.strategy))
    return _normalised(total)


def average_of_two(
    row: Learner, column: Learner, row_payoffs: Floats, column_payoffs: Floats, num_rounds: int, skipped: int = 0
) -> tuple[Floats, Floats]:
    """Return the average play of both players against each other; payoffs (M, N) each, averages (M,) and (N,).

    The first ``skipped`` rounds are played and not averaged.
    """
    row_total, column_total = np.zeros_like(row.strategy), np.zeros_like(column.strategy)
    replies = np.ascontiguousarray(column_payoffs.T)
    for number in range(num_rounds):
        if number >= skipped:
            row_total += row.strategy
            column_total += column.strategy
        row_gains, column_gains = gains(row_payoffs, column.strategy), gains(replies, row.strategy)
        row.observe(row_gains)
        column.observe(column_gains)
    return _normalised(row_total), _normalised(column_total)


def averaged(payoffs: Floats, strategy: Floats, num_rounds: int) -> Solution:
    """Return ``strategy``, the average of ``num_rounds`` rounds, as a solution that says whether it has converged."""
    residual = restricted_exploitability(payoffs, strategy)
    value = float(strategy @ payoffs @ strategy)
    status = _status((residual, payoffs))
    return Solution(strategy, value, residual, status, parameters={"num_iterations": num_rounds})


def averaged_pair(
    row_payoffs: Floats, column_payoffs: Floats, strategies: tuple[Floats, Floats], num_rounds: int
) -> PairSolution:
    """Return both averages of ``num_rounds`` rounds as a solution that says whether they have converged."""
    row, column = strategies
    residual = restricted_nash_conv(row_payoffs, column_payoffs, row, column)
    row_gain = float((row_payoffs @ column).max() - row @ row_payoffs @ column)
    column_gain = float((row @ column_payoffs).max() - row @ column_payoffs @ column)
    return PairSolution(
        row,
        column,
        float(row @ row_payoffs @ column),
        residual,
        _status((row_gain, row_payoffs), (column_gain, column_payoffs)),
        parameters={"num_iterations": num_rounds},
    )


def _status(*players: tuple[float, Floats]) -> Status:
    """Say whether no player's best response gains more than is tolerated; each is a gain and that player's payoffs."""
    kept = all(gain <= TOLERANCE * payoff_scale(payoffs).item() for gain, payoffs in players)
    return "converged" if kept else "not-converged"


def _normalised(total: Floats) -> Floats:
    mixture: Floats = total / total.sum(axis=-1, keepdims=True)
    return mixture
