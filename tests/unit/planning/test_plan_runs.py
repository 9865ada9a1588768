"""Creating a run, going on with it, and what both refuse."""

import json
from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.runs.creation import open_run
from support.altered import rewrite
from support.begun_runs import begin_run


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "My Run.toml"
    path.write_text('format = "gen1randombattle"\niterations = 2\n')
    return path


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "store")


def test_the_same_file_and_store_are_the_same_run(config: Path, store: str) -> None:
    first = begin_run(store, config)
    stored = first.store.get(keys.CONFIG)
    again = begin_run(store, config)
    assert first.id == again.id
    assert first.id.startswith("my-run-")
    assert again.store.get(keys.CONFIG) == stored
    assert [path.name for path in Path(store).iterdir()] == [first.id]


def test_other_settings_are_another_run_unless_it_is_named(config: Path, store: str) -> None:
    assert begin_run(store, config).id != begin_run(store, config, overrides=["seed=5"]).id
    named = begin_run(store, config, name="mine")
    assert named.store.uri == f"{store}/mine"
    with pytest.raises(ConfigurationError, match=r"collect\.battles: 7, was 500; seed: 5, was 0.*--run"):
        begin_run(store, config, name="mine", overrides=["seed=5", "collect.battles=7"])
    assert open_run(named.store.uri).settings == named.settings


def test_the_files_id_is_used_and_the_commands_wins(config: Path, store: str) -> None:
    config.write_text('format = "gen1randombattle"\nrun = "from-file"\n')
    assert begin_run(store, config).id == "from-file"
    assert begin_run(store, config, name="from-command").id == "from-command"


def test_a_stored_run_keeps_its_settings_whatever_the_environment_says(
    config: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin_run(store, config, overrides=["collect.shards=3"])
    monkeypatch.setenv("NASHDEX_COLLECT__SHARDS", "9")
    monkeypatch.setenv("NASHDEX_SEED", "77")
    opened = open_run(run.store.uri)
    assert opened.settings == run.settings
    assert opened.settings.collect.shards == 3


@pytest.mark.parametrize(
    ("text", "override", "error", "says"),
    [
        ('format = "gen5uu"', None, ConfigurationError, r"gen5uu.*gen5ou"),
        ("[collect]\nbatles = 3", None, ConfigurationError, r"collect\.batles"),
        ("iterations = 0", None, ConfigurationError, "iterations"),
        ("= 3", None, DataError, "is not TOML"),
        ('[population]\ninitial = ["random", "random"]', None, ConfigurationError, "named twice"),
        ('teams = "/nowhere/teams.txt"', None, DataError, "/nowhere/teams.txt"),
        ('format = "gen1randombattle"', "teams=pyproject.toml", ConfigurationError, "takes no teams"),
        ('run = "No Good"', None, ConfigurationError, "run"),
    ],
)
def test_nothing_is_written_for_a_run_that_cannot_be(
    tmp_path: Path, store: str, text: str, override: str | None, error: type[Exception], says: str
) -> None:
    config = tmp_path / "bad.toml"
    config.write_text(text)
    with pytest.raises(error, match=says):
        begin_run(store, config, overrides=[override] if override else None)
    assert not Path(store).exists()


def test_an_id_that_no_store_can_hold_is_refused(config: Path, store: str) -> None:
    with pytest.raises(ConfigurationError, match=r"'\.\./escape'"):
        begin_run(store, config, name="../escape")


def test_a_uri_without_a_run_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"config\.json is missing"):
        open_run(str(tmp_path / "nothing"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("stored", "says"),
    [
        ("{", "is not a JSON object"),
        ("[1]", "not a JSON object"),
        ('{"schema_version": 99}', "schema version 99"),
        ('{"schema_version": 1, "collect": {"battles": -1}, "run": "x"}', r"collect\.battles"),
        ('{"schema_version": 1}', "names no run"),
        pytest.param("[" * 100_000, "not a JSON object", id="nested"),
    ],
)
def test_an_altered_config_is_wrong_data(config: Path, store: str, stored: str, says: str) -> None:
    run = begin_run(store, config)
    rewrite(run.store, keys.CONFIG, stored.encode())
    with pytest.raises(DataError, match=says):
        open_run(run.store.uri)


def test_one_changed_setting_is_wrong_data_for_whoever_reads_it(config: Path, store: str) -> None:
    run = begin_run(store, config)
    run.store.put(keys.CONFIG, run.store.get(keys.CONFIG).replace(b'"seed": 0', b'"seed": 1'))
    with pytest.raises(DataError, match=r"config\.json has sha256"):
        open_run(run.store.uri)
    with pytest.raises(DataError, match=r"config\.json has sha256"):
        begin_run(store, config)


def test_a_run_whose_creation_was_killed_is_created_by_the_same_command(config: Path, store: str) -> None:
    run = begin_run(store, config)
    run.store.delete(keys.RUN_MANIFEST)
    with pytest.raises(DataError, match="was not created to its end"):
        open_run(run.store.uri)
    with pytest.raises(ConfigurationError, match="seed: 5"):
        begin_run(store, config, name=run.id, overrides=["seed=5"])
    assert begin_run(store, config).settings == run.settings
    assert open_run(run.store.uri).settings == run.settings


def test_a_run_whose_creation_by_another_version_was_killed_can_be_opened(config: Path, store: str) -> None:
    """The other version lacks a setting, which has its default here."""
    run = begin_run(store, config)
    values = json.loads(run.store.get(keys.CONFIG))
    del values["evaluate"]["battles_per_pair"]
    run.store.put(keys.CONFIG, json.dumps(values).encode())
    run.store.delete(keys.RUN_MANIFEST)
    begin_run(store, config)
    assert open_run(run.store.uri).settings == run.settings


def test_a_run_with_a_key_that_settings_do_not_have_is_refused(config: Path, store: str) -> None:
    run = begin_run(store, config)
    values = json.loads(run.store.get(keys.CONFIG))
    values["train"]["oracle"]["pool"]["prioritised_share"] = 0.0
    rewrite(run.store, keys.CONFIG, json.dumps(values).encode())
    with pytest.raises(DataError, match=r"pool\.prioritised_share: no such key"):
        open_run(run.store.uri)


def test_config_json_holds_every_setting_resolved(config: Path, store: str) -> None:
    run = begin_run(store, config)
    stored = json.loads(run.store.get(keys.CONFIG))
    assert stored["schema_version"] == 1
    assert stored["run"] == run.id
    assert stored["evaluate"]["battles_per_pair"] == 200
