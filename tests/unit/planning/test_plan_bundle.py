"""A run as one text begins the same run as its configuration file."""

import base64
import gzip
import json
from pathlib import Path

import pytest

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.runs.creation import PreparedRun, create_run, prepare_run
from nashdex_cli.cli import run_command_line
from nashdex_cluster import bundle
from nashdex_cluster.bundle import pack, unpack
from support.begun_runs import begin_run

MATRIX = {"payoffs": [[0, -1, 2], [1, 0, -1], [-2, 1, 0]], "policies": ["rock", "paper", "scissors"]}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "game.json").write_text(json.dumps(MATRIX))
    path = tmp_path / "made.toml"
    path.write_text(
        f'format = "matrix"\nmatrix = "{tmp_path}/game.json"\niterations = 2\n'
        '[population]\ninitial = ["random"]\n[train]\noracle = "exact"\n'
    )
    return path


def packed(document: object) -> bytes:
    return base64.b64encode(gzip.compress(json.dumps(document).encode()))


def test_a_bundle_begins_the_run_that_its_file_begins(config: Path, tmp_path: Path) -> None:
    direct = begin_run(str(tmp_path / "direct"), config)
    bundled = create_run(str(tmp_path / "bundled"), unpack(pack(prepare_run(config)).encode(), "bundle"))
    assert bundled.id == direct.id
    names = sorted(direct.store.list(""))
    assert names == sorted(bundled.store.list("")) == ["config.json", "manifest.json", "matrix.json"]
    assert all(direct.store.get(name) == bundled.store.get(name) for name in names)


def test_the_command_takes_either(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bundle.json").write_text(pack(prepare_run(config, name="one")))
    store = str(tmp_path / "store")
    assert run_command_line(["begin", "--bundle", str(tmp_path / "bundle.json"), "--store", store, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "run": "one",
        "uri": f"{store}/one",
        "first_iteration": 0,
        "iterations": 2,
    }
    assert run_command_line(["begin", str(config), "--store", store, "--run", "one"]) == 0
    assert run_command_line(["begin", str(config), "--store", store, "--run", "one", "--set", "seed=5"]) == 64
    assert "seed: 5, was 0" in capsys.readouterr().err
    assert run_command_line(["begin", "--store", store]) == 64
    assert run_command_line(["begin", "--bundle", str(tmp_path / "none.json"), "--store", store]) == 65


def test_what_is_no_bundle_is_refused(config: Path) -> None:
    values = json.loads(gzip.decompress(base64.b64decode(pack(prepare_run(config)))))
    with pytest.raises(DataError, match="names no run"):
        unpack(packed(values | {"settings": values["settings"] | {"run": None}}), "b")
    with pytest.raises(DataError, match="its settings name"):
        unpack(packed(values | {"inputs": {}}), "b")
    with pytest.raises(DataError, match="not a valid Bundle"):
        unpack(packed([]), "b")


@pytest.mark.parametrize("text", [b"{}", b"AAAA", pytest.param(packed({})[:20] + b"====", id="cut"), b""])
def test_what_cannot_be_unpacked_is_refused(text: bytes) -> None:
    with pytest.raises(DataError, match=r"make it again|not a valid Bundle"):
        unpack(text, "b")


def test_a_bundle_has_no_braces_that_a_workflow_would_fill_in(config: Path) -> None:
    prepared = prepare_run(config)
    text = pack(PreparedRun(prepared.settings, {"matrix.json": b"{{workflow.name}}"}))
    assert "{" not in text
    assert text == pack(PreparedRun(prepared.settings, {"matrix.json": b"{{workflow.name}}"}))


def test_a_bundle_too_large_for_a_workflow_is_refused(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = prepare_run(config)
    monkeypatch.setattr(bundle, "MAX_BYTES", 100)
    with pytest.raises(ConfigurationError, match="where its store can be reached"):
        pack(PreparedRun(prepared.settings, prepared.inputs))
