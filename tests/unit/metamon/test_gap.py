"""``nashdex data gap``: what differs between two folders of trajectories."""

import json
from pathlib import Path

import pytest

from nashdex_cli.cli import run_command_line

REPLAYS = str(Path(__file__).parents[2] / "data" / "metamon" / "replays")


def test_a_folder_equals_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["data", "gap", REPLAYS, REPLAYS, "--formats", "gen1ou", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["files"] == [10, 10]
    assert found["same_battles"] == 10
    assert set(found["equal"].values()) == {1.0}
    assert {distance["total_variation"] for distance in found["distances"].values()} == {0.0}


def test_other_formats_differ_by_more_than_chance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The fourth generation has abilities, and the first has none."""
    for name, format_id in (("a", "gen1ou"), ("b", "gen4ou")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "all").symlink_to(Path(REPLAYS) / format_id)
    assert run_command_line(["data", "gap", str(tmp_path / "a"), str(tmp_path / "b"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    ability = found["distances"]["own ability"]
    assert ability["total_variation"] == 1.0 > ability["by_chance"]
    assert found["same_battles"] == 0
