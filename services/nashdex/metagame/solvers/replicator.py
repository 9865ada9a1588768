"""Projected replicator dynamics: what does better than the mixture grows, nothing dies out; the average is the answer.

Lanctot et al. (2017), "A unified game-theoretic approach to multiagent reinforcement learning", arXiv 1711.00832,
section 3.1: Euler steps of dσ_i/dt = σ_i ((Aσ)_i − σᵀAσ), projected to probabilities of γ / K or more. Payoffs are
scaled to a range of ±1, so that the step does not depend on their unit. In zero-sum games the average is an equilibrium
in the limit; its exploitability is at most log K over the time, which is step · iterations.
"""

import numpy as np

from nashdex.metagame.solvers.repeated_play import DRAW_SHARE, average_of_one, average_of_two, averaged, averaged_pair
from nashdex.metagame.solvers.solution import Floats, MetaSolver, PairSolution, Solution, payoff_scale

_STEP = 1e-3
"""dt."""
_EXPLORATION = 1e-6
"""γ."""


class Replicator:
    """A learner that follows the projected replicator dynamics."""

    def __init__(self, shape: tuple[int, ...], step: float = _STEP) -> None:
        self.strategy = np.full(shape, 1.0 / shape[-1])
        self._step = step
        self._floor = _EXPLORATION / shape[-1]

    def observe(self, payoffs: Floats) -> None:
        """Grow each policy by what it got beyond the mixture.

        Clipping and normalising differs from the Euclidean projection by less than the floor itself.
        """
        value = (payoffs * self.strategy).sum(axis=-1, keepdims=True)
        grown = np.maximum(self.strategy * (1.0 + self._step * (payoffs - value)), self._floor)
        self.strategy = grown / grown.sum(axis=-1, keepdims=True)


def solver(num_iterations: int) -> MetaSolver:
    """Return the meta-solver ``prd``; posterior draws take ten times the step for the same time."""

    def one_population(payoffs: Floats) -> Solution:
        replicator = Replicator(payoffs.shape[:-1])
        strategy = average_of_one(replicator, payoffs / payoff_scale(payoffs), num_iterations)
        return averaged(payoffs, strategy, num_iterations)

    def two_populations(payoffs: Floats) -> PairSolution:
        return bimatrix(payoffs, -payoffs)

    def bimatrix(row_payoffs: Floats, column_payoffs: Floats) -> PairSolution:
        num_rows, num_columns = row_payoffs.shape
        strategies = average_of_two(
            Replicator((num_rows,)),
            Replicator((num_columns,)),
            row_payoffs / payoff_scale(row_payoffs),
            column_payoffs / payoff_scale(column_payoffs),
            num_iterations,
        )
        return averaged_pair(row_payoffs, column_payoffs, strategies, num_iterations)

    def batched(payoffs: Floats) -> Floats:
        num_steps = -(-num_iterations // DRAW_SHARE)
        replicator = Replicator(payoffs.shape[:-1], step=_STEP * num_iterations / num_steps)
        return average_of_one(replicator, payoffs / payoff_scale(payoffs), num_steps)

    return MetaSolver(
        "prd",
        "exploitability",
        one_population,
        two_populations,
        bimatrix,
        batched=batched,
        reads=frozenset({"num_iterations"}),
    )
