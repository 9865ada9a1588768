"""A policy's client on a Showdown server: it logs in, plays battles and records them."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import structlog

from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.core.seeds import derive_seed
from nashdex.core.stopping import stop_requested
from nashdex.games.teams import TeamPool
from nashdex.serve.connection import Connection, Disconnected
from nashdex.serve.deciding import MOST_BATTLES, Decider
from nashdex.serve.finding import Finder
from nashdex.serve.lines import Message, read_object, to_id, words_of
from nashdex.serve.login import Account, rename_command
from nashdex.serve.record import Record
from nashdex.serve.room import OpenSeries, Room, ServedBattle, new_name_of
from nashdex.serve.service import Service

_LISTEN_SECONDS: Final = 0.25
_RATING_SECONDS: Final = 3.0
"""Longest wait for the server's rating after a rated battle."""
_LOGIN_SECONDS: Final = 30.0
"""Shortest patience with the login: a server may answer at once and have too much to do."""
_NAME_SECONDS: Final = 2.0
"""Pause before a name in use is asked for again."""
_LOGIN_SERVER_SECONDS: Final = 10.0
"""Pause before a login server that does not answer is asked again."""
_MOST_REFUSALS: Final = 10
"""Refused choices in a row after which a battle is given up."""
_NEWS_SECONDS: Final = 1.0
"""Pause after connecting again: the server first lists the searches and battles that go on."""
_log = structlog.get_logger()


@dataclass(frozen=True)
class Ruling:
    """What a client should do."""

    void: Mapping[str, str] = field(default_factory=dict)
    """Why battles under way are void, by room. The client forfeits and leaves them."""
    asks_again: bool = False
    """Whether the opponent began again, so that challenges of and to it mean nothing."""


class Referee(Protocol):
    """Looks at a client's battles between its messages. This is all that a client calls."""

    def look(self, rooms: Sequence[Room]) -> Ruling:
        """Return what to do about the battles under way."""

    def verdict(self, room: Room) -> str | None:
        """Return why a battle that is over is void; None if its result counts."""


class Client:
    """Plays on one server until its service is done, or the process is asked to stop."""

    def __init__(
        self,
        connection: Connection,
        decider: Decider,
        record: Record,
        teams: TeamPool,
        user: Account,
        service: Service,
        on_battle: Callable[[ServedBattle], None] = lambda _: None,
        referee: Referee | None = None,
    ) -> None:
        self._connection = connection
        self._decider = decider
        self._record = record
        self._teams = teams
        self._user = user
        self._service = service
        self._on_battle = on_battle
        self._referee = referee
        self._finder = Finder(service, self._say, self._send_team)
        self._series = OpenSeries()
        self._rooms: dict[str, Room] = {}
        self._ended_at: dict[str, float] = {}
        self._void: dict[str, str] = {}
        """Why battles are void that were stopped, by room."""
        self._left: set[str] = set()
        """Rooms that this connection has left. Their last messages may follow."""
        self._forfeited: set[str] = set()
        """Rooms left before the server may have noted their end."""
        self._unknown = {room for room in record.open_rooms if service.plays_in(room)}
        """Rooms of an earlier process that this one has not seen."""
        self._joining: set[str] = set()
        """Rooms of this user's battles that the server names and has not sent yet."""
        self._is_named = False
        self._was_asked = bool(self._unknown)
        """An earlier connection asked for the name, so the server may count it as in use."""
        self._challenge = ""
        """The server's ``|challstr|``."""
        self._ask_name_at = math.inf
        """When to ask again for the name."""
        self._num_teams = 0

    def run(self) -> None:
        """Play. Battles under way are finished before it ends.

        Raises:
            ConfigurationError: the server is none, lacks the format, or refuses the name or the team.
            DataError: the server sends what no Showdown server of a known version sends.
            TryAgainError: the server, the login server, the opponent or the gateway does not answer.
        """
        try:
            while not self._is_finished() and self._connection.open(gives_up=lambda: self._is_stopping):
                try:
                    self._session()
                except Disconnected as error:
                    self._was_asked = True
                    _log.warning("the connection broke; connecting again", cause=str(error), rooms=len(self._rooms))
        finally:
            self._connection.close()

    def _session(self) -> None:
        self._is_named = False
        self._ask_name_at = math.inf
        self._joining.clear()
        self._left = set(self._forfeited)
        self._finder.begin()
        opened_at = time.monotonic()
        login_seconds = max(_LOGIN_SECONDS, self._connection.patience_seconds)
        while not self._is_finished():
            message = self._connection.receive(_LISTEN_SECONDS)
            while message is not None:
                self._handle(message)
                message = self._connection.receive(0.0)
            self._give_up_refused()
            # All are noted before the first is sent, for the connection may break there.
            decided = self._decider.decide(self._rooms.values())
            chosen = [(room.id, room.answer(choice)) for room, choice in decided]
            for room_id, command in chosen:
                self._connection.send(room_id, command)
            if self._is_stopping:
                for room in self._rooms.values():
                    self._start_timer(room)
                self._connection.check_alive()  # a stopped client does not wait for a frozen server
            self._finish()
            if self._referee is not None:
                self._obey(self._referee.look([room for room in self._rooms.values() if room.result is None]))
            if time.monotonic() > self._ask_name_at:
                self._ask_for_name()
            if self._is_named:
                self._look_for_battles()
            elif time.monotonic() - opened_at > login_seconds:
                raise TryAgainError(
                    f"the server has not taken the name {self._user.name!r} within {login_seconds:.0f} s: it has too "
                    "much to do, or it is no Showdown server that this client understands"
                )

    # Battles wanted

    @property
    def _is_stopping(self) -> bool:
        file = self._service.stop_file
        return stop_requested() or (file is not None and file.exists())

    def _num_begun(self) -> int:
        """Return how many battles, or series of them, are under way or asked for."""
        alone = sum(not self._series.is_open(room.series) for room in self._rooms.values())
        return alone + len(self._series) + len(self._unknown | self._joining) + self._finder.num_asked

    def _num_wanted(self) -> int:
        """Return how many more battles may begin now."""
        if self._is_stopping:
            return 0
        begun = self._num_begun()
        room = min(self._service.at_once, MOST_BATTLES // self._service.best_of) - begun
        if self._service.battles is None:
            return room
        return min(room, self._service.battles - self._num_done() - begun)

    def _num_done(self) -> int:
        """Return how many battles count towards the wanted ones."""
        if self._service.counts_void:
            return len(self._record.battles)
        return sum(battle.result is not None for battle in self._record.battles)

    def _is_finished(self) -> bool:
        if self._rooms or self._series or self._unknown or self._joining:
            return False
        most = self._service.battles
        return self._is_stopping or (most is not None and self._num_done() >= most)

    def _look_for_battles(self) -> None:
        if self._is_stopping:
            self._finder.stop()
            return
        self._finder.expire()
        if self._num_wanted() > 0:
            self._finder.look()

    def _send_team(self) -> None:
        self._num_teams += 1
        seed = derive_seed(self._service.seed, "team", len(self._record.battles), self._num_teams)
        _, packed = self._teams.draw(seed)
        self._say(f"/utm {packed or 'null'}")

    def _say(self, command: str) -> None:
        self._connection.send("", command)

    # What the server sends

    def _handle(self, message: Message) -> None:
        new_id = new_name_of(message.lines)
        if new_id is not None:
            if message.room in self._rooms:
                self._rename_room(self._rooms[message.room], new_id)
        elif message.room.startswith("battle-"):
            self._handle_battle(message)
        elif message.room.startswith("game-bestof"):
            if self._service.plays_in(message.room):
                for command in self._series.read(message.room, message.lines):
                    self._connection.send(message.room, command)
        elif not message.room:
            for line in message.lines:
                self._handle_line(words_of(line), line)

    def _handle_line(self, words: list[str], line: str) -> None:
        match words:
            case ["challstr", *rest]:
                self._challenge = "|".join(rest)
                self._ask_for_name()
            case ["updateuser", name, "1", *_] if to_id(name) == to_id(self._user.name):
                self._logged_in()
            case ["nametaken", _, *why]:
                self._name_refused("|".join(why) or "it is taken")
            case ["formats", *_]:
                named = (part.partition(",")[0] for part in words_of(line)[1:] if not part.startswith(","))
                self._finder.offer(frozenset(map(to_id, named)))
            case ["popup", *rest]:
                self._finder.heed("|".join(rest))
            case ["updatesearch", *rest]:
                self._update_search(read_object("|".join(rest)))
            case ["pm", sender, _, text, *_]:
                is_own = to_id(sender) == to_id(self._user.name)
                self._finder.read_private(to_id(sender), text, is_own=is_own)

    def _logged_in(self) -> None:
        if self._is_named:
            return
        if self._was_asked:
            self._finder.pause(_NEWS_SECONDS)
        self._is_named = True
        self._connection.note_login()
        _log.info("logged in", name=self._user.name, format=self._service.format_id)
        for room_id in {*self._rooms, *self._unknown, *self._series.rooms}:
            self._say(f"/join {room_id}")

    def _ask_for_name(self) -> None:
        self._ask_name_at = math.inf
        try:
            command = rename_command(self._user, self._challenge, self._service.action_url)
        except TryAgainError as error:
            if not self._was_asked:
                raise
            _log.warning("the login server is asked again", cause=str(error))
            self._ask_name_at = time.monotonic() + _LOGIN_SERVER_SECONDS
        else:
            self._say(command)

    def _name_refused(self, why: str) -> None:
        """Ask again for a name that is in use: it may be this client's, on a connection that broke."""
        if self._was_asked and "already using" in why:
            self._ask_name_at = time.monotonic() + _NAME_SECONDS
            return
        raise ConfigurationError(
            f"the server refuses the name {self._user.name!r}: {why.rstrip('.')}; choose another --name"
        )

    def _update_search(self, found: dict[str, object]) -> None:
        self._finder.update_search(found.get("searching"))
        games = found.get("games")
        for room_id in games if isinstance(games, dict) else ():
            if self._service.plays_in(room_id) and room_id not in self._rooms and room_id not in self._left:
                if room_id.startswith("battle-"):
                    self._joining.add(room_id)
                self._say(f"/join {room_id}")

    def _handle_battle(self, message: Message) -> None:
        if message.room in self._left or not self._service.plays_in(message.room):
            return
        self._joining.discard(message.room)
        room = self._rooms.get(message.room)
        begins = any(line.startswith("|init|battle") for line in message.lines)
        if room is None:
            is_lost = message.room in self._unknown and any(line.startswith("|noinit|") for line in message.lines)
            if not begins and not is_lost:
                return
            room = self._open_room(message.room)
        elif begins:
            self._decider.begin_again(room)
        for line in message.lines:
            room.read(line)
            if self._service.open_sheets and line.startswith("|uhtml|otsrequest"):
                self._connection.send(room.id, "/acceptopenteamsheets")
        if room.is_opponent_away:
            self._start_timer(room)
        if room.is_gone:
            self._finish()  # before a server that began again gives its id to the next battle

    def _open_room(self, room_id: str) -> Room:
        room = self._rooms[room_id] = self._decider.open(room_id, self._user.name)
        if room_id in self._unknown:
            room.is_whole = False
            self._unknown.remove(room_id)
        else:
            self._record.begin(room_id)
            self._finder.battle_began()
            self._connection.note_battle()
        if self._service.timer:
            self._start_timer(room)
        return room

    def _rename_room(self, room: Room, new_id: str) -> None:
        """Follow a room that a player has hidden or shown: the server gives it another id."""
        self._record.rename(room.id, new_id)
        self._rooms[new_id] = self._rooms.pop(room.id)
        room.id = new_id
        if room.last_choice:
            # A choice that was on its way to the old id is lost. The server takes the same one twice.
            self._connection.send(new_id, room.last_choice)

    def _start_timer(self, room: Room) -> None:
        if not room.has_timer:
            room.has_timer = True
            self._connection.send(room.id, "/timer on")

    # Ends

    def _finish(self) -> None:
        """Record the battles that are over, and leave their rooms."""
        for room in list(self._rooms.values()):
            if room.result is None and not room.is_gone and not room.is_foreign and room.id not in self._void:
                continue
            ended_at = self._ended_at.setdefault(room.id, time.monotonic())
            is_rated = any(line.startswith("|rated|") for line in room.log)
            waits = is_rated and room.rating is None and not room.is_gone
            if waits and time.monotonic() - ended_at < _RATING_SECONDS:
                continue
            void = self._why_void(room)
            finished = self._decider.finish(room)
            battle = self._record.add(room, self._service.format_id, finished, void, self._decider.space)
            del self._rooms[room.id], self._ended_at[room.id]
            if not room.is_gone:
                self._left.add(room.id)
                self._say(f"/leave {room.id}")
            self._finder.pause(self._service.pause_seconds)
            self._connection.note_battle()
            self._on_battle(battle)

    def _why_void(self, room: Room) -> str | None:
        if room.id in self._void:
            return self._void.pop(room.id)
        if room.is_foreign:
            return "the server is another, or began again: the room is a battle of other users"
        if room.result is None:
            return "the server closed the room before the battle's end"
        return None if self._referee is None else self._referee.verdict(room)

    def _give_up_refused(self) -> None:
        """Forfeit battles in which the server refuses one choice after another, its own default too."""
        for room in self._rooms.values():
            if room.wants_decision and room.num_refused_in_row > _MOST_REFUSALS:
                _log.error("the server refuses every choice; the battle is void", room=room.id)
                room.request = None
                self._stop_battle(room.id, "the server refused every choice")

    def _stop_battle(self, room_id: str, cause: str) -> None:
        self._void[room_id] = cause
        self._forfeited.add(room_id)
        self._connection.send(room_id, "/forfeit")

    def _obey(self, ruling: Ruling) -> None:
        for room_id, cause in ruling.void.items():
            self._stop_battle(room_id, cause)
        if ruling.asks_again:
            self._finder.ask_again()
