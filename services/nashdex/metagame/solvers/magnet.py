"""The meta-solver ``magnet``: the equilibrium where a player pays α KL(σ‖ρ) for leaving the uniform mixture ρ.

Sokota et al. (2022), "A unified approach to reinforcement learning, quantal response equilibria, and two-player
zero-sum games", arXiv 2206.05825: magnetic mirror descent, σ ∝ (σ ρ^{ηα} exp(η Aσ))^{1/(1 + ηα)}, whose last iterate
converges linearly to the fixed point σ ∝ ρ exp(Aσ / α) for steps η ≤ α / L² (theorem 3.4), L being the largest payoff.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from nashdex.metagame.equilibria import Floats, gains, payoff_scale
from nashdex.metagame.solvers.interface import MetaSolver, PairSolution, Solution, Status
from nashdex.settings.solve import MagnetSettings

_TOLERANCE = 1e-10
"""Largest difference of log probabilities between the iterate and the regularised best response to it."""
_DRAW_TOLERANCE = 1e-6
"""The same, for the draws of a posterior."""
_CHECK_EVERY = 10
"""Iterations."""


class Magnet:
    """A learner (``repeated_play.Learner``) that takes steps of magnetic mirror descent; payoffs within ±1."""

    def __init__(self, shape: tuple[int, ...], temperature: Floats) -> None:
        self.temperature = temperature
        self.log_strategy: Floats = np.full(shape, -np.log(shape[-1]))
        self.strategy: Floats = np.exp(self.log_strategy)

    def observe(self, payoffs: Floats) -> None:
        """Take the largest step that is sure to converge, η = α with payoffs within ±1."""
        step = self.temperature
        self.log_strategy = _normalised((self.log_strategy + step * payoffs) / (1.0 + step * self.temperature))
        self.strategy = np.exp(self.log_strategy)

    def distance(self, payoffs: Floats) -> float:
        """Return the largest |log σ − log response|, the regularised best response being ∝ exp(payoffs / α)."""
        return float(np.abs(self.log_strategy - _normalised(payoffs / self.temperature)).max())

    def gap(self, payoffs: Floats) -> float:
        """Return the most that the regularised best response gains: α KL(σ‖response)."""
        excess = self.log_strategy - _normalised(payoffs / self.temperature)
        gained = self.temperature * (self.strategy * excess).sum(axis=-1, keepdims=True)
        return max(0.0, float(gained.max()))


@dataclass(frozen=True, slots=True)
class _Descent:
    """How a descent ended."""

    num_iterations: int
    status: Status
    gap: float
    """Gain of the regularised best responses, over all players."""


def _normalised(logs: Floats) -> Floats:
    """Return ``logs`` of shape (…, K), shifted to be logarithms of probabilities."""
    return logs - np.logaddexp.reduce(logs, axis=-1, keepdims=True)


def _one_population(payoffs: Floats, settings: MagnetSettings) -> Solution:
    scale = payoff_scale(payoffs)
    magnet = Magnet(payoffs.shape[:-1], settings.temperature / scale[..., 0])
    descent = _descended(
        [magnet], lambda: [gains(payoffs / scale, magnet.strategy)], settings.num_iterations, _TOLERANCE
    )
    value = float(magnet.strategy @ payoffs @ magnet.strategy)
    residual = scale.item() * descent.gap
    return Solution(magnet.strategy, value, residual, descent.status, parameters=_parameters(settings, descent))


def _two_populations(payoffs: Floats, settings: MagnetSettings) -> PairSolution:
    scale, middle = payoff_scale(payoffs), (payoffs.max() + payoffs.min()) / 2
    scaled = (payoffs - middle) / scale
    row, column = (Magnet((size,), settings.temperature / scale[..., 0]) for size in payoffs.shape)
    descent = _descended(
        [row, column],
        lambda: [gains(scaled, column.strategy), -gains(scaled.T, row.strategy)],
        settings.num_iterations,
        _TOLERANCE,
    )
    value = float(row.strategy @ payoffs @ column.strategy)
    residual = scale.item() * descent.gap
    return PairSolution(
        row.strategy, column.strategy, value, residual, descent.status, parameters=_parameters(settings, descent)
    )


def _batched(payoffs: Floats, settings: MagnetSettings) -> Floats:
    scale = payoff_scale(payoffs)
    scaled, magnet = payoffs / scale, Magnet(payoffs.shape[:-1], settings.temperature / scale[..., 0])
    _descended([magnet], lambda: [gains(scaled, magnet.strategy)], settings.num_iterations, _DRAW_TOLERANCE)
    return magnet.strategy


def _parameters(settings: MagnetSettings, descent: _Descent) -> dict[str, float]:
    return {"temperature": settings.temperature, "num_iterations": descent.num_iterations}


def _descended(
    magnets: Sequence[Magnet], payoffs: Callable[[], Sequence[Floats]], num_iterations: int, tolerance: float
) -> _Descent:
    """Let ``magnets`` step together, each seeing its own of ``payoffs``, until all are within ``tolerance``."""
    for used in range(num_iterations + 1):
        seen = list(zip(magnets, payoffs(), strict=True))
        if used % _CHECK_EVERY == 0 or used == num_iterations:
            converged = max(magnet.distance(each) for magnet, each in seen) <= tolerance
            if converged or used == num_iterations:
                break
        for magnet, each in seen:
            magnet.observe(each)
    return _Descent(used, "converged" if converged else "not-converged", sum(magnet.gap(each) for magnet, each in seen))


MAGNET = MetaSolver(
    settings=MagnetSettings,
    summary="equilibrium of the game where leaving uniform play costs α KL(σ‖uniform)",
    promise="gain of the regularised best response",
    one_population=_one_population,
    two_populations=_two_populations,
    batched=_batched,
)
