"""What metamon's states say of species and moves beside their names, by generation, from poke-env's data."""

from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from nashdex_metamon.names import NO_TYPE, clean_no_numbers, move_name, type_words
from nashdex_replays.data import game_data
from nashdex_replays.words import clean_name

_SPECIAL_TYPES: Final = frozenset({"fire", "water", "grass", "electric", "ice", "psychic", "dragon", "dark"})
_LAST_CATEGORY_BY_TYPE: Final = 3
"""The last generation in which a move's type decides whether it is physical or special."""
_CERTAIN: Final = 1.0
_MYSTERY_TYPE: Final = "threequestionmarks"
"""The type "???"."""


@dataclass(frozen=True, slots=True)
class Species:
    """A forme of a species."""

    name: str
    base_species: str
    types: str
    """Two sorted words."""
    base_stats: dict[str, int]
    abilities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MoveFacts:
    """What a generation's move is."""

    name: str
    type: str
    category: str
    base_power: int
    accuracy: float
    """0 to 1; 1 for a move that never misses."""
    priority: int
    max_pp: int


_UNKNOWN_STATS: Final = dict.fromkeys(("hp", "atk", "def", "spa", "spd", "spe"), 0)


@dataclass(frozen=True)
class Dex:
    """One generation."""

    generation: int
    _species: dict[str, Species] = field(default_factory=dict, repr=False)
    _moves: dict[str, MoveFacts] = field(default_factory=dict, repr=False)

    def species(self, forme: str) -> Species:
        """Return what is known of a forme, by its id; an unknown one has no types and stats of 0."""
        found = self._species.get(forme)
        if found is None:
            found = self._species[forme] = self._read_species(forme)
        return found

    def move(self, move: str) -> MoveFacts:
        """Return what a move is, by its id; a move that the generation lacks is of no type and has no PP."""
        found = self._moves.get(move)
        if found is None:
            found = self._moves[move] = self._read_move(move)
        return found

    def _read_species(self, forme: str) -> Species:
        entry = game_data(self.generation).pokedex.get(forme, {})
        if "types" not in entry:  # some generations name species that they lack
            return Species(clean_name(forme), clean_name(forme), type_words(()), _UNKNOWN_STATS, ())
        return Species(
            name=clean_name(forme),
            base_species=clean_name(entry["baseSpecies"]),
            types=type_words(entry["types"]),
            base_stats=entry["baseStats"],
            abilities=tuple(entry.get("abilities", {}).values()),
        )

    def _read_move(self, move: str) -> MoveFacts:
        name = move_name(move)
        entry: dict[str, Any] | None = game_data(self.generation).moves.get(clean_name(move))
        if entry is None:
            return MoveFacts(name, NO_TYPE, "status", 0, _CERTAIN, 0, 0)
        type_ = clean_no_numbers(entry["type"]) or _MYSTERY_TYPE
        category = clean_no_numbers(entry["category"])
        if category != "status" and self.generation <= _LAST_CATEGORY_BY_TYPE:
            category = "special" if type_ in _SPECIAL_TYPES else "physical"
        return MoveFacts(
            name=name,
            type=type_,
            category=category,
            base_power=entry.get("basePower", 0),
            accuracy=_CERTAIN if entry["accuracy"] is True else entry["accuracy"] / 100,
            priority=entry.get("priority", 0),
            max_pp=entry["pp"] * 8 // 5,
        )


@cache
def dex(generation: int) -> Dex:
    """Return the dex of a generation, 1 to 9."""
    return Dex(generation)
