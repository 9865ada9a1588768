"""Settings: precedence, refusals that name the key, and what makes two runs differ."""

import re
import time
from pathlib import Path

import pytest

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.settings.damping import DampingSettings
from nashdex.settings.loading import differing_fields, load_settings
from nashdex.settings.oracles import ExactSettings, QLearningSettings
from nashdex.settings.ppo import PpoSettings
from nashdex.settings.run import RunSettings


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "run.toml"
    path.write_text('format = "gen1randombattle"\n[collect]\nbattles = 7\nshards = 2\n')
    return path


def test_file_wins_over_default_environment_over_file_override_over_all(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_settings(config).collect.battles == 7
    monkeypatch.setenv("NASHDEX_COLLECT__BATTLES", "8")
    assert load_settings(config).collect.battles == 8
    assert load_settings(config).collect.shards == 2
    assert load_settings(config, ["collect.battles=9"]).collect.battles == 9


@pytest.mark.parametrize(
    ("override", "named"),
    [
        ("collect.bogus=1", "collect.bogus"),
        ("bogus=1", "bogus"),
        ("iterations=0", "iterations"),
        ("collect.battles=many", "collect.battles"),
        ("train.discount=1.5", "train.discount"),
        ("format.x=1", "format: must be a valid string"),
        ("collect", "KEY=VALUE"),
        ("run=Not Usable", "run"),
        ("arena.gateways=65", "arena.gateways: must be less than or equal to 64"),
        ("arena.gateways=-1", "arena.gateways: must be greater than or equal to 0"),
        ("arena.concurrent_battles=5000", "arena.concurrent_battles: must be less than or equal to 4096"),
    ],
)
def test_a_wrong_override_is_refused_by_name(config: Path, override: str, named: str) -> None:
    with pytest.raises(ConfigurationError, match=named.replace(".", r"\.")):
        load_settings(config, [override])


@pytest.mark.parametrize(
    ("variable", "value", "key"),
    [
        ("NASHDEX_SOLVE__META_SOLVER", "prd", ("solve", "meta_solver")),
        ("NASHDEX_OPPONENTS", "self-play", ("opponents",)),
        ("NASHDEX_OPPONENTS", '{"kind": "league"}', ("opponents",)),
    ],
)
def test_the_environment_may_name_a_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, key: tuple[str, ...]
) -> None:
    monkeypatch.setenv(variable, value)
    config = tmp_path / "run.toml"
    config.write_text("iterations = 2\n")
    section: object = load_settings(config)
    for name in key:
        section = getattr(section, name)
    assert section.kind in value  # type: ignore[attr-defined]


def test_the_environment_reaches_sections_that_are_chosen_by_kind(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NASHDEX_TRAIN__ORACLE__LEARNING_RATE", "0.5")
    monkeypatch.setenv("NASHDEX_TRAIN__ORACLE__DAMPING", '{"preset": "none"}')
    oracle = load_settings(config).train.oracle
    assert isinstance(oracle, PpoSettings)
    assert (oracle.learning_rate, oracle.damping.preset) == (0.5, "none")
    monkeypatch.setenv("NASHDEX_TRAIN__ORACLE__DAMPING", '{"preset": ')
    with pytest.raises(ConfigurationError, match=r"environment: .*expected a JSON object"):
        load_settings(config)


def test_an_override_may_change_the_kind_or_go_below_a_bare_name(config: Path) -> None:
    config.write_text('[train]\noracle = "q-learning"\n')
    assert load_settings(config, ["train.oracle.battles=7"]).train.oracle == QLearningSettings(battles=7)
    assert load_settings(config, ["train.oracle=exact"]).train.oracle == ExactSettings()
    preset = load_settings(config, ["train.oracle=ppo", "train.oracle.damping.preset=none"]).train.oracle
    assert isinstance(preset, PpoSettings)
    assert preset.damping == DampingSettings(preset="none")


def test_a_wrong_key_in_the_file_is_refused_by_name(config: Path) -> None:
    config.write_text("[collect]\nbatles = 7\n")
    with pytest.raises(ConfigurationError, match=r"run\.toml.*collect\.batles"):
        load_settings(config)


def test_a_missing_or_broken_file_is_wrong_data(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nothing"):
        load_settings(tmp_path / "nothing.toml")
    (tmp_path / "broken.toml").write_text("= 3")
    with pytest.raises(DataError, match="not TOML"):
        load_settings(tmp_path / "broken.toml")


def test_the_fingerprint_follows_every_setting_but_the_run_id() -> None:
    base = RunSettings()
    assert base.fingerprint() == RunSettings(run="other").fingerprint()
    assert base.fingerprint() != RunSettings(seed=1).fingerprint()


def test_differing_fields_are_named_with_both_values() -> None:
    changed = RunSettings.model_validate({"collect": {"battles": 3}, "seed": 5})
    assert differing_fields(changed, RunSettings()) == ["collect.battles: 3, was 500", "seed: 5, was 0"]
    assert differing_fields(RunSettings(), RunSettings()) == []


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "NASHDEX_COLLECT__BATLES",
            "3",
            r"NASHDEX_COLLECT__BATLES: collect\.batles: no such key .*mean collect\.battles\?",
        ),
        ("NASHDEX_COLLECT", '{"battles": "x"}', r"NASHDEX_COLLECT: collect\.battles: expected an integer"),
        ("NASHDEX_COLLECT_BATTLES", "3", "NASHDEX_COLLECT_BATTLES has no effect; write NASHDEX_COLLECT__BATTLES"),
        ("NASHDEX_TRAIN_ORACLE", "exact", "NASHDEX_TRAIN_ORACLE has no effect; write NASHDEX_TRAIN__ORACLE"),
    ],
)
def test_a_wrong_variable_is_refused_by_name(
    config: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=message):
        load_settings(config)


@pytest.mark.parametrize("key", ["network.entity_size", "network.num_heads", "train.oracle.num_candidates"])
def test_a_key_of_another_kind_is_said_to_be_one(config: Path, key: str) -> None:
    config.write_text('[network]\nkind = "pointer"\n')
    section = re.escape(key.rpartition(".")[0])
    with pytest.raises(
        ConfigurationError, match=rf"{key}: no such key .got 8.; another kind has it: set {section}.kind"
    ):
        load_settings(config, [f"{key}=8"])


def test_an_unknown_section_names_the_near_one(config: Path) -> None:
    config.write_text('[train.orcale]\nkind = "ppo"\n')
    with pytest.raises(ConfigurationError, match=r"train\.orcale: no such key; did you mean train\.oracle\?"):
        load_settings(config)


def test_each_problem_names_the_source_of_its_value(config: Path) -> None:
    config.write_text("[collect]\nbatles = 3\n")
    with pytest.raises(ConfigurationError) as refused:
        load_settings(config, ["iterations=abc", "evaluate.shards=2"])
    assert str(refused.value) == (
        "--set iterations=abc: iterations: expected an integer (got 'abc'); "
        f"{config}: collect.batles: no such key (got 3); did you mean collect.battles?"
    )


def test_a_variable_that_is_almost_a_settings_name_is_refused(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NASHDEX_SHOWDOWN_SERVICE_HOST", "10.0.0.1")
    load_settings(config)
    monkeypatch.setenv("NASHDEX_ITERATION", "3")
    with pytest.raises(ConfigurationError, match=r"NASHDEX_ITERATION names no setting; did you mean iterations\?"):
        load_settings(config)


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "marked.toml"
    path.write_bytes(b'\xef\xbb\xbfformat = "kuhn_poker"\n')
    assert load_settings(path).format == "kuhn_poker"


def test_a_file_of_very_many_keys_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "large.toml"
    path.write_text("".join(f"k{number} = 1\n" for number in range(300_000)))
    began_seconds = time.process_time()
    with pytest.raises(DataError, match="has more than 262,144 bytes; expected a TOML file of settings"):
        load_settings(path)
    path.write_text("".join(f"k{number} = 1\n" for number in range(20_000)))
    with pytest.raises(ConfigurationError, match="k0: no such key"):
        load_settings(path)
    assert time.process_time() - began_seconds < 5
