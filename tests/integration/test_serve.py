"""``nashdex serve`` on the stock Showdown server, and against servers that misbehave."""

import asyncio
import contextlib
import json
import logging
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from websockets.sync.server import ServerConnection
from websockets.sync.server import serve as serve_websocket

from nashdex.games.showdown.stock_server import StockServer, stock_server
from nashdex.serve import connection as connection_module
from nashdex.trajectory.shard import decode
from nashdex_cli.cli import run_command_line
from support.http_servers import JsonHandler, served_by

pytestmark = pytest.mark.integration

FORMAT = "gen1randombattle"
PATIENCE_SECONDS = 900
"""Battles of two clients take 20 s on a quiet machine."""


@pytest.fixture(scope="module")
def server() -> Iterator[StockServer]:
    with stock_server() as started:
        yield started


@contextmanager
def _client(server: StockServer, policy: str, name: str, folder: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    address = f"{server.host}:{server.port}"
    command = [sys.executable, "-m", "nashdex_cli", "serve", policy, "--format", FORMAT, "--name", name]
    command += ["--server", address, "--record", str(folder), "--patience-seconds", str(PATIENCE_SECONDS), *more]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()
            # pytest shows it if the test fails
            sys.stdout.write(f"--- {name} says:\n{process.communicate()[1]}\n")


def _battles(folder: Path) -> dict[str, dict[str, object]]:
    path = folder / "battles.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return {battle["room"]: battle for battle in map(json.loads, lines)}


def _open_rooms(folder: Path) -> str:
    path = folder / "open.json"
    return path.read_text() if path.exists() else ""


def _wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not what():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)


@contextmanager
def _fragile_way(server: StockServer) -> Iterator[tuple[str, Callable[[], None]]]:
    """Forward connections to the server; the function that it yields breaks all of them."""
    open_sockets: list[socket.socket] = []

    def break_off(ends: list[socket.socket]) -> None:
        while ends:
            with contextlib.suppress(OSError):  # broken off already
                ends.pop().shutdown(socket.SHUT_RDWR)

    def forward(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        break_off([source, target])

    class Way(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection((server.host, server.port)) as outer:
                open_sockets.extend((self.request, outer))
                back = threading.Thread(target=forward, args=(outer, self.request))
                back.start()
                forward(self.request, outer)
                back.join()

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Way) as listener:
        thread = threading.Thread(target=listener.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{listener.server_address[1]}", lambda: break_off(open_sockets)
        finally:
            listener.shutdown()
            thread.join()
            break_off(open_sockets)


OPPOSITE = {"win": "loss", "loss": "win", "tie": "tie"}


@pytest.mark.slow
def test_two_clients_find_each_other_and_agree_with_the_server(server: StockServer, tmp_path: Path) -> None:
    search = ("--search", "--battles", "4", "--at-once", "2")
    first, second = tmp_path / "first", tmp_path / "second"
    with (
        _client(server, "max-power", "search one", first, *search) as one,
        _client(server, "random", "search two", second, *search, "--json") as two,
    ):
        one.communicate(timeout=PATIENCE_SECONDS)
        out, _ = two.communicate(timeout=PATIENCE_SECONDS)
    assert (one.returncode, two.returncode) == (0, 0)
    assert json.loads(out)["battles"] == 4
    ours, theirs = _battles(first), _battles(second)
    assert ours.keys() == theirs.keys()
    assert len(ours) == 4
    for room, battle in ours.items():
        assert battle["result"] == OPPOSITE[str(theirs[room]["result"])]
        log = (first / "logs" / f"{room}.log").read_text()
        winner = {"win": "search one", "loss": "search two"}[str(battle["result"])]
        assert f"|win|{winner}" in log
        assert (battle["refused"], battle["void"]) == (0, None)
        assert battle["rating"] is not None
        space, (episode,) = decode((first / "trajectories" / f"{room}.safetensors.lz4").read_bytes(), room)
        assert space.format == FORMAT
        assert len(episode) == battle["decisions"]
        assert episode.score == {"win": 1.0, "loss": 0.0, "tie": 0.5}[str(battle["result"])]
        assert "search one against" in (first / "replays" / f"{room}.html").read_text() or battle["seat"] == 1


@pytest.mark.slow
def test_a_client_whose_connection_breaks_plays_on(server: StockServer, tmp_path: Path) -> None:
    search = ("--search", "--battles", "3", "--at-once", "2")
    first, second = tmp_path / "first", tmp_path / "second"
    with (
        _fragile_way(server) as (address, cut),
        _client(server, "random", "steady", second, *search) as steady,
        _client(server, "max-power", "shaky", first, *search, "--server", address) as shaky,
    ):

        def plays_after(num_battles: int) -> bool:
            is_over = len(list((first / "logs").glob("*"))) >= num_battles
            return shaky.poll() is not None or (is_over and "battle-" in _open_rooms(first))

        for num_battles in (0, 1):
            _wait_for(partial(plays_after, num_battles))
            cut()
        _, errors = shaky.communicate(timeout=PATIENCE_SECONDS)
        assert shaky.returncode == 0
        steady.communicate(timeout=PATIENCE_SECONDS)
        assert steady.returncode == 0
    assert "connecting again" in errors
    ours, theirs = _battles(first), _battles(second)
    assert len(ours) == 3
    assert {room: battle["result"] for room, battle in ours.items()} == {
        room: OPPOSITE[str(battle["result"])] for room, battle in theirs.items()
    }
    assert [battle["untracked"] for battle in ours.values()] == [0, 0, 0]


@pytest.mark.slow
def test_best_of_three_by_challenge(server: StockServer, tmp_path: Path) -> None:
    host, visitor = tmp_path / "host", tmp_path / "visitor"
    series = ("--best-of", "3", "--battles", "2")
    with (
        _client(server, "max-power", "series host", host, *series) as one,
        _client(server, "first-action", "series two", visitor, *series, "--challenge", "series host") as two,
    ):
        out, _ = one.communicate(timeout=PATIENCE_SECONDS)
        two.communicate(timeout=PATIENCE_SECONDS)
    assert (one.returncode, two.returncode) == (0, 0)
    assert "1 series: " in out
    assert _battles(host).keys() == _battles(visitor).keys()
    assert len({battle["series"] for battle in _battles(host).values()}) == 1


@pytest.mark.slow
def test_a_killed_client_goes_on_with_the_battles_that_the_server_holds(server: StockServer, tmp_path: Path) -> None:
    search = ("--search", "--battles", "4", "--at-once", "2")
    first, second = tmp_path / "first", tmp_path / "second"
    with _client(server, "random", "stays", second, *search) as stays:
        with _client(server, "random", "dies", first, *search) as dies:
            _wait_for(lambda: len(_battles(second)) >= 1)
            dies.kill()
            dies.communicate()
        with _client(server, "random", "dies", first, *search) as again:
            stays.communicate(timeout=PATIENCE_SECONDS)
            again.send_signal(signal.SIGTERM)  # it may wait for the battle that it missed
            again.communicate(timeout=PATIENCE_SECONDS)
    ours, theirs = _battles(first), _battles(second)
    assert len(theirs) == 4
    assert all(battle["void"] is None and battle["result"] for battle in theirs.values())
    # A battle that ended while the client was dead is in the other record alone.
    assert len(ours.keys() & theirs.keys()) >= 3
    for room in ours.keys() & theirs.keys():
        assert ours[room]["result"] == OPPOSITE[str(theirs[room]["result"])]


@pytest.mark.slow
def test_a_poke_env_player_challenges_and_sigterm_ends_after_the_battle(server: StockServer, tmp_path: Path) -> None:
    from poke_env import AccountConfiguration, ServerConfiguration  # noqa: PLC0415
    from poke_env.player import RandomPlayer  # noqa: PLC0415

    async def challenge(count: int) -> int:
        player = RandomPlayer(
            AccountConfiguration("visitor", None),
            battle_format=FORMAT,
            log_level=logging.CRITICAL,
            open_timeout=None,
            server_configuration=ServerConfiguration(server.websocket, "http://127.0.0.1/"),
        )
        await player.send_challenges("host", n_challenges=count)
        await player.ps_client.stop_listening()
        return player.n_won_battles

    with _client(server, "max-power", "host", tmp_path, "--accept", "visitor") as host:
        errors = host.stderr
        assert errors is not None
        _wait_for(lambda: "logged in" in errors.readline())
        won = asyncio.run(asyncio.wait_for(challenge(2), 300))
        _wait_for(lambda: len(_battles(tmp_path)) == 2)
        host.send_signal(signal.SIGTERM)
        out, err = host.communicate(timeout=PATIENCE_SECONDS)
    assert host.returncode == 143, err
    assert "2 battles" in out
    assert sum(battle["result"] == "loss" for battle in _battles(tmp_path).values()) == won


def _odd_server(answer: Callable[[ServerConnection], None]) -> Iterator[int]:
    with serve_websocket(answer, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.socket.getsockname()[1]
        server.shutdown()
        thread.join()


def _run(port: int, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str, str]:
    options = ["--format", FORMAT, "--name", "me", "--server", f"127.0.0.1:{port}", "--patience-seconds", "0", *more]
    code = run_command_line(["serve", "random", *options])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize(
    ("greeting", "message"),
    [
        ("|formats|,1|S/V Singles|[Gen 9] OU,e", "does not offer gen1randombattle"),
        ("|nametaken|me|Someone else has it", "refuses the name 'me': Someone else has it"),
    ],
)
def test_a_server_that_refuses(capsys: pytest.CaptureFixture[str], greeting: str, message: str) -> None:
    def answer(connection: ServerConnection) -> None:
        connection.send(greeting)
        for _ in connection:
            pass

    for port in _odd_server(answer):
        code, _, err = _run(port, capsys)
        assert (code, message in err) == (64, True), err


def test_a_room_that_is_closed_in_the_middle_is_a_void_battle(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def answer(connection: ServerConnection) -> None:
        connection.send("|challstr|4|x")
        for text in connection:
            if str(text).startswith("|/trn"):
                connection.send("|updateuser| me|1|1|{}")
                room = f"battle-{FORMAT}-1"
                connection.send(f">{room}\n|init|battle\n|player|p1|me|1|\n|player|p2|you|2|")
                connection.send(f">{room}\n|deinit")

    for port in _odd_server(answer):
        code, out, _ = _run(port, capsys, "--battles", "1", "--record", str(tmp_path))
        assert code == 0
        assert "0 battles" in out
        assert "1 void" in out
    (battle,) = _battles(tmp_path).values()
    assert "closed the room" in str(battle["void"])


def test_a_server_that_breaks_off_after_every_login_is_given_up(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "_PAUSE_SECONDS", 0.0)
    connections: list[ServerConnection] = []

    def answer(connection: ServerConnection) -> None:
        connections.append(connection)
        connection.send("|challstr|4|x")
        connection.recv()
        connection.send("|updateuser| me|1|1|{}")

    for port in _odd_server(answer):
        code, _, err = _run(port, capsys)
        assert (code, "broke off 10 connections in a row soon after the login" in err) == (75, True), err
    assert len(connections) == 10


def test_an_opponent_that_leaves_gets_the_servers_timer_once(capsys: pytest.CaptureFixture[str]) -> None:
    said = list[str]()

    def answer(connection: ServerConnection) -> None:
        room = f"battle-{FORMAT}-1"
        connection.send("|challstr|4|x")
        for text in connection:
            said.append(str(text))
            if str(text).startswith("|/trn"):
                connection.send("|updateuser| me|1|1|{}")
                connection.send(f">{room}\n|init|battle\n|player|p1|me|1|\n|player|p2|you|2|\n|l|you")
                connection.send(f">{room}\n|l|☆somebody")
                connection.send(f">{room}\n|l|☆You\n|j|☆You\n|l|☆You")
            elif str(text).endswith("/timer on"):
                assert said.count(str(text)) == 1
                connection.send(f">{room}\n|win|me")

    for port in _odd_server(answer):
        code, _, _ = _run(port, capsys, "--battles", "1")
        assert code == 0
    assert said.count(f"battle-{FORMAT}-1|/timer on") == 1


def _battle_of(*requests: dict[str, object]) -> Callable[[ServerConnection], None]:
    """Return a server with one battle, whose requests it sends, and in which the client wins by any choice."""

    def answer(connection: ServerConnection) -> None:
        room = f"battle-{FORMAT}-1"
        connection.send("|challstr|4|x")
        for text in connection:
            if str(text).startswith("|/trn"):
                connection.send("|updateuser| me|1|1|{}")
                connection.send(f">{room}\n|init|battle\n|player|p1|me|1|\n|player|p2|you|2|")
                for request in requests:
                    connection.send(f">{room}\n|request|{json.dumps(request)}")
            elif "/choose" in str(text):
                connection.send(f">{room}\n|win|me")

    return answer


def test_a_battle_that_the_tracker_cannot_follow_is_said_and_counted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    odd = {"rqid": 1, "active": [{"moves": 7}], "side": {"name": "me", "id": "p1", "pokemon": [{"ident": 3}]}}
    for port in _odd_server(_battle_of(odd)):
        code, out, err = _run(port, capsys, "--battles", "1", "--record", str(tmp_path))
        assert code == 0
        assert "1 decisions not followed" in out
        assert "the tracker cannot follow a battle" in err
    (battle,) = _battles(tmp_path).values()
    assert (battle["result"], battle["untracked"], battle["trajectory"]) == ("win", 1, False)


def test_a_server_that_refuses_every_choice_ends_the_battle(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    chosen: list[str] = []
    room = f"battle-{FORMAT}-1"
    request = {"rqid": 1, "active": [{"moves": 7}], "side": {"name": "me", "id": "p1", "pokemon": [{"ident": 3}]}}

    def answer(connection: ServerConnection) -> None:
        connection.send("|challstr|4|x")
        for text in connection:
            if str(text).startswith("|/trn"):
                connection.send("|updateuser| me|1|1|{}")
                connection.send(f">{room}\n|init|battle\n|player|p1|me|1|\n|player|p2|you|2|")
                connection.send(f">{room}\n|request|{json.dumps(request)}")
            elif "/choose" in str(text):
                chosen.append(str(text))
                connection.send(f">{room}\n|error|[Invalid choice] Can't do that")

    for port in _odd_server(answer):
        code, out, err = _run(port, capsys, "--battles", "1", "--record", str(tmp_path))
        assert (code, "1 void" in out) == (0, True), err
    assert len(chosen) == 11
    (battle,) = _battles(tmp_path).values()
    assert battle["void"] == "the server refused every choice"


@pytest.mark.parametrize("line", ["|updatesearch|no JSON", "|updatesearch|[]"])
def test_a_server_that_speaks_otherwise(capsys: pytest.CaptureFixture[str], line: str) -> None:
    def answer(connection: ServerConnection) -> None:
        connection.send(line)
        for _ in connection:
            pass

    for port in _odd_server(answer):
        code, _, err = _run(port, capsys)
        assert (code, "another version" in err) == (65, True), err


def test_a_room_that_the_server_lost_while_the_client_was_away_is_void(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    room = f"battle-{FORMAT}-7"
    (tmp_path / "open.json").write_text(json.dumps([room]))

    def answer(connection: ServerConnection) -> None:
        connection.send("|challstr|4|x")
        for text in connection:
            if str(text).startswith("|/trn"):
                connection.send("|updateuser| me|1|1|{}")
            elif str(text) == f"|/join {room}":
                connection.send(f">{room}\n|noinit|nonexistent|The room does not exist.")

    for port in _odd_server(answer):
        code, out, _ = _run(port, capsys, "--battles", "1", "--record", str(tmp_path))
        assert (code, "1 void" in out) == (0, True)
    assert json.loads((tmp_path / "open.json").read_text()) == []


def _on_login(connection: ServerConnection, *messages: str) -> Iterator[str]:
    """Log the client in, send ``messages``, and yield what else it says."""
    connection.send("|challstr|4|x")
    for text in connection:
        if str(text).startswith("|/trn"):
            connection.send("|updateuser| me|1|1|{}")
            for message in messages:
                connection.send(message)
        else:
            yield str(text)


WON = f">battle-{FORMAT}-1\n|init|battle\n|player|p1|me|1|\n|player|p2|you|2|\n|win|me"


def test_a_server_that_began_again_gives_ids_of_battles_in_the_record(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def answer(connection: ServerConnection) -> None:
        for _ in _on_login(connection, WON):
            pass

    for port in _odd_server(answer):
        for num_battles in ("1", "2"):
            code, out, err = _run(port, capsys, "--battles", num_battles, "--record", str(tmp_path))
            assert (code, f"{num_battles} battles: {num_battles} won" in out) == (0, True), err
    assert {path.name for path in (tmp_path / "logs").iterdir()} == {
        f"battle-{FORMAT}-1.log",
        f"battle-{FORMAT}-1-again1.log",
    }


def test_a_server_that_began_again_in_a_battle_gives_its_id_to_the_next(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    room = f"battle-{FORMAT}-1"
    (tmp_path / "open.json").write_text(json.dumps([room]))

    def answer(connection: ServerConnection) -> None:
        for text in _on_login(connection):
            if text == f"|/join {room}":
                connection.send(f">{room}\n|noinit|nonexistent|The room does not exist.")
                connection.send(WON)

    for port in _odd_server(answer):
        code, out, err = _run(port, capsys, "--battles", "2", "--record", str(tmp_path))
        assert (code, "1 battles: 1 won" in out, "1 void" in out) == (0, True, True), err


def test_open_rooms_of_another_format_and_of_other_users(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    foreign = f"battle-{FORMAT}-7"
    (tmp_path / "open.json").write_text(json.dumps(["battle-gen1ou-7", foreign]))

    def answer(connection: ServerConnection) -> None:
        for text in _on_login(connection):
            if text == f"|/join {foreign}":
                connection.send(f">{foreign}\n|init|battle\n|player|p1|you|1|\n|player|p2|she|2|\n|turn|1")
            elif text == f"|/leave {foreign}":
                connection.send(WON)

    for port in _odd_server(answer):
        code, out, err = _run(port, capsys, "--battles", "2", "--record", str(tmp_path))
        assert (code, "1 battles: 1 won" in out, "1 void" in out) == (0, True, True), err
    assert json.loads((tmp_path / "open.json").read_text()) == ["battle-gen1ou-7"]


def test_a_series_that_ended_while_the_client_was_away(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    series = f"game-bestof3-{FORMAT}-1"
    connections: list[ServerConnection] = []

    def answer(connection: ServerConnection) -> None:
        connections.append(connection)
        if len(connections) == 1:
            for text in _on_login(connection, f">{series}\n|init|battle", WON):
                if text.startswith("|/leave"):
                    return
        for text in _on_login(connection):
            if text == f"|/join {series}":
                connection.send(f">{series}\n|noinit|nonexistent|The room does not exist.")

    for port in _odd_server(answer):
        more = ("--best-of", "3", "--battles", "1", "--record", str(tmp_path))
        code, _, err = _run(port, capsys, *more, "--patience-seconds", "60")
        assert code == 0, err
    assert len(connections) == 2


def test_a_room_that_a_player_hides_gets_another_id(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The choice crosses the news of the new id."""
    room = f"battle-{FORMAT}-1"
    request = {"rqid": 1, "active": [{"moves": 7}], "side": {"name": "me", "id": "p1", "pokemon": [{"ident": 3}]}}

    def answer(connection: ServerConnection) -> None:
        began = f">{room}\n|init|battle\n|player|p1|me|1|\n|player|p2|you|2|\n|request|{json.dumps(request)}"
        for text in _on_login(connection, began):
            if text.startswith(f"{room}|/choose"):
                connection.send(f">{room}\n|noinit|rename|{room}-xpw|you v. me")
            elif text.startswith(f"{room}-xpw|/choose"):
                connection.send(f">{room}-xpw\n|win|me")

    for port in _odd_server(answer):
        code, out, err = _run(port, capsys, "--battles", "1", "--record", str(tmp_path))
        assert (code, "1 battles: 1 won" in out) == (0, True), err
    assert set(_battles(tmp_path)) == {f"{room}-xpw"}
    assert json.loads((tmp_path / "open.json").read_text()) == []


def test_an_opponent_that_left_while_the_client_was_away_gets_the_servers_timer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    room = f"battle-{FORMAT}-1"
    began = f">{room}\n|init|battle\n|player|p1|me|1|\n|player|p2|you|2|"
    connections: list[ServerConnection] = []

    def answer(connection: ServerConnection) -> None:
        connections.append(connection)
        if len(connections) == 1:
            connection.send("|challstr|4|x")
            connection.recv()
            connection.send("|updateuser| me|1|1|{}")
            connection.send(began)
            return
        for text in _on_login(connection):
            if text == f"|/join {room}":
                connection.send(f"{began}\n|player|p2|")
            elif text == f"{room}|/timer on":
                connection.send(f">{room}\n|win|me")

    for port in _odd_server(answer):
        code, out, err = _run(port, capsys, "--battles", "1", "--patience-seconds", "60")
        assert (code, "1 battles: 1 won" in out) == (0, True), err


@pytest.mark.slow
def test_a_name_that_the_broken_connection_still_has_is_asked_for_again(capsys: pytest.CaptureFixture[str]) -> None:
    """The connection breaks while no battle is under way, and the server has not noticed yet."""
    asked: list[str] = []

    def answer(connection: ServerConnection) -> None:
        connection.send("|challstr|4|x")
        for text in connection:
            if not str(text).startswith("|/trn"):
                continue
            asked.append(str(text))
            if len(asked) == 2:
                connection.send("|nametaken|me|Someone is already using the name.")
                continue
            connection.send("|updateuser| me|1|1|{}")
            if len(asked) == 1:
                return
            room = f"battle-{FORMAT}-1"
            connection.send(f">{room}\n|init|battle\n|player|p1|me|1|\n|player|p2|you|2|\n|win|me")

    for port in _odd_server(answer):
        code, out, err = _run(port, capsys, "--battles", "1", "--patience-seconds", "5")
        assert (code, "1 battles: 1 won" in out) == (0, True), err
    assert len(asked) == 3


@pytest.mark.slow
def test_a_connection_that_breaks_before_or_in_the_login_is_tried_again(capsys: pytest.CaptureFixture[str]) -> None:
    """The third connection's name is that of the second, whose end the server has not noticed yet."""
    connections: list[ServerConnection] = []
    asked: list[str] = []

    def answer(connection: ServerConnection) -> None:
        connections.append(connection)
        if len(connections) == 1:
            return
        connection.send("|challstr|4|x")
        for text in connection:
            if not str(text).startswith("|/trn"):
                continue
            asked.append(str(text))
            if len(asked) == 1:
                return
            if len(asked) == 2:
                connection.send("|nametaken|me|Someone is already using the name.")
                continue
            connection.send("|updateuser| me|1|1|{}")
            room = f"battle-{FORMAT}-1"
            connection.send(f">{room}\n|init|battle\n|player|p1|me|1|\n|player|p2|you|2|\n|win|me")

    for port in _odd_server(answer):
        code, out, err = _run(port, capsys, "--battles", "1", "--patience-seconds", "600")
        assert (code, "1 battles: 1 won" in out) == (0, True), err
    assert (len(connections), len(asked)) == (3, 3)


@pytest.mark.slow
def test_a_login_server_that_fails_while_the_connection_is_renewed_is_asked_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    statuses = [200, 503, 200]
    connections: list[ServerConnection] = []

    class LoginServer(JsonHandler):
        def do_POST(self) -> None:  # noqa: N802 - the base class's name
            self.rfile.read(int(self.headers["Content-Length"]))
            self.answer(statuses.pop(0), b']{"actionsuccess": true, "assertion": "signed"}')

    def answer(connection: ServerConnection) -> None:
        connections.append(connection)
        connection.send("|challstr|4|x")
        assert connection.recv() == "|/trn me,0,signed"
        connection.send("|updateuser| me|1|1|{}")
        if len(connections) == 2:
            connection.send(WON)
            for _ in connection:
                pass

    monkeypatch.setenv("NASHDEX_SHOWDOWN_PASSWORD", "secret")
    with served_by(LoginServer) as action_url:
        for port in _odd_server(answer):
            more = ("--action-url", action_url, "--battles", "1", "--patience-seconds", "600")
            code, out, err = _run(port, capsys, *more)
    assert (code, "1 battles: 1 won" in out, statuses) == (0, True, []), err


def test_no_more_battles_are_searched_for_than_are_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    """A busy server names the battle that it has found before it sends the room."""
    searched: list[str] = []

    def answer(connection: ServerConnection) -> None:
        room = f"battle-{FORMAT}-1"
        connection.send("|challstr|4|x")
        for text in connection:
            if str(text).startswith("|/trn"):
                connection.send("|updateuser| me|1|1|{}")
            elif str(text) == f"|/search {FORMAT}":
                searched.append(str(text))
                connection.send(f'|updatesearch|{{"searching":["{FORMAT}"],"games":null}}')
                connection.send('|updatesearch|{"searching":[],"games":null}')
                time.sleep(1.0)  # longer than the client listens before it looks for battles
                connection.send(f'|updatesearch|{{"searching":[],"games":{{"{room}":"me vs. you"}}}}')
            elif str(text) == f"|/join {room}":
                time.sleep(1.0)
                connection.send(f">{room}\n|init|battle\n|player|p1|me|1|\n|player|p2|you|2|\n|win|me")

    for port in _odd_server(answer):
        code, out, err = _run(port, capsys, "--search", "--battles", "1", "--at-once", "2")
        assert (code, "1 battles: 1 won" in out) == (0, True), err
    assert len(searched) == 1


@pytest.mark.slow
def test_a_refused_challenge_is_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[str] = []

    def answer(connection: ServerConnection) -> None:
        connection.send("|challstr|4|x")
        for text in connection:
            if str(text).startswith("|/trn"):
                connection.send("|updateuser| me|1|1|{}")
            elif str(text).startswith("|/challenge you"):
                asked.append(str(text))
                if len(asked) == 1:
                    connection.send("|pm| you| me|/challenge")
                else:
                    room = f"battle-{FORMAT}-1"
                    connection.send(f">{room}\n|init|battle\n|player|p1|me|1|\n|player|p2|you|2|\n|win|me")

    for port in _odd_server(answer):
        code, out, err = _run(port, capsys, "--battles", "1", "--challenge", "you")
        assert (code, "1 battles: 1 won" in out) == (0, True), err
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--best-of", "5"], 64, "expected 1 or 3"),
        (["--search", "--challenge", "you"], 64, "two ways to find battles"),
        (["--name", "guest 1"], 64, "not beginning with 'guest'"),
        (["--server", "127.0.0.1:1", "--patience-seconds", "0"], 75, "no Showdown server answers"),
        (["--server", "nowhere"], 64, "expected HOST:PORT"),
        (["--server", "showdown"], 64, "--i-have-permission"),
    ],
)
def test_wrong_servers(capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str) -> None:
    assert run_command_line(["serve", "random", "--format", FORMAT, "--name", "me", *arguments]) == code
    assert message in capsys.readouterr().err


def test_a_format_without_a_server_and_an_unknown_policy(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["serve", "random", "--format", "kuhn_poker", "--name", "me"]) == 64
    assert "no Showdown server plays kuhn_poker" in capsys.readouterr().err
    assert run_command_line(["serve", "randon", "--format", FORMAT, "--name", "me"]) == 64
    assert "random" in capsys.readouterr().err


def test_a_record_that_is_no_record_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "battles.jsonl").write_text("{}\n")
    assert run_command_line(["serve", "random", "--format", FORMAT, "--name", "me", "--record", str(tmp_path)]) == 65
    assert "battles.jsonl, line 1" in capsys.readouterr().err
