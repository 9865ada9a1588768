"""The generation in which each species, move, item and ability first exists, from the simulator's data."""

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final, Literal

Kind = Literal["species", "move", "item", "ability"]

_FILE: Final = "first_generations.json"
_OTHER_NAMES: Final[Mapping[Kind, Mapping[str, int]]] = {
    "species": {"missingno": 1},
    "move": {"recharge": 1, "fight": 1, "faintattack": 2, "hijumpkick": 1, "vicegrip": 1, "smellingsalt": 3},
    "item": {},
    "ability": {"noability": 1, "asone": 8},
}
"""Names in old logs that the simulator has renamed, its words for none, and the names of two of its abilities in
lines."""


def first_generation(kind: Kind, name: str) -> int | None:
    """Return the generation that introduced ``name``, an id; None if no generation has it."""
    return _table()[kind].get(name)


@cache
def _table() -> dict[Kind, dict[str, int]]:
    text = (resources.files(__package__) / _FILE).read_text(encoding="utf-8")
    found: dict[Kind, dict[str, int]] = {}
    for kind, generations in json.loads(text).items():
        ids = {name: int(generation) for generation, names in generations.items() for name in names.split()}
        found[kind] = {**ids, **_OTHER_NAMES[kind]}
    return found


@cache
def letters_only(kind: Kind) -> Mapping[str, int]:
    """Return the same by the letters of the ids alone, as metamon's states have them."""
    found: dict[str, int] = {}
    for name, generation in _table()[kind].items():
        letters = "".join(filter(str.isalpha, name))
        found[letters] = min(generation, found.get(letters, generation))
    return found
