"""Finds the joint decisions of both players in the log of a double battle, and what each slot chose.

A player decides in Team Preview, at the start of each turn, and whenever Pokémon have to be replaced. A slot's choice
that the lines do not show is unknown, for a cause: its Pokémon fainted or flinched first, say. Part of it may still be
known. A slot that was not replaced at the start of the turn did not switch, and a gimmick is shown before any move. A
target is only known if nothing can have changed it: the simulator draws another where the chosen one fainted in the
turn, and a Pokémon may draw moves to itself. Where only one opponent was left, it counts as the target: a choice of the
empty place would have had the same effect.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from nashdex_replays.cutting import (
    ANNOUNCED,
    LAST_GENERATION_OF_PURSUED_SWITCHES,
    RECHARGE,
    STRUGGLE,
    bare,
    caller_of,
    name_of,
    prevents_another,
)
from nashdex_replays.moves import CHOOSABLE, target_kind
from nashdex_replays.words import BOUNDARY, clean_name, whole_number

NUM_SLOTS: Final = 2
Asks = Literal["leads", "bench", "move", "switch", "revival"]
Gimmick = Literal["", "mega", "zmove", "dynamax", "terastallize"]

_LAST_GENERATION_OF_REPLACEMENT_AT_ONCE: Final = 3
"""Until then, a fainted Pokémon is replaced after each move; later, at the end of the turn."""
_EXITS: Final = frozenset({"ejectbutton", "ejectpack", "emergencyexit", "wimpout"})
_DRAWS_MOVES: Final = frozenset({"followme", "ragepowder", "spotlight"})
_DRAWING_ABILITIES: Final = frozenset({"lightningrod", "stormdrain"})
_CANNOT: Final = {
    "flinch": "flinched",
    "slp": "asleep",
    "frz": "frozen",
    "par": "paralysed",
    "attract": "attracted",
    "recharge": "recharging",
}
_MAX_MOVES: Final = ("max", "gmax")
"""How the names of Max Moves begin, which do not tell the own move."""
_SPREADS_OVER_TARGETS: Final = frozenset({"dragondarts", "expandingforce"})
"""Moves that choose another target by themselves; the second one hits both opponents in Psychic Terrain."""


@dataclass(slots=True)
class SlotChoice:
    """What one slot chose, as far as it is known."""

    active: str = ""
    """Name of the slot's Pokémon."""
    asked: bool = True
    """Whether there was something to choose; a slot that can only pass is not asked."""
    kind: Literal["", "pass", "switch", "move"] = ""
    """Empty: unknown."""
    name: str = ""
    """The move's id, or the name of the Pokémon that comes in."""
    target: int | None = None
    """1 and 2: the opponent's slots; −1 and −2: the own; 0: the move has no choice of target; None: unknown."""
    targets: tuple[int, ...] = ()
    """Where the target is unknown, those that it can be; empty: any."""
    gimmick: Gimmick = ""
    only: str | None = None
    """Id of the single move that the request offered."""
    cause: str = ""
    """Why the choice, or its target, is unknown; empty if it is known."""

    @property
    def is_known(self) -> bool:
        """Whether everything about the choice is known."""
        return self.kind in {"pass", "switch"} or (self.kind == "move" and self.target is not None)

    @property
    def text(self) -> str:
        """The choice in words, such as ``move protect`` or ``move closecombat +2 terastallize``; empty if unknown."""
        if not self.is_known:
            return ""
        words: list[str] = [self.kind, self.name] if self.name else [self.kind]
        if self.target:
            words.append(f"{self.target:+d}")
        if self.gimmick:
            words.append(self.gimmick)
        return " ".join(words)


@dataclass(slots=True)
class JointDecision:
    """One decision of one player, for both slots. In Team Preview, slots are the leading or the waiting Pokémon."""

    position: int
    """Lines before this index had been seen."""
    asks: Asks
    turn: int
    slots: tuple[SlotChoice, SlotChoice]


@dataclass(slots=True)
class _Slot:
    active: str = ""
    fainted: bool = False
    fell: bool = False
    """It fainted in this turn."""
    acted: bool = True
    """The Pokémon did in this turn what it was to do, or cannot any more."""
    ejected: bool = False
    encored: bool = False
    confused: bool = False
    charging: str = ""
    recharging: bool = False
    commanding: bool = False
    instructed: bool = False
    """The next move is one that Instruct repeats. Its line does not say so."""
    pursued: bool = False
    """It is leaving, and Pursuit was used on it."""
    draws_moves: bool = False
    gimmick: Gimmick = ""
    choice: SlotChoice = field(default_factory=SlotChoice)
    """The choice of this turn."""

    def begin_turn(self) -> SlotChoice:
        """Return the choice of a new turn."""
        can_only_pass = self.fainted or self.commanding or not self.active
        self.choice = SlotChoice(active=self.active, asked=not can_only_pass)
        only = RECHARGE if self.recharging else self.charging
        if can_only_pass:
            self.choice.kind = "pass"
        elif only:
            self.choice.kind, self.choice.name, self.choice.target, self.choice.only = "move", only, 0, only
        self.acted = can_only_pass
        self.fell = self.ejected = self.encored = self.confused = self.recharging = self.draws_moves = False
        self.instructed = self.pursued = False
        self.charging, self.gimmick = "", ""
        return self.choice

    def enter(self, name: str) -> None:
        """Have another Pokémon come in."""
        self.active = name
        self.fainted = self.commanding = self.encored = self.recharging = self.draws_moves = self.confused = False
        self.charging = ""

    def miss(self, cause: str) -> None:
        """Record why the turn's choice does not show. The first cause counts, and a later line may still show it."""
        choice = self.choice
        if not self.acted and not choice.kind and not choice.cause:
            choice.cause, choice.gimmick = cause, self.gimmick


class _Seat:
    def __init__(self, number: int) -> None:
        self.number = number
        self.slots = (_Slot(), _Slot())
        self.decisions: list[JointDecision] = []
        self.swapped = False
        """Two Pokémon changed places in this turn."""
        self.revived = ""
        self.entered: list[str] = []
        """Names of the Pokémon that came in, in order."""

    def slot_of(self, ident: str) -> _Slot | None:
        """Return the slot of ``p1a: Name``; None if the Pokémon is not in one."""
        return self.slots["ab".index(ident[2])] if ident[2:3] in {"a", "b"} else None


class _Cutter:
    def __init__(self, generation: int) -> None:
        self.generation = generation
        self.seats = (_Seat(0), _Seat(1))
        self.turn = 0
        self.boundary = 0
        self.is_over = False
        """The residual effects of the turn are over: who fainted is replaced."""
        self.begun = False
        """Something happened since the turn began."""
        self.last: tuple[_Seat, _Slot] | None = None
        """Who moved last."""

    def read(self, index: int, line: str) -> None:
        if line == BOUNDARY:
            self.boundary = index
            return
        parts = line.split("|")
        kind, arguments = parts[1], parts[2:]
        match kind:
            case "teampreview":
                self._preview(index, arguments)
            case "showteam":  # both see the sheets before they choose
                for seat in self.seats:
                    for decision in seat.decisions:
                        decision.position = index + 1 if decision.turn == 0 else decision.position
            case "turn":
                self._begin_turn(index, arguments)
            case "upkeep":
                self.is_over = True
                self.begun = True
            case "win" | "tie" | "-message" | "player" | "message" | "raw":
                pass
            case _ if arguments and arguments[0][:2] in {"p1", "p2"} and ": " in arguments[0]:
                self.begun = True
                self._read(self.seats[arguments[0][1] == "2"], kind, arguments)
            case _:
                pass

    def _preview(self, index: int, arguments: list[str]) -> None:
        brings = whole_number(arguments[0]) if arguments else None
        for seat in self.seats:
            asks: tuple[Asks, ...] = ("leads", "bench") if brings == 2 * NUM_SLOTS else ("leads",)
            for each in asks:
                slots = (SlotChoice(), SlotChoice())
                seat.decisions.append(JointDecision(index + 1, each, 0, slots))

    def _begin_turn(self, index: int, arguments: list[str]) -> None:
        self.turn = (whole_number(arguments[0]) if arguments else None) or self.turn + 1
        self.is_over = self.begun = False
        for seat in self.seats:
            seat.swapped = False
            first, second = (slot.begin_turn() for slot in seat.slots)
            seat.decisions.append(JointDecision(index + 1, "move", self.turn, (first, second)))

    def _read(self, seat: _Seat, kind: str, arguments: list[str]) -> None:
        slot = seat.slot_of(arguments[0])
        match kind:
            case "switch" if slot is not None:
                self._switch(seat, slot, name_of(arguments[0]))
            case "drag" if slot is not None:
                slot.miss("dragged")
                slot.acted = True
                slot.enter(name_of(arguments[0]))
                seat.entered.append(slot.active)
            case "replace" if slot is not None:
                slot.active = name_of(arguments[0])
            case "swap" if slot is not None:
                self._swap(seat, slot, arguments)
            case "move" if slot is not None:
                self._move(seat, slot, arguments)
            case "cant" if slot is not None:
                self._cannot(slot, arguments)
            case "faint":
                fainted = slot or next((each for each in seat.slots if each.active == name_of(arguments[0])), None)
                if fainted is not None and not self._continues(fainted):
                    fainted.miss("fainted")
                    fainted.acted = fainted.fainted = fainted.fell = True
                    for each in seat.slots:
                        each.commanding = False
            case "-heal" if any(bare(tag.removeprefix("[from] ")) == "revivalblessing" for tag in arguments[2:]):
                self._revive(seat, name_of(arguments[0]))
            case _ if slot is not None:
                self._effect(slot, kind, arguments)
            case _:
                pass

    def _continues(self, slot: _Slot) -> bool:
        """Say whether a Pokémon that faints is replaced by the one that was chosen, since Pursuit hit it as it left."""
        return slot.pursued and not slot.acted and self.generation <= LAST_GENERATION_OF_PURSUED_SWITCHES

    def _switch(self, seat: _Seat, slot: _Slot, name: str) -> None:
        place = seat.slots.index(slot)
        if not self.turn:
            if seat.decisions:
                seat.decisions[0].slots[place].kind, seat.decisions[0].slots[place].name = "switch", name
            else:  # without Team Preview
                slot.acted = True
        elif seat.revived == name and slot.fainted:
            seat.revived = ""  # the simulator returns it to its slot
        elif slot.acted or slot.fainted or slot.ejected:
            slot.miss("left")
            slot.acted = True
            self._replace(seat, place, name)
        else:
            slot.choice.kind, slot.choice.name, slot.acted = "switch", name, True
        slot.enter(name)
        seat.entered.append(name)
        slot.ejected = False

    def _replace(self, seat: _Seat, place: int, name: str) -> None:
        """Record a forced switch. All slots that must be replaced at the same time are one decision."""
        newest = seat.decisions[-1]
        if newest.asks != "switch" or newest.position != self.boundary:
            all_at_once = self.is_over or self.generation <= _LAST_GENERATION_OF_REPLACEMENT_AT_ONCE
            choices = []
            for other, slot in enumerate(seat.slots):
                asked = other == place or (slot.fainted and all_at_once) or slot.ejected
                choices.append(SlotChoice(active=slot.active, asked=asked, kind="pass"))
            newest = JointDecision(self.boundary, "switch", self.turn, (choices[0], choices[1]))
            seat.decisions.append(newest)
        newest.slots[place].kind, newest.slots[place].name = "switch", name
        newest.slots[place].asked = True

    def _revive(self, seat: _Seat, name: str) -> None:
        if self.last is None or self.last[0] is not seat:
            return
        place = seat.slots.index(self.last[1])
        choices = [SlotChoice(active=slot.active, asked=False, kind="pass") for slot in seat.slots]
        choices[place] = SlotChoice(active=seat.slots[place].active, kind="switch", name=name)
        seat.decisions.append(JointDecision(self.boundary, "revival", self.turn, (choices[0], choices[1])))
        seat.revived = name if any(slot.active == name for slot in seat.slots) else ""

    def _swap(self, seat: _Seat, slot: _Slot, arguments: list[str]) -> None:
        """Two Pokémon change places: each choice stays with the slot that chose it."""
        place = seat.slots.index(slot)
        to = whole_number(arguments[1]) if len(arguments) > 1 else None
        if to is not None and to < NUM_SLOTS and to != place:
            seat.slots = (seat.slots[1], seat.slots[0])
        seat.swapped = True

    def _move(self, seat: _Seat, slot: _Slot, arguments: list[str]) -> None:
        if len(arguments) < 2:  # who and what
            return
        move, caller = clean_name(arguments[1]), caller_of(arguments)
        self.last = (seat, slot)
        if slot.instructed and caller is None:
            slot.instructed = False
            return
        if move == caller == "pursuit" and (pursued := self._slot_at(arguments)) is not None:
            pursued.pursued = True
        choice = slot.choice
        if slot.acted:
            return
        if choice.only is not None:
            slot.acted = True
        elif caller in {"lockedmove", move} and move != "pursuit":
            slot.acted = True
            choice.kind, choice.name, choice.target, choice.only, choice.cause = "move", move, 0, move, ""
        elif caller is None or caller == "pursuit":
            slot.acted = True
            choice.gimmick, choice.cause = slot.gimmick, ""
            if slot.encored:
                choice.cause = "encored"
            elif slot.gimmick == "zmove" or move.startswith(_MAX_MOVES):
                choice.targets = self._targets(seat, slot, move, arguments)
                choice.target = choice.targets[0] if len(choice.targets) == 1 else None
                choice.cause = "renamed"
            else:
                choice.kind, choice.name = "move", move
                choice.only = STRUGGLE if move == STRUGGLE else None
                choice.targets = self._targets(seat, slot, move, arguments)
                choice.target = choice.targets[0] if len(choice.targets) == 1 else None
                choice.cause = "" if choice.target is not None else "target"

    def _slot_at(self, arguments: list[str]) -> _Slot | None:
        """Return the slot of a move's target."""
        aim = arguments[2] if len(arguments) > 2 else ""
        return self.seats[aim[1] == "2"].slot_of(aim) if aim[:2] in {"p1", "p2"} else None

    def _targets(self, seat: _Seat, slot: _Slot, move: str, arguments: list[str]) -> tuple[int, ...]:
        """Return the targets that can have been chosen for a move; nothing if any can."""
        kind = target_kind(move, self.generation)
        if kind not in CHOOSABLE:
            return (0,)
        place = seat.slots.index(slot)
        ally = -(2 - place)
        if kind == "adjacentAlly" and not seat.swapped:
            return (ally,)
        if any(each.swapped for each in self.seats) or move in _SPREADS_OVER_TARGETS:
            return ()
        aim = arguments[2] if len(arguments) > 2 else ""
        if "[notarget]" in arguments and aim.startswith(f"p{seat.number + 1}: ") and seat.slots[1 - place].fell:
            return (ally,)  # a move for an ally that has fainted is not sent elsewhere
        return self._aimed_at(seat, slot, aim) if aim[2:3] in {"a", "b"} else ()

    def _aimed_at(self, seat: _Seat, slot: _Slot, aim: str) -> tuple[int, ...]:
        """Return the targets that can have been chosen for a move that was used on ``aim``, such as ``p1a: Name``."""
        theirs = self.seats[aim[1] == "2"]
        aimed = "ab".index(aim[2])
        target, other = theirs.slots[aimed], theirs.slots[1 - aimed]
        if theirs is seat:  # a move for the ally falls back to its user
            return () if target is slot and other.fainted else (-(aimed + 1),)
        if target.draws_moves and (other.fell or not other.fainted):
            return ()
        return (1, 2) if other.fell else (aimed + 1,)

    def _cannot(self, slot: _Slot, arguments: list[str]) -> None:
        if prevents_another(arguments):
            return
        reason, move = [*arguments, "", ""][1], clean_name([*arguments, "", ""][2])
        if bare(reason) == RECHARGE and not slot.acted:
            choice = slot.choice
            choice.kind, choice.name, choice.target, choice.only = "move", RECHARGE, 0, RECHARGE
            slot.acted = True
        elif move and not slot.acted and not slot.encored and not slot.choice.kind:
            choice = slot.choice
            choice.kind, choice.name, choice.gimmick = "move", move, slot.gimmick
            choice.target = None if target_kind(move, self.generation) in CHOOSABLE else 0
            choice.cause = "" if choice.target == 0 else "target"
            slot.acted = True
        else:
            slot.miss(_CANNOT.get(bare(reason), "prevented"))

    def _effect(self, slot: _Slot, kind: str, arguments: list[str]) -> None:
        """Read a line about what happens to the Pokémon in a slot."""
        second = bare(arguments[1]) if len(arguments) > 1 else ""
        match kind:
            case "-mustrecharge":
                slot.recharging = True
            case "-prepare" if second != ANNOUNCED:
                slot.charging = second
            case "-anim":
                slot.charging = ""
            case "-terastallize":
                slot.gimmick = "terastallize"
            case "-mega":
                slot.gimmick = "mega"
            case "-zpower":
                slot.gimmick = "zmove"
            case "-start" if second == "dynamax":
                slot.gimmick = "dynamax"
            case "-start" if second == "encore":
                slot.encored = not slot.acted
            case "-singleturn" if second == "instruct":
                slot.instructed = True
            case "-singleturn" if second in _DRAWS_MOVES:
                slot.draws_moves = True
            case "-activate" if second in _DRAWING_ABILITIES and self.last is not None:
                choice = self.last[1].choice
                if choice.target:
                    choice.target, choice.targets, choice.cause = None, (), "target"
            case "-activate" if second == "commander":
                slot.commanding = True
                slot.miss("commanding")
                slot.acted = True
            case "-activate" if second == "confusion":
                slot.confused = True
            case "-activate" if second == "gravity":  # it comes down
                slot.charging = ""
            case "-damage" if slot.confused and any(tag.endswith("confusion") for tag in arguments[2:]):
                slot.miss("confused")
            case "-enditem" | "-activate" if second in _EXITS:
                slot.ejected = True
            case "-enditem" if second == "powerherb":
                slot.charging = ""
            case _:
                pass


def cut(lines: Sequence[str], generation: int) -> tuple[list[JointDecision], list[JointDecision]]:
    """Return the decisions of both seats, in order."""
    cutter = _Cutter(generation)
    for index, line in enumerate(lines):
        cutter.read(index, line)
    for seat in cutter.seats:
        if not cutter.begun and seat.decisions and seat.decisions[-1].asks == "move":
            seat.decisions.pop()  # the battle ended while the players were asked
        _find_bench(seat)
        for decision in seat.decisions:
            for choice in decision.slots:
                if not choice.is_known and not choice.cause:
                    choice.cause = "not-shown" if decision.asks == "move" else "not-seen"
    return cutter.seats[0].decisions, cutter.seats[1].decisions


def _find_bench(seat: _Seat) -> None:
    """Name the Pokémon that waited at first: those that came in later."""
    decisions = seat.decisions
    if len(decisions) < 2 or decisions[1].asks != "bench":
        return
    leads = [slot.name for slot in decisions[0].slots]
    waiting = [name for name in dict.fromkeys(seat.entered) if name not in leads]
    for slot, name in zip(decisions[1].slots, waiting, strict=False):
        slot.kind, slot.name = "switch", name
