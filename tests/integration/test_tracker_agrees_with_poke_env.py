"""The gateway's tracker and poke-env agree on every feature of real battles, but for explained differences."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from audits.tracker.differential import Comparison
from audits.tracker.known import KNOWN_DIFFERENCES

pytestmark = pytest.mark.integration

NUM_BATTLES = 25
NUM_BATTLES_OF_OTHERS = 2
"""A short form. ``PYTHONPATH=tests python -m audits.formats`` is the long one, of every format."""


@pytest.mark.slow
@pytest.mark.parametrize("format_id", ["gen1randombattle", "gen9randombattle", "gen1ou"])
def test_all_features_agree(format_id: str) -> None:
    report = Comparison(format_id, seed=20, max_examples=3).run(NUM_BATTLES).as_json()

    assert report["unexplained"] == 0, json.dumps(report["examples"], indent=1)
    assert (report["battles"], report["failed"], report["poke_env_oddities"]) == (NUM_BATTLES, 0, 0)
    compared = {name: counts["compared"] for name, counts in report["features"].items()}
    expected = {"choices", "mask", "turn", "own.pp", "opponent.hp", "opponent.boosts", "opponent.types", "own.stats"}
    assert all(compared[name] > 1000 for name in expected), compared
    # An explanation is an exception: were it to swallow a feature, this would show.
    explained = {name: sum(counts["explained"].values()) for name, counts in report["features"].items()}
    swallowed = {name for name, count in explained.items() if count > compared[name] / 3} - {"weather.since"}
    assert not swallowed


@pytest.mark.slow
@pytest.mark.parametrize(
    "format_id",
    [
        *("gen2randombattle", "gen3randombattle", "gen7randombattle", "gen8randombattle", "gen9ou"),
        *("gen9vgc2024regg", "gen9vgc2024reggbo3", "gen8vgc2020", "gen9randomdoublesbattle", "gen4doublesou"),
    ],
)
def test_the_particulars_of_other_generations_agree(format_id: str) -> None:
    report = Comparison(format_id, seed=7, max_examples=3).run(NUM_BATTLES_OF_OTHERS).as_json()

    assert report["unexplained"] == 0, json.dumps(report["examples"], indent=1)
    assert (report["battles"], report["failed"], report["poke_env_oddities"]) == (NUM_BATTLES_OF_OTHERS, 0, 0)


def test_every_explanation_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "tracker.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\*\*([^*]+)\.\*\*", page, re.MULTILINE))

    assert documented == set(KNOWN_DIFFERENCES)
    assert all(explains.__doc__ for explains in KNOWN_DIFFERENCES.values())


def run_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "audits.tracker.differential", *arguments]
    folder = Path(__file__).parents[1]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


@pytest.mark.slow
def test_the_command_prints_counts_by_feature() -> None:
    done = run_command("--format", "gen1ou", "--battles", "2", "--seed", "3", "--json")

    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert (report["format"], report["battles"], report["unexplained"]) == ("gen1ou", 2, 0)
    assert report["features"]["own.hp"] == {"compared": report["decisions"] * 6, "explained": {}, "unexplained": 0}


def test_an_unknown_format_is_refused_by_name() -> None:
    done = run_command("--format", "gen12ou")

    assert done.returncode != 0
    assert "gen12ou" in done.stderr
    assert "gen1ou" in done.stderr
