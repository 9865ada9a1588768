"""The websocket to a server, and connecting again when it breaks."""

import math
import time
from collections.abc import Callable
from http import HTTPStatus
from threading import Event
from typing import Final

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage, InvalidStatus, InvalidURI
from websockets.sync.client import ClientConnection, connect

from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.core.stopping import check_stop, wait_for_stop
from nashdex.serve.lines import Message, read_message

_OPEN_SECONDS: Final = 10.0
_CLOSE_SECONDS: Final = 2.0
_PAUSE_SECONDS: Final = 1.0
_LONGEST_PAUSE_SECONDS: Final = 30.0
_STEADY_SECONDS: Final = 60.0
"""A connection that lasted so long was no failure."""
_MOST_BRIEF: Final = 10
"""Brief connections in a row, without a battle that begins or ends, after which the server is given up."""
_ANSWER_SECONDS: Final = 10.0
"""Longest wait for the answer to a ping."""
_PING_EVERY_SECONDS: Final = 5.0


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
        self._num_brief = 0
        self._pong: Event | None = None
        """Set once the last ping is answered; None before the first."""
        self._pinged_at = -math.inf

    def open(self, gives_up: Callable[[], bool] = lambda: False) -> bool:
        """Connect, and try again until the server answers, or ``gives_up`` after a failure; say whether it answered.

        A connection that broke before ``note_login`` is one that the server did not answer: patience goes on from its
        first attempt. After one that broke soon after the login, the pause doubles, and the tenth in a row is the last.

        Raises:
            ConfigurationError: the address is wrong, or something else answers there.
            TryAgainError: nothing answers in time, or the server breaks off one connection after the other.
            StoppedError: the process was asked to stop.
        """
        self.close()
        if self._deadline is None:
            self._hold_back(gives_up)
            self._deadline = time.monotonic() + self.patience_seconds
        elif not self._pause(Disconnected("it breaks off every connection before the login"), gives_up):
            return False
        while True:
            try:
                self._socket = connect(
                    self._address, open_timeout=_OPEN_SECONDS, close_timeout=_CLOSE_SECONDS, max_size=None
                )
            except (OSError, TimeoutError, InvalidMessage, ConnectionClosed) as error:
                # InvalidMessage and ConnectionClosed: the connection broke before or in the handshake's answer.
                cause: Exception = error
            except (InvalidURI, InvalidHandshake) as error:
                if not _is_proxy_alone(error):
                    raise ConfigurationError(
                        f"{self._address} is no Showdown server ({error}); expected an address such as localhost:8000"
                    ) from error
                cause = error
            else:
                self._opened_at = time.monotonic()
                self._pong = None
                return True
            if not self._pause(cause, gives_up):
                return False

    def _hold_back(self, gives_up: Callable[[], bool]) -> None:
        """Wait after a connection that broke soon after its login; not where the client stops, which tries at once."""
        if time.monotonic() - self._opened_at >= _STEADY_SECONDS:
            self._num_brief = 0
            return
        self._num_brief += 1
        if self._num_brief >= _MOST_BRIEF:
            raise TryAgainError(
                f"{self._address} broke off {_MOST_BRIEF} connections in a row soon after the login, and no battle "
                "began or ended: see the server's log, and run the same command again"
            )
        ends_at = time.monotonic() + min(_PAUSE_SECONDS * 2 ** (self._num_brief - 1), _LONGEST_PAUSE_SECONDS)
        while time.monotonic() < ends_at and not gives_up():
            if wait_for_stop(min(_PAUSE_SECONDS, max(0.0, ends_at - time.monotonic()))):
                return

    def _pause(self, cause: Exception, gives_up: Callable[[], bool]) -> bool:
        """Wait before the next attempt; say whether there is one."""
        assert self._deadline is not None, "patience begins with the first attempt"
        if time.monotonic() >= self._deadline:
            raise TryAgainError(
                f"no Showdown server answers at {self._address} ({cause}); start one by `nashdex showdown`, or "
                "correct --server"
            ) from cause
        check_stop()
        if gives_up():
            return False
        time.sleep(_PAUSE_SECONDS)
        return True

    def note_login(self) -> None:
        """Note that the server took the name, so that patience begins again when the connection breaks."""
        self._deadline = None

    def note_battle(self) -> None:
        """Note that a battle began or ended, so that the connection was of use."""
        self._num_brief = 0

    def check_alive(self) -> None:
        """Ping the server now and then; call it often.

        Raises:
            Disconnected: the connection broke, or the last ping had no answer for too long.
        """
        assert self._socket is not None, "the connection is opened first"
        waited_seconds = time.monotonic() - self._pinged_at
        try:
            if self._pong is None or (self._pong.is_set() and waited_seconds > _PING_EVERY_SECONDS):
                self._pong = self._socket.ping()
                self._pinged_at = time.monotonic()
            elif not self._pong.is_set() and waited_seconds > _ANSWER_SECONDS:
                raise Disconnected(f"no answer to a ping for {_ANSWER_SECONDS:g} s")
        except ConnectionClosed as error:
            raise Disconnected(str(error)) from error

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


def _is_proxy_alone(error: Exception) -> bool:
    """Say whether a proxy answers for a server that is not there, such as by 502 while the server restarts."""
    return isinstance(error, InvalidStatus) and error.response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR
