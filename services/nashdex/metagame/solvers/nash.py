"""The meta-solver ``nash``: an equilibrium to machine precision; where there are many, the one of maximum entropy."""

import numpy as np

from nashdex.metagame.equilibria.enumeration import LARGEST_SIZE, small_equilibria
from nashdex.metagame.equilibria.gains import Floats, gains, payoff_scale
from nashdex.metagame.equilibria.zero_sum import Equilibrium, symmetric_equilibrium, zero_sum_equilibrium
from nashdex.metagame.solvers.interface import MetaSolver, PairSolution, Solution, Status
from nashdex.metagame.solvers.regret_matching import RegretMatcher
from nashdex.metagame.solvers.repeated_play import average_of_one
from nashdex.settings.solve import NashSettings

_PRECISION = 1e-9
"""Largest residual of an optimal answer, as a share of the largest payoff."""
_MANY = 64
"""From this many policies on, solving for a few candidates first is quicker than one linear program of all."""
_NUM_ROUNDS = 200
_CANDIDATE_WEIGHT = 5e-3
_CANDIDATE_LOSS = 0.02
_MAX_ADDITIONS = 4
_STRICT_LOSS = 1e-9
"""A policy that loses more than this, payoffs being scaled to ±1, is not played in any equilibrium."""

_CLEAR_WIN = 1e-9
"""As a share of the largest payoff: what rounding cannot make."""


def nash(payoffs: Floats) -> Solution:
    """Return the equilibrium of one population by linear programming, of many the one of maximum entropy."""
    found = _among_candidates(payoffs) if len(payoffs) >= _MANY else None
    if found is None:
        found = symmetric_equilibrium(payoffs)
    sigma = found.row
    residual = max(0.0, float(np.max(payoffs @ sigma)))
    status = _status(found, residual, payoffs)
    return Solution(sigma, float(sigma @ payoffs @ sigma), residual, status, found.unique)


def nash_of_many(payoffs: Floats) -> Floats:
    """Return the equilibria of one population's payoffs (D, K, K), one mixture a row, as ``nash`` gives them."""
    # A policy that beats every other is the only equilibrium: there is nothing to solve.
    least = _CLEAR_WIN * np.abs(payoffs).max(axis=(1, 2), keepdims=True)
    strategies: Floats = ((payoffs > least).sum(axis=2) == payoffs.shape[1] - 1).astype(np.float64)
    open_games = np.flatnonzero(~strategies.any(axis=1))
    if payoffs.shape[1] <= LARGEST_SIZE:
        strategies[open_games], unsolved = small_equilibria(payoffs[open_games])
        open_games = open_games[unsolved]
    for place in open_games:
        strategies[place] = nash(payoffs[place]).strategy
    return strategies


def nash_of_two(payoffs: Floats) -> PairSolution:
    """Return the equilibrium of two populations, each mixture of maximum entropy among that player's optimal ones."""
    found = zero_sum_equilibrium(payoffs)
    residual = max(0.0, float(np.max(payoffs @ found.column) - np.min(found.row @ payoffs)))
    value = float(found.row @ payoffs @ found.column)
    return PairSolution(found.row, found.column, value, residual, _status(found, residual, payoffs), found.unique)


def _status(found: Equilibrium, residual: float, payoffs: Floats) -> Status:
    precise = found.exact and residual <= _PRECISION * float(np.abs(payoffs).max())
    return "optimal" if precise else "imprecise"


def _among_candidates(payoffs: Floats) -> Equilibrium | None:
    """Return the equilibrium of many policies from the equilibrium of a few, or None where that proves nothing.

    Regret matching guesses who may be played. If the equilibrium among those is unique and every other policy loses
    against it, then it is the equilibrium of all, and unique there too: optimal mixtures are interchangeable, so none
    plays a policy that loses against one of them.
    """
    scaled, size = payoffs / payoff_scale(payoffs), len(payoffs)
    guess = average_of_one(RegretMatcher((size,)), scaled, _NUM_ROUNDS)
    candidates = (guess > _CANDIDATE_WEIGHT) | (gains(scaled, guess) > -_CANDIDATE_LOSS)
    for _ in range(_MAX_ADDITIONS):
        members = np.flatnonzero(candidates)
        found = symmetric_equilibrium(payoffs[np.ix_(members, members)])
        strategy = np.zeros(size)
        strategy[members] = found.row
        missing = ~candidates & (gains(scaled, strategy) > -_STRICT_LOSS)
        if not missing.any():
            return Equilibrium(strategy, strategy, unique=True, exact=found.exact) if found.unique else None
        candidates |= missing
    return None


NASH = MetaSolver(
    settings=NashSettings,
    summary="an equilibrium; where there are many, the one of maximum entropy",
    promise="exploitability",
    one_population=lambda payoffs, _: nash(payoffs),
    batched=lambda payoffs, _: nash_of_many(payoffs),
    two_populations=lambda payoffs, _: nash_of_two(payoffs),
)
