"""Settings that have another name now: an old key is refused with the name of the new one."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from nashdex.core.errors import ConfigurationError

RENAMED: MappingProxyType[str, str] = MappingProxyType(
    {
        "solve.alpha": "solve.meta_solver.alpha, with solve.meta_solver.kind = 'alpha-rank'",
        "solve.population_size": "solve.meta_solver.population_size, with solve.meta_solver.kind = 'alpha-rank'",
        "solve.last_k": "solve.meta_solver.num_policies, with solve.meta_solver.kind = 'last-k'",
        "solve.recency_temperature": "solve.meta_solver.temperature, with solve.meta_solver.kind = 'recency'",
        "solve.temperature": "solve.meta_solver.temperature, with solve.meta_solver.kind = 'magnet'",
        "solve.num_iterations": "solve.meta_solver.num_iterations, in the section of the meta-solver",
    }
)
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
