"""Rebuilds the simulator's requests to a player of a double battle, with the possible choices of each slot.

As in single battles, a request leaves out the facts in the lines and the facts that no log shows, and offers everything
that the log does not forbid. It lists only Pokémon that the log shows, though a player brought four. S choices of a
slot.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from nashdex.core.user_input import shorten
from nashdex.games.showdown.doubles_slots import GIMMICKS, NUM_MOVES, NUM_TARGETS
from nashdex.games.showdown.doubles_slots import SlotChoice as Numbered
from nashdex_replays.bindings import Bindings
from nashdex_replays.cutting import RECHARGE, STRUGGLE, bare, name_of
from nashdex_replays.doubles.cutting import NUM_SLOTS, Asks, Gimmick, JointDecision, SlotChoice
from nashdex_replays.moves import CHOOSABLE, is_status, target_kind
from nashdex_replays.refusal import RefusedReplayError
from nashdex_replays.stats import usual_stats
from nashdex_replays.teams import Member
from nashdex_replays.words import clean_name

_SIDES: Final = ("p1", "p2")
_NUM_BROUGHT: Final = 4
_FIRST_WITH_TERA: Final = 9
_DYNAMAX_GENERATION: Final = 8
_UNKNOWN_MOVE: Final = "unknown"
_NOT_OWN: Final = frozenset({STRUGGLE, RECHARGE})
_WIRE_GIMMICKS: Final = {"": 0, "mega": 1, "zmove": 2, "dynamax": 3, "terastallize": 4}
_INPUT_GIMMICKS: Final[dict[str, Gimmick]] = {
    "mega": "mega",
    "zmove": "zmove",
    "dynamax": "dynamax",
    "max": "dynamax",
    "terastallize": "terastallize",
}
_TARGETS: Final = range(-NUM_SLOTS, NUM_SLOTS + 1)
_NUMBER: Final = re.compile(r"[+-]?[0-9]")


@dataclass(frozen=True, slots=True)
class AskedSlots:
    """A decision as the player met it."""

    asks: Asks
    turn: int
    lines: Sequence[str]
    """Since the player's last decision."""
    request: dict[str, Any] | None
    """None: the decision is the second half of the request before."""
    choices: tuple[SlotChoice, SlotChoice]
    """Choices of both slots by name, as far as known."""
    options: tuple[frozenset[int] | None, frozenset[int] | None]
    """The slots' numbers that agree with the known part of the choice; None: any."""


@dataclass(slots=True)
class _Slot:
    copied: list[str] | None = None
    """The moves of a transformed Pokémon."""


@dataclass(slots=True)
class _Side:
    """What changes during the battle: rows of the team by place in the request, and what was used up."""

    order: list[int]
    slots: list[_Slot] = field(default_factory=lambda: [_Slot(), _Slot()])
    fainted: set[int] = field(default_factory=set)
    on_field: list[int | None] = field(default_factory=lambda: [None, None])
    used: set[str] = field(default_factory=set)
    """Gimmicks that the side has used."""
    terastallized: int | None = None
    dynamaxed: int | None = None


class _Follower:
    def __init__(self, seat: int, teams: tuple[Sequence[Member], Sequence[Member]], generation: int) -> None:
        self.seat = seat
        self.teams = teams
        self.generation = generation
        self.sides = tuple(_Side(list(range(len(team)))) for team in teams)
        self.details = [member.details for member in teams[seat]]
        self.commanding: set[int] = set()
        self.bindings = Bindings(teams, generation)

    @property
    def side(self) -> _Side:
        return self.sides[self.seat]

    @property
    def team(self) -> Sequence[Member]:
        return self.teams[self.seat]

    def row_of(self, seat: int, name: str) -> int | None:
        return next((row for row, member in enumerate(self.teams[seat]) if member.name == name), None)

    def read(self, line: str) -> None:
        self.bindings.read(line)
        parts = line.split("|")
        if len(parts) < 3 or parts[2][:2] not in _SIDES or ": " not in parts[2]:
            return
        seat = _SIDES.index(parts[2][:2])
        kind, side = parts[1], self.sides[seat]
        row = self.row_of(seat, name_of(parts[2]))
        place = "ab".index(parts[2][2]) if parts[2][2] in "ab" else None
        match kind:
            case "switch" | "drag" | "replace" if place is not None and row is not None and len(parts) > 3:
                self._enter(side, seat, place, row, parts[3])
            case "detailschange" if seat == self.seat and row is not None and len(parts) > 3:
                self.details[row] = parts[3]
            case "swap" if place is not None:
                side.order[:NUM_SLOTS] = side.order[:NUM_SLOTS][::-1]
                side.on_field.reverse()
                side.slots.reverse()
            case "faint" if row is not None:
                side.fainted.add(row)
                if side.dynamaxed == row:
                    side.dynamaxed = None
                if seat == self.seat:
                    self.commanding.clear()
            case "-heal" if row is not None and row in side.fainted:
                side.fainted.discard(row)
            case "-transform" if place is not None and len(parts) > 3:
                side.slots[place].copied = self._moves_of_ident(parts[3])
            case "-terastallize":
                side.used.add("terastallize")
                side.terastallized = row
            case "-mega":
                side.used.add("mega")
            case "-zpower":
                side.used.add("zmove")
            case "-start" if len(parts) > 3 and parts[3] == "Dynamax":
                side.used.add("dynamax")
                side.dynamaxed = row
            case "-end" if len(parts) > 3 and parts[3] == "Dynamax":
                side.dynamaxed = None
            case "-activate" if len(parts) > 3 and bare(parts[3]) == "commander" and seat == self.seat:
                if row is not None:
                    self.commanding.add(row)
            case _:
                pass

    def _enter(self, side: _Side, seat: int, place: int, row: int, details: str) -> None:
        if place >= len(side.order):
            raise RefusedReplayError(
                "inconsistent", f"a player of {len(side.order)} Pokémon sends one to place {place + 1} of the field"
            )
        if row in side.order:
            at = side.order.index(row)
            if at != place:
                side.order[place], side.order[at] = side.order[at], side.order[place]
        left = side.on_field[place]
        if left is not None and left == side.dynamaxed:
            side.dynamaxed = None
        side.on_field[place] = row
        side.slots[place] = _Slot()
        if seat == self.seat:
            self.details[row] = details
            self.commanding.discard(-1 if left is None else left)

    def _moves_of_ident(self, ident: str) -> list[str] | None:
        if ident[:2] not in _SIDES:
            return None
        seat = _SIDES.index(ident[:2])
        row = self.row_of(seat, name_of(ident))
        return None if row is None else list(self.moves_of(seat, row))

    def moves_of(self, seat: int, row: int) -> list[str]:
        """Return the moves that a Pokémon has now."""
        side = self.sides[seat]
        for place, on_field in enumerate(side.on_field):
            copied = side.slots[place].copied
            if on_field == row and copied is not None:
                return copied
        return self.teams[seat][row].moves

    # --- requests

    def request(self, decision: JointDecision, *, has_tera: bool) -> dict[str, Any]:
        """Return the request that asks for a decision."""
        side = self.side
        listed = [self._entry(row, place, decision) for place, row in enumerate(side.order)]
        request: dict[str, Any] = {"side": {"id": _SIDES[self.seat], "name": _SIDES[self.seat], "pokemon": listed}}
        if decision.asks == "leads":
            request["teamPreview"] = True
        elif decision.asks == "move":
            request["active"] = [
                self._offered(place, decision.slots[place], has_tera=has_tera) for place in range(NUM_SLOTS)
            ]
        else:
            request["forceSwitch"] = [slot.asked for slot in decision.slots]
        return request

    def _entry(self, row: int, place: int, decision: JointDecision) -> dict[str, Any]:
        member, side = self.team[row], self.side
        is_active = place < NUM_SLOTS
        entry: dict[str, Any] = {
            "ident": f"{_SIDES[self.seat]}: {member.name}",
            "details": self.details[row],
            "active": is_active,
            "moves": list(self.moves_of(self.seat, row)),
            "stats": member.stats or usual_stats(self.details[row], self.generation),
            "reviving": is_active and decision.asks == "revival" and decision.slots[place].asked,
            "commanding": row in self.commanding,
        }
        if row in side.fainted:
            entry["condition"] = "0 fnt"
        return entry | member.told(decision.position, has_terastallized=side.terastallized == row)

    def _offered(self, place: int, choice: SlotChoice, *, has_tera: bool) -> dict[str, Any]:
        """Return what the request offers the Pokémon in a slot."""
        if choice.only is not None:
            return {"moves": [{"id": choice.only}], "trapped": choice.only != STRUGGLE}
        row = self.side.order[place] if place < len(self.side.order) else None
        moves = [] if row is None else self.moves_of(self.seat, row)
        if row is None or not moves:
            return {"moves": [{"id": _UNKNOWN_MOVE}]}
        member, letters = self.team[row], f"{_SIDES[self.seat]}{'ab'[place]}"
        forbidden = self.bindings.forbidden(letters, moves)
        offered: dict[str, Any] = {
            "moves": [
                {"id": move, "pp": None, "disabled": move in forbidden, "target": self.kind(row, move)}
                for move in moves
            ]
        }
        if choice.kind == "switch":
            offered["trapped"] = False
        elif self.bindings.is_trapped(letters):
            offered["trapped"] = True
        if has_tera and "terastallize" not in self.side.used:
            offered["canTerastallize"] = member.tera or "Unknown"
        if "mega" in member.gimmicks and "mega" not in self.side.used:
            offered["canMegaEvo"] = True
        if "zmove" in member.gimmicks and "zmove" not in self.side.used:
            offered["canZMove"] = [{"move": move, "target": self._z_kind(move)} for move in moves]
        if self.generation == _DYNAMAX_GENERATION and (self.side.dynamaxed == row or "dynamax" not in self.side.used):
            offered["maxMoves"] = {"maxMoves": [{"move": move, "target": self._max_kind(move)} for move in moves]}
            if self.side.dynamaxed != row:
                offered["canDynamax"] = True
        return offered

    def forced(self, place: int, choice: SlotChoice) -> SlotChoice:
        """Return an unknown choice with the move that was the only one, if there was a single one."""
        row = self.side.order[place] if place < len(self.side.order) else None
        if row is None or choice.kind or choice.only is not None or not choice.asked or choice.cause == "renamed":
            return choice
        can_use_z = "zmove" in self.team[row].gimmicks and "zmove" not in self.side.used
        moves = self.moves_of(self.seat, row)
        only = self.bindings.only_move(f"{_SIDES[self.seat]}{'ab'[place]}", moves)
        if only is None or can_use_z or self.side.dynamaxed == row or choice.gimmick == "dynamax":
            return choice
        target = None if self.kind(row, only) in CHOOSABLE else 0
        return replace(choice, kind="move", name=only, target=target, cause="" if target == 0 else choice.cause)

    def kind(self, row: int, move: str) -> str:
        """Return the kind of target that a request names."""
        is_stellar = self.side.terastallized == row and clean_name(self.details[row].partition(",")[0]).startswith(
            "terapagos"
        )
        return "allAdjacentFoes" if move == "terastarstorm" and is_stellar else target_kind(move, self.generation)

    def _z_kind(self, move: str) -> str:
        return target_kind(move, self.generation) if is_status(move, self.generation) else "normal"

    def _max_kind(self, move: str) -> str:
        return "self" if is_status(move, self.generation) else "adjacentFoe"

    # --- choices

    def from_input(self, text: str, decision: JointDecision) -> tuple[SlotChoice, SlotChoice]:
        """Return the choices that a line of the simulator's input states.

        Raises:
            RefusedReplayError: it is no choice, or another one than the lines show.
        """
        parts = text.split(", ")
        if len(parts) != NUM_SLOTS:
            raise _refused(f"a choice {shorten(text)} of {len(parts)} slots; expected {NUM_SLOTS}")
        first, second = (
            self._of_part(part, place, decision.slots[place], decision.asks) for place, part in enumerate(parts)
        )
        return first, second

    def _of_part(self, part: str, place: int, shown: SlotChoice, asks: Asks) -> SlotChoice:
        word, *rest = part.split(" ")
        known = SlotChoice(active=shown.active, asked=shown.asked, only=shown.only)
        match word:
            case "pass":
                known.kind = "pass"
            case "switch" if rest and rest[0].isdecimal() and 0 < int(rest[0][:2]) <= len(self.side.order):
                known.kind = "switch"
                known.name = self.team[self.side.order[int(rest[0][:2]) - 1]].name
            case "move" if rest and asks == "move" and place < len(self.side.order):
                self._use(known, rest, place)
            case _:
                raise _refused(f"a choice {shorten(part)}; expected pass, switch or move")
        self._require_agreement(known, shown)
        return known

    def _use(self, known: SlotChoice, words: list[str], place: int) -> None:
        row = self.side.order[place]
        moves = self.moves_of(self.seat, row)
        name = words[0]
        if name.isdecimal() and 0 < int(name[:2]) <= len(moves):
            name = moves[int(name[:2]) - 1]
        known.kind, known.name, known.target = "move", clean_name(name), 0
        is_own = known.only is None and known.name not in _NOT_OWN and self.side.slots[place].copied is None
        if is_own and known.name not in moves and len(moves) < NUM_MOVES:
            moves.append(known.name)
        for word in words[1:]:
            if _NUMBER.fullmatch(word):
                known.target = int(word)
            elif word in _INPUT_GIMMICKS:
                known.gimmick = _INPUT_GIMMICKS[word]
        if known.only is not None:
            known.name, known.target = known.only, 0
        elif known.name not in moves:  # Struggle, and what locks a Pokémon
            known.only, known.target = known.name, 0
        elif known.target == 0 and self.chosen_kind(row, known) in CHOOSABLE:
            known.target = None  # the clock ran out, and the simulator chose
            known.cause = "automatic"

    def chosen_kind(self, row: int, choice: SlotChoice) -> str:
        """Return the kind of target of a move as it is used."""
        if choice.gimmick == "dynamax" or self.side.dynamaxed == row:
            return self._max_kind(choice.name)
        if choice.gimmick == "zmove":
            return self._z_kind(choice.name)
        return self.kind(row, choice.name)

    def _require_agreement(self, known: SlotChoice, shown: SlotChoice) -> None:
        is_same = shown.kind in {"", known.kind}
        if shown.kind and known.kind == shown.kind:
            is_same = shown.name in {known.name, ""} and (shown.target is None or known.target in {shown.target, None})
            is_same = is_same and (shown.kind != "move" or shown.gimmick == known.gimmick)
        if not is_same:
            raise _refused(f"the choice {known.text or known.kind}, and the lines show {shown.text or shown.kind}")

    def joint_options(
        self, choices: tuple[SlotChoice, SlotChoice], asks: Asks
    ) -> tuple[frozenset[int] | None, frozenset[int] | None]:
        """Return the numbers that agree with the known part of each slot's choice; None: all."""
        first, second = (self._options(choice, place, asks) for place, choice in enumerate(choices))
        return first, second

    def _options(self, choice: SlotChoice, place: int, asks: Asks) -> frozenset[int] | None:
        if choice.kind == "pass" or not choice.asked:
            return frozenset({Numbered("pass").number})
        if choice.kind == "switch":
            row = self.row_of(self.seat, choice.name)
            return None if row is None else frozenset({Numbered("switch", row=row + 1).number})
        if asks != "move" or place >= len(self.side.order):
            return None
        row = self.side.order[place]
        moves = self.moves_of(self.seat, row)
        if choice.kind == "move" and choice.name not in moves and choice.only is None:
            return None
        # A Z-move is shown as it is used, and other gimmicks at the start of the turn.
        gimmicks = [choice.gimmick] if choice.kind or choice.gimmick or choice.cause == "renamed" else ["", "zmove"]
        place_of = moves.index(choice.name) if choice.name in moves else 0
        numbers = range(NUM_MOVES) if not choice.kind else [place_of]
        targets = choice.targets or _TARGETS if choice.target is None else [choice.target]
        return frozenset(
            Numbered("move", move=move + 1, target=target, gimmick=_WIRE_GIMMICKS[gimmick]).number
            for gimmick in gimmicks
            for move in numbers
            for target in targets
        )


def asked(
    lines: Sequence[str],
    seat: int,
    decisions: Sequence[JointDecision],
    teams: tuple[Sequence[Member], Sequence[Member]],
    generation: int,
    inputs: Sequence[str] | None,
) -> Iterator[AskedSlots]:
    """Yield the decisions of ``seat`` with their lines, requests and choices.

    ``inputs`` are the choices themselves, one for each decision but that for the bench; None: only the lines are known.

    A choice may name a move that neither lines nor sheets show. It is added to its user's in ``teams``, so that a
    second call knows it from the start.

    Raises:
        RefusedReplayError: the choices belong to another battle, or some are missing.
    """
    follower = _Follower(seat, teams, generation)
    has_tera = generation >= _FIRST_WITH_TERA and not any("Terastal Clause" in line for line in lines)
    remaining = None if inputs is None else list(inputs)
    read = 0
    leads: tuple[SlotChoice, SlotChoice] | None = None
    bench: tuple[SlotChoice, SlotChoice] | None = None
    for decision in decisions:
        new = lines[read : decision.position]
        for line in new:
            follower.read(line)
        read = max(read, decision.position)
        if decision.asks == "bench":
            choices = bench or decision.slots
            follower.side.order = [
                row for slot in (*(leads or ()), *choices) if (row := follower.row_of(seat, slot.name)) is not None
            ]
            yield AskedSlots("bench", 0, (), None, choices, follower.joint_options(choices, "bench"))
            continue
        request = follower.request(decision, has_tera=has_tera)
        if decision.asks == "leads":
            request["maxChosenTeamSize"] = _NUM_BROUGHT if decisions[1:2] and decisions[1].asks == "bench" else None
            leads, bench = decision.slots, None
            if remaining is not None:
                leads, bench = _preview(follower, _next(remaining), decision)
            choices = leads
            _lead(follower, choices)
        else:
            choices = decision.slots
            if remaining is not None:
                choices = follower.from_input(_next(remaining), decision)
            elif decision.asks == "move":
                choices = follower.forced(0, choices[0]), follower.forced(1, choices[1])
        options = follower.joint_options(choices, decision.asks)
        yield AskedSlots(decision.asks, decision.turn, new, request, choices, options)


def _next(remaining: list[str]) -> str:
    if not remaining:
        raise _refused("fewer choices than the lines show decisions")
    return remaining.pop(0)


def _lead(follower: _Follower, leads: Sequence[SlotChoice]) -> None:
    """Put the Pokémon that lead in front, as the simulator does after Team Preview."""
    rows = [row for slot in leads if (row := follower.row_of(follower.seat, slot.name)) is not None]
    follower.side.order = [*rows, *(row for row in follower.side.order if row not in rows)]


def _preview(
    follower: _Follower, text: str, decision: JointDecision
) -> tuple[tuple[SlotChoice, SlotChoice], tuple[SlotChoice, SlotChoice] | None]:
    """Return the leading and the waiting Pokémon of ``team 3, 4, 1, 2``."""
    places = [int(place) for place in re.findall(r"[0-9]", text.removeprefix("team "))]
    team = follower.team
    if (
        not text.startswith("team ")
        or len(set(places)) < NUM_SLOTS
        or not all(0 < place <= len(team) for place in places)
    ):
        raise _refused(f"a choice {shorten(text)} in Team Preview; expected one such as team 3, 4, 1, 2")
    named = [SlotChoice(kind="switch", name=team[place - 1].name) for place in places]
    for known, lead in zip(named, decision.slots, strict=False):
        if lead.name not in {known.name, ""}:
            raise _refused(f"{known.name} leading, and the lines show {lead.name}")
    bench = (named[2], named[3]) if len(named) >= _NUM_BROUGHT else None
    return (named[0], named[1]), bench


def _refused(problem: str) -> RefusedReplayError:
    return RefusedReplayError("input-log", f"the choices beside the log hold {problem}")


assert len(GIMMICKS) == len(_WIRE_GIMMICKS)
assert len(_TARGETS) == NUM_TARGETS
