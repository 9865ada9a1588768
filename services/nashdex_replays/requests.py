"""Rebuilds the simulator's requests to a player from the log, including its later facts about the own team.

A request leaves out the facts that the tracker reads from the lines (HP, status, lost items, PP) and the facts that no
log shows. Stats follow a usual spread: all stat experience in the first two generations, 85 effort values in each stat
later. Everything that the log does not forbid is offered (``bindings``).
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from nashdex.games.showdown.wire_actions import WireActions
from nashdex_replays.bindings import Bindings
from nashdex_replays.cutting import FIGHT, FIRST_BINDS, STRUGGLE, Decision, bare, name_of
from nashdex_replays.stats import usual_stats
from nashdex_replays.teams import Member
from nashdex_replays.words import clean_name

_SIDES: Final = ("p1", "p2")
_FIRST_WITH_TERA: Final = 9
_UNKNOWN_MOVE: Final = "unknown"
"""Offered by a request for a Pokémon none of whose moves the log shows."""
_FREE: Final = frozenset({FIGHT, STRUGGLE})
"""Lone offers beside which a switch is possible."""
NO_ACTION: Final = -1


@dataclass(frozen=True, slots=True)
class Asked:
    """A decision as the player met it."""

    lines: Sequence[str]
    """Since the player's last decision."""
    request: dict[str, Any]
    action: int
    """The simulator's number of the choice; ``NO_ACTION`` if the log does not show it."""


@dataclass(slots=True)
class _Side:
    """What changes during the battle."""

    active: Member | None = None
    copied: list[str] | None = None
    """The moves of a transformed Pokémon."""
    mimicked: str | None = None
    terastallized: Member | None = None

    def moves_of(self, member: Member) -> list[str]:
        """Return the moves that ``member`` has now."""
        if member is self.active:
            if self.copied is not None:
                return self.copied
            if self.mimicked is not None:
                return [self.mimicked if move == "mimic" else move for move in member.moves]
        return member.moves


def asked(
    lines: Sequence[str],
    seat: int,
    decisions: Sequence[Decision],
    teams: tuple[Sequence[Member], Sequence[Member]],
    generation: int,
    wire: WireActions,
) -> Iterator[Asked]:
    """Yield the decisions of ``seat`` with their lines, requests and actions."""
    sides = (_Side(), _Side())
    details = [member.details for member in teams[seat]]
    has_tera = generation >= _FIRST_WITH_TERA and not any("Terastal Clause" in line for line in lines)
    arrivals = _arrivals(lines, seat)
    bindings = Bindings(teams, generation)
    read = 0
    for decision in decisions:
        new = lines[read : decision.position]
        for line in new:
            _follow(line, sides, teams, details, seat)
            bindings.read(line)
        request = _request(decision, sides[seat], teams[seat], details, generation)
        if decision.asks == "move":
            place = f"{_SIDES[seat]}a"
            request["active"] = [_offered(decision, sides[seat], place, bindings, generation, has_tera=has_tera)]
        request["side"] |= {"id": _SIDES[seat], "name": _SIDES[seat]}
        for entry in request["side"]["pokemon"]:
            times, conditions = arrivals.get(entry["ident"], ((), ()))
            following = bisect_left(times, decision.position)
            if following < len(times) and not entry["active"] and (condition := conditions[following]) is not None:
                entry["condition"] = condition
            entry["ident"] = f"{_SIDES[seat]}: {entry['ident']}"
        yield Asked(new, request, _action(decision, sides[seat], teams[seat], wire))
        read = max(read, decision.position)


def _arrivals(lines: Sequence[str], seat: int) -> dict[str, tuple[list[int], list[str | None]]]:
    """Return when each Pokémon of ``seat`` came in, by its name, and its condition on the bench.

    Natural Cure and Regenerator heal a Pokémon unseen as it leaves; its owner knows. None: a line such as Heal Bell's
    changed the condition on the bench, so later lines say nothing about the time before.
    """
    found: dict[str, tuple[list[int], list[str | None]]] = {}
    for index, line in enumerate(lines):
        parts = line.split("|")
        if len(parts) > 4 and parts[1] in {"switch", "drag"} and parts[2].startswith(_SIDES[seat]):
            condition: str | None = parts[4]
        elif len(parts) > 2 and parts[2].startswith(f"{_SIDES[seat]}: "):
            condition = None
        else:
            continue
        times, conditions = found.setdefault(name_of(parts[2]), ([], []))
        times.append(index)
        conditions.append(condition)
    return found


def _follow(
    line: str,
    sides: tuple[_Side, _Side],
    teams: tuple[Sequence[Member], Sequence[Member]],
    details: list[str],
    own: int,
) -> None:
    parts = line.split("|")
    if len(parts) < 4 or parts[2][:2] not in _SIDES or ": " not in parts[2]:
        return
    seat = _SIDES.index(parts[2][:2])
    kind, side = parts[1], sides[seat]
    member = next((each for each in teams[seat] if each.name == name_of(parts[2])), None)
    match kind:
        case "switch" | "drag" | "replace" | "detailschange":
            if kind != "detailschange":
                side.active, side.copied, side.mimicked = member, None, None
            if seat == own and member is not None:
                details[list(teams[seat]).index(member)] = parts[3]
        case "-transform":
            other = sides[1 - seat]
            if other.active is not None:
                side.copied = list(other.moves_of(other.active))
        case "-start" | "-activate" if bare(parts[3]) == "mimic" and len(parts) > 4:
            side.mimicked = clean_name(parts[4])
        case "-terastallize":
            side.terastallized = member
        case _:
            pass


def _request(
    decision: Decision, side: _Side, team: Sequence[Member], details: Sequence[str], generation: int
) -> dict[str, Any]:
    """Return the request without its player's name and without what it offers."""
    pokemon = [
        _entry(
            member,
            text,
            side,
            decision,
            generation,
            is_active=member is side.active or (not side.active and place == 0),
        )
        for place, (member, text) in enumerate(zip(team, details, strict=True))
    ]
    request: dict[str, Any] = {"side": {"pokemon": pokemon}}
    if decision.asks == "team":
        request["teamPreview"] = True
    elif decision.asks != "move":
        request["forceSwitch"] = [True]
    return request


def _entry(
    member: Member, details: str, side: _Side, decision: Decision, generation: int, *, is_active: bool
) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "ident": member.name,
        "details": details,
        "active": is_active,
        "moves": list(side.moves_of(member)),
        "stats": usual_stats(details, generation),
        "reviving": is_active and decision.asks == "revival",
    }
    return entry | member.told(decision.position, has_terastallized=side.terastallized is member)


def _offered(
    decision: Decision, side: _Side, place: str, bindings: Bindings, generation: int, *, has_tera: bool
) -> dict[str, Any]:
    """Return what the request offers the active Pokémon."""
    if decision.only is not None:
        is_free = decision.only in _FREE or (generation == 1 and decision.only in FIRST_BINDS)
        return {"moves": [{"id": decision.only}], "trapped": not is_free}
    moves = side.moves_of(side.active) if side.active is not None else []
    if not moves:
        return {"moves": [{"id": _UNKNOWN_MOVE}]}
    forbidden = bindings.forbidden(place, moves)
    offered: dict[str, Any] = {"moves": [{"id": move, "pp": None, "disabled": move in forbidden} for move in moves]}
    if decision.choice is not None and decision.choice.kind == "switch":
        offered["trapped"] = False
    elif bindings.is_trapped(place):
        offered["trapped"] = True
    if has_tera and side.terastallized is None:
        offered["canTerastallize"] = (side.active.tera if side.active is not None else None) or "Unknown"
    return offered


def _action(decision: Decision, side: _Side, team: Sequence[Member], wire: WireActions) -> int:
    """Return the simulator's number of the choice."""
    choice = decision.choice
    if choice is None:
        return NO_ACTION
    if choice.kind == "switch":
        rows = [row for row, member in enumerate(team) if member.name == choice.name]
        return wire.switches[rows[0]] if rows else NO_ACTION
    moves = side.moves_of(side.active) if side.active is not None else []
    place = moves.index(choice.name) if choice.name in moves else 0 if choice.name == decision.only else None
    if place is None or place >= len(wire.moves):
        return NO_ACTION
    if choice.gimmick == "terastallize" and wire.tera_moves:
        return wire.tera_moves[place]
    # The wire's numbers of other gimmicks depend on the generation.
    return wire.moves[place] if not choice.gimmick else NO_ACTION
