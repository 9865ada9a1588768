"""Bradley–Terry strengths by maximum a posteriori, as pure functions over arrays. K policies.

P(i beats j) = 1 / (1 + e^(θ_j − θ_i)), a draw counting as half a win. The prior is one virtual game, a draw, between
every two policies, played or not: it keeps a policy that never lost, or never met the others, finite.
Bradley and Terry (1952); Hunter (2004) for existence and uniqueness.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

VIRTUAL_GAMES = 1.0
"""Between every two policies, each a draw."""
_MAX_STEP = 2.0
"""Largest change of a strength in one Newton step: ten to one in odds is 2.3."""
_MAX_STEPS = 1000
_TOLERANCE = 1e-11


@dataclass(frozen=True, slots=True)
class Strengths:
    """The fitted strengths, in natural units: 400 / ln 10 Elo each."""

    theta: Floats
    """Shape (K,)."""
    covariance: Floats
    """Shape (K, K): the inverse Hessian, 0 for anchors; without anchors, that of θ minus its mean."""


def expected_scores_of(theta: Floats) -> Floats:
    """Return P of shape (K, K): the row's expected score, ½ on the diagonal."""
    # Via tanh, which neither overflows nor loses the antisymmetry of P − ½.
    scores: Floats = 0.5 + 0.5 * np.tanh((theta[:, None] - theta[None, :]) / 2)
    return scores


def fit(scores: Floats, games: Floats, anchors: dict[int, float], start: Floats | None = None) -> Strengths:
    """Fit strengths by Newton's method.

    Args:
        scores: shape (K, K): wins and half the draws of the row against the column.
        games: shape (K, K).
        anchors: fixed θ by index; without any, the mean of θ is 0.
        start: where to begin, shape (K,).
    """
    size = len(games)
    virtual = VIRTUAL_GAMES * (1.0 - np.eye(size))
    total, won = games + virtual, (scores + virtual / 2).sum(axis=1)
    theta = np.zeros(size) if start is None else start.copy()
    free = [index for index in range(size) if index not in anchors]
    for index, strength in anchors.items():
        theta[index] = strength
    for _ in range(_MAX_STEPS):
        expected = expected_scores_of(theta)
        gradient = won - (total * expected).sum(axis=1) + 0.5 * total.diagonal()
        step = np.zeros(size)
        step[free] = np.linalg.solve(_information(total, expected, free, centred=not anchors), gradient[free])
        largest = float(np.abs(step).max())
        theta += step * min(1.0, _MAX_STEP / max(largest, _MAX_STEP))
        if largest < _TOLERANCE:
            break
    covariance = np.zeros((size, size))
    covariance[np.ix_(free, free)] = np.linalg.inv(
        _information(total, expected_scores_of(theta), free, centred=not anchors)
    )
    if not anchors:
        # The information was made regular in the direction that moves all strengths alike; take that back out.
        covariance -= covariance.mean()
    return Strengths(theta, covariance)


def _information(total: Floats, expected: Floats, free: Sequence[int], *, centred: bool) -> Floats:
    """Return the negative Hessian over the free strengths; ``centred`` adds what holds their mean in place."""
    weights = total * expected * (1.0 - expected)
    np.fill_diagonal(weights, 0.0)
    laplacian: Floats = np.diag(weights.sum(axis=1)) - weights
    if centred:
        laplacian = laplacian + weights.max(initial=1.0) / len(weights)
    return laplacian[np.ix_(free, free)]
