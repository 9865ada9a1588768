"""A raw Showdown replay: a battle's log as spectators saw it, and who played."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from nashdex.core.user_input import shorten
from nashdex.settings.run import canonical_format
from nashdex_replays.evidence import Evidence, is_format
from nashdex_replays.refusal import RefusedReplayError
from nashdex_replays.sheets import Sheet, team_of
from nashdex_replays.words import BOUNDARY, clean_name, whole_number

UNRATED_RATING: Final = 1000
"""The rating by which a player without one is chosen."""
RATING_BAND: Final = 200
"""Width of the bands that ratings are counted by, in Elo points."""
MAX_DECISIONS: Final = 2000
"""Most decisions of one player. A battle ends after 1,000 turns; each keeps about 20 KB until it is written."""
MAX_LOG_BYTES = 1 << 22
"""Largest replay. A battle of 1,000 turns has about 0.3 MB."""
MAX_LINE_CHARACTERS = 4096
"""A shown team, the longest line of a battle, has about 1,500."""
MIN_TURNS = 5
MIN_DOUBLES_TURNS = 2
"""Double battles are short: half of VGC's have fewer than seven turns."""
_MAX_RATING = 9999
_BATTLE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,99}")
_SIDES: Final = ("p1", "p2")
_ILLUSIONISTS: Final = ("zoroark", "zorua")
_NOT_PLAYED: Final = frozenset(
    {
        "", "c", "c:", "chat", "j", "J", "join", "l", "L", "leave", "n", "N", "name", "raw", "html", "uhtml",
        "uhtmlchange", "inactive", "inactiveoff", "t:", "debug", "error", "bigerror", "warning", "unlink", "hidelines",
        "title", "init", "deinit", "askreg", "badge", "request", "bigdeal", "chatmsg", "chatmsg-raw", "seed", ":",
    }
)  # fmt: skip
"""Lines that are no part of the battle: chat, people who come and go, clocks. An empty line is a boundary."""

Result = Literal["WIN", "LOSS", "TIE"]
End = Literal["played", "forfeit", "timeout"]
_S = TypeVar("_S")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class RawReplay:
    """One battle."""

    battle: str
    """Showdown's id, such as ``gen1ou-2333334844``."""
    format: str
    """The format's id."""
    generation: int
    players: tuple[str, str]
    """Names by seat."""
    ratings: tuple[int | None, int | None]
    """Elo before the battle, by seat."""
    day: datetime
    winner: int | None
    """The seat; None for a tie."""
    end: End
    lines: tuple[str, ...]
    """The battle's lines, without chat and clocks, to the result."""
    num_active: int = 1
    """Active Pokémon of a side."""
    inputs: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    """Both players' choices in order, such as ``move 1 +2, switch 3``, if the log has them."""
    sheets: tuple[tuple[Sheet, ...], tuple[Sheet, ...]] = ((), ())
    """Both players' teams, if they are written beside the log."""
    glicko: tuple[int | None, int | None] = (None, None)
    """Glicko ratings before the battle, by seat: what a server writes beside the log, on another scale than Elo."""

    def rating_band(self, seat: int) -> str:
        """Return the band of a seat's rating, such as ``1200-1399``, or ``glicko-1600-1799`` if it has no Elo."""
        elo, glicko = self.ratings[seat], self.glicko[seat]
        return f"glicko-{rating_band(glicko)}" if elo is None and glicko is not None else rating_band(elo)

    def result(self, seat: int) -> Result:
        """Return how the battle ended for ``seat``."""
        return "TIE" if self.winner is None else "WIN" if self.winner == seat else "LOSS"


def parse(content: bytes, source: str) -> RawReplay:
    """Return the replay that Showdown's JSON describes: ``id``, ``format`` or ``formatid``, ``log``, ``uploadtime``.

    Raises:
        RefusedReplayError: it describes none, or one that cannot be reconstructed.
    """
    if len(content) > MAX_LOG_BYTES:
        raise RefusedReplayError(
            "too-large", f"{source} has {len(content):,} bytes; expected {MAX_LOG_BYTES:,} at most"
        )
    try:
        given = json.loads(_whole(json.dumps(json.loads(content), ensure_ascii=False)))
    except (ValueError, RecursionError) as error:
        raise RefusedReplayError("not-json", f"{source} is not JSON: {error}") from error
    if not isinstance(given, dict):
        raise RefusedReplayError("no-log", f"{source} is not a replay: expected an object with a `log`")
    log = given.get("log")
    if isinstance(log, list) and all(isinstance(line, str) for line in log):  # as a server keeps its battles
        log = "\n".join(log)
    if not isinstance(log, str):
        raise RefusedReplayError("no-log", f"{source} is not a replay: expected an object with a text `log`")
    battle, format_ = _id_of(given, source), given.get("formatid") or given.get("format")
    if not isinstance(battle, str) or not _BATTLE_ID.fullmatch(battle) or not isinstance(format_, str):
        raise RefusedReplayError(
            "no-id", f"{source} has id {shorten(battle)}, format {shorten(format_)}; expected both, such as gen1ou-1234"
        )
    beside = _Beside(
        ratings=(_rating_of(given.get("p1rating"), "elo"), _rating_of(given.get("p2rating"), "elo")),
        glicko=(_rating_of(given.get("p1rating"), "rpr"), _rating_of(given.get("p2rating"), "rpr")),
        inputs=_inputs_of(given.get("inputLog"), source),
        sheets=(team_of(given.get("p1team"), source), team_of(given.get("p2team"), source)),
        is_forfeit=given.get("endType") == "forfeit",
    )
    return parse_log(log, battle, clean_name(format_), _time_of(given), source, beside)


def _whole(text: str) -> str:
    """Return ``text`` with a question mark for each half of a surrogate pair, as of an emoji that a name cuts off."""
    return text.encode(errors="replace").decode()


def _id_of(given: Mapping[str, Any], source: str) -> object:
    """Return a battle's id. A server's own file may have none: then its name says it."""
    battle = given.get("id") or given.get("roomid")
    if battle is None and isinstance(given.get("log"), list) and ".jsonl" not in source:
        return Path(source).name.partition(".")[0].replace("_", "-")
    return battle.removeprefix("battle-") if isinstance(battle, str) else battle


def _time_of(given: Mapping[str, Any]) -> object:
    """Return when a battle was, in seconds since 1970. A server writes ``Wed May 15 2019 20:32:23 GMT-0700 (…)``."""
    stamp = given.get("timestamp")
    if "uploadtime" not in given and isinstance(stamp, str):
        try:
            return datetime.strptime(stamp[:24], "%a %b %d %Y %H:%M:%S").replace(tzinfo=UTC).timestamp()
        except ValueError:
            pass
    return given.get("uploadtime", 0)


def _rating_of(given: object, key: Literal["elo", "rpr"]) -> int | None:
    """Return a player's rating before the battle, as a server writes it. A number alone is Elo."""
    rating = given.get(key) if isinstance(given, dict) else given if key == "elo" else None
    is_rating = isinstance(rating, int | float) and not isinstance(rating, bool) and 0 < rating <= _MAX_RATING
    return round(rating) if is_rating else None  # type: ignore[arg-type]  # a number


def _inputs_of(given: object, source: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return both players' choices, of the lines ``>p1 move 1 +2, switch 3`` of the simulator's input."""
    if given is None:
        return None
    if not isinstance(given, list) or any(not isinstance(line, str) for line in given):
        raise RefusedReplayError("input-log", f"{source} has inputLog {shorten(given)}; expected a list of texts")
    p1, p2 = (tuple(line[4:] for line in given if line.startswith(f">{side} ")) for side in _SIDES)
    return p1, p2


@dataclass(frozen=True, slots=True)
class _Beside:
    """What a file says beside the log."""

    ratings: tuple[int | None, int | None] = (None, None)
    inputs: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    sheets: tuple[tuple[Sheet, ...], tuple[Sheet, ...]] = ((), ())
    is_forfeit: bool = False
    glicko: tuple[int | None, int | None] = (None, None)


_NOTHING: Final = _Beside()
_RANDOM: Final = "randombattle"
"""In ids of formats whose generated teams have each species once. From generation 4 to 7 their logs name no clause."""


def parse_log(
    log: str, battle: str, format_id: str, time: object, source: str, beside: _Beside = _NOTHING
) -> RawReplay:
    """Return the replay of a log. ``time`` is in seconds since 1970.

    Raises:
        RefusedReplayError: as ``parse``.
    """
    try:
        day = datetime.fromtimestamp(int(time), UTC)  # type: ignore[call-overload]
    except (ValueError, TypeError, OverflowError, OSError) as error:
        raise RefusedReplayError("no-date", f"{source} has uploadtime {shorten(time)}; expected seconds") from error
    lines, facts = _battle_lines(_whole(log))
    if not is_format(format_id):
        raise RefusedReplayError("format", f"{source} is of format {format_id!r}; expected one such as gen1ou")
    num_active = facts.evidence.check(format_id, battle, source)
    if "" in facts.players or facts.players[0] == facts.players[1]:
        raise RefusedReplayError("players", f"{source} does not name two players")
    if facts.winner is None and not facts.tied:
        raise RefusedReplayError("unfinished", f"{source} has no result")
    fewest = MIN_TURNS if num_active == 1 else MIN_DOUBLES_TURNS
    if facts.turns < fewest:
        raise RefusedReplayError("short", f"{source} has {facts.turns} turns; expected at least {fewest}")
    if not facts.has_species_clause and _RANDOM not in format_id:
        raise RefusedReplayError("no-species-clause", f"{source} has no Species Clause, so names may be ambiguous")
    if facts.has_illusion:
        raise RefusedReplayError("illusion", f"{source} has a Pokémon with Illusion, whose lines name others")
    winner = facts.winning_seat
    if facts.winner is not None and winner is None:
        raise RefusedReplayError("players", f"{source} was won by {shorten(facts.winner)}, who did not play")
    first, second = (facts.ratings[seat] or beside.ratings[seat] for seat in range(len(_SIDES)))
    return RawReplay(
        battle=battle,
        format=canonical_format(format_id),
        generation=int(format_id[3]),
        players=(facts.players[0], facts.players[1]),
        ratings=(first, second),
        day=day,
        winner=winner,
        end="forfeit" if beside.is_forfeit and facts.end == "played" else facts.end,
        lines=lines,
        num_active=num_active,
        inputs=beside.inputs,
        sheets=beside.sheets,
        glicko=beside.glicko,
    )


def each_usable(items: Iterable[_S], read: Callable[[_S], _T]) -> tuple[list[_T], Counter[str]]:
    """Return what ``read`` makes of each item, and how often it refuses one, by cause."""
    found: list[_T] = []
    refused: Counter[str] = Counter()
    for item in items:
        try:
            found.append(read(item))
        except RefusedReplayError as refusal:
            refused[refusal.cause] += 1
    return found, refused


def require_decisions(replay: RawReplay, num_decisions: int) -> None:
    """Check how often one player decides.

    Raises:
        RefusedReplayError: never, or too often.
    """
    if not num_decisions:
        raise RefusedReplayError("no-decision", f"{replay.battle}: a player decides nothing")
    if num_decisions > MAX_DECISIONS:
        raise RefusedReplayError(
            "too-long", f"{replay.battle}: a player decides {num_decisions:,} times; expected at most {MAX_DECISIONS:,}"
        )


def is_wanted(replay: RawReplay, seat: int, *, min_rating: int, winners_only: bool) -> bool:
    """Say whether ``seat`` is one to learn from: its rating, 1000 if it has none, and whether it won."""
    rating = replay.ratings[seat]
    won = replay.winner == seat
    return (UNRATED_RATING if rating is None else rating) >= min_rating and (won or not winners_only)


class _Facts:
    """What the lines say of the battle as a whole."""

    def __init__(self) -> None:
        self.evidence = Evidence()
        self.players = ["", ""]
        self.last_names = ["", ""]
        """Names of players who renamed themselves in the battle, or of those who took their places."""
        self.ratings: list[int | None] = [None, None]
        self.winner: str | None = None
        self.tied = False
        self.turns = 0
        self.has_species_clause = False
        self.has_illusion = False
        self.end: End = "played"

    def read(self, kind: str, parts: list[str]) -> None:
        self.evidence.read(kind, parts)
        first = parts[2] if len(parts) > 2 else ""
        match kind:
            case "player" if first in _SIDES and len(parts) > 3 and parts[3]:
                seat = _SIDES.index(first)
                self.last_names[seat] = parts[3]
                if self.players[seat]:
                    return
                self.players[seat] = parts[3]
                rating = whole_number(parts[5]) if len(parts) > 5 else None
                if rating is not None and 0 < rating <= _MAX_RATING:
                    self.ratings[seat] = rating
            case "rule":
                self.has_species_clause |= first.startswith("Species Clause")
            case "turn":
                self.turns = max(self.turns, whole_number(first) or 0)
            case "poke" | "switch" | "drag" | "replace" if len(parts) > 3:
                self.has_illusion |= clean_name(parts[3].partition(",")[0]).startswith(_ILLUSIONISTS)
            case "-message" if first.endswith(" forfeited."):
                self.end = "forfeit"
            case "-message" if "inactivity" in first:
                self.end = "timeout"
            case "win":
                self.winner = first
            case "tie":
                self.tied = True
            case _:
                pass

    @property
    def winning_seat(self) -> int | None:
        """The winner's seat; None without a winner, or if no player had that name."""
        for names in (self.last_names, self.players):
            if self.winner in names:
                return names.index(self.winner)
        return None


def _battle_lines(log: str) -> tuple[tuple[str, ...], _Facts]:
    """Return the battle's lines and facts; from an omniscient log, only the lines that both players may see.

    Raises:
        RefusedReplayError: a line is too long.
    """
    facts = _Facts()
    kept: list[str] = []
    secret = False
    for raw in log.split("\n"):
        line = raw.rstrip("\r")
        if line in {BOUNDARY, ""}:
            if kept and kept[-1] != BOUNDARY:
                kept.append(BOUNDARY)
            continue
        parts = line.split("|")
        if parts[0] or len(parts) < 2:  # text without a type is chat
            continue
        kind = parts[1]
        if kind == "split":
            secret = True
            continue
        if secret:
            secret = False
            continue
        if kind in _NOT_PLAYED:
            continue
        if len(line) > MAX_LINE_CHARACTERS:
            raise RefusedReplayError("long-line", f"a line has {len(line):,} characters: {shorten(line)}")
        facts.read(kind, parts)
        kept.append(line)
        if kind in {"win", "tie"}:
            break
    return tuple(kept), facts


def rating_band(rating: int | None) -> str:
    """Return the band of ``rating``, such as ``1200-1399``."""
    if rating is None:
        return "unrated"
    low = rating - rating % RATING_BAND
    return f"{low:04d}-{low + RATING_BAND - 1:04d}"
