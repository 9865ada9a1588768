"""A meta-solver of an installed package: the how-to page's own files, solved and run to the known answer."""

import json
from pathlib import Path

import pytest

from support.packages import run_nashdex
from support.pages import commands, install_package, titled_block

pytestmark = pytest.mark.integration

PAGE = "how-to/new-meta-solver.md"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for name in ("rps.json", "kuhn.toml"):
        (tmp_path / name).write_text(titled_block(PAGE, name))
    return install_package(PAGE, "fictitious_play.py", tmp_path / "site")


def test_the_package_is_short() -> None:
    assert len(titled_block(PAGE, "fictitious_play.py").splitlines()) < 40


def test_it_solves_a_game_in_a_file(site: Path) -> None:
    solve, _ = commands(PAGE)
    solved = run_nashdex(site, *solve, "--json")
    assert solved.returncode == 0, solved.stderr
    answer = json.loads(solved.stdout)
    expected = {"rock": 1 / 16, "paper": 10 / 16, "scissors": 5 / 16}
    assert answer["meta_strategy"] == pytest.approx(expected, abs=0.03)
    assert (answer["meta_solver"], answer["status"]) == ("fictitious-play", "converged")


def test_help_and_settings_know_it(site: Path) -> None:
    listed = " ".join(run_nashdex(site, "solve", "--help").stdout.split())
    assert "fictitious-play: counts of best replies to the counts so far. num_rounds (20000): Best replies" in listed
    refused = run_nashdex(site, "config", "show", "kuhn.toml", "--set", "solve.meta_solver.num_rounds=0")
    assert refused.returncode == 64
    assert "num_rounds: must be greater than or equal to 1" in refused.stderr


def test_two_populations_are_refused_in_one_line(site: Path) -> None:
    (site.parent / "pennies.json").write_text('{"payoffs": [[1, -1], [-1, 1]]}')
    refused = run_nashdex(site, "solve", "pennies.json", "--meta-solver", "fictitious-play")
    assert refused.returncode == 64
    assert "is not defined for two populations; use one of nash," in refused.stderr


@pytest.mark.slow
def test_a_run_of_kuhn_poker_comes_close_to_equilibrium(site: Path) -> None:
    _, run = commands(PAGE)
    done = run_nashdex(site, *run)
    assert done.returncode == 0, done.stderr
    iterations = site.parent / "runs" / "kuhn" / "iterations"
    last = iterations / "0011"
    assert json.loads((last / "meta_strategy.json").read_text())["meta_solver"] == "fictitious-play"
    exact = json.loads((last / "meta_game_analysis.json").read_text())["exploitability"]["exact"]
    first = json.loads((iterations / "0000" / "meta_game_analysis.json").read_text())["exploitability"]["exact"]
    assert first["value"] == pytest.approx(1.25, abs=0.01)
    assert exact["value"] < 0.01


def test_without_the_package_the_name_is_unknown(site: Path, tmp_path: Path) -> None:
    refused = run_nashdex(tmp_path / "none", "solve", "--help")
    assert "fictitious-play" not in refused.stdout
    unknown = run_nashdex(site.parent, "solve", "rps.json", "--meta-solver", "fictitious-play")
    assert unknown.returncode == 64
    assert "unknown meta-solver 'fictitious-play': expected one of nash," in unknown.stderr
