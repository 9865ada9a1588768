"""Maps of a critic's chances: fitted on known odds, stored beside the policy, and refused if they are another's."""

from pathlib import Path

import numpy as np
import pytest

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.store import open_store
from nashdex_lab.critics.calibration import Predictions
from nashdex_lab.critics.maps import fit_map
from nashdex_play.calibration import (
    ChanceMap,
    HeldOutError,
    OpponentCalibration,
    PolicyCalibration,
    calibration_in_words,
    read_calibration,
    write_calibration,
)

POLICY = BarePolicyId(PolicyId("p20e23a09cab349b3"))
OTHER = BarePolicyId(PolicyId("p86135a95509e4097"))
ITSELF = OpponentCalibration(
    against=None,
    map=ChanceMap(slope=1.5, intercept=0.0),
    fitted_battles=10,
    tested_battles=12,
    tested_decisions=90,
    critic=HeldOutError(error=0.05, low=0.04, high=0.06),
    mapped=HeldOutError(error=0.012, low=0.01, high=0.02),
)
CALIBRATION = PolicyCalibration(policy=POLICY, format="gen1ou", seed=1, opponents=(ITSELF,))


def drawn(truth: ChanceMap, num: int = 200_000) -> Predictions:
    """Return predictions whose results follow ``truth``."""
    generator = np.random.default_rng(7)
    predicted = generator.uniform(0.0, 1.0, num)
    scores = (generator.uniform(0.0, 1.0, num) < truth(predicted)).astype(np.float64)
    return Predictions(predicted, scores, np.arange(num))


@pytest.mark.parametrize("truth", [ChanceMap(slope=0.5, intercept=0.75), ChanceMap(slope=2.0, intercept=-0.5)])
def test_a_map_is_found_again(truth: ChanceMap) -> None:
    found = fit_map(drawn(truth), is_symmetric=False)
    assert (found.slope, found.intercept) == pytest.approx((truth.slope, truth.intercept), abs=0.02)


def test_against_itself_a_map_favours_no_side() -> None:
    found = fit_map(drawn(ChanceMap(slope=1.5, intercept=0.5)), is_symmetric=True)
    assert found.intercept == 0.0
    assert found(np.array([0.2, 0.5, 0.8])).tolist() == pytest.approx(
        [1 - found(np.array(0.8)), 0.5, found(np.array(0.8))]
    )


def test_against_itself_chance_does_not_bend_a_map() -> None:
    true = ChanceMap(slope=1.0, intercept=0.0)
    assert fit_map(drawn(true, 2_000), is_symmetric=True) == true
    few = drawn(ChanceMap(slope=1.3, intercept=0.0), 80)
    predicted, scores = np.repeat(few.predicted, 500), np.repeat(few.scores, 500)
    together, apart = np.repeat(few.battles, 500), np.arange(len(predicted))
    assert fit_map(Predictions(predicted, scores, together), is_symmetric=True) == true, "many decisions say little"
    assert fit_map(Predictions(predicted, scores, apart), is_symmetric=True) != true, "as many battles would say it"


def test_certain_chances_and_winners_have_a_finite_map() -> None:
    found = fit_map(Predictions(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.arange(2)), is_symmetric=False)
    assert np.isfinite(found(np.array([0.0, 0.5, 1.0]))).all()
    assert found.slope > 1.0


def test_a_calibration_is_stored_beside_its_policy(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    assert read_calibration(store, POLICY) is None
    write_calibration(store, CALIBRATION)
    assert read_calibration(store, POLICY) == CALIBRATION
    store.put(keys.policy_calibration(OTHER), CALIBRATION.to_json())
    with pytest.raises(DataError, match="is the calibration of p20e23a09cab349b3; measure it again"):
        read_calibration(store, OTHER)
    store.put(keys.policy_calibration(OTHER), CALIBRATION.to_json().replace(b'"slope": 1.5', b'"slope": -1.5'))
    with pytest.raises(DataError, match="slope"):
        read_calibration(store, OTHER)


def test_the_policy_itself_is_first() -> None:
    with pytest.raises(ValueError, match="the policy itself first"):
        PolicyCalibration(
            policy=POLICY, format="gen1ou", seed=1, opponents=(ITSELF.model_copy(update={"against": "random"}),)
        )


def test_the_errors_are_said_in_words() -> None:
    assert calibration_in_words(ITSELF) == (
        "against itself the expected calibration error is 1.2 % (1.0 to 2.0) in 12 other battles, 5.0 % before the map"
    )
