"""The websocket to a server, and connecting again when it breaks."""

import math
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
        self.patience_seconds = patience_seconds
        self._socket: ClientConnection | None = None
        self._deadline: float | None = None
        """When patience with the server ends; None while it is in use."""
        self._opened_at = -math.inf

    def open(self) -> None:
        """Connect, and try again until the server answers.

        A connection that broke before ``note_login`` is one that the server did not answer: patience goes on from its
        first attempt.

        Raises:
            ConfigurationError: the address is wrong, or something else answers there.
            TryAgainError: nothing answers in time.
            StoppedError: the process was asked to stop.
        """
        self.close()
        if self._deadline is None:
            # A server that breaks off connections soon after the login is not asked all the time either.
            time.sleep(max(0.0, self._opened_at + _PAUSE_SECONDS - time.monotonic()))
            self._deadline = time.monotonic() + self.patience_seconds
        else:
            self._pause(self._deadline, Disconnected("it breaks off every connection before the login"))
        while True:
            try:
                self._socket = connect(self._address, open_timeout=_OPEN_SECONDS, max_size=None)
            except (OSError, TimeoutError, InvalidMessage, ConnectionClosed) as error:
                # InvalidMessage and ConnectionClosed: the connection broke before or in the handshake's answer.
                self._pause(self._deadline, error)
            except (InvalidURI, InvalidHandshake) as error:
                raise ConfigurationError(
                    f"{self._address} is no Showdown server ({error}); expected an address such as localhost:8000"
                ) from error
            else:
                self._opened_at = time.monotonic()
                return

    def _pause(self, deadline: float, cause: Exception) -> None:
        if time.monotonic() >= deadline:
            raise TryAgainError(
                f"no Showdown server answers at {self._address} ({cause}); start one by `nashdex showdown`, or "
                "correct --server"
            ) from cause
        check_stop()
        time.sleep(_PAUSE_SECONDS)

    def note_login(self) -> None:
        """Note that the server took the name, so that patience begins again when the connection breaks."""
        self._deadline = None

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
