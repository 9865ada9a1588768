"""Names as metamon writes them: lower case, without spaces or punctuation, some without digits."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

NO_MOVE: Final = "nomove"
NO_EFFECT: Final = "noeffect"
NO_STATUS: Final = "nostatus"
NO_TYPE: Final = "notype"
NO_WEATHER: Final = "noweather"
NO_FIELD: Final = "nofield"
NO_CONDITIONS: Final = "noconditions"
NO_ITEM: Final = "noitem"
NO_ABILITY: Final = "noability"
UNKNOWN_ITEM: Final = "unknownitem"
UNKNOWN_ABILITY: Final = "unknownability"
BLANK: Final = "<blank>"
"""Fills a place of an observation's text that the state leaves empty."""

_NAMES_CACHED = 1 << 14
_SPELLINGS: Final = {"vicegrip": "visegrip"}
_FAMILIES: Final = ("hiddenpower", "return", "frustration")
"""Moves whose ids go on with a type or a power."""


@lru_cache(_NAMES_CACHED)
def clean_no_numbers(text: str) -> str:
    """Return ``text`` in lower case with ASCII letters alone."""
    return "".join(c for c in text.lower() if c.isascii() and c.isalpha())


@lru_cache(_NAMES_CACHED)
def move_name(move: str) -> str:
    """Return a move's name: no digits, no type or power at its end, today's spelling."""
    name = clean_no_numbers(move)
    for family in _FAMILIES:
        if name.startswith(family):
            return family
    return _SPELLINGS.get(name, name)


@lru_cache(_NAMES_CACHED)
def item_name(item: str | None) -> str:
    """Return an item's name; None is unknown, an empty text is no item."""
    return _held(item, NO_ITEM, UNKNOWN_ITEM)


@lru_cache(_NAMES_CACHED)
def ability_name(ability: str | None) -> str:
    """Return an ability's name; None is unknown, an empty text is no ability."""
    return _held(ability, NO_ABILITY, UNKNOWN_ABILITY)


def _held(text: str | None, nothing: str, unknown: str) -> str:
    return unknown if text is None else clean_no_numbers(text) or nothing


def type_words(types: Iterable[str]) -> str:
    """Return one or two types as two sorted words; a missing one is ``notype``."""
    words = [clean_no_numbers(name) for name in types][:2]
    return " ".join(sorted(words + [NO_TYPE] * (2 - len(words))))
