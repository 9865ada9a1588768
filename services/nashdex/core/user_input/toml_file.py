"""TOML that a user writes."""

import tomllib
from pathlib import Path
from typing import Any

from nashdex.core.errors import DataError
from nashdex.core.user_input.files import read_file
from nashdex.core.user_input.near import did_you_mean

MOST_BYTES = 256 << 10
"""Largest file. Reading a megabyte of keys takes seconds."""
_NEAR = 0.85
"""Similarity of paths that a user may have meant. Paths in one folder are half equal anyway."""


def read_toml(path: Path, what: str, folder: Path | None = None) -> dict[str, Any]:
    """Return the values in a TOML file.

    Args:
        path: the file.
        what: what it should hold, such as ``settings``; for the error.
        folder: where a file of that name may be instead; for the error.

    Raises:
        DataError: the file cannot be read or is not TOML.
    """
    if folder is not None and not path.exists():
        there = sorted({str(file) for place in (path.parent, folder) for file in place.glob("*.toml")})
        near = did_you_mean(str(folder / path.name), there, similarity=_NEAR)
        raise DataError(f"{path} does not exist; {near}expected a TOML file of {what}")
    try:
        return parse_toml(read_file(path, f"a TOML file of {what}", MOST_BYTES).decode("utf-8-sig"))
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
