"""Words of Showdown's protocol: ids and numbers."""

from functools import lru_cache
from typing import Final

_NAMES_CACHED = 1 << 14
_MOST_DIGITS: Final = 9
BOUNDARY: Final = "|"
"""The simulator writes this line whenever it goes on after choices, and once before the end of a turn."""


def whole_number(text: str) -> int | None:
    """Return a decimal number of at most nine digits; None for any other text."""
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None


@lru_cache(_NAMES_CACHED)
def clean_name(text: str) -> str:
    """Return the id of a name: ``text`` in lower case with ASCII letters and digits alone."""
    return "".join(c for c in text.lower() if c.isascii() and c.isalnum())
