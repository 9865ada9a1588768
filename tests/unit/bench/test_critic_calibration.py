"""The reliability of win probabilities: known errors are found, and the interval grows with what battles share."""

import numpy as np
import pytest

from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex_bench.calibration import lines
from nashdex_lab.critics.calibration import CriticCalibration, Predictions, measured

POLICY = BarePolicyId(PolicyId("p20e23a09cab349b3"))
BATTLES = 4000
DECISIONS = 10
"""Of each battle."""


def calibration(predicted: list[float], scores: list[float], battles: list[int]) -> CriticCalibration:
    found = Predictions(np.array(predicted), np.array(scores), np.array(battles))
    return measured(found, policy="run#newest", policy_id=POLICY, against=None, format_id="gen1ou", seed=3)


def drawn(shift: float) -> CriticCalibration:
    """Return the calibration of a critic whose predictions are ``shift`` above the true probability."""
    generator = np.random.default_rng(5)
    truth = np.repeat(generator.uniform(0.05, 0.75, BATTLES), DECISIONS)
    won = np.repeat(generator.uniform(size=BATTLES), DECISIONS) < truth
    numbers = np.repeat(np.arange(BATTLES), DECISIONS)
    return calibration(list(truth + shift), list(won.astype(float)), list(numbers))


def test_the_error_is_the_mean_distance_over_bins_by_decisions() -> None:
    # 0.2 is won half the time in two decisions, 0.8 in one of one, and a draw counts half.
    found = calibration([0.25, 0.25, 0.85, 0.55], [1.0, 0.0, 1.0, 0.5], [0, 1, 2, 4])
    assert found.error == pytest.approx((2 * 0.25 + 0.15 + 0.05) / 4)
    assert [(each.decisions, each.predicted, each.won) for each in found.bins if each.decisions] == [
        (2, 0.25, 0.5),
        (1, 0.55, 0.5),
        (1, 0.85, 1.0),
    ]
    assert found.squared_error == pytest.approx((0.75**2 + 0.25**2 + 0.15**2 + 0.05**2) / 4)
    assert found.squared_error_of_mean == pytest.approx(np.var([1.0, 0.0, 1.0, 0.5]))


def test_certain_predictions_are_in_the_outer_bins() -> None:
    found = calibration([0.0, 1.0], [0.0, 1.0], [0, 1])
    assert [each.decisions for each in found.bins] == [1, *[0] * 8, 1]
    assert found.error == 0.0


def test_an_honest_critic_has_a_small_error_and_a_shifted_one_its_shift() -> None:
    honest, shifted = drawn(0.0), drawn(0.2)
    assert honest.error < 0.03
    assert shifted.error == pytest.approx(0.2, abs=0.02)
    assert shifted.error_low < 0.2 < shifted.error_high
    assert honest.error_high < shifted.error_low


def test_decisions_of_one_battle_are_no_independent_evidence() -> None:
    """The interval is as wide as that of as many battles of one decision."""
    many, few = drawn(0.2), calibration([0.3] * 10_000, [0.0] * 5_000 + [1.0] * 5_000, [0] * 5_000 + [2] * 5_000)
    assert few.error == pytest.approx(0.2)
    assert few.error_high - few.error_low > 10 * (many.error_high - many.error_low)


def test_the_two_battles_of_a_pair_are_resampled_together() -> None:
    predicted, scores = [0.5] * 400, [1.0, 0.0] * 200
    paired = calibration(predicted, scores, list(range(400)))
    apart = calibration(predicted, scores, list(range(0, 800, 2)))
    assert paired.error_high == 0.0
    assert apart.error_high > 0.02


def test_it_says_everything_in_a_table() -> None:
    text = list(lines(calibration([0.25, 0.85], [1.0, 0.0], [0, 1])))
    assert "2 decisions of 2 battles" in text[0]
    assert [line.split() for line in text if line.lstrip().startswith("0.2 to")] == [
        ["0.2", "to", "0.3", "1", "1", "0.250", "1.000"]
    ]
    assert "expected calibration error 0.800" in text[-2]
