"""Runs in a store: preparing, creating and opening them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from nashdex.core import keys
from nashdex.core.documents import describe_problems
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import RunId, id_of_text, run_id
from nashdex.core.section import KIND
from nashdex.core.steps import StepName
from nashdex.core.user_input import shorten
from nashdex.games.registry import FORMATS
from nashdex.games.showdown import gateway
from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.learning import trackers
from nashdex.learning.devices import check_machine, check_player
from nashdex.policies.networks.kinds import NETWORKS
from nashdex.runs.first_policies import with_policy_ids
from nashdex.runs.fit import check_fit
from nashdex.runs.inputs import SETTING_OF, read_inputs
from nashdex.settings.loading import differing_fields, load_settings
from nashdex.settings.run import RunSettings, canonical_format
from nashdex.store import Observer, open_own_store, open_store
from nashdex.store.checked import find_object, read_root, write_root
from nashdex.store.nearby import runs_nearby
from nashdex.store.protocol import ObjectStore

TRAINED_NETWORKS: Final = ("pointer", "pointer-pairs")
"""The first of these that fits a format learns best there."""
_NETWORKS: Final = (*TRAINED_NETWORKS, "slots")
"""The default network is the first of these that fits the format."""


def defaults_of_format(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested settings that hold where ``values``, not validated yet, have none."""
    network, name = values.get("network", {}), values.get("format", RunSettings.model_fields["format"].default)
    if not isinstance(network, Mapping) or KIND in network:
        return {}
    if not isinstance(name, str) or canonical_format(name) not in FORMATS:
        return {}  # refused later, by name
    played = FORMATS[canonical_format(name)]
    fitting = (n for n in _NETWORKS if NETWORKS[n].fits(played.game, played.num_slots))
    return {"network": {KIND: next(fitting, "slots")}}  # refused later, if none fits


CONFIG_SCHEMA_VERSION = 1
_MAX_STEM = 54
"""So that the file's name, a dash and the fingerprint's 8 digits fit a run id."""


@dataclass(frozen=True)
class Run:
    """A run: its store and its frozen settings."""

    id: RunId
    store: ObjectStore
    """Rooted at the run."""
    settings: RunSettings


def resolve_settings(config: Path, overrides: list[str] | None = None) -> RunSettings:
    """Return the settings of a file (``load_settings``), checked to go together and with the game.

    Raises:
        DataError: the file is missing or no TOML.
        ConfigurationError: a key, value or format is wrong, or settings do not go together.
    """
    settings = load_settings(config, overrides, defaults_of_format)
    check_fit(settings)
    return settings


@dataclass(frozen=True)
class PreparedRun:
    """A run that has not started: everything that is stored with it, checked."""

    settings: RunSettings
    """Settings with the run's id."""
    inputs: Mapping[str, bytes]
    """Content of the files that the settings name, by key."""

    @property
    def id(self) -> RunId:
        """The run's id."""
        assert self.settings.run is not None, "a run is prepared with an id"
        return self.settings.run


def prepare_run(config: Path, *, name: str | None = None, overrides: list[str] | None = None) -> PreparedRun:
    """Return the run of a configuration file. Reads files, but no store.

    Args:
        config: the TOML file.
        name: the run's id; by default the file's ``run``, else made of the file's name and settings.
        overrides: ``KEY=VALUE`` texts, above the file and the environment.

    Raises:
        DataError: the file or a file it names is missing or wrong; a team is illegal.
        ConfigurationError: a setting is wrong, or both ``name`` and ``overrides`` name the run.
    """
    if name is not None and any(one.partition("=")[0].strip() == "run" for one in overrides or ()):
        raise ConfigurationError(f"--run {shorten(name)} and --set run=… both name the run; leave one out")
    settings = with_policy_ids(resolve_settings(config, overrides))
    default = f"{id_of_text(config.stem, _MAX_STEM, 'run')}-{settings.fingerprint()}"
    settings = settings.model_copy(update={"run": run_id(name or settings.run or default)})
    return PreparedRun(settings, read_inputs(settings))


def check_here(settings: RunSettings) -> None:
    """Check that this machine has what a run's settings need: before its first step, not after it.

    Raises:
        ConfigurationError: Node, the simulator, a tracker or a GPU is missing; says what to install or which setting
            names it.
    """
    if FORMATS[settings.format].game == SHOWDOWN:
        gateway.check_installed(gateway.load_gateway_settings())
    train, collect = settings.train, settings.collect
    trackers.check_installed(train.trackers)
    check_machine(train.device, num_processes=train.num_processes)
    check_player(collect.device)


def create_run(store_uri: str, prepared: PreparedRun) -> Run:
    """Create a run in a store, or return it if it exists there with the same settings.

    Raises:
        ConfigurationError: the run exists under other settings, teams or payoffs, or the store is the zoo.
    """
    store = open_own_store(store_uri).at(prepared.id)
    if not store.exists(keys.RUN_MANIFEST):
        document = {"schema_version": CONFIG_SCHEMA_VERSION, **prepared.settings.model_dump(mode="json")}
        config = json.dumps(document, indent=2).encode() + b"\n"
        if not store.exists(keys.CONFIG):
            for key, data in prepared.inputs.items():
                store.put(key, data)
        if not store.put_if_absent(keys.CONFIG, config):
            # Another process is creating the run, or was killed while it did, perhaps one of another version.
            config = store.get(keys.CONFIG)
            _refuse_other_settings(store, prepared, _parse_settings(config, f"{store.uri}/{keys.CONFIG}"))
        write_root(store, {keys.CONFIG: config, **prepared.inputs})
    _refuse_other_settings(store, prepared, _stored_settings(store))
    return Run(prepared.id, store, prepared.settings)


def open_run(run_uri: str, observe: Observer | None = None) -> Run:
    """Open a run that exists; ``observe`` is called with the cost of every operation on its store.

    Raises:
        DataError: there is no run, or its ``config.json`` was altered.
    """
    store = open_store(run_uri, observe)
    if not store.exists(keys.CONFIG):
        raise DataError(
            f"{run_uri} holds no run: {keys.CONFIG} is missing; {runs_nearby(run_uri)}expected the URI that "
            "`nashdex run` prints, the store's followed by the run's id"
        )
    settings = _stored_settings(store)
    if settings.run is None:
        raise DataError(f"{store.uri}/{keys.CONFIG} names no run")
    return Run(settings.run, store, settings)


def first_without_report(run: Run) -> int:
    """Return the first iteration whose report is not done; the number of iterations if all are."""
    iterations = range(run.settings.iterations)
    return next((i for i in iterations if not run.store.exists(keys.manifest(i, StepName.REPORT, 0))), len(iterations))


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """What a run plays."""

    format: str
    files: Mapping[str, str]
    """The files that its settings name, such as teams, by setting."""


def game_of_run(run_uri: str) -> PlayedGame | None:
    """Return what a run plays, whatever release created it; None where there is no run.

    Raises:
        DataError: its ``config.json`` was altered, or names no format.
    """
    store = open_store(run_uri)
    if not store.exists(keys.CONFIG):
        return None
    source = f"{store.uri}/{keys.CONFIG}"
    values = _parse_values(read_root(store, keys.CONFIG), source)
    name = values.get("format")
    if not isinstance(name, str):
        raise DataError(f"{source} names no format; expected the settings of a run")
    files = {setting: str(values[setting]) for setting in SETTING_OF.values() if values.get(setting)}
    return PlayedGame(canonical_format(name), files)


def format_of_run(run_uri: str) -> str | None:
    """Return the format of a run as ``game_of_run`` does."""
    game = game_of_run(run_uri)
    return None if game is None else game.format


def _stored_settings(store: ObjectStore) -> RunSettings:
    return _parse_settings(read_root(store, keys.CONFIG), f"{store.uri}/{keys.CONFIG}")


def _parse_settings(config: bytes, source: str) -> RunSettings:
    values = _parse_values(config, source)
    try:
        return RunSettings.model_validate(values)
    except ValidationError as error:
        raise DataError(f"{source} holds no settings of this nashdex: {describe_problems(error)}") from error


def _parse_values(config: bytes, source: str) -> dict[str, Any]:
    """Return the settings in ``config.json``, not validated."""
    try:
        values: dict[str, Any] = json.loads(config)
        version = values.pop("schema_version", None)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"{source} is not a JSON object: {error}") from error
    if version != CONFIG_SCHEMA_VERSION:
        raise DataError(f"{source} has schema version {shorten(version)}; this nashdex reads {CONFIG_SCHEMA_VERSION}")
    return values


def _refuse_other_settings(store: ObjectStore, prepared: PreparedRun, stored: RunSettings) -> None:
    settings = prepared.settings
    differences = differing_fields(settings, stored)
    if not differences:
        # Stored policies are named by their content.
        files = {key: data for key, data in prepared.inputs.items() if key in SETTING_OF}
        if keys.REPLAYS in prepared.inputs and store.get(keys.REPLAYS) != prepared.inputs[keys.REPLAYS]:
            differences.append("train.first.replays.path: the replays there have changed")
        if keys.TEAM_SETS in prepared.inputs and store.get(keys.TEAM_SETS) != prepared.inputs[keys.TEAM_SETS]:
            differences.append("team_schedule: the teams of its sets have changed")
        budgets = find_object(store, keys.SMALLER_BUDGETS)
        if budgets is not None and budgets != prepared.inputs.get(keys.SMALLER_BUDGETS):
            differences.append("--decisions: the run follows other answers of smaller budgets")
        changed = [SETTING_OF[key] for key, data in files.items() if store.get(key) != data]
        differences += [f"{name}: the content of {getattr(settings, name)} has changed" for name in changed]
    if differences:
        raise ConfigurationError(
            f"{store.uri} was created with other settings: {'; '.join(differences)}. "
            "Restore them to continue the run, or choose another id with --run"
        )
