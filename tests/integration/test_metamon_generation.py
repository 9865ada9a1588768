"""``nashdex data generate``: battles played here, as trajectories in metamon's layout."""

import json
from pathlib import Path
from typing import Any

import pytest

from nashdex_cli.cli import run_command_line
from nashdex_metamon.data.file_name import ReplayName
from nashdex_metamon.data.generation import player_names
from nashdex_metamon.data.replay_file import decode
from nashdex_replays.following import seen_by
from support.maybe_valid import maybe_valid

NUM_BATTLES = 4


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.parametrize(("format_id", "knowledge"), [("gen1ou", "online"), ("gen9randombattle", "known")])
def test_every_battle_gives_two_trajectories(
    format_id: str, knowledge: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every chosen action is one that its state allows, and the last state has the result of the file's name."""
    options = ["--format", format_id, "--p1", "random", "--p2", "max-power", "--knowledge", knowledge]
    assert run_command_line(["data", "generate", str(tmp_path), *options, f"--battles={NUM_BATTLES}", "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)
    assert (counts["files"], counts["unnamed"]) == (2 * NUM_BATTLES, 0)
    paths = sorted((tmp_path / format_id).iterdir())
    assert len(paths) == 2 * NUM_BATTLES
    decisions = 0
    for path in paths:
        name = ReplayName.parse(path.name)
        assert name is not None
        assert {name.player, name.opponent} == {"random", "max-power"}
        replay = decode(path.read_bytes(), path.name)
        decisions += replay.num_decisions
        for state, action in zip(replay.states[:-1], replay.actions[:-1], strict=True):
            assert state.format == format_id
            assert not state.battle_won
            assert action in maybe_valid(state) or len(state.player_active_pokemon.moves) == 0
        assert replay.states[0].opponents_remaining == 6
        last = replay.states[-1]
        assert (last.battle_won, last.battle_lost) == (name.result == "WIN", name.result == "LOSS")
        if last.battle_won:
            assert last.opponents_remaining == 0
    assert decisions == counts["decisions"]


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.parametrize("format_id", ["gen1ou", "gen5ou", "gen6ou", "gen7ou", "gen8ou"])
def test_logs_of_generated_battles_are_rebuilt(
    format_id: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From what spectators saw follow the same decisions and, where an action is known, the same one."""

    def counted(*arguments: object) -> dict[str, Any]:
        assert run_command_line(["data", *map(str, arguments), "--json"]) == 0
        counts: dict[str, Any] = json.loads(capsys.readouterr().out)
        return counts

    played, rebuilt = tmp_path / "played", tmp_path / "rebuilt"
    policies = ("--p1", "random", "--p2", "metamon:max-bp", "--knowledge", "known")
    counted("generate", played, "--format", format_id, *policies, "--battles", 2, "--seed", 3, "--logs")
    imported = counted("import", played / f"{format_id}.jsonl.gz", rebuilt, "--keep-names")
    assert (imported["read"], imported["files"], imported["refused"]) == (2, 4, {})
    gap = counted("gap", played, rebuilt)
    assert gap["same_battles"] == 4
    assert (gap["equal"]["length"], gap["equal"]["action"]) == (1.0, 1.0)


@pytest.mark.integration
def test_other_games_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["data", "generate", str(tmp_path), "--format", "kuhn_poker", "--p1", "random"]) == 64
    assert "expected a Showdown format" in capsys.readouterr().err


def test_a_seat_sees_the_opponents_hp_in_percent() -> None:
    """Showdown rounds up, but shows 100 for full HP alone."""
    log = ["|-damage|p1a: Abra|1/300", "|switch|p2a: Mew|Mew|399/400 par", "|-damage|p2a: Mew|0 fnt", "|turn|2"]
    assert seen_by(0, log) == [log[0], "|switch|p2a: Mew|Mew|99/100 par", log[2], log[3]]
    assert seen_by(1, log) == ["|-damage|p1a: Abra|1/100", *log[1:]]


def test_a_policy_that_plays_itself_has_two_names() -> None:
    assert player_names(("metamon:mini-rnn", "random")) == ("metamon-mini-rnn", "random")  # type: ignore[arg-type]
    assert player_names(("random", "random")) == ("random-1", "random-2")  # type: ignore[arg-type]
