"""`nashdex bench calibration`: real battles, predictions at every decision, and messages for what has no critic."""

import json

import pytest

from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.store import open_store
from nashdex_bench.calibration import bench_calibration
from nashdex_cli.cli import run_command_line
from nashdex_lab.critics.calibration import predictions
from nashdex_play.calibration import read_calibration
from support.stored_network import stored_network

pytestmark = [pytest.mark.integration, pytest.mark.slow]

FORMAT = "gen1randombattle"


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> str:
    return stored_network(tmp_path_factory.mktemp("store"), FORMAT)


def test_both_seats_of_self_play_count_and_the_seed_decides(policy: str, capsys: pytest.CaptureFixture[str]) -> None:
    first = bench_calibration(policy, battles=4, seed=5)
    assert run_command_line(["bench", "calibration", policy, "--battles", "4", "--seed", "5", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed.pop("machine")["cores"] >= 1
    assert printed == json.loads(first.model_dump_json())
    assert (first.battles, first.format) == (4, FORMAT)
    assert sum(each.decisions for each in first.bins) == first.decisions
    assert bench_calibration(policy, battles=4, seed=6).bins != first.bins


def test_against_another_only_the_policys_own_decisions_count(policy: str) -> None:
    found = bench_calibration(policy, against="first-action", battles=2, seed=5)
    assert found.against == "first-action"
    assert 0 < found.decisions == sum(each.decisions for each in found.bins)
    assert all(each.battles <= 2 for each in found.bins)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["random", "--format", FORMAT], 64, "not one network with a critic"),
        (["runs/none#newest", "--format", FORMAT], 65, "runs/none"),
        (["random"], 64, "the format is missing"),
    ],
)
def test_what_has_no_critic_is_one_message(
    arguments: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["bench", "calibration", *arguments]) == code
    found = capsys.readouterr().err
    assert message in found
    assert found.count("\n") == 1


def test_a_policys_calibration_is_stored_and_shown(policy: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["policy", "calibrate", policy, "--against", "random", "--battles", "2", "--seed", "5"]
    assert run_command_line([*arguments, "--json"]) == 0
    store, name = policy.split("#")
    stored = read_calibration(open_store(store), BarePolicyId(PolicyId(name)))
    assert stored is not None
    assert json.loads(capsys.readouterr().out) == json.loads(stored.to_json())
    assert [(each.against, each.fitted_battles, each.tested_battles) for each in stored.opponents] == [
        (None, 2, 2),
        ("random", 2, 2),
    ]
    assert stored.itself.map.intercept == 0.0
    half = predictions(
        policy,
        against="random",
        format_id=None,
        battles=4,
        seed=5,
        gateways=1,
        both_seats=True,
        on_battle=lambda _: None,
    ).joined
    assert set(half.scores[half.battles == 0]) <= {0.0, 1.0}, "both seats' decisions score for the policy"
    assert len(set(half.scores[half.battles == 0])) == 1
    assert run_command_line(["policy", "calibrate", f"{policy}@greedy"]) == 64
    assert "is not one stored policy; expected one without '@'" in capsys.readouterr().err
