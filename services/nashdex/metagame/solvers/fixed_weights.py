"""Meta-solvers that look at no payoff: baselines and controls. Weights go by age, oldest policy first.

``uniform`` is the mixture that fictitious play answers; with ``last``, every policy answers the one before it.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from nashdex.core.section import Choice
from nashdex.metagame.equilibria import Floats
from nashdex.metagame.solvers.interface import MetaSolver, PairSolution, Solution
from nashdex.settings.solve import LastKSettings, LastSettings, RecencySettings, UniformSettings

S = TypeVar("S", bound=Choice)


def _fixed_weights(settings: type[S], summary: str, weights: Callable[[int, S], Floats]) -> MetaSolver[S]:
    """Return the meta-solver whose mixture of any K policies is ``weights(K, settings)``, shape (K,)."""

    def one_population(payoffs: Floats, settings: S) -> Solution:
        strategy = weights(len(payoffs), settings)
        return Solution(strategy, float(strategy @ payoffs @ strategy), 0.0, "closed-form")

    def two_populations(payoffs: Floats, settings: S) -> PairSolution:
        row, column = (weights(size, settings) for size in payoffs.shape)
        return PairSolution(row, column, float(row @ payoffs @ column), 0.0, "closed-form")

    def batched(payoffs: Floats, settings: S) -> Floats:
        return np.broadcast_to(weights(payoffs.shape[1], settings), payoffs.shape[:2])

    return MetaSolver(
        settings=settings,
        summary=summary,
        promise="nothing to solve",
        one_population=one_population,
        two_populations=two_populations,
        batched=batched,
        by_age=True,
    )


def _newest(size: int, count: int) -> Floats:
    """Return equal weights for the ``count`` newest of ``size`` policies, or for all where there are fewer."""
    weights = np.zeros(size)
    weights[-count:] = 1.0 / min(count, size)
    return weights


UNIFORM = _fixed_weights(
    UniformSettings,
    "equal weights; a policy that training found n times has n of them",
    lambda size, _: np.full(size, 1.0 / size),
)
LAST = _fixed_weights(LastSettings, "the newest policy alone", lambda size, _: _newest(size, 1))
LAST_K = _fixed_weights(
    LastKSettings,
    "equal weights on the newest policies",
    lambda size, settings: _newest(size, settings.num_policies),
)


def _recency(size: int, settings: RecencySettings) -> Floats:
    ages = np.arange(size)[::-1]
    weights: Floats = np.exp(-ages / settings.temperature)
    weights /= weights.sum()
    return weights


RECENCY = _fixed_weights(RecencySettings, "softmax of −age / temperature, age 0 being the newest", _recency)
