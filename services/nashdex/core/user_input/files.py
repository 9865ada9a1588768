"""Files that a user names on the command line or in settings."""

from pathlib import Path
from typing import Final

from nashdex.core.errors import DataError

MOST_BYTES: Final = 64 << 20
"""More than any file of settings, teams or payoffs has; a device such as /dev/zero never ends."""


def read_file(path: Path, expected: str, most_bytes: int = MOST_BYTES) -> bytes:
    """Return the content of a file.

    Args:
        path: the file.
        expected: what it should be, such as ``a TOML file of settings``; for the error.
        most_bytes: a larger file is refused, and no more of it is read.

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
        raise DataError(f"{path} has more than {most_bytes} bytes; expected {expected}")
    return data
