"""Reading settings: default < TOML file < environment (``NASHDEX_…``, ``__`` for nesting) < command line."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict, SettingsError

from nashdex.core.errors import ConfigurationError
from nashdex.core.kinds import KIND
from nashdex.core.user_input.assignments import parse_assignment
from nashdex.core.user_input.nested import flatten, merge
from nashdex.core.user_input.toml_file import read_toml
from nashdex.settings import wrong
from nashdex.settings.run import RunSettings


class _FromEnvironment(RunSettings, BaseSettings):
    """Names the variables of the environment. A stored run is never read through it."""

    model_config = SettingsConfigDict(env_prefix=wrong.ENV_PREFIX, env_nested_delimiter=wrong.ENV_NESTING, frozen=True)


class _Environment(EnvSettingsSource):
    """The variables of the environment. A section may be JSON, or the bare name of a kind."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:  # noqa: ANN401
        """Return ``value`` decoded as JSON, or unchanged if it does not look like JSON."""
        if isinstance(value, str) and value[:1] not in ("{", "["):
            return value
        return super().decode_complex_value(field_name, field, value)


_EXAMPLES = Path("configs")
"""Where a checkout has configuration files: a name without its folder is often meant to be there."""

Defaults = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Returns settings that hold where the given ones, not validated yet, have none."""


def load_settings(path: Path, overrides: list[str] | None = None, defaults: Defaults | None = None) -> RunSettings:
    """Resolve the settings of ``path`` with the environment and ``KEY=VALUE`` overrides above it.

    The sources are merged before validation, so that an override may change the oracle, preset or rule of the other
    keys.

    Raises:
        DataError: the file is missing or is not TOML.
        ConfigurationError: a key is unknown, or a value does not fit.
    """
    return resolve(read_toml(path, "settings", _EXAMPLES), str(path), overrides, defaults)


def resolve(
    values: Mapping[str, Any], source: str, overrides: list[str] | None = None, defaults: Defaults | None = None
) -> RunSettings:
    """Resolve nested ``values``, which ``source`` names in errors, as ``load_settings`` resolves a file.

    Raises:
        ConfigurationError: a key is unknown, or a value does not fit.
    """
    merged: dict[str, Any] = {}
    sources = [
        (source, values),
        (wrong.ENVIRONMENT, _environment()),
        *((f"--set {override}", _parse(override)) for override in overrides or ()),
    ]
    for _, given in sources:
        merged = merge(_with_kinds(merged, given), given)
    if defaults is not None:
        merged = merge(defaults(merged), merged)
    try:
        settings = RunSettings.model_validate(merged)
    except ValidationError as error:
        raise ConfigurationError(wrong.explain(error, sources, RunSettings().model_dump())) from error
    if problem := wrong.ignored_variable(settings.model_dump()):
        raise ConfigurationError(problem)
    return settings


def _environment() -> dict[str, Any]:
    """Return the settings in the environment. Refuses a nested variable of an unknown section: it has no effect."""
    for name in (name for name in os.environ if name.startswith(wrong.ENV_PREFIX)):
        key = name.removeprefix(wrong.ENV_PREFIX).lower()
        section, nesting, _ = key.partition(wrong.ENV_NESTING)
        if nesting and section not in RunSettings.model_fields:
            raise ConfigurationError(f"environment: {name} names no section of the settings; see nashdex config schema")
    try:
        return _decoded(_Environment(_FromEnvironment)())
    except (SettingsError, ValueError) as error:
        raise ConfigurationError(
            f"environment: {error}; expected a JSON object, or {wrong.ENV_PREFIX}SECTION__KEY"
        ) from error


def _decoded(values: dict[str, Any]) -> dict[str, Any]:
    """Return ``values`` with JSON objects and arrays decoded: pydantic-settings leaves them in chosen sections."""
    decoded: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            decoded[key] = _decoded(value)
        else:
            decoded[key] = json.loads(value) if isinstance(value, str) and value[:1] in ("{", "[") else value
    return decoded


def _parse(override: str) -> dict[str, Any]:
    """Return ``a.b=value`` as nested values; the value is TOML, or else a plain string."""
    key, value = parse_assignment(override, "collect.battles=500")
    for part in reversed(key.split(".")):
        value = {part: value}
    nested: dict[str, Any] = value
    return nested


def _with_kinds(values: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``values`` with a bare name turned into a section of that kind wherever ``over`` has keys below it.

    So ``oracle = "q-learning"`` in a file and ``--set train.oracle.battles=10`` go together.
    """
    changed = dict(values)
    for key, below in over.items():
        if isinstance(below, Mapping) and key in values:
            value = values[key]
            changed[key] = _with_kinds(value, below) if isinstance(value, Mapping) else {KIND: value}
    return changed


def differing_fields(one: RunSettings, other: RunSettings) -> list[str]:
    """Return ``key: value, was other value`` for each setting in which ``one`` differs from ``other``."""
    flat_one, flat_other = dict(flatten(one.model_dump(mode="json"))), dict(flatten(other.model_dump(mode="json")))
    return [
        f"{key}: {flat_one.get(key)!r}, was {flat_other.get(key)!r}"
        for key in sorted(flat_one.keys() | flat_other.keys())
        if flat_one.get(key) != flat_other.get(key)
    ]
