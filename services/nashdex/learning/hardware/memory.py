"""Running out of memory, as an error that names the setting to change."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from nashdex.core.errors import ConfigurationError

_CPU_MESSAGES = ("can't allocate memory", "not enough memory")
"""Message of torch's allocator on a CPU, which raises no type of its own."""


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether torch or numpy found too little memory, on a device or in the host."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(part in str(error) for part in _CPU_MESSAGES)


@contextmanager
def memory_limited_by(setting: str) -> Iterator[None]:
    """Name ``setting`` where memory runs out.

    Raises:
        ConfigurationError: there is too little memory for the setting.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        message = str(error).partition("\n")[0] or type(error).__name__
        raise ConfigurationError(f"training ran out of memory ({message}): lower {setting}") from error
