"""What a Showdown server sends: messages of lines for a room, and names as it compares them."""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from nashdex.core.errors import DataError

_NOT_OF_THE_BATTLE: Final = frozenset(
    {"", "init", "title", "j", "l", "n", "c", "c:", "J", "L", "N", "t:", "inactive", "inactiveoff", "raw", "html"}
    | {"uhtml", "uhtmlchange", "request", "error", "bigerror", "sentchoice", "deinit", "noinit", "expire", "debug"}
)
"""Types of lines that say nothing of the battle itself."""


class Message(NamedTuple):
    """One message: a room, empty for the lobby, and its lines."""

    room: str
    lines: tuple[str, ...]


def read_message(text: str) -> Message:
    """Return a server's message in its parts."""
    lines = text.split("\n")
    room = lines.pop(0)[1:] if lines[0].startswith(">") else ""
    return Message(room, tuple(lines))


def words_of(line: str) -> list[str]:
    """Return the parts of a line: its type, then its arguments. Chat without a type has an empty one."""
    return line[1:].split("|") if line.startswith("|") else [""]


def is_of_the_battle(line: str) -> bool:
    """Say whether a tracker should read the line."""
    return line.startswith("|") and words_of(line)[0] not in _NOT_OF_THE_BATTLE


def to_id(name: str) -> str:
    """Return a name as the server compares names: lower-case letters and digits."""
    return "".join(character for character in name.lower() if character.isascii() and character.isalnum())


def with_neutral_names(lines: Iterator[str], players: tuple[str, str]) -> Iterator[str]:
    """Yield lines in which the players are ``Player 1`` and ``Player 2``, as in the gateway: names mean nothing."""
    neutral = {to_id(name): f"Player {seat + 1}" for seat, name in enumerate(players) if name}
    for line in lines:
        match line.split("|"):
            case ["", "player", ("p1" | "p2") as seat, name, *rest] if name:
                yield "|".join(["", "player", seat, f"Player {seat[1]}", *rest])
            case ["", "win", name] if to_id(name) in neutral:
                yield f"|win|{neutral[to_id(name)]}"
            case _:
                yield line


def read_object(text: str) -> dict[str, Any]:
    """Return the JSON object that a server sends in a line.

    Raises:
        DataError: it is none.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise DataError(f"the server sends {text[:80]!r}; expected a JSON object: {_OTHER_VERSION}")
    return found


def read_number(value: object) -> int:
    """Return a whole number that a server sends, in a line or in JSON.

    Raises:
        DataError: it is none.
    """
    text = str(value)
    if not text.isascii() or not text.isdigit():
        raise DataError(f"the server sends {text[:80]!r}; expected a whole number: {_OTHER_VERSION}")
    return int(text)


_OTHER_VERSION: Final = (
    "it may be a server of another version; `nashdex showdown` starts one that this client understands"
)
