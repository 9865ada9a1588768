"""TOML that a user writes."""

import tomllib
from pathlib import Path
from typing import Any

from nashdex.core.errors import DataError
from nashdex.core.user_input.files import read_file


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """Return the values in a TOML file.

    Args:
        path: the file.
        what: what it should hold, such as ``settings``; for the error.

    Raises:
        DataError: the file cannot be read or is not TOML.
    """
    try:
        return parse_toml(read_file(path, f"a TOML file of {what}").decode())
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
