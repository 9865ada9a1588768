"""The magnet: the equilibrium of the game in which a player pays α KL(σ‖ρ) for leaving ρ, the uniform mixture.

Sokota et al. (2022), "A unified approach to reinforcement learning, quantal response equilibria, and two-player
zero-sum games", arXiv 2206.05825: magnetic mirror descent, σ ∝ (σ ρ^{ηα} exp(η Aσ))^{1/(1 + ηα)}, whose last iterate
converges linearly to the fixed point σ ∝ ρ exp(Aσ / α) for steps η ≤ α / L² (theorem 3.4), L being the largest payoff.
"""

import numpy as np

from nashdex.metagame.solution import Floats, MetaSolver, PairSolution, Solution, Status, gains, payoff_scale

_TOLERANCE = 1e-10
"""Of log probabilities, between the iterate and the best regularised reply to it."""
_DRAW_TOLERANCE = 1e-6
"""The same, for the draws of a posterior."""


class Magnet:
    """A learner (``self_play.Learner``) that takes steps of magnetic mirror descent; payoffs within ±1."""

    def __init__(self, shape: tuple[int, ...], temperature: Floats) -> None:
        self.temperature = temperature
        self.log_strategy: Floats = np.full(shape, -np.log(shape[-1]))
        self.strategy: Floats = np.exp(self.log_strategy)
        self.distance = np.inf
        """Largest |log σ − log reply| before the last step."""

    def observe(self, payoffs: Floats) -> None:
        """Step towards the best regularised reply, which is ∝ exp(payoffs / α)."""
        step = self.temperature
        pull = step * self.temperature
        moved = normalised((self.log_strategy + step * payoffs) / (1.0 + pull))
        self.distance = float((np.abs(moved - self.log_strategy) * (1.0 + pull) / pull).max())
        self.log_strategy = moved
        self.strategy = np.exp(moved)

    def gap(self, payoffs: Floats) -> Floats:
        """Return what the best regularised reply gains: α KL(σ‖reply), shape (…, 1)."""
        reply = normalised(payoffs / self.temperature)
        divergence = (self.strategy * (self.log_strategy - reply)).sum(axis=-1, keepdims=True)
        gained: Floats = self.temperature * np.maximum(divergence, 0.0)
        return gained


def normalised(logs: Floats) -> Floats:
    """Return ``logs`` of shape (…, K), shifted to be logarithms of probabilities."""
    shifted: Floats = logs - np.logaddexp.reduce(logs, axis=-1, keepdims=True)
    return shifted


def solver(temperature: float, num_iterations: int) -> MetaSolver:
    """Return the meta-solver ``magnet``; α in payoff, at most so many iterations."""

    def one_population(payoffs: Floats) -> Solution:
        scale = payoff_scale(payoffs).item()
        scaled = payoffs / scale
        magnet, used = _descended(scaled, temperature / scale, num_iterations, _TOLERANCE)
        residual = scale * magnet.gap(gains(scaled, magnet.strategy)).item()
        value = float(magnet.strategy @ payoffs @ magnet.strategy)
        return Solution(magnet.strategy, value, residual, _status(magnet), parameters=_parameters(used))

    def two_populations(payoffs: Floats) -> PairSolution:
        scale, (num_rows, num_columns) = payoff_scale(payoffs).item(), payoffs.shape
        middle = (float(payoffs.max()) + float(payoffs.min())) / 2
        scaled = (payoffs - middle) / scale
        row, column = (Magnet((size,), np.array([temperature / scale])) for size in (num_rows, num_columns))
        used = 0
        while used < num_iterations and max(row.distance, column.distance) > _TOLERANCE:
            row_gains, column_gains = scaled @ column.strategy, -(row.strategy @ scaled)
            row.observe(row_gains)
            column.observe(column_gains)
            used += 1
        gap = row.gap(scaled @ column.strategy) + column.gap(-(row.strategy @ scaled))
        return PairSolution(
            row.strategy,
            column.strategy,
            float(row.strategy @ payoffs @ column.strategy),
            scale * gap.item(),
            _status(row, column),
            parameters=_parameters(used),
        )

    def batched(payoffs: Floats) -> Floats:
        scale = payoff_scale(payoffs)
        magnet, _ = _descended(payoffs / scale, temperature / scale[..., 0], num_iterations, _DRAW_TOLERANCE)
        return magnet.strategy

    def _parameters(used: int) -> dict[str, float]:
        return {"temperature": temperature, "num_iterations": used}

    return MetaSolver(
        "magnet",
        "gain of the best regularised reply",
        one_population,
        two_populations,
        batched=batched,
        reads=frozenset({"temperature", "num_iterations"}),
    )


def _descended(
    payoffs: Floats, temperature: Floats | float, num_iterations: int, tolerance: float
) -> tuple[Magnet, int]:
    """Return where the descent on payoffs (…, K, K) within ±1 ended, and after how many steps."""
    magnet = Magnet(payoffs.shape[:-1], np.atleast_1d(temperature))
    used = 0
    while used < num_iterations and magnet.distance > tolerance:
        magnet.observe(gains(payoffs, magnet.strategy))
        used += 1
    return magnet, used


def _status(*magnets: Magnet) -> Status:
    return "converged" if max(magnet.distance for magnet in magnets) <= _TOLERANCE else "not-converged"
