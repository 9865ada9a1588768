"""Facts about species from poke-env's data: the stats of a usual spread, which no log shows, types and abilities."""

from collections.abc import Mapping
from typing import Final

from nashdex_replays.data import game_data
from nashdex_replays.words import clean_name, whole_number

_LAST_WITH_STAT_EXPERIENCE: Final = 2
_UNKNOWN: Final = dict.fromkeys(("hp", "atk", "def", "spa", "spd", "spe"), 0)


def usual_stats(details: str, generation: int) -> dict[str, int]:
    """Return the stats of a Pokémon by its details, such as ``Mew, L74``; base stats of an unknown species are 0."""
    species, *rest = details.split(", ")
    level = next((whole_number(part[1:]) for part in rest if part[:1] == "L"), None) or 100
    known = game_data(generation).pokedex.get(clean_name(species))
    base: dict[str, int] = _UNKNOWN if known is None else known["baseStats"]
    old = generation <= _LAST_WITH_STAT_EXPERIENCE
    stats = {}
    for stat, value in base.items():
        doubled = (value + 15) * 2 + 63 if old else 2 * value + 31 + 21
        stats[stat] = doubled * level // 100 + (level + 10 if stat == "hp" else 5)
    return stats


def stats_of(
    species: str, level: int, nature: str, evs: Mapping[str, int], ivs: Mapping[str, int], generation: int
) -> dict[str, int] | None:
    """Return the stats of a set from the third generation on; None for an unknown species.

    A stat missing in ``evs`` has 0, a stat missing in ``ivs`` has 31.
    """
    known = game_data(generation).pokedex.get(clean_name(species))
    if known is None:
        return None
    factors: Mapping[str, float] = game_data(generation).natures.get(clean_name(nature), {})
    stats = {}
    for stat, base in known["baseStats"].items():
        value = (2 * base + ivs.get(stat, 31) + evs.get(stat, 0) // 4) * level // 100
        stats[stat] = value + level + 10 if stat == "hp" else (value + 5) * round(100 * factors.get(stat, 1)) // 100
    return stats


def has_type(species: str, type_: str, generation: int) -> bool:
    """Say whether a species has a type, such as ``Ghost``."""
    return type_ in game_data(generation).pokedex.get(clean_name(species), {}).get("types", ())


def may_have(species: str, ability: str, generation: int) -> bool:
    """Say whether a Pokémon of a species may have an ability, given by its id."""
    abilities: dict[str, str] = game_data(generation).pokedex.get(clean_name(species), {}).get("abilities", {})
    return ability in map(clean_name, abilities.values())
