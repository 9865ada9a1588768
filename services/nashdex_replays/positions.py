"""A turn of a logged battle as a position from which a seat can play on."""

import json

from nashdex.core.errors import ConfigurationError
from nashdex.core.user_input import shorten
from nashdex.games.interface import Position
from nashdex.games.showdown.protocol import Seat
from nashdex.games.showdown.wire_actions import WireActions
from nashdex.games.space import NUM_SEATS, Space
from nashdex_replays.cutting import cut
from nashdex_replays.following import seen_by
from nashdex_replays.refusal import RefusedReplayError
from nashdex_replays.replay import RawReplay, parse, parse_log
from nashdex_replays.requests import asked
from nashdex_replays.teams import teams

_NAME = "log"


def position_at(log: str, seat: Seat, turn: int, space: Space) -> Position:
    """Return the first decision of ``seat`` in a turn, 1 being the first, of a battle that is over.

    Args:
        log: a Showdown log, or the JSON of a replay.
        seat: who decides. Its own Pokémon are known as far as the whole log shows them, with a usual spread.
        turn: within the battle.
        space: of the log's format.

    Raises:
        ConfigurationError: the format is doubles, or the seat decides nothing in that turn.
        RefusedReplayError: the log is none, of another format, or cannot be rebuilt.
    """
    if space.num_slots > 1:
        raise ConfigurationError(f"{space.format} is doubles: nothing can be drawn there that a log does not show")
    replay = _replay(log, space.format)
    decisions = cut(replay.lines, replay.generation)[seat]
    lines = seen_by(seat, replay.lines)
    numbers = [_turn_of(lines[: decision.position]) for decision in decisions]
    if turn not in numbers:
        last = max(numbers, default=0)
        raise ConfigurationError(f"seat {seat} decides nothing in turn {turn}; expected one of the turns 1 to {last}")
    place = numbers.index(turn)
    rows = asked(lines, seat, decisions[: place + 1], teams(replay.lines), replay.generation, WireActions.of(space))
    *_, row = rows
    end = decisions[place].position
    first, second = (tuple(seen_by(each, replay.lines)[:end]) for each in range(NUM_SEATS))
    # As the simulator lists them.
    row.request["side"]["pokemon"].sort(key=lambda entry: not entry["active"])
    return Position(seat=seat, seen=(first, second), request=row.request, inputs=_inputs(log))


def _inputs(log: str) -> tuple[str, ...]:
    """Return the simulator's input of a replay that has all of it: start, both teams and choices; else nothing."""
    try:
        given = json.loads(log)
    except ValueError:  # a log, and no JSON
        return ()
    lines = given.get("inputLog") or given.get("inputlog") or ()
    lines = lines.splitlines() if isinstance(lines, str) else lines
    if not isinstance(lines, list | tuple) or not all(isinstance(line, str) for line in lines):
        raise RefusedReplayError(
            "input-log", f"the log has inputlog {shorten(lines)}; expected text, or a list of texts"
        )
    kept = tuple(line for line in lines if line.startswith((">start ", ">player ", ">p1 ", ">p2 ")))
    heads = [line.split(" ")[:2] for line in kept if not line.startswith(_CHOICES)]
    known = [head[0] if head[0] == ">start" else " ".join(head) for head in heads]
    return kept if sorted(known) == [">player p1", ">player p2", ">start"] else ()


_CHOICES = (">p1 ", ">p2 ")


def _replay(log: str, format_id: str) -> RawReplay:
    is_json = log.lstrip().startswith("{")
    replay = parse(log.encode(errors="replace"), _NAME) if is_json else parse_log(log, _NAME, format_id, 0, _NAME)
    if replay.format != format_id:
        raise RefusedReplayError("format", f"the log is of {replay.format}; expected {format_id}")
    return replay


def _turn_of(lines: list[str]) -> int:
    """Return the turn that the last of ``lines`` is in; 0 before the first."""
    return next((int(line.split("|")[2]) for line in reversed(lines) if line.startswith("|turn|")), 0)
