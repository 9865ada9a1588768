"""Settings that have another name now: an old key is refused with the name of the new one."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from nashdex.core.errors import ConfigurationError

RENAMED: MappingProxyType[str, str] = MappingProxyType({})
"""New key by old key, both dotted, such as ``train.learning_rate``."""


def refuse_renamed(values: Mapping[str, Any], source: str) -> None:
    """Check that no key of nested ``values`` is an old one.

    Raises:
        ConfigurationError: one is; names the new key.
    """
    for key in _dotted(values):
        if new := RENAMED.get(key):
            raise ConfigurationError(f"{source}: {key} is now {new}; rename it")


def _dotted(values: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield each key of nested ``values``, those of sections included."""
    for key, value in values.items():
        yield f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _dotted(value, f"{prefix}{key}.")
