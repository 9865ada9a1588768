"""Commands that play real battles outside a run."""

import json
import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.integration


def _json(*arguments: str) -> dict[str, Any]:
    """Run a command with --json; return the one document that it prints."""
    command = [sys.executable, "-m", "nashdex", *arguments, "--json"]
    process = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert process.returncode == 0, process.stderr
    document = json.loads(process.stdout)
    assert isinstance(document, dict)
    return document


def test_battle_counts_an_odd_number_for_the_first_and_repeats_itself() -> None:
    arguments = ("battle", "--format", "gen1randombattle", "--p1", "max-power", "--p2", "random", "--battles", "9")
    answer = _json(*arguments, "--seed", "3")
    assert answer["wins"] + answer["losses"] + answer["draws"] == 9
    assert answer["failed"] == 0
    assert answer["decisions"] > 9
    assert answer["seconds"] > 0
    assert answer["win_rate"] == pytest.approx((answer["wins"] + answer["draws"] / 2) / 9)
    assert answer["low"] < answer["win_rate"] < answer["high"] or answer["win_rate"] in {0.0, 1.0}
    again = _json(*arguments, "--seed", "3")
    assert {**again, "seconds": 0} == {**answer, "seconds": 0}


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--p1", "nobody", "--p2", "random"), 64, "unknown policy 'nobody'"),
        (("--p1", "random", "--p2", "/nowhere/run#nash"), 65, "/nowhere/run"),
        (("--p1", "random", "--p2", "/nowhere/run#abc"), 65, "/nowhere/run"),
    ],
)
def test_battle_refuses_whom_it_does_not_know(arguments: tuple[str, ...], code: int, says: str) -> None:
    command = [sys.executable, "-m", "nashdex", "battle", "--format", "gen1randombattle", *arguments]
    process = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert process.returncode == code
    assert process.stderr.startswith("error: ")
    assert process.stderr.count("\n") == 1
    assert says in process.stderr


def test_bench_collect_measures_both_sides() -> None:
    answer = _json("bench", "collect", "--format", "gen1randombattle", "--seconds", "4", "--repetitions", "1")
    assert answer["format"] == "gen1randombattle"
    assert answer["efficiency"] == pytest.approx(
        answer["decisions_per_cpu_second"] / answer["raw_decisions_per_cpu_second"]
    )
    assert answer["decisions_per_second"] > 0
    assert answer["resident_bytes"] > 0
