"""TOML files that a user writes."""

import tomllib
from pathlib import Path
from typing import Any

from nashdex.core.errors import DataError


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """Return the values in a TOML file.

    Args:
        path: the file.
        what: what it should hold, such as ``settings``; for the error.

    Raises:
        DataError: the file cannot be read or is no TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); expected a TOML file of {what}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{path} is no TOML: {error}") from error
