"""A population of metamon's PSRO scripts, read from its three files."""

import json
from pathlib import Path
from typing import Any

import pytest

from nashdex_cli.cli import run_command_line

POPULATION = {
    "SyntheticRLV2": {"name": "SyntheticRLV2", "policy_type": "pretrained", "model_class": "SyntheticRLV2"},
    "GymLeader": {"name": "GymLeader", "policy_type": "heuristic", "baseline_class": "GymLeader"},
    "Kakuna": {"policy_type": "pretrained", "model_class": "Kakuna", "checkpoint": 3},
    "BR_0": {"policy_type": "checkpoint"},
}


def matchup(first: str, second: str, wins: int, battles: int = 100) -> dict[str, Any]:
    return {
        "policy1": first,
        "policy2": second,
        "policy1_wins": wins,
        "policy2_wins": battles - wins,
        "total_battles": battles,
        "policy1_winrate": wins / battles,
    }


MATCHUPS = [matchup("GymLeader", "SyntheticRLV2", 2), matchup("Kakuna", "SyntheticRLV2", 60)]


def write(
    folder: Path,
    matchups: list[dict[str, Any]] = MATCHUPS,
    strategy: tuple[float, ...] = (0.25, 0.0, 0.75, 0.0),
    names: tuple[str, ...] = tuple(POPULATION),
) -> None:
    (folder / "population.json").write_text(json.dumps({"policies": POPULATION}))
    (folder / "interaction_matrix.json").write_text(json.dumps({"population": list(POPULATION), "matchups": matchups}))
    (folder / "meta_strategy.json").write_text(
        json.dumps({"meta_strategy": strategy, "policy_names": names, "metadata": {}})
    )


def run(folder: Path, *options: str) -> int:
    return run_command_line(["policy", "import-population", str(folder), str(folder / "ledger.json"), *options])


def test_members_are_named_and_counts_can_be_rated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path)
    assert run(tmp_path, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    synthetic, gym_leader, kakuna, response = document["members"]
    assert document["unplayed_pairs"] == 4
    assert synthetic["command"] == "nashdex policy import SyntheticRLV2 STORE --vocabulary allreplays-v3.json"
    assert (synthetic["probability"], gym_leader["scripted"]) == (0.25, "metamon:gym-leader")
    assert "Perceiver" in kakuna["problem"]
    assert "nashdex policy import" in response["problem"]
    ledger = json.loads((tmp_path / "ledger.json").read_text())
    assert (ledger["wins"][0][1], ledger["wins"][1][0], ledger["games"][0][1]) == (98, 2, 100)
    assert run_command_line(["rate", str(tmp_path / "ledger.json"), "--json"]) == 0
    ratings = json.loads(capsys.readouterr().out)["ratings"]
    assert ratings["Kakuna"]["elo"] > ratings["SyntheticRLV2"]["elo"] > ratings["GymLeader"]["elo"]


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path)
    assert (run(tmp_path), run(tmp_path)) == (0, 64)
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"matchups": [matchup("GymLeader", "Grunt", 2)]}, "is not a pair of policies"),
        ({"matchups": [matchup("GymLeader", "GymLeader", 2)]}, "is not a pair of policies"),
        ({"matchups": [*MATCHUPS, matchup("SyntheticRLV2", "Kakuna", 5)]}, "meet twice"),
        ({"matchups": [{**MATCHUPS[0], "total_battles": 99}]}, "more wins than battles"),
        ({"matchups": [{**MATCHUPS[0], "total_battles": 101}]}, "fewer wins than battles"),
        ({"matchups": [{**MATCHUPS[0], "policy1_wins": -1}]}, "is not as metamon writes it"),
        ({"strategy": (0.5, 0.0, 0.0, 0.0)}, "sum to 1"),
        ({"strategy": (1.0,)}, "one probability for each policy"),
        ({"names": ("SyntheticRLV2", "GymLeader", "Kakuna", "BR_1")}, "one probability for each policy"),
    ],
)
def test_contradictions_are_named(
    changes: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, **changes)
    assert run(tmp_path) == 65
    assert message in capsys.readouterr().err
    assert not (tmp_path / "ledger.json").exists()


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path) == 65
    assert "population.json" in capsys.readouterr().err
