"""Commands that play real battles outside a run."""

import json
import subprocess
import sys
from typing import Any

import pytest

from nashdex.collector.trial import self_play_trial
from nashdex.games.registry import showdown_game
from nashdex.rollout.sizing import choose_sizes
from nashdex.settings.networks import SlotsSettings
from nashdex.settings.run import ArenaSettings
from nashdex_bench.scale import run_scale
from nashdex_cli.cli import run_command_line

pytestmark = pytest.mark.integration


def _json(*arguments: str) -> dict[str, Any]:
    """Run a command with --json; return the one document that it prints."""
    command = [sys.executable, "-m", "nashdex_cli", *arguments, "--json"]
    process = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    assert process.returncode == 0, process.stderr
    document = json.loads(process.stdout)
    assert isinstance(document, dict)
    return document


def _refuses(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, says: str) -> None:
    """Check that a command fails with ``code`` and one line that says why."""
    assert run_command_line(arguments) == code
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert says in error


@pytest.mark.slow
def test_battle_counts_an_odd_number_for_the_first_and_repeats_itself() -> None:
    arguments = ("battle", "--format", "gen1randombattle", "--p1", "max-power", "--p2", "random", "--battles", "9")
    answer = _json(*arguments, "--seed", "3")
    assert answer["wins"] + answer["losses"] + answer["draws"] == 9
    assert (answer["battles"], answer["failed"]) == (9, 0)
    assert answer["score_draws_as_losses"] == answer["wins"] / 9
    assert answer["decisions"] > 9
    assert answer["seconds"] > 0
    assert answer["score"] == pytest.approx((answer["wins"] + answer["draws"] / 2) / 9)
    assert answer["low"] < answer["score"] < answer["high"] or answer["score"] in {0.0, 1.0}
    again = _json(*arguments, "--seed", "3")
    assert {**again, "seconds": 0} == {**answer, "seconds": 0}


@pytest.mark.slow
def test_a_series_ends_when_one_side_has_won_it() -> None:
    """Each is two or three battles of the same two teams. The first battles are those of a match without series."""
    players = ("--format", "gen9championsvgc2026regmabo3", "--p1", "max-power", "--p2", "random", "--battles", "4")
    answer, single = _json("battle", *players, "--best-of", "3"), _json("battle", *players)
    series = answer["series"]
    assert series["wins"] + series["losses"] + series["draws"] == 4
    assert 2 * 4 <= answer["battles"] <= 3 * 4
    assert answer["wins"] >= 2 * series["wins"]
    assert answer["losses"] >= 2 * series["losses"]
    assert series["score"] == (series["wins"] + series["draws"] / 2) / 4
    assert series["low"] <= series["score"] <= series["high"]
    assert single["series"] is None
    assert answer["wins"] >= single["wins"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--format", "gen1randombattle", "--best-of", "2"), "--best-of is 2; expected one of 1, 3, 5, 7"),
        (("--format", "kuhn_poker", "--best-of", "3"), "kuhn_poker has no series"),
    ],
)
def test_what_is_no_series_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    _refuses(capsys, ("battle", "--p1", "random", "--p2", "first-action", *arguments), 64, says)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--p1", "nobody", "--p2", "random"), 64, "unknown scripted policy 'nobody'"),
        (("--p1", "random", "--p2", "/nowhere/run#nash"), 65, "/nowhere/run"),
        (("--p1", "random", "--p2", "/nowhere/run#abc"), 65, "/nowhere/run"),
    ],
)
def test_battle_refuses_a_policy_that_it_does_not_know(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, says: str
) -> None:
    _refuses(capsys, ("battle", "--format", "gen1randombattle", *arguments), code, says)


@pytest.mark.slow
def test_bench_collect_measures_every_side() -> None:
    arguments = ("--format", "gen1ou", "--seconds", "2", "--repetitions", "1", "--peer", "poke-env")
    answer = _json("bench", "collect", *arguments)
    assert answer["format"] == "gen1ou"
    rate = answer["decisions_per_cpu_second"]
    assert answer["efficiency"] == pytest.approx(rate / answer["raw_decisions_per_cpu_second"])
    assert answer["efficiency_accelerated"] == pytest.approx(rate / answer["raw_accelerated_decisions_per_cpu_second"])
    assert answer["peer_ratio"] == pytest.approx(rate / answer["peer_decisions_per_cpu_second"])
    assert 1e6 / rate == pytest.approx(answer["collector_cpu_microseconds"] + answer["gateway_cpu_microseconds"])
    assert answer["decisions_per_second"] > 0
    latency = answer["decision_latency_milliseconds"]
    assert 0 < latency["p50"] <= latency["p90"] <= latency["p99"]
    assert 0 < answer["collector_waiting_share"] + answer["gateway_waiting_share"] < 1.2, "a turn counts when it ends"
    assert answer["resident_bytes"] == answer["collector_resident_bytes"] + answer["gateway_resident_bytes"] > 0
    assert answer["failed_battles"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("format_id", "network"),
    [("gen1randombattle", "slots"), ("gen9randomdoublesbattle", "pointer-pairs")],
)
def test_bench_train_compares_a_round_with_bare_torch(format_id: str, network: str) -> None:
    arguments = ("--format", format_id, "--network", network, "--battles", "8", "--repetitions", "1")
    answer = _json("bench", "train", *arguments, "--epochs", "1", "--minibatch", "64")
    assert (answer["network"], answer["num_epochs"], answer["minibatch_decisions"]) == (network, 1, 64)
    rates = answer["samples_per_second"], answer["bare_samples_per_second"]
    assert sum(answer["parts"].values()) == pytest.approx(1)
    assert answer["efficiency"] == pytest.approx(rates[0] / rates[1])
    assert answer["num_decisions"] > 8 * 2


def test_bench_train_refuses_to_compile_without_a_compiler(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    arguments = ("bench", "train", "--format", "gen1randombattle", "--compile")
    _refuses(capsys, arguments, 64, "no g++ or clang++ here; install one")


@pytest.mark.slow
def test_bench_loop_counts_the_cpu_time_of_playing_and_of_learning() -> None:
    arguments = ("--format", "gen1randombattle", "--network", "pointer", "--battles", "8", "--rounds", "2")
    answer = _json("bench", "loop", *arguments, "--epochs", "1", "--minibatch", "64")
    assert (answer["network"], answer["num_epochs"], answer["minibatch_decisions"]) == ("pointer", 1, 64)
    assert answer["collect_share"] + answer["train_share"] == pytest.approx(1)
    assert len(answer["rounds"]) == 2, "the round before them does not count"
    times = [one["collect_microseconds"] + one["train_microseconds"] for one in answer["rounds"]]
    assert 1e6 / answer["decisions_per_cpu_second"] == pytest.approx(sum(times) / 2)
    assert all(one["num_decisions"] > 8 * 2 for one in answer["rounds"])


@pytest.mark.slow
def test_bench_actors_reads_the_chunks_of_simulated_actors() -> None:
    arguments = ("--format", "gen1randombattle", "--small", "--actors", "3", "--rate", "100000", "--rounds", "5")
    answer = _json("bench", "actors", *arguments, "--battles", "4", "--chunk-battles", "2", "--staleness", "2")
    assert (answer["rounds"], answer["chunks"], answer["dropped_chunks"]) == (5, 10, 0)
    assert answer["decisions"] > 5 * 4 * 2
    assert len(answer["resident_mib"]) == 5
    assert len(answer["resident_quarters_mib"]) == 4
    assert answer["staleness_versions"] <= 2
    assert answer["cpu_seconds"] <= answer["seconds"] * 4


@pytest.mark.slow
def test_bench_scale_adds_gateways_and_then_shards() -> None:
    result = run_scale("gen1randombattle", seconds=0.1, numbers=(2,))
    assert [(row.shards, row.gateways) for row in result.rows] == [(1, 2), (2, 1)]
    assert all(row.decisions_per_second > 0 and row.decisions_per_cpu_second > 0 for row in result.rows)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("collect", "--format", "kuhn_poker"), 64, "'kuhn_poker' is not a Showdown format"),
        (("collect", "--format", "gen1ou", "--peer", "metamon"), 64, "expected poke-env"),
        (("scale", "--format", "nothing"), 64, "unknown format 'nothing'"),
        (("train", "--format", "gen1ou", "--network", "deep"), 64, "unknown network 'deep': expected one of slots"),
        (("loop", "--format", "gen1ou", "--network", "deep"), 64, "unknown network 'deep': expected one of slots"),
        (("loop", "--format", "kuhn_poker"), 64, "'kuhn_poker' is not a Showdown format"),
    ],
)
def test_bench_refuses_what_it_cannot_measure(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, says: str
) -> None:
    _refuses(capsys, ("bench", *arguments), code, says)


@pytest.mark.slow
def test_sizes_are_chosen_by_a_short_benchmark() -> None:
    trial = self_play_trial(showdown_game("gen1randombattle"), SlotsSettings(), seconds=1.0)
    sizes = choose_sizes(ArenaSettings(gateways=0, concurrent_battles=8), 10_000, num_cores=2, trial=trial)
    assert sizes.gateways in {1, 2}
    assert sizes.concurrent_battles == 8
    assert "2 × 4: " in sizes.reason
