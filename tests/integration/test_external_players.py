"""Players of other programs in ``nashdex battle``: poke-env classes over a pipe."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nashdex.evaluator.match import play_match
from nashdex.rollout.play import MAX_TRIES
from nashdex_cli.cli import run_command_line
from support.ports import free_port

pytestmark = pytest.mark.integration

FORMAT = "gen1randombattle"


@pytest.fixture(autouse=True)
def players(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Declare this machine's players."""
    file = tmp_path / "players.toml"
    names = {
        "tenth": "CrashesInEveryTenthBattle",
        "garbage": "ReturnsGarbage",
        "raises": "Raises",
        "sleeps": "Sleeps",
        "illegal": "OrdersIllegally",
    }
    tables = (f'[{name}]\nclass = "support.odd_players:{found}"\nat_once = 1\n' for name, found in names.items())
    file.write_text("\n".join(tables).replace("[sleeps]\n", "[sleeps]\ndecision_seconds = 0.5\n"))
    monkeypatch.setenv("NASHDEX_PLAYERS", str(file))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    return file


@pytest.mark.slow
def test_a_member_that_crashes_in_every_tenth_battle_loses_nothing() -> None:
    result = play_match(FORMAT, "external:tenth", "random", battles=25)
    # A process plays nine battles and crashes in the tenth, which the next process plays again as its first.
    assert result.failures == {"external_crash": 2}
    assert (result.battles, result.failed) == (25, 0)
    assert result.wins + result.losses + result.draws == 25


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "cause"),
    [("garbage", "external_garbage"), ("raises", "external_error"), ("sleeps", "external_deadline")],
)
def test_a_player_that_never_decides_voids_its_battles(name: str, cause: str) -> None:
    result = play_match(FORMAT, f"external:{name}", "first-action", battles=1)
    assert result.failures == {cause: MAX_TRIES}
    assert (result.battles, result.failed, result.score) == (0, 1, None)


@pytest.mark.slow
def test_a_match_without_a_result_exits_with_65(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["battle", "--format", FORMAT, "--p1", "random", "--p2", "external:garbage", "--battles", "1"]
    assert run_command_line(arguments) == 65
    out, err = capsys.readouterr()
    assert "1 failed, 4 tries void by external_garbage" in out
    assert "no battle has a result" in err


@pytest.mark.slow
def test_an_illegal_order_is_the_default_and_a_coroutine_is_waited_for() -> None:
    result = play_match(FORMAT, "external:illegal", "external:support.odd_players:Waits", battles=2)
    assert (result.battles, result.failures) == (2, {})


@pytest.mark.slow
def test_the_same_seed_plays_the_same_battles_as_the_player_in_process() -> None:
    outside = play_match(FORMAT, "external:poke_env.player:SimpleHeuristicsPlayer", "max-power", battles=6, seed=3)
    inside = play_match(FORMAT, "heuristic", "max-power", battles=6, seed=3)
    assert (outside.wins, outside.losses, outside.decisions) == (inside.wins, inside.losses, inside.decisions)


@pytest.mark.parametrize(
    ("player", "message"),
    [
        ("external:nobody", "declares no player 'nobody': it declares tenth"),
        ("external:support.odd_players:Nobody", "cannot be imported"),
        ("external:no_such_module:Player", "cannot be imported"),
        ("external:pathlib:Path", "no poke-env player"),
    ],
)
def test_an_unavailable_player_is_refused(capsys: pytest.CaptureFixture[str], player: str, message: str) -> None:
    arguments = ["battle", "--format", FORMAT, "--p1", player, "--p2", "random", "--battles", "1"]
    assert run_command_line(arguments) == 64
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a", "cannot be read"),
        ('[a]\nclass = "m:C"\ncommand = ["x"]', "command"),
        ('[a]\nfolder = "x"', "class"),
        ('[a]\nclass = "os.system(1)"', "class"),
        ("[a]\nspeed = 1", "speed"),
        ('["A b"]\nclass = "m:C"', "lower-case"),
    ],
)
def test_a_wrong_declaration_says_what_is_wrong(
    capsys: pytest.CaptureFixture[str], players: Path, text: str, message: str
) -> None:
    players.write_text(text)
    assert run_command_line(["battle", "--format", FORMAT, "--p1", "external:a", "--p2", "random"]) == 64
    error = capsys.readouterr().err
    assert message in error
    assert str(players) in error


def test_the_json_counts_failures_by_cause(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["battle", "--format", FORMAT, "--p1", "random", "--p2", "random", "--battles", "2", "--json"]
    assert run_command_line(arguments) == 0
    assert json.loads(capsys.readouterr().out)["failures"] == {}
    assert sys.modules.get("support.odd_players") is None  # children import players; this process does not


@pytest.fixture
def served(players: Path) -> Iterator[None]:
    """Let a player listen on a free port, soon, and declare it as ``away``."""
    address = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "nashdex.games.showdown.external_player", "poke_env.player:SimpleHeuristicsPlayer"]
    process = subprocess.Popen([*command, "--listen", address], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    players.write_text(f'[away]\naddress = "{address}"\nstart_seconds = 600\n')
    yield
    assert "listens at" in process.stderr.readline()
    process.terminate()
    assert process.wait(600) == 0
    process.stderr.close()


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_a_player_that_listens_plays_the_same_battles_as_in_process() -> None:
    away = play_match(FORMAT, "external:away", "max-power", battles=4, seed=3)
    inside = play_match(FORMAT, "heuristic", "max-power", battles=4, seed=3)
    assert (away.wins, away.losses, away.decisions) == (inside.wins, inside.losses, inside.decisions)
    assert away.failures == {}


def test_an_address_at_which_nothing_listens_is_one_message(players: Path, capsys: pytest.CaptureFixture[str]) -> None:
    address = f"127.0.0.1:{free_port()}"
    players.write_text(f'[away]\naddress = "{address}"\nstart_seconds = 1\n')
    arguments = ["battle", "--format", FORMAT, "--p1", "external:away", "--p2", "random", "--battles", "1"]
    assert run_command_line(arguments) == 64
    assert f"external:away is not available: nothing answers at {address}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no_such:Player", "--listen", "127.0.0.1:7500"], "cannot be imported"),
        (["poke_env.player:RandomPlayer", "--listen", "nowhere"], "expected HOST:PORT"),
        (["poke_env.player:RandomPlayer", "a"], "usage:"),
    ],
)
def test_what_cannot_listen_is_one_message(arguments: list[str], message: str) -> None:
    command = [sys.executable, "-m", "nashdex.games.showdown.external_player", *arguments]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 64
    assert message in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('address = "nowhere"', "address"),
        ('address = "a:1"\nclass = "a:B"', "expected exactly one of 'class', 'address', 'command' and 'server'"),
        ('address = "a:1"\nfolder = "/"', "'folder' is for a 'class' or a 'command'"),
    ],
)
def test_a_declaration_of_an_address_is_checked(
    players: Path, capsys: pytest.CaptureFixture[str], table: str, message: str
) -> None:
    players.write_text(f"[away]\n{table}\n")
    arguments = ["battle", "--format", FORMAT, "--p1", "external:away", "--p2", "random", "--battles", "1"]
    assert run_command_line(arguments) == 64
    assert message in capsys.readouterr().err
