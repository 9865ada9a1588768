"""Scripted policies and formats of installed packages: the how-to pages' own files, played and run."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.games.tabular.tree import one_hot, uniform_table
from nashdex.games.tabular.values import expected_payoffs
from support.packages import install, run_nashdex
from support.pages import commands, install_package, titled_block

pytestmark = pytest.mark.integration

POLICY_PAGE, FORMAT_PAGE = "how-to/new-scripted-policy.md", "how-to/new-format.md"


def _json(site: Path, arguments: list[str]) -> dict[str, Any]:
    done = run_nashdex(site, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert isinstance(document, dict)
    return document


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    return install_package(POLICY_PAGE, "last_action.py", tmp_path / "site")


@pytest.fixture
def formats(tmp_path: Path) -> Path:
    return install_package(FORMAT_PAGE, "small_games.py", tmp_path / "site")


@pytest.mark.slow
def test_an_added_policy_plays_cards_and_showdown(policies: Path) -> None:
    always_bets, mixed, showdown = (_json(policies, command) for command in commands(POLICY_PAGE))
    tree = openspiel_tree("kuhn_poker")
    payoff = expected_payoffs(tree, [one_hot(np.ones(tree.num_states, dtype=np.int64), 2), uniform_table(tree)])[0, 1]
    assert payoff > 0, "always to bet or call beats uniform play"
    assert always_bets["score"] == pytest.approx(0.5 + payoff / (2 * tree.max_payoff), abs=0.1)
    assert mixed["wins"] + mixed["losses"] == 400
    assert showdown["failed"] == 0
    assert showdown["wins"] + showdown["losses"] + showdown["draws"] == 6


def test_an_added_policy_has_an_exact_table_whether_it_draws_or_not(policies: Path) -> None:
    found = _json(policies, ["tabular", "value", "kuhn_poker"])["nash_conv"]
    assert sorted(found) == ["first-action", "high-action", "last-action", "random"]
    assert found["random"] == pytest.approx(11 / 12)


def test_settings_know_an_added_policy(policies: Path, tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    config.write_text('format = "kuhn_poker"\n[population]\ninitial = ["last-action"]\n[train]\noracle = "exact"\n')
    assert run_nashdex(policies, "config", "show", str(config)).returncode == 0
    refused = run_nashdex(tmp_path, "config", "show", str(config))
    assert refused.returncode == 64
    assert "unknown scripted policy 'last-action': did you mean first-action?" in refused.stderr


DRAWS = """
from nashdex.policies.scripted.declaration import ScriptedPolicy
from nashdex.policies.scripted.baselines import UniformPlayer
DRAWS = ScriptedPolicy(UniformPlayer)
"""


def test_a_policy_that_draws_has_to_declare_its_table(tmp_path: Path) -> None:
    site = install(
        tmp_path, "drawing", {"drawing.py": DRAWS}, {"nashdex.scripted_policies": {"draws": "drawing:DRAWS"}}
    )
    refused = run_nashdex(site, "tabular", "double-oracle", "kuhn_poker", "--initial", "draws")
    assert refused.returncode == 64
    assert "'draws' draws its actions" in refused.stderr
    assert "expected its declaration to have a `table`" in refused.stderr


@pytest.mark.slow
def test_added_formats_are_played_and_run(formats: Path, tmp_path: Path) -> None:
    (tmp_path / "rps.toml").write_text(titled_block(FORMAT_PAGE, "rps.toml"))
    dice, battle, showdown, run = commands(FORMAT_PAGE)
    assert _json(formats, dice)["information_states"] > 0
    assert _json(formats, battle)["failed"] == 0
    assert _json(formats, showdown)["score"] > 0.5
    assert run_nashdex(formats, *run).returncode == 0
    report = json.loads((tmp_path / "runs" / "rps" / "iterations" / "0002" / "meta_game_analysis.json").read_text())
    assert report["exploitability"]["exact"]["value"] == pytest.approx(0.0, abs=1e-9)


OTHER_NAME = """
from nashdex.games.tabular.game import TabularFormat
from nashdex.games.tabular.openspiel import openspiel_tree
FORMAT = TabularFormat(lambda name: openspiel_tree("kuhn_poker"))
"""


def test_a_game_that_calls_itself_otherwise_is_refused(tmp_path: Path) -> None:
    site = install(tmp_path, "other", {"other.py": OTHER_NAME}, {"nashdex.formats": {"cards": "other:FORMAT"}})
    refused = run_nashdex(site, "battle", "--format", "cards", "--p1", "random", "--p2", "random")
    assert refused.returncode == 64
    assert "the format 'cards' makes a game that calls itself 'kuhn_poker'" in refused.stderr
