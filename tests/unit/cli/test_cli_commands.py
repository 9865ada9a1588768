"""Commands that need no simulator: what they print, and what they import."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.core import TyperCommand, TyperGroup

import nashdex
from nashdex_cli import cli
from support.begun_runs import begin_run

HEAVY = ("torch", "numpy", "scipy", "boto3", "poke_env", "pydantic_settings", "structlog", "nashdex.store")


def test_help_is_instant_because_nothing_heavy_is_imported() -> None:
    script = f"import nashdex_cli.cli, sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert loaded.stdout == "[]\n"
    subprocess.run([sys.executable, "-m", "nashdex_cli", "--help"], capture_output=True, check=True)


def _commands(command: TyperGroup | TyperCommand, *path: str) -> Iterator[tuple[tuple[str, ...], TyperCommand]]:
    if isinstance(command, TyperCommand):
        yield path, command
        return
    for name, inner in command.commands.items():
        assert isinstance(inner, TyperGroup | TyperCommand)
        yield from _commands(inner, *path, name)


def test_groups_list_their_commands_with_whole_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run_command_line(["--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "Measure: battle Play two policies against each other and print the first one's score with its interval."
        in shown
    )
    assert shown.count("...") == 1  # in the usage


@pytest.mark.parametrize("group", [[], ["policy"], ["bench"], ["data"]])
def test_a_group_without_a_command_prints_its_help(group: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run_command_line(group) == 64
    printed = capsys.readouterr()
    assert printed.out.startswith(" ".join(["Usage: nashdex", *group]))
    assert printed.err == "error: no command was given; choose one of these\n"


def test_help_shows_what_every_option_declares(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing in it is taken for markup: a default in brackets stays."""
    monkeypatch.setenv("COLUMNS", "500")  # so that no text is wrapped
    assert isinstance(cli.command, TyperGroup)
    for path, command in _commands(cli.command):
        assert cli.run_command_line([*path, "--help"]) == 0
        shown = re.sub(r"\s", "", capsys.readouterr().out)
        for parameter in command.params:
            declared = re.sub(r"\s", "", getattr(parameter, "help", None) or "")
            assert declared in shown, f"nashdex {' '.join(path)}: {parameter.name}"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run_command_line(["--version"]) == 0
    assert capsys.readouterr().out == f"nashdex {nashdex.__version__}\n"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text('format = "gen1randombattle"\niterations = 2\n[collect]\nbattles = 7\n')
    return path


def _json(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert cli.run_command_line(arguments) == 0
    out, err = capsys.readouterr()
    assert err == ""
    document = json.loads(out)
    assert isinstance(document, dict)
    return document


def test_config_show_prints_the_resolved_settings(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NASHDEX_EVALUATE__SHARDS", "5")
    shown = _json(["config", "show", str(config), "--set", "seed=3", "--json"], capsys)
    assert (shown["seed"], shown["iterations"]) == (3, 2)
    assert shown["collect"] | {"battles": 7} == shown["collect"]  # type: ignore[operator]
    assert shown["evaluate"] | {"shards": 5} == shown["evaluate"]  # type: ignore[operator]


def test_config_schema_describes_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    schema = _json(["config", "schema"], capsys)

    def undescribed(part: object, path: str) -> list[str]:
        if not isinstance(part, dict):
            return []
        found = [
            f"{path}.{name}"
            for name, field in part.get("properties", {}).items()
            if "description" not in field and "$ref" not in field and "oneOf" not in field and name != "kind"
        ]
        return found + [hit for name, section in part.get("$defs", {}).items() for hit in undescribed(section, name)]

    assert undescribed(schema, "settings") == []


def test_shipped_configurations_are_whole(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(__file__).parents[3] / "configs"
    for path in sorted(set(folder.glob("*.toml")) - {folder / "prices.toml"}):
        _json(["config", "show", str(path)], capsys)
    demo = _json(["config", "show", str(folder / "demo.toml")], capsys)
    assert (demo["format"], demo["iterations"], demo["seed"]) == ("gen1randombattle", 2, 1)


def _run_uri(config: Path) -> str:
    return begin_run(str(config.parent / "store"), config).store.uri


def test_step_prints_its_manifest_and_does_nothing_twice(
    config: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NASHDEX_LOG_LEVEL", "warning")
    plan = ["step", "plan", "--run", _run_uri(config), "--iteration", "0", "--json"]
    first = _json([*plan, "--shard", "0"], capsys)
    assert (first["step"], first["iteration"], first["shard"]) == ("plan", 0, 0)
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    assert _json([*plan, "--shard", "0"], capsys) == first
    assert _json(plan, capsys) == {"manifests": [first]}
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before
    next(tmp_path.rglob("plan/*/manifest.json")).unlink()
    assert _json([*plan, "--shard", "0"], capsys)["attempt"] != first["attempt"]


@pytest.mark.parametrize(
    ("where", "code", "says"),
    [
        (["--iteration", "2"], 64, "from 0 to 1"),
        (["--iteration", "0", "--shard", "1"], 64, "from 0 to 0"),
        (["--iteration", "1"], 65, "nashdex step solve"),
    ],
)
def test_step_refuses_what_the_run_does_not_have(
    where: list[str], code: int, says: str, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run_command_line(["step", "plan", "--run", _run_uri(config), *where]) == code
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("step", "says"), [("gate", "gate.test is 'none'"), ("act", "its training plays its own battles or none")]
)
def test_a_step_that_a_run_has_not_is_refused(
    step: str, says: str, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = begin_run(str(config.parent / "store"), config, overrides=["actors.shards=0"])
    assert cli.run_command_line(["step", step, "--run", run.store.uri, "--iteration", "0"]) == 64
    assert says in capsys.readouterr().err


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    path = tmp_path / "matrix.json"
    path.write_text('{"payoffs": [[0, -0.25, 0.5], [0.25, 0, -0.05], [-0.5, 0.05, 0]], "policies": ["a", "b", "c"]}')
    return path


def test_solve_answers_with_the_mixture_and_how_sure_it_is(matrix: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = _json(["solve", str(matrix), "--json"], capsys)
    assert answer["policies"] == ["a", "b", "c"]
    assert answer["meta_strategy"] == pytest.approx({"a": 1 / 16, "b": 10 / 16, "c": 5 / 16})
    assert answer["value"] == pytest.approx(0.0)
    assert answer["restricted_exploitability"] == pytest.approx(0.0, abs=1e-9)
    assert answer["status"] == "optimal"
    assert "residual" in answer
    uniform = _json(["solve", str(matrix), "--meta-solver", "uniform", "--json"], capsys)
    assert uniform["restricted_exploitability"] == pytest.approx(1 / 12)


def test_solve_answers_two_populations_with_a_strategy_each(matrix: Path, capsys: pytest.CaptureFixture[str]) -> None:
    matrix.write_text('{"payoffs": [[2, 0, 1], [0, 1, 1]], "row_policies": ["x", "y"]}')
    answer = _json(["solve", str(matrix), "--json"], capsys)
    assert answer["row_strategy"] == pytest.approx({"x": 1 / 3, "y": 2 / 3})
    assert answer["column_strategy"] == pytest.approx({"0": 1 / 3, "1": 2 / 3, "2": 0.0})
    assert "meta_strategy" not in answer


@pytest.mark.parametrize(
    ("text", "solver", "code", "says"),
    [
        ("{}", "magic", 64, "magic"),
        ("{}", "nash", 65, "payoffs"),
        ("{", "nash", 65, "matrix.json"),
        ('{"wins": [[0, 3], [1, 0]], "draws": [[0, 0], [0, 0]], "games": [[0, 3], [3, 0]]}', "nash", 65, "games"),
        ('{"wins": [[0, -1], [1, 0]], "draws": [[0, 0], [0, 0]], "games": [[0, 0], [0, 0]]}', "nash", 65, "wins"),
        ('{"wins": [[0, 0], [0, 0]], "draws": [[0, 0], [0, 0]], "games": [[0, 0], [0, 0]]}', "nash", 65, "not played"),
        ('{"payoffs": [[0, 1]], "column_payoffs": [[1, 0]]}', "nash", 64, "bimatrix"),
    ],
)
def test_solve_says_what_is_wrong_with_a_matrix(
    text: str, solver: str, code: int, says: str, matrix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    matrix.write_text(text)
    assert cli.run_command_line(["solve", str(matrix), "--meta-solver", solver]) == code
    assert says in capsys.readouterr().err


def test_solve_of_a_missing_file_is_wrong_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run_command_line(["solve", str(tmp_path / "gone.json")]) == 65
    assert "gone.json" in capsys.readouterr().err
