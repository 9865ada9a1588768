"""Watches a program that plays by websocket: starts it, and says which battles are void because of it.

A battle is void, never lost, if the program ends, misses a deadline or forfeits. It is then started again, up to a
limit in a row. A battle in which the server's default replaced a decision of the policy is void too.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import structlog

from nashdex.core.errors import ConfigurationError
from nashdex.core.stopping import check_stop
from nashdex.games.showdown.external_causes import CRASH, DEADLINE, FORFEIT, UNAVAILABLE
from nashdex.serve.client import Ruling
from nashdex.serve.programs.process import Elsewhere, Program
from nashdex.serve.room import Room
from nashdex.settings.external import ExternalPlayer

NOT_FOLLOWED: Final = "tracker_error"
"""The server's default replaced a decision of the policy, because the tracker could not follow the battle."""
_GRACE_SECONDS: Final = 0.5
"""The results of a program that ends after its last battle may still be on their way."""
_NOTHING: Final = Ruling()
_log = structlog.get_logger()


class ProgramGoneError(Exception):
    """The program failed more often in a row than its declaration allows."""


class ProgramReferee:
    """Implements ``serve.client.Referee`` for one program."""

    def __init__(
        self, program: Program | Elsewhere, declared: ExternalPlayer, values: Callable[[int], Mapping[str, str]]
    ) -> None:
        """``values`` takes the number of finished battles and returns what the command's names in braces mean."""
        self._program = program
        self._declared = declared
        self._values = values
        self.num_finished = 0
        self.num_unavailable = 0
        """Starts after which no battle began."""
        self._num_failures_in_row = 0
        self._has_played = False
        """Whether any battle began."""
        self._has_finished_since_start = False
        self._idle_since = 0.0
        """When no battle was under way first."""
        self._ended_at: float | None = None
        self._seen: dict[str, tuple[tuple[int, int, int], float]] = {}
        """By room: how far its battle is, and since when."""

    def look(self, rooms: Sequence[Room]) -> Ruling:
        """Return which of the battles under way are void.

        Raises:
            ConfigurationError: the program never began a battle.
            ProgramGoneError: it failed too often in a row.
            StoppedError: the process was asked to stop.
        """
        check_stop()
        now = time.monotonic()
        self._note_progress(rooms, now)
        if self._num_failures_in_row > self._declared.restarts:
            raise ProgramGoneError
        if not self._program.is_started:
            return self._start(now)
        code = self._program.exit_code()
        if code is not None:
            return self._ended(code, rooms, now)
        late = {room.id for room in rooms if now - self._seen[room.id][1] > self._declared.decision_seconds}
        if late:
            self._fail(DEADLINE, f"no decision within {self._declared.decision_seconds:g} s")
            return Ruling({room.id: DEADLINE if room.id in late else CRASH for room in rooms})
        if not rooms and now - self._idle_since > self._declared.start_seconds:
            return self._unavailable(f"no battle began within {self._declared.start_seconds:g} s")
        return _NOTHING

    def verdict(self, room: Room) -> str | None:
        """Return why a battle that is over is void; None if its result counts."""
        ending = next((line for line in reversed(room.log) if line.startswith(f"|-message|{room.opponent} ")), "")
        if " lost due to inactivity" in ending:
            return DEADLINE
        if " forfeited" in ending:
            self._num_failures_in_row += 1
            return FORFEIT
        if room.num_untracked:
            self._num_failures_in_row += 1
            return NOT_FOLLOWED
        self._num_failures_in_row = 0
        self._has_finished_since_start = True
        self.num_finished += 1
        return None

    def _note_progress(self, rooms: Sequence[Room], now: float) -> None:
        if rooms:
            self._has_played = True
            self._idle_since = now
        seen = {}
        for room in rooms:
            progress = (len(room.log), room.num_decisions, room.answered)
            before, since = self._seen.get(room.id, (None, now))
            seen[room.id] = (progress, since if before == progress else now)
        self._seen = seen

    def _start(self, now: float) -> Ruling:
        self._program.start(self._values(self.num_finished))
        self._idle_since = now
        self._ended_at = None
        self._has_finished_since_start = False
        return Ruling(asks_again=True)

    def _ended(self, code: int, rooms: Sequence[Room], now: float) -> Ruling:
        self._ended_at = now if self._ended_at is None else self._ended_at
        if now - self._ended_at < _GRACE_SECONDS:
            return _NOTHING
        if rooms:
            self._fail(CRASH, f"it ended with {code}")
            return Ruling({room.id: CRASH for room in rooms})
        if self._has_finished_since_start:
            # Programs that play a number of battles end then.
            self._program.kill()
            return _NOTHING
        return self._unavailable(f"it ended with {code} before a battle began")

    def _unavailable(self, detail: str) -> Ruling:
        if not self._has_played:
            raise ConfigurationError(f"{self._program.name} is not available: {detail}; {self._program.last_words()}")
        self.num_unavailable += 1
        self._fail(UNAVAILABLE, detail)
        return _NOTHING

    def _fail(self, cause: str, detail: str) -> None:
        words = self._program.last_words()
        _log.warning("a program failed", player=self._program.name, cause=cause, detail=f"{detail}; {words}")
        self._program.kill()
        self._num_failures_in_row += 1
