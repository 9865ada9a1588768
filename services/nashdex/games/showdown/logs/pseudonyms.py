"""Pseudonyms for player names. A name always has the same one, so that a player's battles remain connected."""

import hashlib
import re

_PREFIX = "player-"
_DIGITS = 12


def pseudonym(name: str) -> str:
    """Return the pseudonym of ``name``. Showdown's names differ by letters and digits alone, so only these count.

    It hides names from readers, not from someone who guesses names and hashes them.
    """
    if re.fullmatch(rf"{_PREFIX}[0-9a-f]{{{_DIGITS}}}", name):
        return name
    user_id = re.sub(r"[^a-z0-9]", "", name.lower())
    return _PREFIX + hashlib.sha256(f"nashdex player {user_id}".encode()).hexdigest()[:_DIGITS]
