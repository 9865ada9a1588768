"""The meta-solver ``prd``: projected replicator dynamics. What beats the mixture grows, nothing dies out; averaged.

Lanctot et al. (2017), "A unified game-theoretic approach to multiagent reinforcement learning", arXiv 1711.00832,
section 3.1: Euler steps of dσ_i/dt = σ_i ((Aσ)_i − σᵀAσ), projected to probabilities of γ / K or more. Payoffs are
scaled to a range of ±1, so that the step does not depend on their unit. In zero-sum games the average is an equilibrium
in the limit; its exploitability is at most log K over the time, which is step · iterations. Posterior draws take ten
times the step for the same time.
"""

import numpy as np

from nashdex.metagame.equilibria import Floats, payoff_scale
from nashdex.metagame.solvers.interface import MetaSolver, PairSolution, Solution
from nashdex.metagame.solvers.repeated_play import DRAW_SHARE, average_of_one, average_of_two, averaged, averaged_pair
from nashdex.settings.solve import PrdSettings

_STEP = 1e-3
"""dt."""
_EXPLORATION = 1e-6
"""γ."""


class Replicator:
    """A learner (``repeated_play.Learner``) that follows the projected replicator dynamics."""

    def __init__(self, shape: tuple[int, ...], step: float = _STEP) -> None:
        self.strategy = np.full(shape, 1.0 / shape[-1])
        self._step = step
        self._floor = _EXPLORATION / shape[-1]

    def observe(self, payoffs: Floats) -> None:
        """Grow each policy by its payoff beyond the mixture's.

        Clipping and normalising differs from the Euclidean projection by less than the floor itself.
        """
        value = (payoffs * self.strategy).sum(axis=-1, keepdims=True)
        grown = np.maximum(self.strategy * (1.0 + self._step * (payoffs - value)), self._floor)
        self.strategy = grown / grown.sum(axis=-1, keepdims=True)


def _skipped(settings: PrdSettings, num_steps: int) -> int:
    """Return how many of the first steps are not averaged."""
    return 0 if settings.average == "all" else num_steps - -(-num_steps // 10)


def _one_population(payoffs: Floats, settings: PrdSettings) -> Solution:
    replicator, num = Replicator(payoffs.shape[:-1]), settings.num_iterations
    strategy = average_of_one(replicator, payoffs / payoff_scale(payoffs), num, _skipped(settings, num))
    return averaged(payoffs, strategy, settings.num_iterations)


def _bimatrix(row_payoffs: Floats, column_payoffs: Floats, settings: PrdSettings) -> PairSolution:
    num_rows, num_columns = row_payoffs.shape
    strategies = average_of_two(
        Replicator((num_rows,)),
        Replicator((num_columns,)),
        row_payoffs / payoff_scale(row_payoffs),
        column_payoffs / payoff_scale(column_payoffs),
        settings.num_iterations,
        _skipped(settings, settings.num_iterations),
    )
    return averaged_pair(row_payoffs, column_payoffs, strategies, settings.num_iterations)


def _batched(payoffs: Floats, settings: PrdSettings) -> Floats:
    num_steps = -(-settings.num_iterations // DRAW_SHARE)
    replicator = Replicator(payoffs.shape[:-1], step=_STEP * settings.num_iterations / num_steps)
    return average_of_one(replicator, payoffs / payoff_scale(payoffs), num_steps, _skipped(settings, num_steps))


PRD = MetaSolver(
    settings=PrdSettings,
    summary="average of projected replicator dynamics",
    promise="exploitability",
    one_population=_one_population,
    two_populations=lambda payoffs, settings: _bimatrix(payoffs, -payoffs, settings),
    bimatrix=_bimatrix,
    batched=_batched,
)
