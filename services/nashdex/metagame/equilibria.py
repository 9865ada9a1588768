"""Two-player matrix games: gains and regrets, and the equilibrium of a zero-sum game. Pure functions over arrays.

Payoffs to the row player; K policies of one population, M against N of two; D games of K policies.

A linear program finds a *strictly complementary* equilibrium (Goldman and Tucker 1956): every policy is either played
or strictly bad against it. Scaled so that weight and loss of each policy add up to at least 1, every policy is clearly
played or clearly not, so no tolerance is needed; the two sets are the same for all equilibria. Within them the
equilibria are the solutions of linear equations: the one found is polished to machine precision, uniqueness is a
question of rank, and where there are many, the program's answer is inside them, which is where Newton's method for the
maximum entropy starts.

Many small symmetric games at once are solved by trying every support. A unique equilibrium of an antisymmetric game has
an odd support S, on which A_S σ = 0 (Kaplansky 1945; Bohnenblust, Karlin and Shapley 1950). So each of 2^(K−1) supports
is one batch of small linear systems, which is tens of times quicker than D linear programs while K is small. Draws from
a posterior have a unique equilibrium with probability 1; games without a clearly unique equilibrium are left to the
caller.
"""

from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import DataError
from nashdex.core.extras import required

Floats = NDArray[np.float64]


def gains(payoffs: Floats, strategy: Floats) -> Floats:
    """Return the payoff of each policy against ``strategy``: payoffs (…, M, N) and strategy (…, N) give (…, M)."""
    return (payoffs @ strategy[..., None])[..., 0]


def payoff_scale(payoffs: Floats) -> Floats:
    """Return half the range of each matrix, shape (…, 1, 1), or 1 where all payoffs are equal.

    For antisymmetric payoffs this is the largest one. Adding a constant to all payoffs changes neither game nor scale.
    """
    largest, smallest = payoffs.max(axis=(-2, -1), keepdims=True), payoffs.min(axis=(-2, -1), keepdims=True)
    half_range: Floats = (largest - smallest) / 2
    return np.where(half_range > 0.0, half_range, 1.0)


def restricted_nash_conv(row_payoffs: Floats, column_payoffs: Floats, row: Floats, column: Floats) -> float:
    """Return the sum of both players' gains by their best responses within the matrix, payoffs (M, N) each.

    0 in equilibrium. For a whole game tree see ``games.tabular.values.nash_conv``.
    """
    row_gains, column_gains = row_payoffs @ column, row @ column_payoffs
    return max(0.0, float(row_gains.max() - row @ row_gains + column_gains.max() - column_gains @ column))


def restricted_exploitability(payoffs: Floats, strategy: Floats) -> float:
    """Return max_i (Aσ)_i − σᵀAσ: the gain of one population's best response; 0 in a symmetric equilibrium."""
    against = payoffs @ strategy
    return max(0.0, float(against.max() - strategy @ against))


LARGEST_SIZE = 11
"""1,024 supports. A linear program a game is quicker from about 13 policies on."""
_CLEAR = 1e-9
"""Smallest probability and smallest loss, as a share of the largest payoff, that rounding cannot make."""


def small_equilibria(payoffs: Floats) -> tuple[Floats, np.ndarray]:
    """Return the equilibria of ``payoffs``, and a mask of the games without a clearly unique one.

    ``payoffs`` are antisymmetric, of shape (D, K, K).

    Returns:
        mixtures of shape (D, K), and a mask of shape (D,) of the games that are still to be solved.
    """
    size = payoffs.shape[1]
    scale = np.abs(payoffs).max(axis=(1, 2), keepdims=True)
    scaled = payoffs / np.where(scale > 0, scale, 1.0)
    strategies = np.zeros(payoffs.shape[:2])
    open_games = np.flatnonzero(scale[:, 0, 0] > 0)
    for num_played in range(1, size + 1, 2):
        for support in combinations(range(size), num_played):
            if not len(open_games):
                break
            played = list(support)
            rest = [policy for policy in range(size) if policy not in support]
            games = scaled[open_games]
            # A_S is singular: the row of ones makes its kernel's vector add up to 1.
            systems = games[:, played][:, :, played] + 1.0
            regular = np.abs(np.linalg.det(systems)) > _CLEAR
            mixtures = np.full((len(open_games), num_played), -1.0)
            if regular.any():
                right = np.ones((int(regular.sum()), num_played, 1))
                mixtures[regular] = np.linalg.solve(systems[regular], right)[:, :, 0]
            losses = (games[:, rest][:, :, played] @ mixtures[:, :, None])[:, :, 0]
            found = (mixtures > _CLEAR).all(axis=1) & (losses < -_CLEAR).all(axis=1)
            strategies[np.ix_(open_games[found], played)] = mixtures[found]
            open_games = open_games[~found]
    unsolved = np.zeros(len(payoffs), dtype=bool)
    unsolved[open_games] = True
    unsolved |= scale[:, 0, 0] == 0
    return strategies / np.maximum(strategies.sum(axis=1, keepdims=True), 1e-300), unsolved


_RANK_TOLERANCE = 1e-9
"""Singular values below this share of the largest count as zero; payoffs are scaled to ±1."""
_BARRIER_WEIGHTS = 10.0 ** np.arange(0, 9)
_MAX_NEWTON_STEPS = 100
_NEWTON_TOLERANCE = 1e-14
_MAX_HALVINGS = 40
_ROUNDING = 1e-13
"""Smallest payoff difference that counts; payoffs are scaled to ±1."""


def maximum_entropy(start: Floats, free: Floats, excess: Floats) -> Floats:
    """Return the x of maximum entropy among start + free·y with x > 0 and excess·x ≤ 0.

    ``start`` of shape (S,) is strictly inside; ``free`` of shape (S, F) has orthonormal columns; ``excess`` has shape
    (R, S). Without the inequalities Newton's method is exact, so they are tried for not binding at all. Else an
    interior-point method (Boyd and Vandenberghe 2004, section 11.3) comes close enough to show which of them bind, and
    with those as equations Newton's method is exact again.
    """
    x = _entropy_centre(start, free, excess[:0], 1.0)
    if (excess @ x).max(initial=0.0) <= _ROUNDING:
        return x
    # x > 0 is among the bounds too: the slope of x log x alone would let early, light weights push x far below 1e-16.
    x, bounded = start, np.vstack([excess, -np.eye(len(start))])
    for weight in _BARRIER_WEIGHTS:
        x = _entropy_centre(x, free, bounded, weight)
    slack = -(excess @ x)
    # The multiplier of an inequality is 1 / (weight · slack): where it exceeds the slack, the inequality binds.
    binding = excess[slack**2 * _BARRIER_WEIGHTS[-1] < 1.0]
    _, singular, directions = np.linalg.svd(binding @ free)
    rank = int((singular > _RANK_TOLERANCE * singular.max(initial=0.0)).sum())
    on_bounds = x - free @ np.linalg.lstsq(binding @ free, binding @ x, rcond=_RANK_TOLERANCE)[0]
    if on_bounds.min() <= 0.0:
        return x
    polished = _entropy_centre(on_bounds, free @ directions[rank:].T, excess[:0], 1.0)
    return polished if (excess @ polished).max() <= _ROUNDING else x


def _entropy_centre(x: Floats, free: Floats, excess: Floats, weight: float) -> Floats:
    """Minimise weight·Σ x log x − Σ log(−excess·x) over x + free·y by Newton's method in y."""
    bounds = excess @ free
    if not free.shape[1]:
        return x
    for _ in range(_MAX_NEWTON_STEPS):
        slack = -(excess @ x)
        gradient = free.T @ (weight * (np.log(x) + 1.0)) + bounds.T @ (1.0 / slack)
        curved = bounds / slack[:, None]
        hessian = (free.T * (weight / x)) @ free + curved.T @ curved
        step = free @ np.linalg.solve(hessian, -gradient)
        promised = -float(gradient @ (free.T @ step))
        if promised <= _NEWTON_TOLERANCE * weight:
            break
        x = _descended(x, step, excess, weight, promised)
    return x


def _descended(x: Floats, step: Floats, excess: Floats, weight: float, promised: float) -> Floats:
    """Return x + length·step: strictly inside and, by backtracking, with enough of the decrease that was promised."""

    def objective(point: Floats) -> float:
        return float(weight * (point @ np.log(point)) - np.log(-(excess @ point)).sum())

    towards, room = np.concatenate([-step, excess @ step]), np.concatenate([x, -(excess @ x)])
    length = min(1.0, 0.99 * float(np.min(room[towards > 0] / towards[towards > 0], initial=np.inf)))
    before = objective(x)
    for _ in range(_MAX_HALVINGS):
        if objective(x + length * step) <= before - 0.25 * length * promised:
            return x + length * step
        length /= 2
    return x


Mask = NDArray[np.bool_]

_PROGRAM_SIZES = (1.0, 1e-2, 1e-4)
"""The program has a solution at every size; a smaller one suits weights that differ by many orders of magnitude."""

_TOO_FAR_APART = (np.linalg.LinAlgError, FloatingPointError)
"""What the linear algebra of the refinement raises where weights differ by more orders of magnitude than it holds."""


@dataclass(frozen=True, slots=True)
class Equilibrium:
    """Optimal strategies of both players."""

    row: Floats
    """Shape (M,)."""
    column: Floats
    """Shape (N,)."""
    unique: bool
    """False where there were many and these have the greatest entropy."""
    exact: bool = True
    """False where weights too far apart let only a plain linear program succeed: one equilibrium, to its tolerance."""


def symmetric_equilibrium(payoffs: Floats) -> Equilibrium:
    """Solve the game of one population; ``payoffs`` antisymmetric, to the row player, of shape (K, K)."""
    scaled, size = payoffs / _scale(payoffs), len(payoffs)
    # x ≥ 0 with −Ax ≥ 0 and x − Ax ≥ 1 exists for every antisymmetric A (Tucker 1956).
    x = _smallest(np.vstack([scaled, scaled - np.eye(size)]), np.repeat([0.0, -1.0], size))
    if x is not None:
        played = x > -scaled @ x
        with suppress(*_TOO_FAR_APART), np.errstate(divide="raise", over="raise", invalid="raise"):
            strategy, unique = _refined(scaled, played, played, x)
            return Equilibrium(strategy, strategy, unique)
    plain = _plain(scaled)
    return Equilibrium(plain, plain, unique=False, exact=False)


def zero_sum_equilibrium(payoffs: Floats) -> Equilibrium:
    """Solve the game of two populations; ``payoffs`` to the row player, of shape (M, N)."""
    scaled, (num_rows, num_columns) = payoffs / _scale(payoffs), payoffs.shape
    num_both = num_rows + num_columns
    # In (p, q, v), p and q of equal sums: no row gains more than v against q, no column loses less against p.
    losses = np.zeros((num_both, num_both + 1))
    losses[:num_rows, num_rows:num_both] = scaled
    losses[num_rows:, :num_rows] = -scaled.T
    losses[:num_rows, -1], losses[num_rows:, -1] = -1.0, 1.0
    sums = np.concatenate([np.ones(num_rows), -np.ones(num_columns), [0.0]])
    x = _smallest(
        np.vstack([losses, losses - np.eye(num_both, num_both + 1)]), np.repeat([0.0, -1.0], num_both), zero_sum=sums
    )
    if x is not None:
        played = x[:-1] > -losses @ x
        rows, columns = played[:num_rows], played[num_rows:]
        with suppress(*_TOO_FAR_APART), np.errstate(divide="raise", over="raise", invalid="raise"):
            row, row_unique = _refined(-scaled.T, columns, rows, x[:num_rows])
            column, column_unique = _refined(scaled, rows, columns, x[num_rows:-1])
            return Equilibrium(row, column, row_unique and column_unique)
    return Equilibrium(_plain(-scaled.T), _plain(scaled), unique=False, exact=False)


def _scale(payoffs: Floats) -> float:
    return float(np.abs(payoffs).max(initial=0.0)) or 1.0


def _smallest(constraints: Floats, bounds: Floats, zero_sum: Floats | None = None) -> Floats | None:
    """Return the x of smallest sum with constraints·x ≤ bounds and x ≥ 0, of shape (V,), or None if HiGHS gives up.

    With ``zero_sum``, zero_sum·x = 0 as well, and the last variable may have any sign and does not count in the sum.
    """
    num_variables = constraints.shape[1]
    cost = np.ones(num_variables)
    limits: list[tuple[float | None, float | None]] = [(0.0, None)] * num_variables
    equations, right = None, None
    if zero_sum is not None:
        cost[-1], limits[-1] = 0.0, (None, None)
        equations, right = zero_sum[None], np.zeros(1)
    for size in _PROGRAM_SIZES:
        found, _ = _minimum(cost, constraints, size * bounds, equations, right, limits)
        if found is not None:
            return found
    return None


def _plain(payoffs: Floats) -> Floats:
    """Return an optimal mixture of the column player, shape (N,): minimise v with payoffs·q ≤ v."""
    num_rows, num_columns = payoffs.shape
    cost = np.append(np.zeros(num_columns), 1.0)
    constraints = np.hstack([payoffs, -np.ones((num_rows, 1))])
    limits: list[tuple[float | None, float | None]] = [(0.0, None)] * num_columns + [(None, None)]
    total = np.append(np.ones(num_columns), 0.0)[None]
    found, message = _minimum(cost, constraints, np.zeros(num_rows), total, np.ones(1), limits)
    if found is None:
        raise DataError(
            f"HiGHS found no equilibrium of a game of {num_rows} × {num_columns} ({message}); "
            "expected payoffs that do not differ by many orders of magnitude"
        )
    strategy: Floats = np.maximum(found[:-1], 0.0)
    strategy /= strategy.sum()
    return strategy


def _minimum(
    cost: Floats,
    constraints: Floats,
    bounds: Floats,
    equations: Floats | None,
    right: Floats | None,
    limits: list[tuple[float | None, float | None]],
) -> tuple[Floats | None, str]:
    """Return the x of smallest cost·x, of shape (V,), or None; and what HiGHS says of it.

    constraints·x ≤ bounds, equations·x = right, and ``limits`` has the smallest and largest value of each variable.
    """
    linprog = required("scipy.optimize:linprog", extra="control", needed_by="the solution of a game")
    answer = linprog(cost, constraints, bounds, equations, right, limits, "highs")
    return (np.asarray(answer.x, dtype=np.float64) if answer.status == 0 else None), str(answer.message)


def _refined(payoffs: Floats, rows: Mask, columns: Mask, found: Floats) -> tuple[Floats, bool]:
    """Return the column player's optimal strategy of maximum entropy, shape (N,), and whether it is the only one.

    Optimal is exactly what has its support in ``columns``, gives every row in ``rows`` the same payoff and gives no
    other row more. ``found`` is one such strategy up to its sum, inside these bounds but only as precise as the linear
    program.
    """
    start = found[columns] / found[columns].sum()
    played = payoffs[:, columns]
    level = played[rows][0]
    equations = np.vstack([played[rows][1:] - level, np.ones_like(level)])
    excess = played[~rows] - level
    target = np.zeros(len(equations))
    target[-1] = 1.0

    _, singular, directions = np.linalg.svd(equations)
    rank = int((singular > _RANK_TOLERANCE * singular[0]).sum())
    free = directions[rank:].T
    polished = start + np.linalg.lstsq(equations, target - equations @ start, rcond=_RANK_TOLERANCE)[0]
    if polished.min() <= 0.0 or (excess @ polished).max(initial=-1.0) >= 0.0:
        polished = start
    if free.shape[1]:
        polished = maximum_entropy(polished, free, excess)
    strategy = np.zeros(len(columns))
    strategy[columns] = polished / polished.sum()
    return strategy, not free.shape[1]
