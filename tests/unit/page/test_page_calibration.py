"""What was measured of a critic, as a sentence of the board; anything else is one message."""

from pathlib import Path

import numpy as np
import pytest

from nashdex.core.errors import DataError
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex_lab.critics.calibration import Predictions, measured
from nashdex_play.page.writing import read_calibrations

POLICY = BarePolicyId(PolicyId("p20e23a09cab349b3"))


@pytest.mark.parametrize(("against", "who"), [(None, "itself"), ("heuristic", "another policy")])
def test_the_benchmarks_own_output_is_read(tmp_path: Path, against: str | None, who: str) -> None:
    found = Predictions(np.array([0.25, 0.25, 0.85]), np.array([0.0, 1.0, 1.0]), np.array([0, 1, 2]))
    result = measured(found, policy="r#newest", policy_id=POLICY, against=against, format_id="gen1ou", seed=1)
    file = tmp_path / "c.json"
    file.write_text(result.model_dump_json())
    (sentence,) = read_calibrations([file]).values()
    assert sentence.startswith(
        f"In 3 other battles against {who}, 3 decisions, the expected calibration error of that probability is 21.7 % ("
    )
    assert list(read_calibrations([file, file])) == [POLICY]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not json", "is not what `nashdex bench calibration --json` prints"),
        ("{}", "policy_id"),
        ('{"policy_id": "<script>", "is_self_play": true, "battles": 1, "decisions": 1}', "policy_id"),
        ("[" * 100_000, "more than 65,536 bytes"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "c.json"
    file.write_text(text)
    with pytest.raises(DataError, match=message):
        read_calibrations([file])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.json: cannot be read"):
        read_calibrations([tmp_path / "gone.json"])
