"""``nashdex solve``: flags, what people read, and what is refused before anything is printed."""

import json
from pathlib import Path

import pytest

from nashdex.metagame.solvers.registry import META_SOLVERS
from nashdex_cli import cli


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    path = tmp_path / "matrix.json"
    payoffs = [[0, -0.25, 0.5], [0.25, 0, -0.05], [-0.5, 0.05, 0]]
    path.write_text(json.dumps({"payoffs": payoffs, "policies": ["rock", "paper", "scissors"]}))
    return path


@pytest.mark.parametrize(
    ("flags", "parameters"),
    [
        (["nash"], {}),
        (["regret-matching", "--set", "num_iterations=500"], {"num_iterations": 500}),
        (["prd", "--set", "num_iterations=500"], {"num_iterations": 500}),
        (["alpha-rank", "--set", "alpha=10", "--set", "population_size=20"], {"alpha": 10, "population_size": 20}),
        (["last-k", "--set", "num_policies=2"], {}),
        (["recency", "--set", "temperature=2"], {}),
    ],
)
def test_json_holds_strategy_residual_and_parameters(
    flags: list[str], parameters: dict[str, float], matrix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run_command_line(["solve", str(matrix), "--json", "--meta-solver", *flags]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["meta_solver"] == flags[0]
    assert answer["parameters"] == parameters
    assert sum(answer["meta_strategy"].values()) == pytest.approx(1)
    assert answer["meta_strategy"].keys() == {"rock", "paper", "scissors"}
    assert answer.keys() >= {"value", "restricted_exploitability", "residual", "promise", "status", "unique"}


def test_the_temperature_of_the_magnet(matrix: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        cli.run_command_line(["solve", str(matrix), "--meta-solver", "magnet", "--set", "temperature=1", "--json"]) == 0
    )
    answer = json.loads(capsys.readouterr().out)
    expected = {"rock": 0.35324, "paper": 0.36082, "scissors": 0.28594}
    assert answer["meta_strategy"] == pytest.approx(expected, abs=1e-5)


def test_people_read_the_strategy_from_its_largest_share(matrix: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run_command_line(["solve", str(matrix)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[:4]] == [
        ["meta-strategy"],
        ["0.625000", "paper"],
        ["0.312500", "scissors"],
        ["0.062500", "rock"],
    ]
    facts = dict(line.split("  ", 1) for line in lines[5:])
    assert facts["value"].strip() == facts["restricted exploitability"].strip() == "0"
    assert (facts["status"].strip(), facts["residual"].strip()) == ("optimal", "0 (exploitability)")


def test_people_are_told_how_many_policies_are_not_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "matrix.json"
    path.write_text('{"payoffs": [[0, 1, 1], [-1, 0, 1], [-1, -1, 0]], "policies": ["a", "b", "c"]}')
    assert cli.run_command_line(["solve", str(path)]) == 0
    assert capsys.readouterr().out.startswith("meta-strategy\n  1.000000  a\n  2 more below 1e-06\n")


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--set", "alpha=1"], "alpha: no such key (got 1); nash takes no settings"),
        (["--meta-solver", "magnet", "--set", "alpha=1"], "magnet takes temperature, num_iterations"),
        (["--meta-solver", "alpha-rank", "--set", "alpha=nan"], "alpha: must be a finite number"),
        (["--meta-solver", "alpha-rank", "--set", "population_size=1"], "population_size: must be greater"),
        (["--meta-solver", "last-k", "--set", "num_policies=many"], "num_policies: expected an integer"),
        (["--set", "temperature"], "--set 'temperature': expected KEY=VALUE"),
        (["--meta-solver", "magic"], "recency"),
    ],
)
def test_settings_without_effect_or_sense_are_refused(
    flags: list[str], says: str, matrix: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run_command_line(["solve", str(matrix), *flags]) == 64
    printed = capsys.readouterr()
    assert says in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_help_lists_every_meta_solver_with_its_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run_command_line(["solve", "--help"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for name, solver in META_SOLVERS.all().items():
        assert f"{name}: {solver.summary}." in printed
        for key in solver.parameters:
            assert f"{key} (" in printed


NAMES = ("V1_SP", "a policy/with spaces", "ポリゴン é ½", "x" * 200)
"""Names in files of other projects: none is an id of nashdex."""


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Counts of policies with ``NAMES``: 60 wins in 100 of each against the next."""
    size = range(len(NAMES))
    wins = [[0 if i == j else 60 if j == (i + 1) % 4 else 40 if i == (j + 1) % 4 else 50 for j in size] for i in size]
    nothing = [[0 for _ in size] for _ in size]
    games = [[100 * (i != j) for j in size] for i in size]
    path = tmp_path / "foreign.json"
    path.write_text(json.dumps({"policies": NAMES, "wins": wins, "draws": nothing, "games": games}))
    return path


@pytest.mark.parametrize("name", list(META_SOLVERS.all()))
def test_names_of_other_projects_are_data(name: str, foreign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quick = ["--set", "num_iterations=100"] if "num_iterations" in META_SOLVERS.all()[name].parameters else []
    assert cli.run_command_line(["solve", str(foreign), "--meta-solver", name, *quick, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["meta_strategy"].keys() == answer["uncertainty"]["meta_strategy"].keys() == set(NAMES)


def test_other_commands_take_the_same_names(foreign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run_command_line(["solve", str(foreign)]) == 0
    assert cli.run_command_line(["rate", str(foreign), "--anchor", "V1_SP=1200"]) == 0
    printed = "".join(capsys.readouterr().out.split())
    assert all(printed.count("".join(name.split())) >= 2 for name in NAMES)
    assert cli.run_command_line(["calibrate", str(foreign), "--sets", "10", "--processes", "1"]) == 0


@pytest.mark.parametrize("name", ["two\nlines", "\x1b[31mred", "\u202eback"])
def test_names_that_are_no_text_are_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "matrix.json"
    path.write_text(json.dumps({"payoffs": [[0, 1], [-1, 0]], "policies": ["fine", name]}))
    assert cli.run_command_line(["solve", str(path)]) == 65
    printed = capsys.readouterr().err
    assert "expected a name that can be printed" in printed
    assert name not in printed
    assert printed.count("\n") == 1
