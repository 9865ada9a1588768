"""Bradley–Terry strengths by penalised maximum likelihood, as pure functions over arrays. K policies.

P(i beats j) = 1 / (1 + e^(θ_j − θ_i)), a draw counting as half a win (Bradley and Terry, 1952). The penalty is Firth's
(1993), ½ log det I(θ) with I the Fisher information of the free strengths, which is Jeffreys' prior: it removes the
estimate's first-order bias, and keeps a policy that won or lost every battle finite.

The penalty acts like drawn virtual games: each cell gets as many as its leverage h_ij = w_ij Var(θ_i − θ_j), where
w_ij = n_ij P_ij P_ji. The leverages add up to the number of free strengths, however many policies there are.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import DataError
from nashdex.core.extras import required
from nashdex.metagame.evidence.large import is_large

Floats = NDArray[np.float64]

_FAINT_GAMES = 1e-6
"""Drawn games between every two policies. They place policies that no chain of battles connects, and change no
published digit of the others."""
_MAX_STEP = 2.0
"""Largest change of a strength in one Newton step: ten to one in odds is 2.3."""
_MAX_STEPS = 1000
_TOLERANCE = 1e-11
_ROUNDING = 1e-6
"""A step below this that is no shorter than the one before is rounding, as after a million wins of a million."""
_NEAR = 1e-2
"""A step below this ends the search for where a large population's fit begins."""
_WORTHWHILE = 0.3
"""``fit_samples`` keeps an old inverse while each step is at most this share of the one before."""

_LARGE_FIT = "a fit of many ratings"
_NO_DIGIT_LEFT = (
    "a score is too near 0 or 1 for a rating: a policy wins or loses all of too many battles; expected 10^9 battles "
    "between two policies at most"
)


@dataclass(frozen=True, slots=True)
class Strengths:
    """The fitted strengths, in natural units: 400 / ln 10 Elo each."""

    theta: Floats
    """Shape (K,)."""
    covariance: Floats
    """Shape (K, K): the inverse Fisher information, 0 for anchors; without anchors, of θ minus its mean."""
    virtual_games: Floats
    """Shape (K, K): the drawn games that the penalty acts like."""


def expected_scores_of(theta: Floats) -> Floats:
    """Return P of shape (…, K, K), of θ of shape (…, K): the row's expected score, ½ on the diagonal."""
    # Via tanh, which neither overflows nor loses the antisymmetry of P − ½.
    return 0.5 + 0.5 * np.tanh((theta[..., :, None] - theta[..., None, :]) / 2)


def fit(
    scores: Floats,
    games: Floats,
    anchors: Mapping[int, float],
    *,
    penalised: bool = True,
    near: Floats | None = None,
) -> Strengths:
    """Fit strengths by Newton's method.

    Args:
        scores: shape (K, K): wins and half the draws of the row against the column.
        games: shape (K, K), symmetric.
        anchors: fixed θ by index; without any, the mean of θ is 0.
        penalised: False for plain maximum likelihood, where the faint games alone keep a policy that won all finite.
        near: θ to begin with, shape (K,); 0 by default.
    """
    theta = np.zeros(len(games)) if near is None else near.copy()
    theta[list(anchors)] = list(anchors.values())
    total, won = _with_faint_games(scores.sum(axis=1), games)
    if near is None and is_large(len(games)):
        theta = _evenly_penalised(total, won, theta, anchors)
    before = np.inf
    for _ in range(_MAX_STEPS):
        expected = expected_scores_of(theta)
        weights = total * expected * (1.0 - expected)
        covariance = _inverse_information(weights, anchors)
        virtual = weights * variances_of_gaps(covariance) if penalised else np.zeros_like(weights)
        gradient = won + virtual.sum(axis=1) / 2 - ((total + virtual) * expected).sum(axis=1)
        # The virtual games belong to the curvature too: without them, steps of a policy that won everything overshoot.
        if penalised:
            step = _newton_step(weights + virtual * expected * (1.0 - expected), gradient, anchors)
        else:
            step = covariance @ gradient
        theta, largest = _moved(theta, step)
        if largest < _TOLERANCE or before <= largest < _ROUNDING:
            break
        before = largest
    return Strengths(theta, covariance, virtual)


def _evenly_penalised(total: Floats, won: Floats, theta: Floats, anchors: Mapping[int, float]) -> Floats:
    """Return θ of shape (K,) near the penalised fit, without an inverse.

    The penalty's virtual games are spread evenly: their number, that of the free strengths, is known before the fit.
    """
    size = len(total)
    each = 2.0 * (size - max(1, len(anchors))) / (size * (size - 1))
    total = total + each * (1.0 - np.eye(size))
    won = won + each * (size - 1) / 2
    for _ in range(_MAX_STEPS):
        expected = expected_scores_of(theta)
        gradient = won - (total * expected).sum(axis=1)
        theta, largest = _moved(theta, _newton_step(total * expected * (1.0 - expected), gradient, anchors))
        if largest < _NEAR:
            break
    return theta


def sandwich_covariance(strengths: Strengths, variances: Floats) -> Floats:
    """Return the covariance of θ, shape (K, K), from the variance that each cell's score really has.

    C M C with C the inverse Fisher information and M the scores' covariance (Huber 1967; White 1982). It holds where
    the two battles of a pair go together, and in games with cycles, where cells vary less than their ratings say.

    Args:
        strengths: the fit.
        variances: of each cell's score (wins and half the draws), shape (K, K), symmetric.
    """
    between = variances - np.diag(variances.diagonal())
    scores = np.diag(between.sum(axis=1)) - between
    return strengths.covariance @ scores @ strengths.covariance


def fit_samples(scored: Floats, games: Floats, anchors: Mapping[int, float], near: Strengths) -> Floats:
    """Return the θ, of shape (D, K), of D tournaments similar to the one that ``near`` was fitted to: a bootstrap's.

    The penalty's virtual games are ``near``'s: what they change from one sample to the next is of second order.

    ``scored`` holds each policy's wins and half its draws against all others together, shape (D, K), and ``games`` has
    shape (D, K, K).
    """
    faint = _faint_games(games.shape[-1])
    total = games + faint + near.virtual_games
    won = scored + faint.sum(axis=1) / 2 + near.virtual_games.sum(axis=1) / 2
    theta = np.repeat(near.theta[None], len(scored), axis=0)
    covariances = np.repeat(near.covariance[None], len(scored), axis=0)
    previous, moving = np.full(len(scored), _MAX_STEP / _WORTHWHILE), np.arange(len(scored))
    for _ in range(_MAX_STEPS):
        expected = expected_scores_of(theta[moving])
        gradient = won[moving] - (total[moving] * expected).sum(axis=-1)
        step = (covariances[moving] @ gradient[..., None])[..., 0]
        slow = np.abs(step).max(axis=1) > _WORTHWHILE * previous[moving]
        if slow.any():
            again = moving[slow]
            weights = total[again] * expected[slow] * (1.0 - expected[slow])
            covariances[again] = [_inverse_information(each, anchors) for each in weights]
            step[slow] = (covariances[again] @ gradient[slow][..., None])[..., 0]
        largest = np.abs(step).max(axis=1)
        theta[moving] += step * np.minimum(1.0, _MAX_STEP / np.maximum(largest, _MAX_STEP))[:, None]
        is_rounding = (previous[moving] <= largest) & (largest < _ROUNDING)
        previous[moving] = largest
        moving = moving[(largest >= _TOLERANCE) & ~is_rounding]
        if not len(moving):
            break
    return theta


def _faint_games(num_policies: int) -> Floats:
    """Return the faint games of every two policies, shape (K, K), 0 on the diagonal."""
    return _FAINT_GAMES * (1.0 - np.eye(num_policies))


def _with_faint_games(scored: Floats, games: Floats) -> tuple[Floats, Floats]:
    """Return games of shape (K, K), 0 on the diagonal, and scores of shape (K,), both with the faint games."""
    faint = _faint_games(len(games))
    total = games + faint
    np.fill_diagonal(total, 0.0)
    return total, scored + faint.sum(axis=1) / 2


def _moved(theta: Floats, step: Floats) -> tuple[Floats, float]:
    """Return θ after a step of bounded length, and the largest change that the whole step asked for."""
    largest = float(np.abs(step).max(initial=0.0))
    return theta + step * min(1.0, _MAX_STEP / max(largest, _MAX_STEP)), largest


def variances_of_gaps(covariance: Floats) -> Floats:
    """Return Var(θ_i − θ_j), shape (K, K)."""
    variances = covariance.diagonal()
    return variances[:, None] + variances[None, :] - 2.0 * covariance


def _inverse_information(weights: Floats, anchors: Mapping[int, float]) -> Floats:
    """Return the inverse of the weights' Laplacian, shape (K, K), 0 for anchors; without any, for θ − mean.

    Raises:
        DataError: a score is so near 0 or 1 that no digit of its information is left.
    """
    try:
        return _inverse(weights, anchors)
    except np.linalg.LinAlgError as error:
        raise DataError(_NO_DIGIT_LEFT) from error


def _newton_step(weights: Floats, gradient: Floats, anchors: Mapping[int, float]) -> Floats:
    """Return the product of ``_inverse_information`` and the gradient, shape (K,).

    Raises:
        DataError: as there.
    """
    if not is_large(len(weights)):
        return np.asarray(_inverse_information(weights, anchors) @ gradient)
    cho_solve = required("scipy.linalg:cho_solve", extra="control", needed_by=_LARGE_FIT)
    try:
        information = _laplacian(weights)
        step: Floats = np.zeros(len(weights))
        free = [index for index in range(len(weights)) if index not in anchors]
        if not anchors:
            information += weights.max(initial=1.0) / len(weights)
        step[free] = cho_solve((np.linalg.cholesky(information[np.ix_(free, free)]), True), gradient[free])
        return step if anchors else step - step.mean()
    except np.linalg.LinAlgError as error:
        raise DataError(_NO_DIGIT_LEFT) from error


def _laplacian(weights: Floats) -> Floats:
    return np.diag(weights.sum(axis=1)) - weights


def _inverted(information: Floats) -> Floats:
    """Return the inverse of a positive definite matrix: of a large one by Cholesky, in a third of the time."""
    if not is_large(len(information)):
        return np.asarray(np.linalg.inv(information), np.float64)
    lapack = required("scipy.linalg.lapack:", extra="control", needed_by=_LARGE_FIT)
    factor, failed = lapack.dpotrf(information, lower=True)
    if not failed:
        factor, failed = lapack.dpotri(factor, lower=True)
    if failed:
        raise np.linalg.LinAlgError
    whole: Floats = np.tril(factor) + np.tril(factor, -1).T
    return whole


def _inverse(weights: Floats, anchors: Mapping[int, float]) -> Floats:
    size = len(weights)
    information = _laplacian(weights)
    if anchors:
        covariance = np.zeros((size, size))
        free = [index for index in range(size) if index not in anchors]
        covariance[np.ix_(free, free)] = _inverted(information[np.ix_(free, free)])
        return covariance
    # A common shift of all strengths has no information: make that direction regular, then remove it again.
    inverse = _inverted(information + weights.max(initial=1.0) / size)
    centred: Floats = inverse - inverse.mean()
    return centred
