"""What the owner of a team knew from the start, as far as the whole log shows it: species, moves, items, abilities."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from nashdex.core.user_input import shorten
from nashdex_replays.cutting import STRUGGLE, bare, caller_of, name_of, prevents_another
from nashdex_replays.refusal import RefusedReplayError
from nashdex_replays.words import clean_name

NUM_MOVES: Final = 4
TEAM_SIZE: Final = 6
_NOT_OWN: Final = frozenset({STRUGGLE, "recharge"})
_HOLDER_BY_OF: Final = frozenset({"-damage", "-weather", "-fieldstart", "-status", "-item", "-sethp", "-unboost"})
"""Lines whose cause belongs to the Pokémon after ``[of]``. Others' causes belong to their subject."""
_GAINED_ABILITIES: Final = frozenset(
    {"skillswap", "roleplay", "entrainment", "worryseed", "simplebeam", "doodle", "mummy"}
)
_FOUND: Final = frozenset({"frisk"})
"""Causes of lines about an item that the Pokémon held already."""


_Z_MOVE: Final = "[zeffect]"
"""Marks a damaging Z-move. Its name differs from the own move's; other Z-moves are named like "Z-Growth"."""


@dataclass(slots=True)
class Member:
    """A Pokémon of a team."""

    name: str
    details: str
    """Species, level and gender, as its first line has them."""
    moves: list[str] = field(default_factory=list)
    """Ids of its own moves, in the order in which they were seen."""
    item: str | None = None
    """Its first item; None if the log does not show it."""
    item_shown: int = 0
    """The line that shows or changes its item first; from there on the lines are enough."""
    ability: str | None = None
    ability_shown: int = 0
    tera: str | None = None
    stats: dict[str, int] | None = None
    """Its stats; None: the stats of a usual spread."""
    gimmicks: set[str] = field(default_factory=set)
    """Mega Evolution and Z-moves that it uses at some time."""

    @property
    def species(self) -> str:
        """The species' text, with its forme."""
        return self.details.partition(",")[0]

    def told(self, position: int, *, has_terastallized: bool) -> dict[str, str]:
        """Return what its entry of a request at ``position`` says of item, ability and Tera type."""
        entry = {}
        if self.item is not None and position <= self.item_shown:
            entry["item"] = self.item
        if self.ability is not None and position <= self.ability_shown:
            entry["baseAbility"] = self.ability
        if self.tera is not None:
            entry |= {"teraType": self.tera, "terastallized": self.tera if has_terastallized else ""}
        return entry


@dataclass(slots=True)
class _Slot:
    active: Member | None = None
    transformed: bool = False
    mimicked: str | None = None
    called: set[str] = field(default_factory=set)
    """Moves that others called, such as Metronome."""
    prepared: str = ""
    """The move that it finishes when it acts next."""


def teams(lines: Sequence[str]) -> tuple[list[Member], list[Member]]:
    """Return both teams' known members, in the order of Team Preview, or else of their first appearance.

    Raises:
        RefusedReplayError: one name means two Pokémon, or a Pokémon uses more than four moves.
    """
    found: tuple[list[Member], list[Member]] = ([], [])
    slots: defaultdict[str, _Slot] = defaultdict(_Slot)
    for index, line in enumerate(lines):
        parts = line.split("|")
        if len(parts) < 3 or parts[2][:2] not in {"p1", "p2"}:
            continue
        seat = int(parts[2][1] == "2")
        kind, arguments = parts[1], parts[2:]
        if kind == "poke" and len(arguments) > 1:
            details = arguments[1].replace("-*", "")
            _join(found[seat], Member("", details))
        elif kind in {"switch", "drag", "replace"} and len(arguments) > 1:
            member = _member(found[seat], name_of(arguments[0]), arguments[1])
            slots[arguments[0][:3]] = _Slot(member)
        elif kind == "swap" and len(arguments) > 1 and arguments[1] in {"0", "1"}:
            place, other = arguments[0][:3], f"{arguments[0][:2]}{'ab'[int(arguments[1])]}"
            slots[place], slots[other] = slots[other], slots[place]
        elif ": " in arguments[0] and (len(arguments) > 1 or kind == "-zpower"):
            _read(found, slots[arguments[0][:3]], seat, kind, arguments, index)
    for team in found:
        for member in team:
            member.name = member.name or member.species
        names = [member.name for member in team]
        if len(set(names)) < len(names):
            raise RefusedReplayError("names", f"a team has the Pokémon {shorten(names)}; expected different names")
    return found


def _member(team: list[Member], name: str, details: str) -> Member:
    """Return the member called ``name``; a new one if Team Preview did not show it."""
    species = details.partition(",")[0]
    for member in team:
        if member.name == name:
            return member
    for member in team:
        if not member.name and base_species(member.species) == base_species(species):
            member.name, member.details = name, details
            return member
    _join(team, Member(name, details))
    return team[-1]


def _join(team: list[Member], member: Member) -> None:
    """Add a member. A hostile log would add thousands, and every later line looks at them all."""
    if len(team) == TEAM_SIZE:
        raise RefusedReplayError("names", f"a team has more than {TEAM_SIZE} Pokémon, such as {shorten(member.name)}")
    team.append(member)


def base_species(species: str) -> str:
    """Return a species without its forme: Team Preview leaves some formes out."""
    return species if species in _WITH_DASH else species.partition("-")[0]


_WITH_DASH: Final = frozenset(
    {"Ho-Oh", "Porygon-Z", "Jangmo-o", "Hakamo-o", "Kommo-o", "Ting-Lu", "Chien-Pao", "Wo-Chien", "Chi-Yu"}
)


def _read(
    found: tuple[list[Member], list[Member]],
    slot: _Slot,
    seat: int,
    kind: str,
    arguments: list[str],
    index: int,
) -> None:
    """Read what a line shows of a Pokémon."""
    name = name_of(arguments[0])
    subject = next((member for member in found[seat] if member.name == name), slot.active)
    if subject is None:
        return
    match kind:
        case "move" if _Z_MOVE not in arguments:
            _learn(subject, slot, clean_name(arguments[1].removeprefix("Z-")), caller_of(arguments))
        case "cant" if len(arguments) > 2 and not prevents_another(arguments):
            _learn(subject, slot, clean_name(arguments[2]), None)
        case "-transform":
            slot.transformed = True
        case "-prepare":
            slot.prepared = clean_name(arguments[1])
        case "-anim":  # it is finished at once
            slot.prepared = ""
        case "-start" | "-activate" if bare(arguments[1]) == "mimic" and len(arguments) > 2:
            slot.mimicked = clean_name(arguments[2])
        case "-terastallize":
            subject.tera = arguments[1]
        case "-item":
            known = caller_of(arguments)
            _hold(subject, clean_name(arguments[1]) if known in _FOUND else None, index)
        case "-enditem":
            _hold(subject, clean_name(arguments[1]), index)
        case "-zpower":
            subject.gimmicks.add("zmove")
        case "-mega" if len(arguments) > 2:
            subject.gimmicks.add("mega")
            _hold(subject, clean_name(arguments[2]), index)
        case "-ability":
            cause = caller_of(arguments)
            _have(subject, None if cause in _GAINED_ABILITIES else cause or clean_name(arguments[1]), index)
        case "-endability":
            _have(subject, clean_name(arguments[1]) or None, index)
        case _:
            pass
    _read_cause(found, subject, kind, arguments, index)


def _learn(subject: Member, slot: _Slot, move: str, caller: str | None) -> None:
    """Add the move to its user's moveset, unless something else called it."""
    goes_on = caller in {"lockedmove", move} or (caller is None and move == slot.prepared)
    slot.prepared = ""
    if caller not in {None, "lockedmove", "sleeptalk", "pursuit", move}:
        slot.called.add(move)
        return
    is_called = goes_on and move in slot.called
    if is_called or slot.transformed or not move or move in {*_NOT_OWN, slot.mimicked, *subject.moves}:
        return
    if move.removeprefix("max") not in _MAX_MOVES:
        if len(subject.moves) == NUM_MOVES:
            raise RefusedReplayError(
                "moves", f"{shorten(subject.name)} uses more than {NUM_MOVES} own moves, such as {shorten(move)}"
            )
        subject.moves.append(move)


_MAX_MOVES: Final = frozenset(
    {
        "airstream", "darkness", "flare", "flutterby", "geyser", "guard",
        "hailstorm", "knuckle", "lightning", "mindstorm", "ooze", "overgrowth",
        "phantasm", "quake", "rockfall", "starfall", "steelspike", "strike",
        "wyrmwind",
    }
)  # fmt: skip


def _hold(member: Member, item: str | None, index: int) -> None:
    if not member.item_shown:
        member.item, member.item_shown = item, index


def _have(member: Member, ability: str | None, index: int) -> None:
    if not member.ability_shown:
        member.ability, member.ability_shown = ability, index


def _read_cause(
    found: tuple[list[Member], list[Member]], subject: Member, kind: str, arguments: list[str], index: int
) -> None:
    """Read the item or ability that caused a line: ``[from] item: Leftovers``, or an effect that names it."""
    holder = subject
    for tag in arguments[1:]:
        if tag.startswith("[of] ") and kind in _HOLDER_BY_OF:
            ident = tag.removeprefix("[of] ")
            team = found[int(ident[:2] == "p2")]
            holder = next((member for member in team if member.name == name_of(ident)), subject)
    for tag in arguments[1:]:
        is_cause = tag.startswith("[from] ")
        effect = tag.removeprefix("[from] ")
        owner = holder if is_cause else subject
        if effect.startswith("item: ") and not (is_cause and effect.endswith("Berry")):
            # A berry has ended before its effect, which may be that of a Pokémon that stole it or was hit with it.
            _hold(owner, bare(effect), index)
        elif effect.startswith("ability: ") and not (is_cause and kind == "-ability"):
            _have(owner, bare(effect), index)
