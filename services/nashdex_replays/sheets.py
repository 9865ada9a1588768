"""Team sheets: a log's direct statements on its players' teams, in lines that both saw or beside the log."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from nashdex.core.user_input import shorten
from nashdex_replays.refusal import RefusedReplayError
from nashdex_replays.stats import stats_of
from nashdex_replays.teams import NUM_MOVES, TEAM_SIZE, Member, base_species
from nashdex_replays.words import clean_name, whole_number

_STATS: Final = ("hp", "atk", "def", "spa", "spd", "spe")
_MAX_EV: Final = 255
_MAX_IV: Final = 31
_MAX_NAME: Final = 64
_FULL_LEVEL: Final = 100
_PACKED_FIELDS: Final = 12
"""Name, species, item, ability, moves, nature, EVs, gender, IVs, shiny, level, and the rest with commas."""
_PACKED_TERA: Final = 5
"""Place of the tera type in the rest: happiness, Hidden Power type, ball, Gigantamax, Dynamax level, tera type."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One Pokémon of a team. Empty: the sheet does not say."""

    species: str
    name: str = ""
    item: str = ""
    ability: str = ""
    moves: tuple[str, ...] = ()
    """Ids."""
    tera: str = ""
    level: int = _FULL_LEVEL
    nature: str = ""
    evs: dict[str, int] = field(default_factory=dict)
    """Effort values by stat; empty for an open team sheet."""
    ivs: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the Pokémon as Showdown's logs of battles have it."""
        return {
            "name": self.name,
            "species": self.species,
            "item": self.item,
            "ability": self.ability,
            "moves": list(self.moves),
            "teraType": self.tera,
            "level": self.level,
            "nature": self.nature,
            "evs": self.evs,
            "ivs": self.ivs,
        }


def team_of(given: object, source: str) -> tuple[Sheet, ...]:
    """Return the team of a list of sets, as Showdown's server writes it beside a log; nothing if there is none.

    Raises:
        RefusedReplayError: it is none.
    """
    if given is None:
        return ()
    if not isinstance(given, list) or len(given) > TEAM_SIZE:
        raise _refused(source, f"a team {shorten(given)}; expected a list of at most {TEAM_SIZE} sets")
    return tuple(_sheet(each, source) for each in given)


def _sheet(given: object, source: str) -> Sheet:
    if not isinstance(given, dict):
        raise _refused(source, f"a set {shorten(given)}; expected an object with `species` and `moves`")
    texts = {key: given.get(key) or "" for key in ("name", "species", "item", "ability", "teraType", "nature")}
    moves = given.get("moves", [])
    if (
        any(not isinstance(text, str) or len(text) > _MAX_NAME for text in texts.values())
        or not isinstance(moves, list)
        or len(moves) > NUM_MOVES
        or any(not isinstance(move, str) or len(move) > _MAX_NAME for move in moves)
    ):
        raise _refused(source, f"a set {shorten(given)}; expected names of {_MAX_NAME} characters, and four moves")
    level = given.get("level", _FULL_LEVEL)
    return Sheet(
        species=texts["species"] or texts["name"],
        name=texts["name"],
        item=texts["item"],
        ability=texts["ability"],
        moves=tuple(map(clean_name, moves)),
        tera=texts["teraType"],
        level=level if isinstance(level, int) and 0 < level <= _FULL_LEVEL else _FULL_LEVEL,
        nature=texts["nature"],
        evs=_numbers(given.get("evs"), _MAX_EV),
        ivs=_numbers(given.get("ivs"), _MAX_IV),
    )


def _numbers(given: object, most: int) -> dict[str, int]:
    if not isinstance(given, dict):
        return {}
    return {stat: given[stat] for stat in _STATS if isinstance(given.get(stat), int) and 0 <= given[stat] <= most}


def open_teams(lines: Sequence[str]) -> dict[int, tuple[Sheet, ...]]:
    """Return the teams that both players saw, by seat: the lines ``|showteam|p1|…`` of Open Team Sheets."""
    found: dict[int, tuple[Sheet, ...]] = {}
    for line in lines:
        kind, _, rest = line.removeprefix("|").partition("|")
        side, _, packed = rest.partition("|")
        if kind == "showteam" and side in {"p1", "p2"}:
            found.setdefault(int(side == "p2"), tuple(_unpacked(packed)))
    return found


def _unpacked(packed: str) -> Iterator[Sheet]:
    """Yield the Pokémon of a packed team."""
    for text in packed.split("]")[:TEAM_SIZE]:
        fields = [*text.split("|"), *[""] * _PACKED_FIELDS]
        rest = [*fields[11].split(","), *[""] * _PACKED_FIELDS]
        yield Sheet(
            species=fields[1] or fields[0],
            name=fields[0],
            item=fields[2],
            ability=fields[3],
            moves=tuple(clean_name(move) for move in fields[4].split(",") if move)[:NUM_MOVES],
            tera=rest[_PACKED_TERA],
            level=whole_number(fields[10]) or _FULL_LEVEL,
            nature=fields[5],
        )


def fill(members: Sequence[Member], sheets: Sequence[Sheet], generation: int, num_lines: int, source: str) -> None:
    """Have ``members`` know what their sheets say. One without a sheet, as anonymised logs have, keeps what lines show.

    Raises:
        RefusedReplayError: most sheets are of other Pokémon.
    """
    found = [_sheet_of(member, place, members, sheets) for place, member in enumerate(members)]
    missing = [member.species for member, sheet in zip(members, found, strict=True) if sheet is None]
    if 2 * len(missing) > len(members):
        raise _refused(source, f"no sheet of {shorten(missing)}; the sheets are of another team")
    for member, sheet in zip(members, found, strict=True):
        if sheet is None:
            continue
        member.moves = list(sheet.moves) or member.moves
        member.item, member.item_shown = clean_name(sheet.item), member.item_shown or num_lines
        member.ability, member.ability_shown = clean_name(sheet.ability), member.ability_shown or num_lines
        member.tera = sheet.tera or member.tera
        if sheet.evs:
            member.stats = stats_of(sheet.species, sheet.level, sheet.nature, sheet.evs, sheet.ivs, generation)


def _sheet_of(member: Member, place: int, members: Sequence[Member], sheets: Sequence[Sheet]) -> Sheet | None:
    """Return the sheet of a member: in Team Preview's order, teams have the order of their sheets."""
    if len(members) == len(sheets) and _are_same(member, sheets[place]):
        return sheets[place]
    return next((sheet for sheet in sheets if _are_same(member, sheet)), None)


def _are_same(member: Member, sheet: Sheet) -> bool:
    base = clean_name(base_species(member.species))
    return clean_name(sheet.species).startswith(base) or base.startswith(clean_name(base_species(sheet.species)))


def _refused(source: str, problem: str) -> RefusedReplayError:
    return RefusedReplayError("sheet", f"{source} has {problem}")
