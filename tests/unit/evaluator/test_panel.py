"""The opponents of a panel, and the rows that it keeps while it plays."""

import json
from pathlib import Path

import pytest

from nashdex_cli.cli import run_command_line
from nashdex_lab.panel import identity_of, panel_of, row_key


def test_a_panel_holds_what_plays_the_format() -> None:
    assert "metamon:mini-rnn" in panel_of("gen1ou", "random")
    members = panel_of("gen9randombattle", "random", ("max-power", "first-action"))
    assert "metamon:mini-rnn" not in members
    assert "random" not in members
    assert members[-1] == "first-action"


def test_a_panel_refuses_who_does_not_play_the_format(capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--only", "--also"):
        panel = ["panel", "random", "--format", "gen9randombattle", option, "metamon:mini-rnn"]
        assert run_command_line(panel) == 64
        assert "'metamon:mini-rnn' does not play gen9randombattle; expected one of" in capsys.readouterr().err


PANEL = ["panel", "random", "--format", "kuhn_poker", "--battles", "10", "--only", "first-action", "--only", "random"]


def test_a_panel_that_fails_keeps_its_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output, kept = tmp_path / "panel.json", tmp_path / "panel.json.rows"
    to_output = ["--output", str(output)]
    assert run_command_line([*PANEL, "--only", "external:nowhere:Nobody", *to_output]) == 64
    assert not output.exists()
    rows = json.loads(kept.read_text())["rows"]
    assert {row["p2"] for row in rows.values()} == {"first-action", "random"}
    marked = next(row for row in rows.values() if row["p2"] == "random") | {"seconds": 12345.0}
    kept.write_text(json.dumps({"rows": {key: marked if row["p2"] == "random" else row for key, row in rows.items()}}))

    capsys.readouterr()
    assert run_command_line([*PANEL, *to_output]) == 0
    assert "2 played rows" in capsys.readouterr().err
    assert not kept.exists()
    results = [row["result"] for row in json.loads(output.read_text())["rows"]]
    assert marked in results, "a kept row is not played again"


@pytest.mark.parametrize("changed", [["--seed", "1"], ["--battles", "12"]])
def test_rows_of_other_battles_are_played_again(
    changed: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = ["--output", str(tmp_path / "panel.json")]
    assert run_command_line([*PANEL, "--only", "external:nowhere:Nobody", *output]) == 64
    capsys.readouterr()
    assert run_command_line([*PANEL, *changed, *output]) == 0
    shown = capsys.readouterr().err
    assert "first-action: 0" in shown
    assert "\nrandom: 0" in shown
    assert not (tmp_path / "panel.json.rows").exists()


def test_a_changed_declaration_is_another_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    players = tmp_path / "players.toml"
    monkeypatch.setenv("NASHDEX_PLAYERS", str(players))
    keys = []
    for declared in ('class = "bots:One"', 'class = "bots:Two"', 'command = "play {websocket} {username}"') * 2:
        players.write_text(f"[mine]\n{declared}\n")
        one, other = identity_of("random"), identity_of("external:mine")
        keys.append(row_key("gen1ou", one, other, battles=10, seed=0))
    assert keys[:3] == keys[3:], "the same declaration is the same player"
    assert len(set(keys)) == 3


def test_a_file_that_holds_no_rows_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "panel.json.rows").write_text("{")
    assert run_command_line([*PANEL, "--output", str(tmp_path / "panel.json")]) == 65
    assert "panel.json.rows holds no rows of a panel" in capsys.readouterr().err
