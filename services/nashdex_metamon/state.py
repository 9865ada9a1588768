"""One decision as metamon's files write it: a JSON object, here as typed values.

Names are cleaned (``metamon.names``). ``from_json`` reads old files too: it fills gaps, keeps the first four moves, and
ignores unknown keys. ``to_json`` writes the keys in the files' order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Self

from nashdex.core.errors import DataError
from nashdex_metamon.names import NO_MOVE, NO_TYPE

NUM_MOVES: Final = 4
"""Most moves that a state keeps of one Pokémon."""
NUM_SWITCHES: Final = 5
"""Most Pokémon on the bench."""
TEAM_SIZE: Final = 6

Number = int | float


@dataclass(frozen=True, slots=True)
class MoveState:
    """A move."""

    name: str
    move_type: str
    category: str
    base_power: Number
    accuracy: Number
    """0 to 1; 1 for a move that never misses."""
    priority: int
    current_pp: int
    max_pp: int

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Return the move that ``data`` describes. Raises DataError: it describes none."""
        values = _object(data, "a move")
        _require(values, _MOVE_TEXTS, str, "a move")
        _require(values, _MOVE_NUMBERS, (int, float), "a move")
        return cls(*[values[name] for name in _MOVE_KEYS])

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {name: getattr(self, name) for name in _MOVE_KEYS}


_MOVE_KEYS: Final = tuple(field.name for field in fields(MoveState))
_MOVE_TEXTS: Final = _MOVE_KEYS[:3]
_MOVE_NUMBERS: Final = _MOVE_KEYS[3:]
MISSING_MOVE: Final = MoveState(NO_MOVE, NO_MOVE, NO_MOVE, 0, 1.0, 0, 0, 0)
"""No move was used."""


@dataclass(frozen=True, slots=True)
class PokemonState:
    """A Pokémon. An opponent's has what was seen of it."""

    name: str
    hp_pct: Number
    """0 to 1."""
    types: str
    """Two sorted words."""
    item: str
    ability: str
    lvl: int
    status: str
    effect: str
    moves: tuple[MoveState, ...]
    atk_boost: int
    spa_boost: int
    def_boost: int
    spd_boost: int
    spe_boost: int
    accuracy_boost: int
    evasion_boost: int
    base_atk: int
    base_spa: int
    base_def: int
    base_spd: int
    base_spe: int
    base_hp: int
    tera_type: str
    base_species: str

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Return the Pokémon that ``data`` describes. Raises DataError: it describes none."""
        values = dict(_object(data, "a Pokémon"))
        _require(values, ("name",), str, "a Pokémon")
        what = f"the Pokémon {values['name']!r}"
        values.setdefault("tera_type", NO_TYPE)
        values.setdefault("base_species", values["name"].partition("-")[0])
        _require(values, _POKEMON_TEXTS, str, what)
        _require(values, _POKEMON_NUMBERS, (int, float), what)
        moves = _array(values.get("moves"), f"the moves of {what}")
        values["moves"] = tuple(MoveState.from_json(move) for move in moves[:NUM_MOVES])
        return cls(*[values[name] for name in _POKEMON_KEYS])

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object."""
        values = {name: getattr(self, name) for name in _POKEMON_KEYS}
        values["moves"] = [move.to_json() for move in self.moves]
        return values


_POKEMON_KEYS: Final = tuple(field.name for field in fields(PokemonState))
_POKEMON_TEXTS: Final = ("name", "types", "item", "ability", "status", "effect", "tera_type", "base_species")
_POKEMON_NUMBERS: Final = tuple(name for name in _POKEMON_KEYS if name not in {*_POKEMON_TEXTS, "moves"})


@dataclass(frozen=True, slots=True)
class BattleState:
    """What one seat sees at one of its decisions, or at the battle's end."""

    format: str
    player_active_pokemon: PokemonState
    opponent_active_pokemon: PokemonState
    available_switches: tuple[PokemonState, ...]
    """The living bench, even while the active Pokémon is trapped; for a revival, the fainted Pokémon."""
    player_prev_move: MoveState
    opponent_prev_move: MoveState
    opponents_remaining: int
    player_conditions: str
    opponent_conditions: str
    weather: str
    battle_field: str
    forced_switch: bool
    battle_won: bool
    battle_lost: bool
    can_tera: bool
    opponent_teampreview: tuple[str, ...]
    """Base species; empty without Team Preview."""

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Return the state that ``data`` describes.

        Raises:
            DataError: it describes none; the message names the key.
        """
        values = dict(_object(data, "a state"))
        values.setdefault("can_tera", False)
        values.setdefault("opponent_teampreview", [])
        _require(values, _STATE_TEXTS, str, "a state")
        _require(values, ("opponents_remaining",), (int, float), "a state")
        _require(values, _STATE_FLAGS, bool, "a state")
        for name in ("player_active_pokemon", "opponent_active_pokemon"):
            values[name] = PokemonState.from_json(values.get(name))
        for name in ("player_prev_move", "opponent_prev_move"):
            values[name] = MoveState.from_json(values.get(name))
        bench = _array(values.get("available_switches"), "the state's available_switches")
        values["available_switches"] = tuple(PokemonState.from_json(pokemon) for pokemon in bench)
        preview = _array(values["opponent_teampreview"], "the state's opponent_teampreview")
        values["opponent_teampreview"] = tuple(str(name) for name in preview)
        return cls(*[values[name] for name in _STATE_KEYS])

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object, its keys in the files' order."""
        values = {name: getattr(self, name) for name in _STATE_KEYS}
        for name in ("player_active_pokemon", "opponent_active_pokemon", "player_prev_move", "opponent_prev_move"):
            values[name] = values[name].to_json()
        values["available_switches"] = [pokemon.to_json() for pokemon in self.available_switches]
        values["opponent_teampreview"] = list(self.opponent_teampreview)
        return values


_STATE_KEYS: Final = tuple(field.name for field in fields(BattleState))
_STATE_FLAGS: Final = ("forced_switch", "battle_won", "battle_lost", "can_tera")
_STATE_TEXTS: Final = ("format", "player_conditions", "opponent_conditions", "weather", "battle_field")


def _object(data: object, what: str) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise DataError(f"{what} is {type(data).__name__}, expected a JSON object")
    return data


def _array(data: object, what: str) -> Sequence[Any]:
    if not isinstance(data, list):
        raise DataError(f"{what}: {type(data).__name__}, expected a JSON array")
    return data


def _require(values: Mapping[str, Any], names: Sequence[str], kind: type | tuple[type, ...], what: str) -> None:
    """Raise DataError unless each of ``names`` is in ``values`` and of ``kind``."""
    for name in names:
        if not isinstance(values.get(name), kind) or (kind is not bool and isinstance(values[name], bool)):
            expected = "text" if kind is str else "true or false" if kind is bool else "a number"
            found = f"is {values[name]!r}" if name in values else "is missing"
            raise DataError(f"{what} has no valid {name!r}: it {found}, expected {expected}")
