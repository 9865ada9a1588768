"""The distribution of maximum entropy within linear equations and inequalities, by Newton's method."""

import numpy as np

from nashdex.metagame.equilibria.gains import Floats

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
