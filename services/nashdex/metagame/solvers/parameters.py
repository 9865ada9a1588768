"""Parameters of the meta-solvers, for the command line and for a run's settings alike."""

import math
from dataclasses import dataclass

from nashdex.core.errors import ConfigurationError

_ANY_POSITIVE = (1e-12, 1e12)
"""Far beyond what makes a difference, and far from where numbers overflow."""


@dataclass(frozen=True, slots=True)
class SolverParameters:
    """Parameters of every meta-solver; each reads its own (``MetaSolver.reads``). Defaults are the field's.

    Raises:
        ConfigurationError: a value is out of its range.
    """

    alpha: float | None = None
    """Of alpha-rank: selection intensity, per payoff, above 0; None sweeps it upward until the ranking is stable."""
    population_size: int = 50
    """Of alpha-rank: individuals in a population, 2 or more."""
    last_k: int = 5
    """Of last-k: how many of the newest policies share the weight, 1 or more."""
    recency_temperature: float = 1.0
    """Of recency: policies after which a weight has fallen to 1/e, above 0."""
    temperature: float = 0.1
    """Of magnet: α, the weight of KL(σ‖uniform), in payoff, above 0."""
    num_iterations: int = 100_000
    """Of regret-matching, prd and magnet (at most), 1 or more."""

    def __post_init__(self) -> None:
        for name, value, least, most in (
            ("alpha", self.alpha, *_ANY_POSITIVE),
            ("population_size", self.population_size, 2, 1_000_000),
            ("last_k", self.last_k, 1, math.inf),
            ("recency_temperature", self.recency_temperature, *_ANY_POSITIVE),
            ("temperature", self.temperature, *_ANY_POSITIVE),
            ("num_iterations", self.num_iterations, 1, math.inf),
        ):
            if value is not None and not least <= value <= most:
                upper = "or more" if most == math.inf else f"to {most:,.10g}"
                raise ConfigurationError(f"{name} is {value}; expected {least:.10g} {upper}")
