"""The meta-solver ``alpha-rank``: how long a finite population that mutates and imitates spends on each policy.

Omidshafiei et al. (2019), "α-Rank: multi-agent evaluation by evolution", arXiv 1903.01373. All m individuals play one
policy s until a mutant r takes over, with the fixation probability ρ(u) = (1 − e^{−u}) / (1 − e^{−mu}),
u = α (A_rs − A_sr), and 1/m for u = 0. The stationary distribution of this chain is the answer. Fitness is against the
other policy alone, as in the authors' own implementation. With two populations, a state is a profile, one policy each;
one population mutates at a time, and u is α times the mutant's gain; the answer is each population's marginal of the
stationary distribution of profiles.

Without an α the intensity is doubled, from where the smallest difference between payoffs counts, until the distribution
no longer moves: the ranking in the limit. Rates then differ by thousands of orders of magnitude, so everything is
computed in logarithms and without subtractions, which makes each probability exact to rounding.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError
from nashdex.metagame.equilibria import Floats
from nashdex.metagame.solvers.interface import MetaSolver, PairSolution, Solution, Status
from nashdex.settings.solve import AlphaRankSettings

_TIE_TOLERANCE = 1e-12
"""Differences below this share of the largest are rounding, and count as none."""
_STABLE = 1e-9
"""Largest change of a probability, over a doubling of α, of a stable distribution."""
_MAX_DOUBLINGS = 60
_PRECISE = 1e-9
_MAX_PROFILES = 1024
"""The chain of two populations has as many states as there are profiles, and solving it takes the cube of that."""


@dataclass(frozen=True, slots=True)
class _Ranking:
    """Stationary distributions of chains of S states, their α, and how far they are from both promises."""

    distribution: Floats
    """Shape (…, S)."""
    alpha: Floats
    """Shape (…,)."""
    residual: Floats
    """Shape (…,): the flow out of balance in a step; in a sweep, or the last change if that is larger."""
    stable: NDArray[np.bool_]
    """Shape (…,)."""


def _one_population(payoffs: Floats, settings: AlphaRankSettings) -> Solution:
    found = _ranked_by_fitness(payoffs, settings)
    value = float(found.distribution @ payoffs @ found.distribution)
    return Solution(
        found.distribution,
        value,
        found.residual.item(),
        _status(found, settings),
        parameters=_parameters(found, settings),
    )


def _bimatrix(row_payoffs: Floats, column_payoffs: Floats, settings: AlphaRankSettings) -> PairSolution:
    found = _ranked(_profile_advantages(row_payoffs, column_payoffs), settings)
    profiles = found.distribution.reshape(row_payoffs.shape)
    row, column = profiles.sum(axis=1), profiles.sum(axis=0)
    return PairSolution(
        row,
        column,
        float(row @ row_payoffs @ column),
        found.residual.item(),
        _status(found, settings),
        parameters=_parameters(found, settings),
    )


def _ranked_by_fitness(payoffs: Floats, settings: AlphaRankSettings) -> _Ranking:
    """Return the ranking of one population with payoffs (…, K, K) by the settings' fitness.

    Against the whole population, k mutants r among m of s have u(k) = α ((k − 1) A_rr + (m − k) A_rs − k A_sr −
    (m − k − 1) A_ss) / (m − 1), and ρ = 1 / (1 + Σ_{l<m} Π_{k≤l} e^{−u(k)}) (Traulsen et al. 2006). Antisymmetric
    payoffs make that a constant, α A_rs m / (m − 1): local selection with the intensity m / (2 (m − 1)) α.

    Raises:
        ConfigurationError: payoffs are not antisymmetric, and there is no α: the sweep is for local selection.
    """
    advantages = np.swapaxes(payoffs, -1, -2) - payoffs
    if settings.fitness == "local":
        return _ranked(advantages, settings)
    size = settings.population_size
    asymmetry = np.abs(payoffs + np.swapaxes(payoffs, -1, -2)).max(initial=0.0)
    if asymmetry > _TIE_TOLERANCE * np.abs(payoffs).max(initial=0.0):
        if settings.alpha is None:
            raise ConfigurationError(
                'alpha-rank with fitness = "population" of a game that is not zero-sum has no limit to sweep to; '
                "expected an alpha"
            )
    else:
        return _ranked(advantages * (size / (2.0 * (size - 1))), settings)
    diagonal = np.diagonal(payoffs, axis1=-2, axis2=-1)
    mutants = np.arange(1, size).reshape(-1, *(1,) * payoffs.ndim)
    # Index s of the resident first, then r of the mutant, as in the chain's rates.
    own, back = np.swapaxes(payoffs, -1, -2), payoffs
    gains = (mutants - 1) * diagonal[..., None, :] + (size - mutants) * own - mutants * back
    gains = (gains - (size - mutants - 1) * diagonal[..., :, None]) / (size - 1)
    logs = -np.logaddexp(0.0, np.logaddexp.reduce(np.cumsum(-settings.alpha * gains, axis=0), axis=0))
    logs[..., np.eye(payoffs.shape[-1], dtype=bool)] = -np.inf
    return _balanced(logs, np.full(payoffs.shape[:-2], settings.alpha))


def _ranked(advantages: Floats, settings: AlphaRankSettings) -> _Ranking:
    rounding = _TIE_TOLERANCE * np.nanmax(np.abs(advantages), axis=(-2, -1), keepdims=True)
    decided = np.where(np.abs(advantages) <= rounding, 0.0, advantages)
    if settings.alpha is None:
        return _swept(decided, settings.population_size)
    return _at(decided, np.full(decided.shape[:-2], settings.alpha), settings.population_size)


def _status(found: _Ranking, settings: AlphaRankSettings) -> Status:
    if settings.alpha is not None:
        return "optimal" if found.residual <= _PRECISE else "imprecise"
    return "converged" if found.stable else "not-converged"


def _parameters(found: _Ranking, settings: AlphaRankSettings) -> dict[str, float]:
    return {"alpha": found.alpha.item(), "population_size": settings.population_size}


def _profile_advantages(row_payoffs: Floats, column_payoffs: Floats) -> Floats:
    """Return what the deviating population gains from each profile (i, j) to each other; NaN where both deviate."""
    num_rows, num_columns = row_payoffs.shape
    size = num_rows * num_columns
    if size > _MAX_PROFILES:
        raise ConfigurationError(
            f"alpha-rank of two populations ranks profiles, and {num_rows} × {num_columns} policies have {size}; "
            f"expected at most {_MAX_PROFILES}: leave policies out, or use another meta-solver"
        )
    advantages = np.full((num_rows, num_columns, num_rows, num_columns), np.nan)
    columns, rows = np.arange(num_columns), np.arange(num_rows)
    # Two index arrays put their axis first: (column, from row, to row) and (row, from column, to column).
    advantages[:, columns, :, columns] = row_payoffs.T[:, None, :] - row_payoffs.T[:, :, None]
    advantages[rows, :, rows, :] = column_payoffs[:, None, :] - column_payoffs[:, :, None]
    return advantages.reshape(size, size)


def _swept(advantages: Floats, population_size: int) -> _Ranking:
    sizes = np.abs(advantages)
    smallest = np.min(sizes, axis=(-2, -1), initial=np.inf, where=sizes > 0.0)
    before = _at(advantages, np.where(np.isfinite(smallest), 1.0 / smallest, 1.0), population_size)
    for _ in range(_MAX_DOUBLINGS):
        found = _at(advantages, 2.0 * before.alpha, population_size)
        change = np.abs(found.distribution - before.distribution).max(axis=-1)
        found = _Ranking(found.distribution, found.alpha, np.maximum(found.residual, change), change <= _STABLE)
        if found.stable.all():
            break
        before = found
    return found


def _at(advantages: Floats, alpha: Floats, population_size: int) -> _Ranking:
    """Return the stationary distributions of the chains with ``advantages`` (…, S, S), from a state to another."""
    return _balanced(_log_fixation(alpha[..., None, None] * advantages, population_size), alpha)


def _balanced(logs: Floats, alpha: Floats) -> _Ranking:
    """Return the stationary distributions of chains whose rates have these ``logs`` (…, S, S), and their balance."""
    distribution = _stationary(logs)
    flow = distribution[..., None] * np.exp(logs) / max(1, logs.shape[-1] - 1)
    unbalanced = np.abs(flow.sum(axis=-1) - flow.sum(axis=-2)).max(axis=-1)
    return _Ranking(distribution, alpha, unbalanced, np.full(alpha.shape, fill_value=True))


def _log_fixation(u: Floats, population_size: int) -> Floats:
    """Return log ρ(u) of shape (…, S, S); −∞ where u is NaN, and on the diagonal: there is no such transition."""
    size = np.abs(u)
    with np.errstate(divide="ignore", invalid="ignore"):
        # ρ(−u) = ρ(u) e^{−(m − 1)u}: nothing overflows.
        fixed = np.log(np.expm1(-size) / np.expm1(-population_size * size)) + (population_size - 1) * np.minimum(u, 0.0)
    logs: Floats = np.where(u == 0.0, -np.log(population_size), fixed)
    logs[np.isnan(u) | np.eye(u.shape[-1], dtype=bool)] = -np.inf
    return logs


def _stationary(log_rates: Floats) -> Floats:
    """Return the stationary distributions (…, S) of chains with ``log_rates`` (…, S, S) off the diagonal.

    Grassmann, Taksar and Heyman (1985): states are censored one by one, by sums, products and quotients only.
    """
    rates = log_rates.copy()
    num_states = rates.shape[-1]
    for last in range(num_states - 1, 0, -1):
        kept = rates[..., :last, :last]
        leaving = np.logaddexp.reduce(rates[..., last, :last], axis=-1)
        rates[..., :last, last] -= leaving[..., None]
        np.logaddexp(kept, rates[..., :last, last, None] + rates[..., last, None, :last], out=kept)
    logs = np.zeros(rates.shape[:-1])
    for state in range(1, num_states):
        logs[..., state] = np.logaddexp.reduce(logs[..., :state] + rates[..., :state, state], axis=-1)
    weights: Floats = np.exp(logs - logs.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights


ALPHA_RANK = MetaSolver(
    settings=AlphaRankSettings,
    summary="time that an evolving finite population spends on each policy",
    promise="imbalance of the stationary distribution, or the last change of a sweep",
    one_population=_one_population,
    two_populations=lambda payoffs, settings: _bimatrix(payoffs, -payoffs, settings),
    bimatrix=_bimatrix,
    batched=lambda payoffs, settings: _ranked_by_fitness(payoffs, settings).distribution,
)
