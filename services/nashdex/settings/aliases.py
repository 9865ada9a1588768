"""Names that other projects use for formats, in settings and in `nashdex battle`."""

from typing import Final

FORMAT_ALIASES: Final = {
    "gen9vgc2023regulationc": "gen9vgc2023regc",
    "gen9vgc2025regg": "gen9vgc2024regg",
    "gen9vgc2025reggbo3": "gen9vgc2024reggbo3",
}
"""EliteFurretAI and older releases of poke-env have the regulation's long name. Regulation G was played in two years,
and the simulator has it under the first."""


def canonical_format(name: str) -> str:
    """Return the simulator's id of a format that other projects call ``name``; the name itself otherwise."""
    return FORMAT_ALIASES.get(name, name)
