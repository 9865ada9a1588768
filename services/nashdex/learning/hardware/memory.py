"""Running out of memory, as an error that names the setting to change."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from nashdex.core.errors import ConfigurationError

_CPU_MESSAGES = ("can't allocate memory", "not enough memory")
"""Of torch's allocator on a CPU, which raises no type of its own."""


@contextmanager
def memory_limited_by(setting: str) -> Iterator[None]:
    """Name ``setting`` where torch runs out of memory.

    Raises:
        ConfigurationError: there is too little memory for the setting.
    """
    try:
        yield
    except RuntimeError as error:
        message = str(error).partition("\n")[0]
        if not isinstance(error, torch.OutOfMemoryError) and not any(part in message for part in _CPU_MESSAGES):
            raise
        raise ConfigurationError(f"training ran out of memory ({message}): lower {setting}") from error
