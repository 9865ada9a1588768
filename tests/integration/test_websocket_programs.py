"""Programs that play by websocket in ``nashdex battle``: server, program and client in one command."""

import json
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from nashdex.games.showdown.stock_server import StockServer, stock_server
from nashdex_cli.cli import run_command_line
from support.processes import command_line

pytestmark = pytest.mark.integration

FORMAT = "gen1randombattle"
PROGRAMS = Path(__file__).parents[1] / "support" / "programs"
PYTHON = shlex.quote(sys.executable)
PLAYER = f"{PYTHON} {shlex.quote(str(PROGRAMS / 'websocket_player.py'))}"
GARBAGE = f"{PYTHON} {shlex.quote(str(PROGRAMS / 'websocket_garbage.py'))} {{websocket}} {{username}}"
SERVED = "{websocket} {username} {format}"

Declare = Callable[..., None]
Play = Callable[..., dict[str, Any]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let this machine declare no players yet, and keep logs in the test's folder."""
    monkeypatch.setenv("NASHDEX_PLAYERS", str(tmp_path / "players.toml"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def declare(folder: Path) -> Declare:
    """Return what declares the player ``bot``."""

    def write(command: str, **keys: float | bool) -> None:
        lines = [f"command = {json.dumps(command)}"]
        lines += [
            f"{key} = {json.dumps(value)}"
            for key, value in ({"pause_seconds": 0.0, "start_seconds": 900.0} | keys).items()
        ]
        (folder / "players.toml").write_text("\n".join(("[bot]", *lines)))

    return write


@pytest.fixture
def play(capsys: pytest.CaptureFixture[str]) -> Play:
    """Return what plays the program against ``max-power`` and returns the result."""

    def battle(battles: int, code: int = 0) -> dict[str, Any]:
        assert run_command_line(_arguments(battles, "--json")) == code
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return battle


def _arguments(battles: int, *more: str) -> list[str]:
    return ["battle", "--format", FORMAT, "--p1", "external:bot", "--p2", "max-power", "--battles", str(battles), *more]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "keys"),
    [
        ("--battles={battles}", {"at_once": 2}),
        ("--battles=2", {}),  # it ends after two battles, as Foul Play does by default after one
        ("--battles={battles} --challenges={opponent}", {"challenges": True}),
    ],
)
def test_a_whole_match(declare: Declare, play: Play, folder: Path, options: str, keys: dict[str, float]) -> None:
    declare(f"{PLAYER} {SERVED} {options}", **keys)
    result = play(5)
    assert (result["p1"], result["battles"], result["failed"], result["failures"]) == ("external:bot", 5, 0, {})
    assert result["wins"] + result["losses"] + result["draws"] == 5
    assert result["losses"] > 0  # a random player against max-power
    assert result["score"] == (result["wins"] + result["draws"] / 2) / 5
    assert result["estimator"] == "mean-score, wilson"
    assert list(folder.glob("*.log")) == []


@pytest.fixture
def server(folder: Path) -> Iterator[StockServer]:
    """A stock server on which this machine declares the player ``bot``, a user whom nobody has started yet."""
    with stock_server() as found:
        keys = f'server = "127.0.0.1:{found.port}"\nusername = "TheirBot"\npause_seconds = 0'
        (folder / "players.toml").write_text(f"[bot]\n{keys}\nstart_seconds = 3\n")
        yield found


@pytest.mark.slow
def test_a_program_that_somebody_else_runs_plays_on_its_own_server(
    server: StockServer, play: Play, folder: Path
) -> None:
    players = folder / "players.toml"
    players.write_text(players.read_text().replace("start_seconds = 3", "start_seconds = 900"))
    program = [sys.executable, str(PROGRAMS / "websocket_player.py"), server.websocket, "TheirBot", FORMAT]
    with subprocess.Popen(program) as theirs:
        result = play(3)
        assert (result["battles"], result["failed"], result["failures"]) == (3, 0, {})
        assert result["losses"] > 0
        assert theirs.poll() is None, "it goes on: it is not ours to end"
        theirs.kill()


@pytest.mark.slow
def test_a_program_that_is_not_on_its_server_is_not_available(
    server: StockServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(_arguments(1)) == 64
    assert f"'TheirBot' on the server at 127.0.0.1:{server.port}" in capsys.readouterr().err


@pytest.mark.slow
def test_a_program_that_crashes_in_every_third_battle_loses_none(declare: Declare, play: Play, folder: Path) -> None:
    declare(f"{PLAYER} {SERVED} --crash-every=3 --counter={shlex.quote(str(folder / 'counter'))}")
    result = play(5)
    # The third and the sixth of seven battles are void.
    assert (result["battles"], result["failed"], result["failures"]) == (5, 0, {"external_crash": 2})
    assert (folder / "counter").read_text() == "7"
    (log,) = folder.glob("*.log")
    assert log.read_text().count("crashing as asked") == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "keys", "failures"),
    [
        (f"{PLAYER} {SERVED} --sleeps", {"decision_seconds": 2, "restarts": 1}, {"external_deadline": 2}),
        (f"{PLAYER} {SERVED} --forfeits", {"restarts": 2}, {"external_forfeit": 3}),
        (
            GARBAGE,
            {"decision_seconds": 2, "restarts": 0},
            {"external_deadline": 1},
        ),
    ],
    ids=["sleeps", "forfeits", "garbage"],
)
def test_a_program_that_never_decides_has_no_score(
    declare: Declare, play: Play, command: str, keys: dict[str, float], failures: dict[str, int]
) -> None:
    declare(command, **keys)
    result = play(2, 65)
    assert result["failures"] == failures
    assert (result["battles"], result["losses"], result["failed"], result["score"]) == (0, 0, 2, None)


@pytest.mark.slow
def test_a_program_that_cannot_start_again_leaves_battles_unplayed(declare: Declare, play: Play, folder: Path) -> None:
    flag = shlex.quote(str(folder / "flag"))
    script = f"test -e {flag} && exit 7; touch {flag}; exec {PLAYER} $0 $@ --battles=1"
    declare(f"sh -c {shlex.quote(script)} {SERVED}", restarts=1)
    result = play(3)
    assert (result["battles"], result["failed"], result["failures"]) == (1, 2, {"external_unavailable": 2})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "keys", "message"),
    [
        (
            f"{PYTHON} -c "
            + shlex.quote(
                "import os, sys; sys.exit(' '.join(n for n in os.environ if n.startswith('NASHDEX_')) or 'no')"
            )
            + " {port} {username}",
            {},
            "ended with 1 before a battle began; its last words: no; its output is in ",
        ),
        ("sh -c 'sleep 601 & sleep 602' {port} {username}", {"start_seconds": 2}, "no battle began within 2 s"),
        ("/no/such/program {port} {username}", {}, "'/no/such/program' cannot start"),
    ],
    ids=["exits", "never connects", "missing"],
)
def test_a_program_that_never_plays_is_refused(
    declare: Declare, capsys: pytest.CaptureFixture[str], command: str, keys: dict[str, float], message: str
) -> None:
    declare(command, **keys)
    assert run_command_line(_arguments(2)) == 64
    errors = capsys.readouterr().err.splitlines()
    (error,) = (line for line in errors if line.startswith("error: "))
    assert message in error
    assert not [process for process in psutil.process_iter(["cmdline"]) if "601" in (process.info["cmdline"] or ())]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_the_program_and_the_server(declare: Declare, number: signal.Signals, code: int) -> None:
    declare(f"{PLAYER} {SERVED}")
    command = [sys.executable, "-m", "nashdex_cli", *_arguments(10_000)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 600
        started: list[psutil.Process] = []
        while not any("websocket_player.py" in command_line(child) for child in started):
            assert time.monotonic() < deadline, "the program did not start"
            time.sleep(0.2)
            started = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(number)
        _, errors = process.communicate(timeout=1200)
    assert process.returncode == code, errors
    assert "stopped after" in errors
    psutil.wait_procs(started, timeout=120)
    assert not [child for child in started if child.is_running()]


@pytest.mark.slow
def test_the_benchmark_compares_both_ways(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["bench", "external", "--battles", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["by_websocket"]["battles"], found["in_process"]["battles"]) == (2, 2)
    assert found["difference"] == found["by_websocket"]["score"] - found["in_process"]["score"]
    assert found["low"] <= found["difference"] <= found["high"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--best-of", "3"], "expected a best of 1, no matrix and one gateway"),
        (["--gateways", "2"], "expected a best of 1, no matrix and one gateway"),
        (["--p2", "external:bot"], "both players are programs"),
        (["--p2", "randon"], "random"),
        (["--format", "kuhn_poker"], "no Showdown server plays kuhn_poker"),
    ],
)
def test_what_cannot_be_played_is_refused_before_anything_starts(
    declare: Declare, capsys: pytest.CaptureFixture[str], folder: Path, more: list[str], message: str
) -> None:
    declare(f"touch {shlex.quote(str(folder / 'started'))} {{port}} {{username}}")
    assert run_command_line([*_arguments(1), *more]) == 64
    assert message in capsys.readouterr().err
    assert not (folder / "started").exists()


def test_only_battle_plays_such_a_program(declare: Declare, capsys: pytest.CaptureFixture[str]) -> None:
    declare(f"{PLAYER} {SERVED}")
    assert run_command_line(["serve", "external:bot", "--format", FORMAT, "--name", "me"]) == 64
    assert "only `nashdex battle`" in capsys.readouterr().err
