"""Reading settings: default < TOML file < environment (``NASHDEX_…``, ``__`` for nesting) < command line."""

import os
import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from nashdex.core.documents import describe_problems
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.settings.run import RunSettings

_ENV_PREFIX = "NASHDEX_"
_ENV_NESTING = "__"


class _SourcedSettings(RunSettings, BaseSettings):
    """The settings while they are gathered: only here is the environment read, never when a stored run is."""

    model_config = SettingsConfigDict(env_prefix=_ENV_PREFIX, env_nested_delimiter=_ENV_NESTING, frozen=True)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read the environment above what the constructor gets: that is the TOML file."""
        del settings_cls, dotenv_settings, file_secret_settings
        return env_settings, init_settings


def load_settings(path: Path, overrides: list[str] | None = None) -> RunSettings:
    """Resolve the settings of ``path`` with the environment and ``KEY=VALUE`` overrides above it.

    Raises:
        DataError: the file is missing or is no TOML.
        ConfigurationError: a key is unknown or a value does not fit.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); expected a TOML file of settings") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is no TOML: {error}") from error
    _refuse_unknown_variables()
    try:
        merged = _SourcedSettings(**values).model_dump(mode="json", exclude_unset=True)
        for override in overrides or ():
            _set(merged, override)
        return RunSettings.model_validate(merged)
    except ValidationError as error:
        raise ConfigurationError(f"{path}: {describe_problems(error)}") from error
    except SettingsError as error:
        raise ConfigurationError(
            f"environment: {error}; expected a JSON object, or {_ENV_PREFIX}SECTION__KEY"
        ) from error


def _refuse_unknown_variables() -> None:
    """Refuse a nested variable of an unknown section: it was meant as a setting and would have no effect."""
    for name in os.environ:
        section, nesting, _ = name.removeprefix(_ENV_PREFIX).lower().partition(_ENV_NESTING)
        if name.startswith(_ENV_PREFIX) and nesting and section not in RunSettings.model_fields:
            raise ConfigurationError(f"environment: {name} names no section of the settings; see nashdex config schema")


def _set(values: dict[str, Any], override: str) -> None:
    """Set ``a.b=value`` in nested ``values``; the value is TOML, or else a plain string."""
    key, equals, text = override.partition("=")
    if not equals or not key:
        raise ConfigurationError(f"--set {override!r}: expected KEY=VALUE, such as collect.battles=500")
    *parents, last = key.split(".")
    section = values
    for parent in parents:
        inner = section.setdefault(parent, {})
        if not isinstance(inner, dict):
            raise ConfigurationError(f"--set {override!r}: {parent!r} has no settings below it")
        section = inner
    try:
        section[last] = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        section[last] = text


def differing_fields(one: RunSettings, other: RunSettings) -> list[str]:
    """Return ``key: value, was other value`` for each setting in which ``one`` differs from ``other``."""
    flat_one, flat_other = _flatten(one.model_dump(mode="json")), _flatten(other.model_dump(mode="json"))
    return [
        f"{key}: {flat_one.get(key)!r}, was {flat_other.get(key)!r}"
        for key in sorted(flat_one.keys() | flat_other.keys())
        if flat_one.get(key) != flat_other.get(key)
    ]


def _flatten(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat
