"""Nash equilibria of zero-sum matrix games by linear programming; of many equilibria, the one of maximum entropy.

One linear program finds a *strictly complementary* equilibrium (Goldman and Tucker 1956): every policy is either
played or strictly bad against it. Scaled so that weight and loss of each policy add up to at least 1, every policy is
clearly played or clearly not, so no tolerance is needed; the two sets are the same for all equilibria.
Within them the equilibria are the solutions of linear equations: the one found is polished to machine precision,
uniqueness is a question of rank, and where there are many, the program's answer is inside them, which is where Newton's
method for the maximum entropy starts.
"""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import DataError
from nashdex.metagame.equilibria.gains import Floats
from nashdex.metagame.equilibria.maximum_entropy import maximum_entropy

Mask = NDArray[np.bool_]

_RANK_TOLERANCE = 1e-9
"""Singular values below this share of the largest count as zero; payoffs are scaled to ±1."""
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
    from scipy.optimize import linprog  # noqa: PLC0415 - images that solve nothing have no scipy

    num_variables = constraints.shape[1]
    cost = np.ones(num_variables)
    limits: list[tuple[float | None, float | None]] = [(0.0, None)] * num_variables
    equations, right = None, None
    if zero_sum is not None:
        cost[-1], limits[-1] = 0.0, (None, None)
        equations, right = zero_sum[None], np.zeros(1)
    for size in _PROGRAM_SIZES:
        answer = linprog(cost, constraints, size * bounds, equations, right, limits, "highs")
        if answer.status == 0:
            return np.asarray(answer.x, dtype=np.float64)
    return None


def _plain(payoffs: Floats) -> Floats:
    """Return an optimal mixture of the column player, shape (N,): minimise v with payoffs·q ≤ v."""
    from scipy.optimize import linprog  # noqa: PLC0415 - images that solve nothing have no scipy

    num_rows, num_columns = payoffs.shape
    cost = np.append(np.zeros(num_columns), 1.0)
    constraints = np.hstack([payoffs, -np.ones((num_rows, 1))])
    limits: list[tuple[float | None, float | None]] = [(0.0, None)] * num_columns + [(None, None)]
    total = np.append(np.ones(num_columns), 0.0)[None]
    answer = linprog(cost, constraints, np.zeros(num_rows), total, np.ones(1), limits, "highs")
    if answer.status != 0:
        raise DataError(
            f"HiGHS found no equilibrium of a game of {num_rows} × {num_columns} ({answer.message}); "
            "expected payoffs that do not differ by many orders of magnitude"
        )
    strategy: Floats = np.maximum(np.asarray(answer.x, dtype=np.float64)[:-1], 0.0)
    strategy /= strategy.sum()
    return strategy


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
