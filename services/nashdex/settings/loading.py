"""Reading settings: default < TOML file < environment (``NASHDEX_…``, ``__`` for nesting) < command line."""

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict, SettingsError

from nashdex.core.documents import describe
from nashdex.core.errors import ConfigurationError
from nashdex.core.section import KIND, keys_of_every_kind
from nashdex.core.user_input import did_you_mean, flatten, merge, parse_assignment, read_toml
from nashdex.settings.run import RunSettings

ENV_PREFIX = "NASHDEX_"
ENV_NESTING = "__"
ENVIRONMENT = "environment"


class _FromEnvironment(RunSettings, BaseSettings):
    """Names the variables of the environment. A stored run is never read through it."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, env_nested_delimiter=ENV_NESTING, frozen=True)


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
        (ENVIRONMENT, _environment()),
        *((f"--set {override}", _parse(override)) for override in overrides or ()),
    ]
    for _, given in sources:
        merged = merge(_with_kinds(merged, given), given)
    if defaults is not None:
        merged = merge(defaults(merged), merged)
    try:
        settings = RunSettings.model_validate(merged)
    except ValidationError as error:
        of_kinds = frozenset(keys_of_every_kind(RunSettings))
        raise ConfigurationError(explain(error, sources, RunSettings().model_dump(), of_kinds)) from error
    if problem := ignored_variable(settings.model_dump()):
        raise ConfigurationError(problem)
    return settings


def _environment() -> dict[str, Any]:
    """Return the settings in the environment. Refuses a nested variable of an unknown section: it has no effect."""
    for name in (name for name in os.environ if name.startswith(ENV_PREFIX)):
        key = name.removeprefix(ENV_PREFIX).lower()
        section, nesting, _ = key.partition(ENV_NESTING)
        if nesting and section not in RunSettings.model_fields:
            raise ConfigurationError(f"environment: {name} names no section of the settings; see nashdex config schema")
    try:
        return _decoded(_Environment(_FromEnvironment)())
    except (SettingsError, ValueError) as error:
        raise ConfigurationError(
            f"environment: {error}; expected a JSON object, or {ENV_PREFIX}SECTION__KEY"
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


_NEAR = 0.85
"""Similarity of a variable's name to a setting's that it was meant to be."""


def explain(
    error: ValidationError,
    sources: Sequence[tuple[str, Mapping[str, Any]]],
    known: Mapping[str, Any],
    of_kinds: Collection[str] = (),
) -> str:
    """Return the problems as one line, each under the source that gave the value.

    ``sources`` are names and nested values; later ones win. ``known`` are the nested defaults, for the key that is
    nearest to an unknown one, and ``of_kinds`` the dotted keys of every kind of a section.
    """
    keys = _every_key(known)
    by_source: dict[str, list[ErrorDetails]] = {}
    for problem in error.errors(include_url=False):
        by_source.setdefault(_source_of(problem["loc"], sources), []).append(problem)
    return "; ".join(
        f"{source}: {describe(problems, lambda problem: _meant(problem, keys, of_kinds))}"
        for source, problems in by_source.items()
    )


def _every_key(known: Mapping[str, Any]) -> list[str]:
    """Return the dotted keys of nested values, of sections too."""
    paths = [key.split(".") for key, _ in flatten(known)]
    return list(dict.fromkeys(".".join(path[:end]) for path in paths for end in range(1, len(path) + 1)))


def ignored_variable(known: Mapping[str, Any]) -> str | None:
    """Return the message about an environment variable that has almost a setting's name, if any.

    Others may belong to something else: Kubernetes sets ``NASHDEX_…_SERVICE_HOST`` for a service.
    """
    meant = {ENV_PREFIX + key.replace(".", "_").upper(): key for key in _every_key(known) if "." in key}
    for name in os.environ:
        if name in meant:
            right = ENV_PREFIX + meant[name].replace(".", ENV_NESTING).upper()
            return f"{ENVIRONMENT}: {name} has no effect; write {right}, with two underscores for each dot"
        key = name.removeprefix(ENV_PREFIX).lower()
        if name.startswith(ENV_PREFIX) and key not in known:
            near = did_you_mean(key, known, most=1, similarity=_NEAR)
            if near:
                return f"{ENVIRONMENT}: {name} names no setting; {near}Correct it, or unset it"
    return None


def _source_of(place: tuple[int | str, ...], sources: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Return the name of the last source that gives the value at ``place``, or most of the way to it."""
    depths = [_depth(values, place) for _, values in sources]
    last = len(depths) - 1 - depths[::-1].index(max(depths))
    name = sources[last][0] if max(depths) else sources[0][0]
    return _variable(place[: depths[last]]) if name == ENVIRONMENT else name


def _depth(values: object, place: tuple[int | str, ...]) -> int:
    """Return how many parts of ``place`` nested ``values`` have."""
    depth = 0
    for part in place:
        if not isinstance(values, Mapping) or part not in values:
            break
        values, depth = values[part], depth + 1
    return depth


def _variable(place: tuple[int | str, ...]) -> str:
    """Return the environment variable that gives the value at ``place``; it may hold a whole section as JSON."""
    for end in range(len(place), 0, -1):
        name = ENV_PREFIX + ENV_NESTING.join(str(part) for part in place[:end]).upper()
        if name in os.environ:
            return name
    return ENVIRONMENT


def _meant(problem: ErrorDetails, keys: Sequence[str], of_kinds: Collection[str]) -> str:
    """Return a question for the key that was meant, if one is near; else where all keys are."""
    if problem["type"] != "extra_forbidden":
        return ""
    given = ".".join(str(part) for part in problem["loc"])
    if given in keys or given in of_kinds:
        return f"; another kind has it: set {given.rpartition('.')[0]}.kind"
    meant = did_you_mean(given, keys, 1, 0.8)
    return f"; {meant.rstrip()}" if meant else "; `nashdex config show FILE.toml` lists the keys"
