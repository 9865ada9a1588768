"""Finds the decisions of both players in a battle's log, and what each chose.

A player decides in Team Preview, at the start of each turn, and whenever a Pokémon has to be replaced. The state of a
replacement holds the lines up to the moment at which the simulator asked: if both players replace at once, neither sees
the other's choice. A choice that the log does not show is None: the Pokémon fainted, slept, flinched, or was forced.
It is still known where only one was possible: a charged attack, an encored move, or Fight, all that a Pokémon of the
first generation can do asleep or frozen. That it did not switch is certain, because switches come before attacks.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from nashdex_replays.words import BOUNDARY, clean_name

Asks = Literal["team", "move", "switch", "revival"]
RECHARGE: Final = "recharge"
STRUGGLE: Final = "struggle"
FIGHT: Final = "fight"
"""The simulator's only offer, instead of moves, to a sleeping or frozen Pokémon of the first generation."""
ANNOUNCED: Final = "chillyreception"
"""The only move that is prepared and used in one turn: a line announces it at the turn's start."""
FIRST_BINDS: Final = frozenset({"bind", "clamp", "firespin", "wrap"})
"""Moves of the first generation that go on for some turns. Their user may switch."""
LAST_GENERATION_OF_PURSUED_SWITCHES: Final = 4
_CHOICE = re.compile(r"(move|switch) ([0-9]+)")
_EJECTS: Final = ("ejectbutton", "ejectpack")
_USED_ASLEEP: Final = ("sleeptalk", "snore")
_EXITS: Final = ("emergencyexit", "wimpout")
_HELPLESS: Final = ("slp", "frz")
_CHARGES: Final = "powerherb"


@dataclass(frozen=True, slots=True)
class Choice:
    """What a player chose."""

    kind: Literal["move", "switch"]
    name: str
    """The move's id, or the Pokémon's name."""
    gimmick: Literal["", "mega", "zmove", "dynamax", "terastallize"] = ""


@dataclass(slots=True)
class Decision:
    """One decision of one player."""

    position: int
    """Lines before this index had been seen."""
    asks: Asks
    active: str = ""
    """Name of the active Pokémon."""
    choice: Choice | None = None
    only: str | None = None
    """Id of the single move that the request offered: the Pokémon was locked into it, or could only fight."""
    text: str = ""
    """The choice as old logs write it, such as ``move 3``."""


@dataclass(slots=True)
class _Seat:
    decisions: list[Decision] = field(default_factory=list)
    active: str = ""
    acted: bool = True
    """The Pokémon did in this turn what it was to do, or cannot any more."""
    must_switch: bool = False
    pursued: bool = False
    ejected: bool = False
    asleep: bool = False
    """It slept in this turn; Sleep Talk or Snore may still follow, and was then the choice."""
    encored: bool = False
    """The move used in this turn may not be the chosen one."""
    recharging: bool = False
    charging: str = ""
    """The move that it began in this turn and finishes in the next."""
    last_move: str = ""
    """The last move of its own choice since it came in; empty if it used another since."""
    encore: str = ""
    """The move that Encore, begun in an earlier turn, forces."""
    binds: int = 0
    """Turns in a row, before this one, in which a move of ``FIRST_BINDS`` went on."""
    binds_now: int = 0
    """The same with this turn."""
    instructed: bool = False
    """The next move is one that Instruct repeats. Its line does not say so."""
    raging: bool = False
    """It cannot stop using Rage, as in the first generation."""
    status: str = ""
    gimmick: Literal["", "mega", "zmove", "dynamax", "terastallize"] = ""

    def begin_turn(self) -> None:
        """Forget the turn before."""
        self.acted = self.must_switch = self.pursued = self.ejected = self.instructed = False
        self.encored = self.asleep = self.recharging = False
        self.gimmick = self.charging = ""
        self.binds, self.binds_now = self.binds_now, 0

    @property
    def newest(self) -> Decision:
        return self.decisions[-1]

    @property
    def has_switched(self) -> bool:
        """Whether the choice of the turn was a switch."""
        choice = self.newest.choice if self.decisions and self.newest.asks == "move" else None
        return choice is not None and choice.kind == "switch"

    def enter(self, name: str) -> None:
        """Have another Pokémon come in."""
        self.active = name
        self.charging = self.last_move = self.encore = self.status = ""
        self.binds = self.binds_now = 0
        self.raging = False

    def decide(self, position: int, generation: int) -> None:
        """Begin the decision of a turn. What it must be is known already for some."""
        self.decisions.append(Decision(position, "move", self.active))
        if generation == 1 and self.status == "slp":  # sleep ends the need to recharge
            self.recharging = False
        only = RECHARGE if self.recharging else self.charging or ("rage" if self.raging else "")
        if not only and generation == 1 and self.status in _HELPLESS:
            only = FIGHT
        if only:
            self.newest.choice, self.newest.only = Choice("move", only), only
        elif self.encored:
            self.encore = self.last_move
        self.begin_turn()

    def act(self, choice: Choice | None, only: str | None = None) -> None:
        """Record the choice of the turn."""
        if self.acted:
            return
        self.acted = True
        if self.newest.only == FIGHT:
            if choice is not None and choice.kind == "switch":
                self.newest.choice = choice
            return
        if choice is None and self.encore and not self.pursued:
            choice = Choice("move", self.encore)
        if self.newest.only is None or (choice is not None and choice.name != self.newest.only):
            self.newest.choice, self.newest.only = choice, only


def cut(lines: Sequence[str], generation: int) -> tuple[list[Decision], list[Decision]]:
    """Return the decisions of both seats, in order."""
    seats = (_Seat(), _Seat())
    boundary = 0
    for index, line in enumerate(lines):
        if line == BOUNDARY:
            boundary = index
            continue
        parts = line.split("|")
        kind, arguments = parts[1], parts[2:]
        match kind:
            case "teampreview":
                for seat in seats:
                    seat.decisions.append(Decision(index + 1, "team"))
            case "turn":
                for seat in seats:
                    seat.decide(index + 1, generation)
            case "choice" if len(arguments) > 1:
                for seat, text in zip(seats, arguments, strict=False):
                    if seat.decisions and not seat.acted:
                        seat.newest.text = text
            case _ if arguments and arguments[0][:2] in {"p1", "p2"}:
                number = int(arguments[0][1] == "2")
                _read(seats[number], seats[1 - number], kind, arguments, boundary, generation)
            case _:
                pass
    for seat in seats:
        _name_by_number(seat.decisions)
    return seats[0].decisions, seats[1].decisions


def _read(seat: _Seat, foe: _Seat, kind: str, arguments: list[str], boundary: int, generation: int) -> None:
    """Read a line about a Pokémon of ``seat``."""
    match kind:
        case "switch":
            _switch(seat, name_of(arguments[0]), boundary)
            seat.status = _status_of(arguments)
        case "drag":
            seat.act(None)
            seat.must_switch = False
            seat.enter(name_of(arguments[0]))
            seat.status = _status_of(arguments)
        case "replace":
            seat.active = name_of(arguments[0])
        case "move":
            _move(seat, foe, arguments, generation)
        case "cant":
            _cannot(seat, arguments)
        case "faint":
            continues = seat.pursued and generation <= LAST_GENERATION_OF_PURSUED_SWITCHES
            if name_of(arguments[0]) == seat.active and not continues:
                seat.act(None)
                seat.must_switch = True
        case "-heal" if any(bare(tag.removeprefix("[from] ")) == "revivalblessing" for tag in arguments[2:]):
            seat.decisions.append(Decision(boundary, "revival", seat.active, Choice("switch", name_of(arguments[0]))))
        case _:
            _read_effect(seat, kind, arguments)


def _read_effect(seat: _Seat, kind: str, arguments: list[str]) -> None:
    """Read a line about what happens to a Pokémon of ``seat``."""
    match kind:
        case "-mustrecharge":
            seat.recharging = True
        case "-prepare" if len(arguments) > 1 and clean_name(arguments[1]) != ANNOUNCED:
            seat.charging = clean_name(arguments[1])
        case "-anim":  # the charged attack follows at once, as Solar Beam's does in sunshine
            seat.charging = ""
        case "-status" if name_of(arguments[0]) == seat.active and len(arguments) > 1:
            seat.status = arguments[1]
        case "-curestatus" if name_of(arguments[0]) == seat.active:
            seat.status = ""
        case "-singleturn" if len(arguments) > 1 and bare(arguments[1]) == "instruct":
            seat.instructed = True
        case "-terastallize":
            seat.gimmick = "terastallize"
        case "-mega":
            seat.gimmick = "mega"
        case "-zpower":
            seat.gimmick = "zmove"
        case "-start" if arguments[1:2] == ["Dynamax"]:
            seat.gimmick = "dynamax"
        case "-start" if len(arguments) > 1 and bare(arguments[1]) == "encore":
            seat.encored = True
        case "-end" if len(arguments) > 1 and bare(arguments[1]) == "encore":
            seat.encored, seat.encore = False, ""
        case "-enditem" if len(arguments) > 1:
            item = clean_name(arguments[1])
            seat.ejected |= item in _EJECTS
            seat.charging = "" if item == _CHARGES else seat.charging
        case "-activate" if len(arguments) > 1:
            effect = bare(arguments[1])
            seat.ejected |= effect in _EXITS
            seat.pursued |= effect == "pursuit"
            seat.charging = "" if effect == "gravity" else seat.charging  # it comes down
        case _:
            pass


def _switch(seat: _Seat, name: str, boundary: int) -> None:
    if not seat.active:  # the lead
        if seat.decisions:
            seat.newest.choice = Choice("switch", name)
    elif seat.acted or seat.must_switch or seat.ejected:
        seat.act(None)
        seat.decisions.append(Decision(boundary, "switch", seat.active, Choice("switch", name)))
        seat.must_switch = seat.ejected = False
    else:
        seat.act(Choice("switch", name))
    seat.enter(name)


def _status_of(arguments: Sequence[str]) -> str:
    """Return the status of a Pokémon that comes in: ``slp`` of ``80/100 slp``."""
    return arguments[2].partition(" ")[2] if len(arguments) > 2 else ""


def _move(seat: _Seat, foe: _Seat, arguments: list[str], generation: int) -> None:
    if len(arguments) < 2:  # who and what
        return
    move, caller = clean_name(arguments[1]), caller_of(arguments)
    if seat.instructed and caller is None:
        seat.instructed = False
        return
    seat.last_move = move if caller is None else ""
    foe.pursued |= move == caller == "pursuit"
    if generation == 1:
        seat.raging |= move == "rage"
        if move in FIRST_BINDS:
            foe.recharging = False
            goes_on = caller == move
            seat.binds_now = seat.binds + 1 if goes_on else 1
            if seat.binds > 1 and (goes_on or foe.has_switched):
                # Since its third turn, the request offers all moves, and whatever is chosen, it may go on.
                seat.acted = True
    if seat.asleep and caller is None and move in _USED_ASLEEP:
        seat.newest.choice, seat.asleep = Choice("move", move, seat.gimmick), False
    if seat.acted:
        return
    if caller in {"lockedmove", move} and move != "pursuit":
        seat.act(Choice("move", move), only=move)
    elif caller is None or caller == "pursuit":
        only = STRUGGLE if move == STRUGGLE else None
        known = Choice("move", move, seat.gimmick)
        # Encore in this turn replaced the move that was chosen. A Max Move or Z-move does not name its base move.
        seat.act(None if seat.encored or seat.gimmick in {"zmove", "dynamax"} else known, only)


def _cannot(seat: _Seat, arguments: list[str]) -> None:
    if prevents_another(arguments):
        return
    reason, move = [*arguments, "", ""][1], clean_name([*arguments, "", ""][2])
    seat.asleep = reason == "slp" and not seat.acted and not seat.encored
    if reason == RECHARGE:
        seat.act(Choice("move", RECHARGE), only=RECHARGE)
    else:
        seat.act(Choice("move", move, seat.gimmick) if move and not seat.encored else None)


def _name_by_number(decisions: list[Decision]) -> None:
    """Name choices that only an old log's text shows, by the numbers of the Pokémon's moves in it."""
    numbered: dict[tuple[str, str], str] = {}
    for decision in decisions:
        if decision.only == FIGHT and decision.text.startswith("move "):  # old simulators offered the moves themselves
            decision.choice = decision.only = None
        if decision.text.startswith("move ") and decision.choice is not None and decision.choice.kind == "move":
            numbered.setdefault((decision.active, decision.text), decision.choice.name)
    for decision in decisions:
        if decision.choice is None and _CHOICE.fullmatch(decision.text):
            move = numbered.get((decision.active, decision.text))
            decision.choice = None if move is None else Choice("move", move)


def name_of(ident: str) -> str:
    """Return the name in ``p1a: Name`` or ``p1: Name``."""
    return ident.partition(": ")[2]


def bare(effect: str) -> str:
    """Return the id of an effect without its kind: ``encore`` of ``move: Encore``."""
    return clean_name(effect.partition(": ")[2] or effect)


def prevents_another(arguments: Sequence[str]) -> bool:
    """Say whether a line ``|cant|`` names the owner of an ability, such as Armor Tail, that stops another's move."""
    return any(tag.startswith("[of]") for tag in arguments[2:])


def caller_of(arguments: Sequence[str]) -> str | None:
    """Return the id of what made the Pokémon use a move, or None if it was chosen.

    An item is only what lets its holder move first, as the fourth generation says.
    """
    for tag in arguments[2:]:
        if tag.startswith("[from]"):
            cause = tag.removeprefix("[from]").strip()
            return None if cause.startswith("item: ") else bare(cause)
    return None
