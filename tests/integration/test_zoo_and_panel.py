"""A network is published, shown, and measured by a panel: one small whole on real battles."""

import json
from pathlib import Path

import pytest

from nashdex.policies.references import read_published_names
from nashdex.store import open_store
from nashdex_cli.cli import run_command_line

pytestmark = pytest.mark.integration
NETWORK = ["embedding_size=8", "move_size=8", "pokemon_size=8", "context_size=16", "scorer_size=8"]
SMALL = [
    "iterations=1",
    "network.kind='pointer'",
    *(f"network.{size}" for size in NETWORK),
    "train.first.kind='fresh'",
    "population.initial=['random']",
    "collect.battles=2",
    "evaluate.battles_per_pair=2",
]


@pytest.mark.slow
def test_a_published_policy_has_a_card_and_keeps_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "made.toml"
    config.write_text('format = "gen1randombattle"\n')
    for seed in (1, 2):
        settings = [text for value in (*SMALL, f"seed={seed}") for text in ("--set", value)]
        command = ["run", str(config), "--store", str(tmp_path), "--run", f"run-{seed}", "--processes", "1", *settings]
        assert run_command_line(command) == 0
    zoo = tmp_path / "zoo"
    publish = ["policy", "publish", f"{tmp_path}/run-1#newest", "first", "--zoo", str(zoo), "--battles", "2"]
    assert run_command_line([*publish, "--limit", "It plays at random.", "--hardware", "two cores"]) == 0
    other = ["policy", "publish", f"{tmp_path}/run-2#newest", "first", "--zoo", str(zoo), "--battles", "2"]
    assert run_command_line(other) == 64
    assert "a published name never changes its weights" in capsys.readouterr().err
    assert list(read_published_names(open_store(str(zoo))).policies) == ["first"]

    panel = tmp_path / "panel.json"
    measured = ["panel", f"{zoo}#first@greedy", "--only", "random", "--only", "max-power", "--battles", "4"]
    assert run_command_line([*measured, "--output", str(panel)]) == 0
    table = capsys.readouterr().out
    document = json.loads(panel.read_text())
    rows = document["rows"]
    assert [row["result"]["battles"] for row in rows] == [4, 4]
    assert rows[0]["result"]["score"] <= rows[1]["result"]["score"]
    assert f"worst matchup: {rows[0]['result']['p2']}" in table
    assert document["anchor"] == "max-power"

    assert run_command_line([*publish, "--panel", str(panel)]) == 0
    capsys.readouterr()
    assert run_command_line(["policy", "show", f"{zoo}#first"]) == 0
    card = capsys.readouterr().out
    for part in ("It plays at random.", "| max-power |", "% .", "zoo:first"):
        assert part.strip(" .") in card
    levels = ["policy", "levels", f"{zoo}#first", "--against", f"{zoo}#first@greedy", "--battles", "4"]
    assert run_command_line([*levels, "--temperature", "0", "--temperature", "9"]) == 0
    assert run_command_line(["policy", "show", f"{zoo}#first"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("against first@greedy") == 4, "two levels, printed by both commands"
    assert "- temperature 9 scores " in shown
    levels[2] += "@greedy"
    assert run_command_line(levels) == 64
    assert "without '@'" in capsys.readouterr().err

    assert run_command_line(["policy", "show", f"{zoo}#first", "--json"]) == 0
    shown = capsys.readouterr().out
    assert str(tmp_path) not in shown, "a card names no folder"
    parity = json.loads(shown)["parity"]
    assert parity["decisions"] > 20
    assert 0 <= parity["mean_log_probability_gap"] <= parity["largest_log_probability_gap"] < 0.1
