"""Connecting again to a server that breaks off connections, on a real socket."""

import contextlib
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from http import HTTPStatus

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.client import ClientConnection, connect
from websockets.sync.server import ServerConnection, serve
from websockets.utils import accept_key

from nashdex.core.errors import TryAgainError
from nashdex.core.stopping import install_stop_handlers
from nashdex.serve import connection as connection_module
from nashdex.serve.connection import Connection, Disconnected

LINGER_AND_RESET = struct.pack("ii", 1, 0)
Break = Callable[[socket.socket], None]


def _close(client: socket.socket) -> None:
    client.shutdown(socket.SHUT_RDWR)


def _reset(client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_AND_RESET)


def _read_and_close(client: socket.socket) -> None:
    client.recv(4096)


def _break_off_the_answer(client: socket.socket) -> None:
    client.recv(4096)
    client.sendall(b"HTTP/1.1 101 Swi")


@contextlib.contextmanager
def _server(breaks: Sequence[Break], answer: Callable[[ServerConnection], None]) -> Iterator[str]:
    """Break off the first connections before the handshake is complete; answer later ones by websocket."""
    listener = socket.create_server(("127.0.0.1", 0))
    with serve(answer, sock=listener) as server:

        def run() -> None:
            for break_off in breaks:
                client, _ = listener.accept()
                with client:
                    break_off(client)
            server.serve_forever()

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield f"ws://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes up a thread that still accepts
            server.shutdown()
            thread.join()


def _greet(connection: ServerConnection) -> None:
    with contextlib.suppress(ConnectionClosed):  # by a client that connects again
        connection.send("|challstr|4|x")
    for _ in connection:
        pass


class _LateHandshake(ClientConnection):
    """The connection's end, if it ends soon, arrives before the client asks for a websocket."""

    def handshake(self, *args: object, **kwargs: object) -> None:
        self.recv_events_thread.join(0.2)
        super().handshake(*args, **kwargs)  # type: ignore[arg-type]


@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("break_off", [_close, _reset, _read_and_close, _break_off_the_answer])
def test_a_break_before_the_handshake_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, break_off: Break, *, is_late: bool
) -> None:
    if is_late:
        monkeypatch.setattr(connection_module, "connect", partial(connect, create_connection=_LateHandshake))
    install_stop_handlers()
    with _server([break_off], _greet) as address:
        connection = Connection(address, patience_seconds=60)
        connection.open()
        message = connection.receive(60)
        connection.close()
    assert message is not None
    assert message.lines == ("|challstr|4|x",)


def test_breaks_before_the_login_use_up_patience() -> None:
    with _server([], lambda connection: connection.send("|challstr|4|x")) as address:
        impatient, patient = Connection(address, patience_seconds=0), Connection(address, patience_seconds=60)
        for connection in (impatient, patient):
            connection.open()
            assert connection.receive(60) is not None
            with pytest.raises(Disconnected):
                connection.receive(60)
        with pytest.raises(TryAgainError, match="breaks off every connection before the login"):
            impatient.open()
        patient.open()
        patient.close()


def test_after_a_login_patience_begins_again() -> None:
    with _server([], _greet) as address:
        connection = Connection(address, patience_seconds=0)
        connection.open()
        connection.note_login()
        connection.open()
        connection.close()


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "_PAUSE_SECONDS", 0.0)


def _log_in(connection: Connection, *, battle: bool) -> None:
    """Open the connection and log in; the server breaks it off."""
    connection.open()
    assert connection.receive(60) is not None
    connection.note_login()
    if battle:
        connection.note_battle()
    with pytest.raises(Disconnected):
        connection.receive(60)


@pytest.mark.usefixtures("no_pauses")
def test_a_server_that_breaks_off_after_each_login_is_given_up() -> None:
    install_stop_handlers()
    with _server([], lambda connection: connection.send("|challstr|4|x")) as address:
        connection = Connection(address, patience_seconds=0)
        for _ in range(10):
            _log_in(connection, battle=False)
        with pytest.raises(TryAgainError, match="broke off 10 connections in a row soon after the login"):
            connection.open()


@pytest.mark.usefixtures("no_pauses")
def test_a_server_that_breaks_off_and_has_battles_is_not_given_up() -> None:
    install_stop_handlers()
    with _server([], lambda connection: connection.send("|challstr|4|x")) as address:
        connection = Connection(address, patience_seconds=0)
        for number in range(20):
            _log_in(connection, battle=number % 5 == 0)
        assert connection.open()
        connection.close()


def test_a_frozen_server_does_not_answer_a_ping(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes the websocket, and then reads and writes nothing."""
    monkeypatch.setattr(connection_module, "_ANSWER_SECONDS", 0.0)

    def freeze(listener: socket.socket) -> None:
        client, _ = listener.accept()
        with client:
            key = re.search(rb"Sec-WebSocket-Key: (\S+)", client.recv(4096))
            assert key is not None
            client.sendall(
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Accept: " + accept_key(key[1].decode()).encode() + b"\r\n\r\n"
            )
            ended.wait()

    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=freeze, args=(listener,))
        thread.start()
        connection = Connection(f"ws://127.0.0.1:{listener.getsockname()[1]}/", patience_seconds=60)
        connection.open()
        connection.check_alive()
        try:
            with pytest.raises(Disconnected, match="no answer to a ping"):
                connection.check_alive()
        finally:
            ended.set()
            thread.join()
            connection.close()


def test_a_server_that_answers_pings_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "_PING_EVERY_SECONDS", 0.0)
    with _server([], _greet) as address:
        connection = Connection(address, patience_seconds=60)
        connection.open()
        for _ in range(20):
            connection.check_alive()
            connection.receive(0.0)
        connection.close()


def test_a_client_that_gives_up_does_not_wait_for_the_server() -> None:
    install_stop_handlers()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"ws://127.0.0.1:{listener.getsockname()[1]}/"
    assert not Connection(address, patience_seconds=600).open(gives_up=lambda: True)


def test_a_proxy_whose_server_restarts_is_asked_again() -> None:
    statuses = [HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE]

    def restarting(connection: ServerConnection, request: Request) -> Response | None:
        del request
        return connection.respond(statuses.pop(0), "restarting") if statuses else None

    install_stop_handlers()
    with serve(_greet, "127.0.0.1", 0, process_request=restarting) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            connection = Connection(f"ws://127.0.0.1:{server.socket.getsockname()[1]}/", patience_seconds=600)
            assert connection.open()
            connection.close()
        finally:
            server.shutdown()
            thread.join()
    assert not statuses
