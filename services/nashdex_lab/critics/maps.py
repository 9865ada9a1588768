"""Fits the map of a critic's chances to win on half of new battles, and tests it on the other half."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from scipy.optimize import minimize

from nashdex.core.references import without_store
from nashdex_lab.critics.calibration import CriticCalibration, PlayedPredictions, Predictions, measured, predictions
from nashdex_play.calibration import (
    ChanceMap,
    Floats,
    HeldOutError,
    OpponentCalibration,
    PolicyCalibration,
    log_odds,
)

_SURE: Final = 1.96
"""Standard errors that chance rarely exceeds: 95 %."""
_STEEPEST: Final = 4.0
"""Largest |log slope|: beyond it, all battles had the same winner as the sign of the prediction."""


def calibrate_critic(
    policy: str,
    against: Sequence[str],
    *,
    battles: int,
    seed: int = 0,
    gateways: int = 1,
    on_battle: Callable[[int], None] = lambda _: None,
) -> PolicyCalibration:
    """Fit and test a map against the policy itself, and one against each of ``against`` (see ``check_opponents``).

    Each opponent is met in 2 × ``battles`` battles: one half fits, the other tests. The critic judges both seats'
    decisions.

    Raises:
        ConfigurationError: the policy has no critic that says who wins, or there is no such player.
        DataError: a policy is missing, altered, or of another space.
        TryAgainError: a battle failed every try.
    """
    battles += battles % 2  # a pair lies in one half
    found: list[OpponentCalibration] = []
    played = None
    for opponent in (None, *dict.fromkeys(against)):
        done = 2 * battles * len(found)
        played = predictions(
            policy,
            against=opponent,
            format_id=None,
            battles=2 * battles,
            seed=seed,
            gateways=gateways,
            both_seats=True,
            on_battle=lambda number, done=done: on_battle(done + number),  # type: ignore[misc]
        )
        found.append(_calibrated(policy, opponent, played, battles, seed))
    assert played is not None, "the policy itself is always an opponent"
    return PolicyCalibration(policy=played.policy, format=played.format, seed=seed, opponents=tuple(found))


def _calibrated(
    policy: str, against: str | None, played: PlayedPredictions, fitted: int, seed: int
) -> OpponentCalibration:
    first = played.joined.battles < fitted
    chances = fit_map(_rows(played.joined, first), is_symmetric=against is None)
    rest = _rows(played.joined, ~first)

    def test(predicted: Predictions) -> CriticCalibration:
        return measured(
            predicted,
            policy=policy,
            policy_id=played.policy,
            against=against,
            format_id=played.format,
            seed=seed,
        )

    before, after = test(rest), test(Predictions(chances(rest.predicted), rest.scores, rest.battles))
    return OpponentCalibration(
        against=None if against is None else without_store(against),
        map=chances,
        fitted_battles=fitted,
        tested_battles=after.battles,
        tested_decisions=after.decisions,
        critic=_tested(before),
        mapped=_tested(after),
    )


def fit_map(found: Predictions, *, is_symmetric: bool) -> ChanceMap:
    """Return the map of least log loss.

    A symmetric one has no intercept, because both players are the same. Its slope stays 1 unless chance does not
    explain the difference: the critic learned from such battles.
    """
    odds = log_odds(found.predicted)

    def loss(parameters: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        mapped = np.exp(parameters[0]) * odds + (0.0 if is_symmetric else parameters[1])
        # Cross entropy of logits, without overflow.
        return float(np.mean(np.logaddexp(0.0, mapped) - found.scores * mapped))

    start = np.zeros(1 if is_symmetric else 2)
    bounds = [(-_STEEPEST, _STEEPEST), (-10.0, 10.0)][: len(start)]
    best = minimize(loss, start, method="L-BFGS-B", bounds=bounds).x
    if is_symmetric and abs(np.exp(best[0]) - 1.0) < _SURE * _slope_error(odds, found, float(np.exp(best[0]))):
        return ChanceMap(slope=1.0, intercept=0.0)
    return ChanceMap(slope=float(np.exp(best[0])), intercept=0.0 if is_symmetric else float(best[1]))


def _slope_error(odds: Floats, found: Predictions, slope: float) -> float:
    """Return the slope's standard error where pairs of battles are independent, and decisions of a pair are not.

    The sandwich estimator (Liang and Zeger, "Longitudinal data analysis using generalized linear models", Biometrika
    1986).
    """
    won = 1.0 / (1.0 + np.exp(-slope * odds))
    pairs = np.unique(found.battles // 2, return_inverse=True)[1]
    gradients = np.bincount(pairs, (found.scores - won) * odds)
    curvature = float(np.sum(won * (1.0 - won) * odds**2))
    return float(np.sqrt(np.sum(gradients**2)) / curvature) if curvature > 0 else np.inf


def _rows(found: Predictions, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Predictions:
    return Predictions(found.predicted[chosen], found.scores[chosen], found.battles[chosen])


def _tested(found: CriticCalibration) -> HeldOutError:
    return HeldOutError(error=found.error, low=found.error_low, high=found.error_high)
