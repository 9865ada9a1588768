"""What a user writes: files, TOML, ``KEY=VALUE``, and names that are nearly right."""

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from nashdex.core.errors import ConfigurationError, DataError

_MOST_CHARACTERS = 80
"""Longest quoted value in a message."""


def shorten(value: object) -> str:
    """Return ``repr(value)`` cut to the length that a message may quote."""
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python prints
        return "a number of thousands of digits"
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"


def did_you_mean(name: str, known: Iterable[str], most: int = 3, similarity: float = 0.6) -> str:
    """Return a question with at most ``most`` of the ``known`` names that are near ``name``, and a space; or nothing.

    ``similarity`` is from 0 to 1, as ``difflib`` measures it; names below are not near.
    """
    near = get_close_matches(name.lower(), list(known), most, similarity)
    if not near:
        return ""
    *others, last = near
    return f"did you mean {', '.join(others)} or {last}? " if others else f"did you mean {last}? "


def expected_instead(name: str, known: Iterable[str], expected: str) -> str:
    """Return the ``known`` names nearest to ``name`` as a question, if there are any, and what is ``expected``."""
    near = did_you_mean(name, known)
    return f"{near}{'E' if near else 'e'}xpected {expected}"


def expected_one_of(name: str, known: Collection[str]) -> str:
    """Return the names nearest to ``name`` as a question, if there are any, and all the ``known`` ones."""
    return expected_instead(name, known, f"one of {', '.join(known)}")


MOST_BYTES: Final = 64 << 20
"""More than any file of settings, teams or payoffs has; a device such as /dev/zero never ends."""


def read_file(path: Path, expected: str, most_bytes: int = MOST_BYTES) -> bytes:
    """Return the content of a file.

    ``expected`` says for the error what it should be, such as ``a TOML file of settings``. A file of more than
    ``most_bytes`` is refused, and no more of it is read.

    Raises:
        DataError: the file cannot be read, or is larger.
    """
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else error
        raise DataError(f"{path}: cannot be read ({reason}); expected {expected}") from error
    if len(data) > most_bytes:
        raise DataError(f"{path} has more than {most_bytes:,} bytes; expected {expected}")
    return data


MOST_TOML_BYTES = 256 << 10
"""Largest file. Reading a megabyte of keys takes seconds."""
_NEAR = 0.85
"""Similarity of paths that a user may have meant. Paths in one folder are half equal anyway."""


def read_toml(path: Path, what: str, folder: Path | None = None) -> dict[str, Any]:
    """Return the values in a TOML file.

    The error says ``what`` the file should hold, such as ``settings``, and lists the files in ``folder`` too.

    Raises:
        DataError: the file cannot be read or is not TOML.
    """
    if folder is not None and not path.exists():
        there = sorted({str(file) for place in (path.parent, folder) for file in place.glob("*.toml")})
        near = did_you_mean(str(folder / path.name), there, similarity=_NEAR)
        raise DataError(f"{path} does not exist; {near}expected a TOML file of {what}")
    try:
        return parse_toml(read_file(path, f"a TOML file of {what}", MOST_TOML_BYTES).decode("utf-8-sig"))
    except ValueError as error:
        raise DataError(f"{path} is not TOML: {error}") from error


def parse_toml(text: str) -> dict[str, Any]:
    """Return the values in ``text``.

    Raises:
        ValueError: it is not TOML, is nested too deeply, or holds a number that Python does not convert.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError as error:
        raise ValueError("it is nested too deeply; expected a few levels") from error
    except ValueError as error:
        raise ValueError("it holds a number of thousands of digits") from error


def parse_assignment(text: str, example: str) -> tuple[str, Any]:
    """Return the key and the value of ``text``. The value is TOML, or else a plain string.

    The error shows ``example``.

    Raises:
        ConfigurationError: there is no key or no ``=``, or the value is nested too deeply or too long a number.
    """
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ConfigurationError(f"--set {shorten(text)}: expected KEY=VALUE, such as {example}")
    try:
        values = parse_toml(f"value = {value}")
    except tomllib.TOMLDecodeError:
        return key, value
    except ValueError as error:
        raise ConfigurationError(f"--set {shorten(text)}: {error}") from error
    # More than one value: a line break made another line of TOML.
    return key, values["value"] if len(values) == 1 else value


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with the values of ``over`` in it: mappings are merged, anything else is replaced."""
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        merged[key] = merge(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return merged


def flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each leaf of nested ``values`` under its dotted key."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
