"""Files that a workflow reads as output parameters."""

from collections.abc import Mapping
from pathlib import Path

from nashdex.core.errors import ConfigurationError


def write_outputs(folder: Path, values: Mapping[str, int]) -> None:
    """Write each value to the file of its name in ``folder``.

    Raises:
        ConfigurationError: they cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, value in values.items():
            (folder / name).write_text(str(value))
    except OSError as error:
        raise ConfigurationError(f"--outputs {folder}: cannot be written ({error.strerror})") from error
