"""How a client finds battles: by searching the ladder, by challenging a user, or by accepting challenges."""

import math
import time
from collections.abc import Callable
from typing import Final

import structlog

from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.serve.lines import to_id
from nashdex.serve.service import Service

_RETRY_SECONDS: Final = 2.0
"""Pause before a user who was not there is challenged again."""
_START_SECONDS: Final = 20.0
"""Longest wait for the battle of a challenge that was accepted."""
_WITHDRAW_SECONDS: Final = 1.0
"""Pause after a challenge is withdrawn: until then the server's news are about that challenge."""
_LATER_SECONDS: Final = 10.0
"""Pause before a request is repeated that the server does not take for now."""
_FOR_NOW: Final = (
    "The server is restarting",
    "The server is under attack",
    "Due to high load, you are limited",
    "already has 3 pending challenges",
    "You challenged less than 10 seconds",
    "went offline before your battle could start",
)
_BUSY: Final = "not accepting challenges right now"
"""A user blocks challenges; it may take them later."""
_WITHDRAWN: Final = ("is not challenging you", "not found", "offline", "not available")
"""Answers to ``/accept`` when the challenge was withdrawn, or its user is gone."""
_NO_REFUSALS: Final = (
    "Couldn't search: You are already",
    "You are already challenging",
    "You are not challenging",
    "There is already a challenge",
)
_log = structlog.get_logger()

Send = Callable[[str], None]
"""Sends a command to the server's lobby."""


class Finder:
    """Asks for battles, one at a time: an unanswered search or challenge is waited for."""

    def __init__(self, service: Service, send: Send, send_team: Callable[[], None]) -> None:
        self._service = service
        self._send = send
        self._send_team = send_team
        self._offered: frozenset[str] = frozenset()
        self._challengers: list[str] = []
        self._is_asking = False
        """A search or a challenge is under way, or a challenge was accepted whose battle has not begun."""
        self._unconfirmed = False
        """The server has not confirmed it."""
        self._ask_ends_at = math.inf
        self._renew_at = math.inf
        """When a challenge without an answer is repeated."""
        self._pause_until = 0.0
        self._num_blocked = 0
        """Requests to which a user who blocks challenges was the reason for a refusal."""
        self._missing_since: float | None = None
        """When the user to challenge was first not there."""

    @property
    def num_asked(self) -> int:
        """Battles that may begin without another request."""
        return int(self._is_asking)

    def begin(self) -> None:
        """Forget what an earlier connection asked for."""
        self._end_ask()
        self._challengers = []

    def offer(self, formats: frozenset[str]) -> None:
        """Note the formats that the server offers.

        Raises:
            ConfigurationError: the wanted one is not among them.
        """
        service = self._service
        wanted = {service.format_id, service.series_format} if service.best_of > 1 else {service.format_id}
        if formats and not formats & wanted:
            raise ConfigurationError(f"the server does not offer {service.format_id}; name another --format")
        if formats and service.best_of > 1 and service.searches and service.series_format not in formats:
            raise ConfigurationError(
                f"the server has no ladder for best of three in {service.format_id}; leave out --search or --best-of"
            )
        self._offered = formats

    def expire(self) -> None:
        """Give up a request without an answer for too long, so that ``look`` asks again."""
        now = time.monotonic()
        if now > self._ask_ends_at:
            self._end_ask()
        elif now > self._renew_at:
            self.ask_again()

    def pause(self, seconds: float) -> None:
        """Ask for nothing for some time."""
        self._pause_until = max(self._pause_until, time.monotonic() + seconds)

    def ask_again(self) -> None:
        """Withdraw the open request and forget challenges, so that ``look`` asks again."""
        if self._is_asking:
            self.pause(_WITHDRAW_SECONDS)
        self.stop()
        self._challengers = []

    def look(self) -> None:
        """Ask for one battle more."""
        now = time.monotonic()
        if self._is_asking or now < self._pause_until:
            return
        service = self._service
        wanted = service.format_on(self._offered)
        if service.searches:
            self._send_team()
            self._send(f"/search {wanted}")
        elif service.opponent is not None:
            self._send_team()
            self._send(f"/challenge {service.opponent}, {wanted}")
            self._renew_at = now + service.renew_seconds
        elif self._challengers:
            self._send_team()
            self._send(f"/accept {self._challengers.pop(0)}")
            self._ask_ends_at = now + _START_SECONDS
        else:
            return
        self._is_asking = self._unconfirmed = True

    def stop(self) -> None:
        """Withdraw a search or a challenge that is under way."""
        if self._is_asking:
            if self._service.searches:
                self._send("/cancelsearch")
            elif self._service.opponent is not None:
                self._send(f"/cancelchallenge {self._service.opponent}")
        self._end_ask()

    def battle_began(self) -> None:
        """Note that a battle began. It answers the open request."""
        self._end_ask()
        self._missing_since = None

    def _end_ask(self) -> None:
        self._is_asking = self._unconfirmed = False
        self._ask_ends_at = self._renew_at = math.inf

    def heed(self, text: str) -> None:
        """Heed a pop-up: one that answers a search is a refusal, such as of a team.

        Raises:
            ConfigurationError: the server refuses the search or the challenge.
            TryAgainError: the user to challenge is not there for too long.
        """
        text = text.replace("||", " ").strip()
        if not self._unconfirmed or text.startswith(_NO_REFUSALS):
            _log.warning("the server says", text=text)
        elif _BUSY in text:
            self._num_blocked += 1
            _log.warning("the user blocks challenges", text=text, times=self._num_blocked)
            self._end_ask()
            self.pause(_LATER_SECONDS)
        elif any(part in text for part in _FOR_NOW):
            _log.warning("the server refuses for now", text=text)
            self._end_ask()
            self.pause(_LATER_SECONDS)
        elif self._service.searches:
            raise ConfigurationError(f"the server refuses to search in {self._service.format_id}: {text}")
        elif self._service.opponent is None and any(part in text for part in _WITHDRAWN):
            self._end_ask()
        elif "not found" in text or "offline" in text or "not available" in text:
            self._wait_for_opponent()
        else:
            raise ConfigurationError(f"the server refuses the challenge in {self._service.format_id}: {text}")

    def _wait_for_opponent(self) -> None:
        now = time.monotonic()
        self._missing_since = self._missing_since or now
        if now - self._missing_since > self._service.patience_seconds:
            raise TryAgainError(f"no user {self._service.opponent!r} is on the server: start it, or correct the name")
        self._end_ask()
        self._pause_until = now + _RETRY_SECONDS

    def update_search(self, searching: object) -> None:
        """Note what the server says of searches. Before it confirms one, its news are of the time before it."""
        if not self._service.searches:
            return
        if searching:
            self._unconfirmed = False
        if self._unconfirmed:
            return
        if self._is_asking and not searching:
            # A search that ends has usually found a battle. The battle's room begins some messages later.
            self._ask_ends_at = min(self._ask_ends_at, time.monotonic() + _START_SECONDS)
        self._is_asking |= bool(searching)

    def read_private(self, sender: str, text: str, *, is_own: bool) -> None:
        """Note a challenge, its withdrawal or its refusal: ``/challenge FORMAT|…``, and ``/challenge`` alone."""
        if not text.startswith("/challenge"):
            return
        wanted = text.removeprefix("/challenge").partition("|")[0].strip()
        if is_own or sender == to_id(self._service.opponent or ""):
            # This concerns the own challenge: it is confirmed, or it is over.
            if is_own:
                self._unconfirmed = False
            if not wanted and self._is_asking and self._service.opponent is not None:
                # Accepted or refused: the battle of one that is accepted begins soon.
                self._ask_ends_at = time.monotonic() + _START_SECONDS
                self._renew_at = math.inf
            return
        if sender in self._challengers:
            self._challengers.remove(sender)
        if not wanted:
            return
        is_welcome = not self._service.users or sender in self._service.users
        waits = not self._service.searches and self._service.opponent is None
        if is_welcome and waits and self._service.accepts(wanted):
            self._challengers.append(sender)
        else:
            _log.info("a challenge is refused", user=sender, format=wanted)
            self._send(f"/reject {sender}")
