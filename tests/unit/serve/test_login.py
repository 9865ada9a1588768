"""Logging in, against an action server that answers as Showdown's does."""

import json
import socket
import threading
import urllib.parse
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from pydantic import SecretStr

from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.serve.login import Account, rename_command

ANSWERS = {
    "good": (200, "]" + json.dumps({"actionsuccess": True, "assertion": "signed:4|challenge"})),
    "wrong": (200, "]" + json.dumps({"actionsuccess": False, "assertion": ""})),
    "taken": (200, "]" + json.dumps({"actionsuccess": True, "assertion": ";;This name is taken"})),
    "phrase": (200, "]" + json.dumps({"actionsuccess": True, "assertion": ";;Your username contains a banned phrase"})),
    "often": (200, "]" + json.dumps({"actionsuccess": False, "assertion": ";;Too many attempts, try again later"})),
    "limit": (429, "slow down"),
    "html": (200, "<html>"),
    "null": (200, "]null"),
    "deep": (200, "]" + "[" * 30_000),
}
"""By password."""


@pytest.fixture(scope="module")
def action_url() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            assert form["challstr"] == ["4|challenge"]
            status, text = ANSWERS[form["pass"][0]]
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/action.php"
    server.shutdown()
    thread.join()
    server.server_close()


def _command(password: str, action_url: str) -> str:
    return rename_command(Account("me", SecretStr(password)), "4|challenge", action_url)


def test_an_assertion_takes_the_name(action_url: str) -> None:
    assert _command("good", action_url) == "/trn me,0,signed:4|challenge"


def test_without_a_password_the_name_alone_is_asked_for() -> None:
    assert rename_command(Account("me"), "4|challenge", "http://127.0.0.1:1/") == "/trn me,0,"


@pytest.mark.parametrize(
    ("password", "error", "message"),
    [
        ("wrong", ConfigurationError, "do not fit together"),
        ("taken", ConfigurationError, "name is taken"),
        ("phrase", ConfigurationError, "banned phrase"),
        ("often", TryAgainError, "Too many"),
        ("limit", TryAgainError, "429"),
        ("html", TryAgainError, "expected a JSON object"),
        ("null", TryAgainError, "expected a JSON object"),
        ("deep", TryAgainError, "expected a JSON object"),
    ],
)
def test_refusals_say_why_and_never_show_the_password(
    action_url: str, password: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as raised:
        _command(password, action_url)
    assert f"'{password}'" not in str(raised.value)


def test_a_login_server_that_is_not_there() -> None:
    with pytest.raises(TryAgainError, match="does not answer"):
        _command("good", "http://127.0.0.1:1/")


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n]{",  # the connection breaks within a chunk
    ],
)
def test_a_login_server_that_does_not_answer_to_the_end(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(TryAgainError, match="does not answer"):
            _command("good", f"http://127.0.0.1:{listener.getsockname()[1]}/")
        thread.join()


@pytest.mark.parametrize("address", ["play.pokemonshowdown.com", "http://[::1"])
def test_a_login_server_without_an_address(address: str) -> None:
    with pytest.raises(ConfigurationError, match="correct --action-url"):
        _command("good", address)
