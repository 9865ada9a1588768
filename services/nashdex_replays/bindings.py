"""What a log shows of the moves that a Pokémon may not use and of the traps that keep it in.

Only what is certain is forbidden: a Choice item binds if its holder is known to have it, and a trap lasts until the
trapper leaves. The rules are the simulator's (``sim/pokemon.ts``, ``data/conditions.ts``). Imprison is hidden from a
request until a choice is rejected, so it forbids nothing. The tracker knows which abilities trap and which moves have
no PP left.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from nashdex_replays.cutting import STRUGGLE, bare, caller_of, name_of
from nashdex_replays.moves import has_flag, is_status
from nashdex_replays.stats import has_type, may_have
from nashdex_replays.teams import NUM_MOVES, Member
from nashdex_replays.words import clean_name

_SIDES: Final = ("p1", "p2")
_CHOICE_ITEMS: Final = frozenset({"choiceband", "choicescarf", "choicespecs"})
_USED_AS_OWN: Final = frozenset({"dancer", "instruct", "lockedmove"})
"""Callers whose move counts as the last one of its user."""
_TAKES_ITEM: Final = frozenset({"thief", "covet", "magician", "pickpocket", "bestow", "symbiosis"})
"""Causes of a line about a gained item, which the Pokémon after ``[of]`` has lost."""
_BINDS: Final = frozenset(
    {
        "bind",
        "clamp",
        "firespin",
        "infestation",
        "magmastorm",
        "sandtomb",
        "snaptrap",
        "thundercage",
        "whirlpool",
        "wrap",
    }
)  # fmt: skip
_ROOTS: Final = frozenset({"ingrain", "noretreat"})
"""Effects of a Pokémon's own move that keep it in."""
_NEVER_TWICE: Final = frozenset({"bloodmoon", "gigatonhammer"})
_STATUS_ALLOWED: Final = "mefirst"
_FIRST_WITH_FREE_GHOSTS: Final = 6
_FIRST_WITH_BOUND_SWITCHES: Final = 2
"""In the first generation, a bound Pokémon may switch."""


@dataclass(slots=True)
class _Slot:
    """A Pokémon on the field, since it came in."""

    name: str = ""
    last_move: str = ""
    """The last move that counts as its own."""
    chosen: str = ""
    """The move that it used first while it held a Choice item."""
    first_move: str = ""
    """The move that Gorilla Tactics binds it to."""
    disabled: str = ""
    encored: str = ""
    effects: set[str] = field(default_factory=set)
    """Taunt, Torment, Heal Block, Embargo, Throat Chop, Ingrain and No Retreat, while they last."""
    trappers: set[str] = field(default_factory=set)
    """Places of the Pokémon that keep it in, such as ``p2a``."""
    other_types: set[str] = field(default_factory=set)
    """Types that it got in battle."""
    other_ability: bool = False
    """Its ability was changed or suppressed."""


_EFFECTS: Final = frozenset({"taunt", "torment", "healblock", "embargo", "throatchop", *_ROOTS})


class Bindings:
    """Reads the lines of a battle. ``teams`` are both players' members as their owners know them."""

    def __init__(self, teams: tuple[Sequence[Member], Sequence[Member]], generation: int) -> None:
        self._generation = generation
        self._members = {(seat, member.name): member for seat, team in enumerate(teams) for member in team}
        self._slots: dict[str, _Slot] = {}
        self._items = {key: member.item for key, member in self._members.items()}
        """What each Pokémon holds now: an item's id, empty for none, None if unknown."""
        self._ate: set[tuple[int, str]] = set()
        self._rooms: set[str] = set()
        """Magic Room and Gravity, while they last."""
        self._fairy_locks = 0
        """Ends of turns until Fairy Lock is over."""
        self._last: tuple[str, str] = ("", "")
        """Places of the last user of a move and of its target."""

    def read(self, line: str) -> None:
        """Read the next line."""
        parts = line.split("|")
        if len(parts) < 2:
            return
        kind, arguments = parts[1], parts[2:]
        match kind:
            case "upkeep":
                self._fairy_locks = max(0, self._fairy_locks - 1)
            case "-fieldstart" if arguments:
                self._rooms.add(bare(arguments[0]))
            case "-fieldend" if arguments:
                self._rooms.discard(bare(arguments[0]))
            case "-fieldactivate" if arguments and bare(arguments[0]) == "fairylock":
                self._fairy_locks = 2
            case _ if arguments and arguments[0][:2] in _SIDES and ": " in arguments[0]:
                self._read(arguments[0][:3], kind, arguments)
            case _:
                pass

    def _read(self, place: str, kind: str, arguments: list[str]) -> None:
        key = (_SIDES.index(place[:2]), name_of(arguments[0]))
        slot = self._slots.setdefault(place, _Slot(key[1]))
        second = bare(arguments[1]) if len(arguments) > 1 else ""
        match kind:
            case "switch" | "drag":
                self._slots[place] = _Slot(key[1])
                self._leave(place)
            case "faint":
                self._leave(place)
            case "replace":
                slot.name = key[1]
            case "swap":
                self._swap(place, arguments)
            case "move" if len(arguments) > 1:
                self._move(place, slot, key, arguments)
            case "-start":
                self._begin(place, slot, second, arguments)
            case "-end":
                self._end(slot, second)
            case "-activate":
                self._activate(place, slot, second, arguments)
            case "-item" | "-enditem":
                self._change_item(key, kind, arguments)
            case "-ability" | "-endability":
                slot.other_ability = slot.other_ability or kind == "-endability" or caller_of(arguments) is not None
            case "-terastallize":
                slot.other_types.add(second)
            case "-transform":
                slot.other_ability = True
                slot.other_types.add("")
                slot.chosen = slot.first_move = ""
            case _:
                pass

    def _leave(self, place: str) -> None:
        """End the traps of who was in a place."""
        for slot in self._slots.values():
            slot.trappers.discard(place)

    def _swap(self, place: str, arguments: list[str]) -> None:
        """Two Pokémon of a side change places."""
        side = place[:2]
        other = f"{side}{'ab'[arguments[1] == '1']}" if len(arguments) > 1 and arguments[1] in {"0", "1"} else place
        if other == place:
            return
        self._slots[place], self._slots[other] = self._slots.get(other, _Slot()), self._slots[place]
        renamed = {place: other, other: place}
        for slot in self._slots.values():
            slot.trappers = {renamed.get(each, each) for each in slot.trappers}

    def _move(self, place: str, slot: _Slot, key: tuple[int, str], arguments: list[str]) -> None:
        move, caller = clean_name(arguments[1]), caller_of(arguments)
        self._last = place, arguments[2][:3] if len(arguments) > 2 else ""
        if caller is None or caller in _USED_AS_OWN:
            slot.last_move = move
        if caller is not None or move == STRUGGLE:
            return
        item = self._items.get(key)
        if item in _CHOICE_ITEMS:
            slot.chosen = slot.chosen or move
        slot.first_move = slot.first_move or move

    def _begin(self, place: str, slot: _Slot, effect: str, arguments: list[str]) -> None:
        if effect == "disable" and len(arguments) > 2:
            slot.disabled = clean_name(arguments[2])
        elif effect == "encore":
            slot.encored = slot.last_move
        elif effect in _EFFECTS:
            slot.effects.add(effect)
        elif effect == "octolock":
            slot.trappers.add(_source(arguments) or self._other(place))
        elif effect in {"typechange", "typeadd"} and len(arguments) > 2:
            slot.other_types.update(clean_name(name) for name in arguments[2].split("/"))

    def _end(self, slot: _Slot, effect: str) -> None:
        if effect == "disable":
            slot.disabled = ""
        elif effect == "encore":
            slot.encored = ""
        elif effect in _BINDS:
            slot.trappers.clear()
        slot.effects.discard(effect)

    def _activate(self, place: str, slot: _Slot, effect: str, arguments: list[str]) -> None:
        if effect == "trapped":
            slot.trappers.add(self._other(place))
        elif effect in _BINDS and self._generation >= _FIRST_WITH_BOUND_SWITCHES:
            slot.trappers.add(_source(arguments) or self._other(place))
        elif effect in {"skillswap", "mummy", "lingeringaroma", "wanderingspirit"}:
            for each in self._slots.values():
                each.other_ability = True

    def _other(self, place: str) -> str:
        """Return the other Pokémon of the last move, which is about the one in ``place``."""
        return self._last[1] if self._last[0] == place else self._last[0]

    def _change_item(self, key: tuple[int, str], kind: str, arguments: list[str]) -> None:
        item, cause = clean_name(arguments[1]) if len(arguments) > 1 else "", caller_of(arguments)
        self._items[key] = item if kind == "-item" else ""
        giver = next((tag.removeprefix("[of] ") for tag in arguments[2:] if tag.startswith("[of] p")), "")
        other = (_SIDES.index(giver[:2]), name_of(giver)) if giver[:2] in _SIDES else None
        if kind == "-item" and cause in _TAKES_ITEM and other is not None:
            self._items[other] = ""
        if kind == "-enditem":
            if "[eat]" in arguments:
                self._ate.add(key)
            elif cause == "stealeat" and other is not None:
                self._ate.add(other)

    # --- what a Pokémon may choose at the start of a turn

    def forbidden(self, place: str, moves: Sequence[str]) -> frozenset[str]:
        """Return those of ``moves`` that the Pokémon in a place, such as ``p1a``, certainly cannot choose."""
        slot = self._slots.get(place)
        if slot is None:
            return frozenset()
        key = (_SIDES.index(place[:2]), slot.name)
        found = {move for move in moves if self._forbids(slot, key, move)}
        only = self._bound_to(slot, key, moves)
        if only is not None:
            found.update(move for move in moves if move != only)
        return frozenset(found) if len(found) < len(set(moves)) else frozenset()

    def only_move(self, place: str, moves: Sequence[str]) -> str | None:
        """Return the move that the Pokémon in a place had to choose, of those that the log shows; None: several.

        A Pokémon with fewer than four known moves may have others, which Encore and a Choice item forbid too.
        """
        slot = self._slots.get(place)
        if slot is None:
            return None
        only = self._bound_to(slot, (_SIDES.index(place[:2]), slot.name), moves)
        if only is not None or len(moves) < NUM_MOVES:
            return only
        allowed = set(moves) - self.forbidden(place, moves)
        return allowed.pop() if len(allowed) == 1 else None

    def _forbids(self, slot: _Slot, key: tuple[int, str], move: str) -> bool:
        generation, effects = self._generation, slot.effects
        item = None if self._ignores_item(slot, key) else self._items.get(key)
        status = is_status(move, generation) and (move != _STATUS_ALLOWED or generation < 5)
        return (
            move == slot.disabled
            or (move == slot.last_move and ("torment" in effects or (move in _NEVER_TWICE and generation >= 9)))
            or (status and ("taunt" in effects or item == "assaultvest"))
            or ("healblock" in effects and has_flag(move, "heal", generation))
            or ("throatchop" in effects and has_flag(move, "sound", generation))
            or ("gravity" in self._rooms and has_flag(move, "gravity", generation))
            or (move == "belch" and key not in self._ate)
        )

    def _bound_to(self, slot: _Slot, key: tuple[int, str], moves: Sequence[str]) -> str | None:
        """Return the single move that Encore, a Choice item or an ability leaves; None: several."""
        if slot.encored in moves:
            return slot.encored
        if self._items.get(key) not in _CHOICE_ITEMS:
            slot.chosen = ""
        elif slot.chosen in moves and not self._ignores_item(slot, key):
            return slot.chosen
        member = self._members.get(key)
        if member is not None and member.ability == "gorillatactics" and not slot.other_ability:
            return slot.first_move if slot.first_move in moves else None
        return None

    def _ignores_item(self, slot: _Slot, key: tuple[int, str]) -> bool:
        if "magicroom" in self._rooms or "embargo" in slot.effects or slot.other_ability:
            return True
        member = self._members.get(key)
        if member is None:
            return True
        klutz = "klutz"
        return member.ability == klutz or (member.ability is None and may_have(member.species, klutz, self._generation))

    def is_trapped(self, place: str) -> bool:
        """Say whether the Pokémon in a place cannot be switched, unless it holds a Shed Shell that no line shows."""
        slot = self._slots.get(place)
        if slot is None or not (slot.trappers or slot.effects & _ROOTS or self._fairy_locks):
            return False
        key = (_SIDES.index(place[:2]), slot.name)
        member = self._members.get(key)
        if member is None or self._items.get(key) == "shedshell":
            return False
        may_be_ghost = has_type(member.species, "Ghost", self._generation) or slot.other_types & {"ghost", ""}
        return not (may_be_ghost and self._generation >= _FIRST_WITH_FREE_GHOSTS)


def _source(arguments: Sequence[str]) -> str:
    """Return the place of the Pokémon after ``[of]``; empty if there is none."""
    return next((tag.removeprefix("[of] ")[:3] for tag in arguments if tag.startswith("[of] p")), "")
