"""One battle on a server, as its client sees it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from re import compile as pattern
from typing import Any, Final, Literal

from pydantic import NonNegativeInt

from nashdex.core.documents import Model
from nashdex.games.space import NUM_SEATS
from nashdex.serve.lines import is_of_the_battle, read_number, read_object, to_id, with_neutral_names, words_of

_SERIES: Final = pattern(r'href="/(game-bestof[0-9]+-[a-z0-9-]+)"')
_NUM_BATTLES: Final = pattern(r"^game-bestof([0-9]+)-")


def series_of(line: str) -> str | None:
    """Return the series that a battle's line says it is part of."""
    if not line.startswith("|uhtml|bestof|"):
        return None
    found = _SERIES.search(line)
    return None if found is None else found[1]


def most_battles(series: str) -> int:
    """Return the most battles that a series has, such as 3 of ``game-bestof3-gen9ou-12``."""
    found = _NUM_BATTLES.match(series)
    return int(found[1]) if found else 1


def new_name_of(lines: tuple[str, ...]) -> str | None:
    """Return the id that a message gives its room; None if the room keeps its own."""
    for line in lines:
        match words_of(line):
            case ["noinit", "rename", new_id, *_]:
                return new_id
    return None


class OpenSeries:
    """The series under way. A client stays in their rooms until they end."""

    def __init__(self) -> None:
        self._open: set[str] = set()

    def __len__(self) -> int:
        return len(self._open)

    @property
    def rooms(self) -> frozenset[str]:
        """The rooms of the series. After a break they are joined again, for a series may have ended meanwhile."""
        return frozenset(self._open)

    def read(self, room_id: str, lines: tuple[str, ...]) -> list[str]:
        """Read a message of a series' room and return the commands to answer it with.

        A series begins with its room, and ends with a result or the end of the room.
        """
        commands = []
        for line in lines:
            if line.startswith("|init|"):
                self._open.add(room_id)
            elif "/confirmready" in line and "disabled" not in line:  # it asks, and has no answer yet
                commands.append("/confirmready")
            elif line.startswith(("|win|", "|tie", "|deinit", "|noinit|")) and room_id in self._open:
                self._open.remove(room_id)
                if not line.startswith(("|deinit", "|noinit|")):
                    commands.append("/leave")
        return commands

    def is_open(self, series: str | None) -> bool:
        """Say whether more battles of a series may follow."""
        return series in self._open


_OVERTAKEN: Final = ("[Invalid choice] Sorry, too late", "[Invalid choice] There's nothing to choose")
"""Answers to a choice whose request is over: it was sent once before the connection broke and once after."""
_RATING: Final = pattern(r"^(.*)'s rating: [0-9]+ &rarr; <strong>([0-9]+)</strong>")

Result = Literal["win", "loss", "tie"]
SCORES: Final[Mapping[Result, float]] = {"win": 1.0, "tie": 0.5, "loss": 0.0}


@dataclass(slots=True)
class Room:
    """A battle's room. Lines arrive by ``read``; an open request is answered once by the client."""

    id: str
    """Such as ``battle-gen1ou-12``."""
    name: str
    """The client's user name."""
    number: int
    """The battle's number in the tracker."""
    players: list[str] = field(default_factory=lambda: ["", ""])
    log: list[str] = field(default_factory=list)
    """Every line of the battle."""
    num_tracked: int = 0
    """Lines of ``log`` that the tracker has read."""
    request: dict[str, Any] | None = None
    """The open request; None once it is answered."""
    answered: int = -1
    """``rqid`` of the last request that was answered."""
    answered_before: int = -1
    """``rqid`` of the last request that was answered before the connection broke."""
    asked_again: bool = False
    """Whether the server refused the last choice."""
    takes_default: bool = False
    """Whether the server called the last choice invalid: the next one is the server's own default."""
    last_request: dict[str, Any] | None = None
    """The last request that was answered."""
    last_choice: str = ""
    """The command that answered it."""
    result: Result | None = None
    turns: int = 0
    num_decisions: int = 0
    num_refused: int = 0
    num_refused_in_row: int = 0
    """Refused choices since the last request to which the server took one."""
    rating: int | None = None
    """The client's own after the battle, where the server rates it."""
    is_gone: bool = False
    """The server has closed the room."""
    series: str | None = None
    """The room of the series that the battle is part of."""
    is_whole: bool = True
    """Whether this process made every decision of the battle, by the policy."""
    num_untracked: int = 0
    """Decisions that the tracker could not follow; the server's default choice answered them."""

    away: set[int] = field(default_factory=set)
    """Seats whose players are not in the room."""
    has_timer: bool = False
    """Whether the client has asked the server to start its timer."""

    @property
    def seat(self) -> int | None:
        """The client's seat; None until the server has named the players."""
        own = to_id(self.name)
        return next((seat for seat in range(NUM_SEATS) if to_id(self.players[seat]) == own), None)

    @property
    def is_foreign(self) -> bool:
        """Whether others play here: a server that began again gives its first ids to other battles."""
        return all(self.players) and self.seat is None

    @property
    def opponent(self) -> str:
        """The other player's name; empty until it is known."""
        return "" if self.seat is None else self.players[1 - self.seat]

    @property
    def is_opponent_away(self) -> bool:
        """Whether the opponent has left the room, or lost its connection."""
        return self.seat is not None and 1 - self.seat in self.away

    @property
    def wants_decision(self) -> bool:
        """Whether a request is open that asks for a choice."""
        return self.request is not None and self.result is None and self.seat is not None and not self.is_gone

    def read(self, line: str) -> None:  # noqa: C901, PLR0912 - one `match` with a short case for each type of line
        """Read one line."""
        match words_of(line):
            case ["init", "battle", *_]:
                self._begin_again()
            case ["request", *rest] if "|".join(rest) not in ("", "null"):
                self._ask(read_object("|".join(rest)))
            case ["sentchoice", *_]:
                # The choice was sent before the connection broke.
                self._answered()
            case ["error", text, *_]:
                self._refused(text)
            case ["player", ("p1" | "p2") as seat, name, *_]:
                self._read_player(int(seat[1]) - 1, name)
            case ["l" | "L" | "leave", user]:
                self._note_presence(user, is_here=False)
            case ["j" | "J" | "join", user]:
                self._note_presence(user, is_here=True)
            case ["turn", number, *_]:
                self.turns = read_number(number)
            case ["win", name, *_]:
                self.result = "win" if to_id(name) == to_id(self.name) else "loss"
            case ["tie", *_]:
                self.result = "tie"
            case ["uhtml", "bestof", *_]:
                self.series = series_of(line) or self.series
            case ["raw", *rest]:
                self._read_rating("|".join(rest))
            case ["noinit" | "deinit", *_]:
                self.is_gone = True
        if is_of_the_battle(line):
            self.log.append(line)

    def _read_player(self, seat: int, name: str) -> None:
        """Read who sits in a seat: without a name, its player has left."""
        self.players[seat] = name or self.players[seat]
        self._note_seat(seat, is_here=bool(name))

    def _note_presence(self, user: str, *, is_here: bool) -> None:
        for seat, player in enumerate(self.players):
            if player and to_id(player) == to_id(user):
                self._note_seat(seat, is_here=is_here)

    def _note_seat(self, seat: int, *, is_here: bool) -> None:
        (self.away.discard if is_here else self.away.add)(seat)

    def new_lines(self) -> Iterator[str]:
        """Yield the lines that the tracker has not read, with neutral names, and count them as read."""
        new = self.log[self.num_tracked :]
        self.num_tracked = len(self.log)
        return with_neutral_names(iter(new), (self.players[0], self.players[1]))

    def answer(self, choice: str) -> str:
        """Note that the open request is answered, and return the command that does so."""
        assert self.request is not None, "a request is open"
        rqid = read_number(self.request.get("rqid", 0))
        is_lost = rqid == self.answered_before
        if is_lost:
            # The server did not get the first choice, which the record of decisions has too.
            self.is_whole = False
        self.num_decisions += not self.asked_again and not is_lost
        self._answered()
        self.last_choice = f"/choose {choice}|{rqid}"
        return self.last_choice

    def _answered(self) -> None:
        if self.request is not None:
            self.answered = read_number(self.request.get("rqid", 0))
            self.last_request = self.request
        self.request = None
        self.asked_again = self.takes_default = False

    def _begin_again(self) -> None:
        """Forget the lines: the server sends the whole log, because the client joins again."""
        self.log = []
        self.players = ["", ""]
        self.away = set()
        self.last_choice = ""
        self.num_tracked = 0
        self.answered_before = max(self.answered, self.answered_before)
        self.answered = -1
        self.request = None
        self.asked_again = self.takes_default = False

    def _ask(self, request: dict[str, Any]) -> None:
        if request.get("wait"):
            self.request = None
        elif read_number(request.get("rqid", 0)) > self.answered or self.asked_again:
            if not self.asked_again:
                self.num_refused_in_row = 0
            self.request = request

    def _refused(self, text: str) -> None:
        """Ask again: an unavailable choice is followed by a corrected request, an invalid one by nothing."""
        if text.startswith(_OVERTAKEN) or self.request is not None:
            return
        if text.startswith("[Unavailable choice]"):
            self.num_refused += 1
            self.num_refused_in_row += 1
            self.asked_again = True
        elif text.startswith("[Invalid choice]") and self.last_request is not None:
            self.num_refused += 1
            self.num_refused_in_row += 1
            self.asked_again = self.takes_default = True
            self.request = self.last_request

    def _read_rating(self, html: str) -> None:
        found = _RATING.match(html)
        if found is not None and to_id(unescape(found[1])) == to_id(self.name):
            self.rating = int(found[2])


class ServedBattle(Model):
    """One battle that was served."""

    room: str
    format: str
    policy: str
    name: str
    opponent: str
    seat: Literal[0, 1] | None
    result: Result | None
    """None: void, for the reason in ``void``."""
    void: str | None
    series: str | None = None
    """The room of the series that it is part of."""
    turns: NonNegativeInt
    decisions: NonNegativeInt
    refused: NonNegativeInt
    """Choices that the server refused."""
    untracked: NonNegativeInt = 0
    """Decisions that the tracker could not follow; the server's default choice answered them."""
    trajectory: bool = False
    """Whether every decision was the policy's and of one process, so that the record has the trajectory."""
    rating: NonNegativeInt | None
    """The server's, after the battle."""
