"""The Showdown formats that nashdex ships, by where their teams are from, under the simulator's own ids."""

from collections.abc import Iterable
from typing import Final

_GENERATIONS: Final = range(1, 10)
_TIERED_GENERATIONS: Final = range(1, 5)
_TIERS: Final = ("uu", "nu", "ubers")

RANDOM_BATTLES: Final = (
    *(f"gen{generation}randombattle" for generation in _GENERATIONS),
    "gen7letsgorandombattle",
    "gen8bdsprandombattle",
)
"""Singles formats whose teams the simulator generates."""

TIERS: Final = (
    *(f"gen{generation}ou" for generation in _GENERATIONS),
    *(f"gen{generation}{tier}" for generation in _TIERED_GENERATIONS for tier in _TIERS),
    "gen7letsgoou",
    "gen8bdspou",
    "gen9nationaldex",
)
"""Singles formats whose players bring teams. ``team_sets`` has teams for each."""

RANDOM_DOUBLES: Final = ("gen9randomdoublesbattle",)
"""Doubles formats whose teams the simulator generates."""

DOUBLES_TIERS: Final = tuple(f"gen{generation}doublesou" for generation in range(3, 10))
"""Doubles formats whose players bring six Pokémon and play them all. ``team_sets`` has teams for each.

The first two generations have no doubles.
"""

VGC: Final = (
    "gen8vgc2020",
    "gen9vgc2023regc",
    "gen9vgc2023regd",
    "gen9vgc2024regg",
    "gen9championsvgc2026regma",
    "gen9championsvgc2026regmb",
)
"""Doubles formats whose players bring six Pokémon and pick four. ``team_sets`` has teams of tournaments for each."""

OTHER_VGC: Final = ("gen8vgc2021", "gen8vgc2022", "gen9vgc2025regi")
"""The same, where ``team_sets`` has legal teams of earlier tournaments and generated ones."""

_SERIES_SUFFIX: Final = "bo3"


def series_of(names: Iterable[str]) -> tuple[str, ...]:
    """Return the best-of-three formats of ``names``; VGC has them from the ninth generation on."""
    return tuple(f"{name}{_SERIES_SUFFIX}" for name in names if name.startswith("gen9"))


SERIES: Final = series_of((*VGC, *OTHER_VGC))
"""The same with Open Team Sheets, in a best of three. They share the teams of the format without this suffix."""

DOUBLES: Final = (*RANDOM_DOUBLES, *DOUBLES_TIERS, *VGC, *OTHER_VGC, *SERIES)
SHOWDOWN: Final = (*RANDOM_BATTLES, *TIERS, *DOUBLES)
"""All of them, as `nashdex formats` lists them."""

_UNSUPPORTED: Final = {
    "triples": "each side has three active Pokémon; nashdex plays one or two a side",
    "rotation": "each side has three active Pokémon; nashdex plays one or two a side",
    "multi": "it has four players; nashdex plays two",
    "freeforall": "it has four players; nashdex plays two",
}


def without_series(name: str) -> str:
    """Return the format of one battle of a best of three: the same rules about teams."""
    return name.removesuffix(_SERIES_SUFFIX)


def why_unsupported(name: str) -> str | None:
    """Return why nashdex does not play the Showdown format ``name``, judged by its name; None if that shows nothing."""
    return next((reason for part, reason in _UNSUPPORTED.items() if part in name.lower()), None)
