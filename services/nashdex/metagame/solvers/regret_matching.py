"""The meta-solver ``regret-matching``: each policy is played in proportion to its regret; the average is the answer.

Hart and Mas-Colell (2000), "A simple adaptive procedure leading to correlated equilibrium", with the exploration of the
PSRO literature: R ← R + Aσ − σᵀAσ, σ ∝ (1 − γ) R⁺ + γ / K. In zero-sum games the average is an equilibrium in the
limit, at a rate of 1/√T. Posterior draws take a tenth of the iterations.
"""

import numpy as np

from nashdex.metagame.equilibria.gains import Floats, payoff_scale
from nashdex.metagame.solvers.interface import MetaSolver, PairSolution, Solution
from nashdex.metagame.solvers.repeated_play import DRAW_SHARE, average_of_one, average_of_two, averaged, averaged_pair
from nashdex.settings.solve import RegretMatchingSettings

_EXPLORATION = 1e-6
"""γ."""
_FIRST_REGRET = 1e-6
"""First regret of every policy, as a share of ``payoff_scale``, so that rounding does not choose the first mixture."""


class RegretMatcher:
    """A learner (``repeated_play.Learner``) that matches its regrets."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.strategy = np.full(shape, 1.0 / shape[-1])
        self._uniform = self.strategy
        self._regrets = np.full(shape, _FIRST_REGRET)

    def observe(self, payoffs: Floats) -> None:
        """Add what each policy would have earned beyond the mixture, and match."""
        self._regrets += payoffs - (payoffs * self.strategy).sum(axis=-1, keepdims=True)
        regretted = np.maximum(self._regrets, 0.0)
        total = regretted.sum(axis=-1, keepdims=True)
        matched = np.divide(regretted, total, out=self._uniform.copy(), where=total > 0.0)
        self.strategy = (1.0 - _EXPLORATION) * matched + _EXPLORATION * self._uniform


def _one_population(payoffs: Floats, settings: RegretMatchingSettings) -> Solution:
    return averaged(payoffs, _averages(payoffs, settings.num_iterations), settings.num_iterations)


def _two_populations(payoffs: Floats, settings: RegretMatchingSettings) -> PairSolution:
    scaled, (num_rows, num_columns) = payoffs / payoff_scale(payoffs), payoffs.shape
    row, column = RegretMatcher((num_rows,)), RegretMatcher((num_columns,))
    strategies = average_of_two(row, column, scaled, -scaled, settings.num_iterations)
    return averaged_pair(payoffs, -payoffs, strategies, settings.num_iterations)


def _batched(payoffs: Floats, settings: RegretMatchingSettings) -> Floats:
    return _averages(payoffs, -(-settings.num_iterations // DRAW_SHARE))


def _averages(payoffs: Floats, num_iterations: int) -> Floats:
    return average_of_one(RegretMatcher(payoffs.shape[:-1]), payoffs / payoff_scale(payoffs), num_iterations)


REGRET_MATCHING = MetaSolver(
    settings=RegretMatchingSettings,
    summary="average of play in proportion to regret",
    promise="exploitability",
    one_population=_one_population,
    two_populations=_two_populations,
    batched=_batched,
)
