"""Connecting again to a server that breaks off connections, on a real socket."""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from http import HTTPStatus

import pytest
from websockets.http11 import Request, Response
from websockets.sync.client import ClientConnection, connect
from websockets.sync.server import ServerConnection, serve

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
