"""Bradley–Terry strengths by maximum a posteriori, as pure functions over arrays. K policies.

P(i beats j) = 1 / (1 + e^(θ_j − θ_i)), a draw counting as half a win. The prior is one virtual game, a draw, between
every two policies, played or not: it keeps a policy that never lost, or never met the others, finite.
Bradley and Terry (1952); Hunter (2004) for existence and uniqueness.
"""

from collections.abc import Mapping
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
_WORTHWHILE = 0.3
"""An old Hessian is used while each step is at most this share of the one before."""


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


def fit(scores: Floats, games: Floats, anchors: Mapping[int, float]) -> Strengths:
    """Fit strengths by Newton's method.

    Args:
        scores: shape (K, K): wins and half the draws of the row against the column.
        games: shape (K, K).
        anchors: fixed θ by index; without any, the mean of θ is 0.
    """
    theta = np.zeros(len(games))
    theta[list(anchors)] = list(anchors.values())
    total, won = _with_virtual_games(scores.sum(axis=1), games)
    theta = _climbed(won, total, anchors, Strengths(theta, _covariance(total, theta, anchors)))
    return Strengths(theta, _covariance(total, theta, anchors))


def fit_again(scored: Floats, games: Floats, anchors: Mapping[int, float], near: Strengths) -> Floats:
    """Return the θ, of shape (K,), of battles much like those that ``near`` was fitted to: a bootstrap's.

    Args:
        scored: shape (K,): each policy's wins and half its draws, against all together.
        games: shape (K, K).
        anchors: the same as before.
        near: where to begin.
    """
    total, won = _with_virtual_games(scored, games)
    return _climbed(won, total, anchors, near)


def _with_virtual_games(scored: Floats, games: Floats) -> tuple[Floats, Floats]:
    virtual = VIRTUAL_GAMES * (1.0 - np.eye(len(games)))
    return games + virtual, scored + virtual.sum(axis=1) / 2


def _climbed(won: Floats, total: Floats, anchors: Mapping[int, float], start: Strengths) -> Floats:
    """Return the θ of the greatest posterior density.

    An inverse Hessian serves for as long as it makes steps much smaller each time: far from the solution each step has
    its own, which is Newton's method; near it one is enough, and no step solves linear equations.
    """
    theta, covariance, previous = start.theta, start.covariance, _MAX_STEP / _WORTHWHILE
    for _ in range(_MAX_STEPS):
        gradient = won - (total * expected_scores_of(theta)).sum(axis=1) + 0.5 * total.diagonal()
        step = covariance @ gradient
        if np.abs(step).max() > _WORTHWHILE * previous:
            covariance = _covariance(total, theta, anchors)
            step = covariance @ gradient
        previous = float(np.abs(step).max())
        theta = theta + step * min(1.0, _MAX_STEP / max(previous, _MAX_STEP))
        if previous < _TOLERANCE:
            break
    return theta


def _covariance(total: Floats, theta: Floats, anchors: Mapping[int, float]) -> Floats:
    """Return the inverse of the negative Hessian, of shape (K, K), 0 for anchors; without any, that of θ − mean."""
    size = len(theta)
    expected = expected_scores_of(theta)
    weights = total * expected * (1.0 - expected)
    np.fill_diagonal(weights, 0.0)
    information = np.diag(weights.sum(axis=1)) - weights
    covariance = np.zeros((size, size))
    if anchors:
        free = [index for index in range(size) if index not in anchors]
        covariance[np.ix_(free, free)] = np.linalg.inv(information[np.ix_(free, free)])
        return covariance
    # Nothing holds all strengths alike in place: make that direction regular, and take it back out.
    covariance[:] = np.linalg.inv(information + weights.max(initial=1.0) / size)
    covariance -= covariance.mean()
    return covariance
