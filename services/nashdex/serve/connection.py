"""The websocket to a server, and connecting again when it breaks."""

import time
from typing import Final

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage, InvalidURI
from websockets.sync.client import ClientConnection, connect

from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.core.stopping import check_stop
from nashdex.serve.lines import Message, read_message

_OPEN_SECONDS: Final = 10.0
_PAUSE_SECONDS: Final = 1.0


class Disconnected(Exception):  # noqa: N818 - an event, no error
    """The connection broke."""


class Connection:
    """A connection to a Showdown server at ``address``, such as ``ws://localhost:8000/showdown/websocket``."""

    def __init__(self, address: str, patience_seconds: float) -> None:
        self._address = address
        self._patience_seconds = patience_seconds
        self._socket: ClientConnection | None = None

    def open(self) -> None:
        """Connect, and try again until the server answers.

        Raises:
            ConfigurationError: the address is wrong, or something else answers there.
            TryAgainError: nothing answers in time.
            StoppedError: the process was asked to stop.
        """
        self.close()
        deadline = time.monotonic() + self._patience_seconds
        while True:
            try:
                self._socket = connect(self._address, open_timeout=_OPEN_SECONDS, max_size=None)
            except (OSError, TimeoutError, InvalidMessage) as error:
                # A server that is stopping breaks off its answer: InvalidMessage.
                if time.monotonic() >= deadline:
                    raise TryAgainError(
                        f"no Showdown server answers at {self._address} ({error}); start one by `nashdex showdown`, or "
                        "correct --server"
                    ) from error
            except (InvalidURI, InvalidHandshake) as error:
                raise ConfigurationError(
                    f"{self._address} is no Showdown server ({error}); expected an address such as localhost:8000"
                ) from error
            else:
                return
            check_stop()
            time.sleep(_PAUSE_SECONDS)

    def send(self, room: str, command: str) -> None:
        """Send a command or a choice to a room; an empty one is the lobby.

        Raises:
            Disconnected: the connection broke.
        """
        assert self._socket is not None, "the connection is opened first"
        try:
            self._socket.send(f"{room}|{command}")
        except ConnectionClosed as error:
            raise Disconnected(str(error)) from error

    def receive(self, timeout_seconds: float) -> Message | None:
        """Return the next message, or None after ``timeout_seconds``.

        Raises:
            Disconnected: the connection broke.
        """
        assert self._socket is not None, "the connection is opened first"
        try:
            text = self._socket.recv(timeout_seconds)
        except TimeoutError:
            return None
        except ConnectionClosed as error:
            raise Disconnected(str(error)) from error
        return read_message(text if isinstance(text, str) else text.decode("utf-8", "replace"))

    def close(self) -> None:
        """Close the connection. Safe to call twice."""
        if self._socket is not None:
            self._socket.close()
