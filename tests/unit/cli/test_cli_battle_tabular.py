"""``nashdex battle`` in games for stakes, where no simulator is needed."""

import json
import os
import re
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nashdex.core import keys
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.policies.tables import save_table_policy
from nashdex.store import open_store
from nashdex.store.checked import write_root
from nashdex_cli.cli import run_command_line
from support.begun_runs import begin_run
from support.tables import first_action_table

MATRIX = {"row_policies": ["a", "b"], "column_policies": ["c", "d"], "payoffs": [[3, -1], [0, 2]]}


def battle(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run_command_line(["battle", *arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    return document


def test_the_win_rate_is_the_expected_score(capsys: pytest.CaptureFixture[str]) -> None:
    """Random wins 0.625 against always passing: half a chip of the two at stake."""
    arguments = ("--format", "kuhn_poker", "--p1", "random", "--p2", "first-action", "--battles", "4000", "--seed", "1")
    document = battle(capsys, *arguments)
    assert document["wins"] + document["losses"] == 4000
    assert document["low"] < 0.625 < document["high"]
    assert document["score"] < document["wins"] / 4000 - 0.05, "small stakes are won more often than large ones"
    again = battle(capsys, *arguments)
    assert {**again, "seconds": 0} == {**document, "seconds": 0}


def test_a_stored_policy_plays(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    tree = openspiel_tree("kuhn_poker")
    always_bet = np.eye(2)[np.ones(tree.num_states, int)]
    policy = save_table_policy(
        open_store(str(tmp_path)), tree, always_bet, name="bets", parent=None, iteration=0, oracle="exact"
    )
    document = battle(
        capsys, "--format", "kuhn_poker", "--p1", f"{tmp_path}#{policy}", "--p2", "first-action", "--battles", "40"
    )
    assert document["score"] == 0.75, "who passes folds to every bet, and loses one of two chips"
    assert (document["wins"], document["decisions"]) == (40, 100)


def test_a_stored_policy_plays_greedily(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    tree = openspiel_tree("kuhn_poker")
    often_bets = np.tile([0.4, 0.6], (tree.num_states, 1))
    policy = save_table_policy(
        open_store(str(tmp_path)), tree, often_bets, name="bets", parent=None, iteration=0, oracle="exact"
    )
    arguments = ("--format", "kuhn_poker", "--p2", "first-action", "--battles", "40")
    assert battle(capsys, *arguments, "--p1", f"{tmp_path}#{policy}@greedy")["wins"] == 40
    assert battle(capsys, *arguments, "--p1", f"{tmp_path}#{policy}")["wins"] < 40


def run_with_a_policy(folder: Path, name: str, game: str = "kuhn_poker") -> str:
    """Create a run that has not played, with a policy of its game; return RUN#POLICY."""
    settings = folder / f"{name}.toml"
    settings.write_text(f'format = "{game}"\ncollect.teacher = "random"\npopulation.initial = ["random"]\n')
    run = begin_run(str(folder / "store"), settings, name=name)
    tree = openspiel_tree(game)
    policy = save_table_policy(
        run.store, tree, first_action_table(tree), name="first", parent=None, iteration=0, oracle="exact"
    )
    return f"{run.store.uri}#{policy}"


def test_the_format_is_that_of_the_run_that_a_player_names(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kuhn = run_with_a_policy(tmp_path, "kuhn")
    few = ("--battles", "4")
    for players in ((kuhn, "random"), ("random", kuhn), (kuhn, f"{kuhn}@greedy")):
        document = battle(capsys, "--p1", players[0], "--p2", players[1], *few)
        assert (document["format"], document["battles"]) == ("kuhn_poker", 4)
    assert battle(capsys, "--format", "kuhn_poker", "--p1", kuhn, "--p2", "random", *few)["battles"] == 4


def test_a_policy_beside_no_run_plays_in_the_format_that_it_was_made_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    tree = openspiel_tree("kuhn_poker")
    store = open_store(str(tmp_path / "imported"))
    policy = save_table_policy(
        store, tree, first_action_table(tree), name="first", parent=None, iteration=0, oracle="exact"
    )
    alone = f"{store.uri}#{policy}"
    kuhn = run_with_a_policy(tmp_path, "kuhn")
    assert battle(capsys, "--p1", alone, "--p2", kuhn, "--battles", "4")["format"] == "kuhn_poker"
    assert battle(capsys, "--p1", alone, "--p2", "random", "--battles", "4")["format"] == "kuhn_poker"
    leduc = run_with_a_policy(tmp_path, "leduc", "leduc_poker")
    assert run_command_line(["battle", "--p1", alone, "--p2", leduc]) == 64
    assert f"the policy of p1 ({alone}) plays kuhn_poker and the run of p2" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["nash", "newest"])
def test_a_format_that_nothing_states_is_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    """Only a run has a meta-strategy and a newest policy."""
    store = open_store(str(tmp_path / "imported"))
    assert run_command_line(["battle", "--p1", f"{store.uri}#{name}", "--p2", "random"]) == 64
    assert capsys.readouterr().err == (
        f"error: the format is missing, and there is no run in {store.uri} to take it from: correct the URI, or name "
        "the format, such as gen1ou\n"
    )


def test_a_run_that_may_be_meant_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run = run_with_a_policy(tmp_path, "demo-1").partition("#")[0]
    assert run_command_line(["battle", "--p1", f"{run[:-2]}#newest", "--p2", "random"]) == 64
    assert f"to take it from: did you mean {run}? correct the URI, or name the format" in capsys.readouterr().err


def test_a_battle_has_one_format(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kuhn, leduc = run_with_a_policy(tmp_path, "kuhn"), run_with_a_policy(tmp_path, "leduc", "leduc_poker")
    kuhn_uri, leduc_uri = kuhn.partition("#")[0], leduc.partition("#")[0]
    both = f"the run of p1 ({kuhn_uri}) plays kuhn_poker and the run of p2 ({leduc_uri}) plays leduc_poker; "
    other = f"the format is leduc_poker, and the run of p2 ({kuhn_uri}) plays kuhn_poker: leave the format out\n"
    for arguments, says in (
        (("--p1", "random", "--p2", "random"), "the format is missing, and no player names a run to take it from: "),
        (
            ("--p1", kuhn_uri, "--p2", "random"),
            f"'{kuhn_uri}' names a store and no policy in it; expected one",
        ),
        (("--format", "leduc_poker", "--p1", "random", "--p2", kuhn), other),
        (("--p1", kuhn, "--p2", leduc), f"{both}expected players of one format\n"),
        (("--format", "kuhn_poker", "--p1", f"search:{kuhn}", "--p2", leduc), both),
    ):
        assert run_command_line(["battle", *arguments]) == 64
        error = capsys.readouterr().err
        assert error.startswith(f"error: {says}")
        assert error.count("\n") == 1


def test_the_format_of_a_run_of_another_release_is_known(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Its policies can play although its settings cannot be read any more."""
    kuhn = run_with_a_policy(tmp_path, "kuhn")
    store = open_store(kuhn.partition("#")[0])
    config = json.loads(store.get(keys.CONFIG))
    store.put(keys.CONFIG, json.dumps({**config, "a_setting_of_yore": 1}).encode())
    store.delete(keys.RUN_MANIFEST)
    write_root(store, {keys.CONFIG: store.get(keys.CONFIG)})
    assert battle(capsys, "--p1", kuhn, "--p2", "random", "--battles", "4")["format"] == "kuhn_poker"


def test_a_matrix_is_given_beside_its_format(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "game.json").write_text(json.dumps(MATRIX))
    arguments = ("--format", "matrix", "--matrix", str(tmp_path / "game.json"))
    document = battle(capsys, *arguments, "--p1", "first-action", "--p2", "first-action", "--battles", "2")
    assert (document["wins"], document["losses"], document["score"]) == (1, 1, 0.5)
    document = battle(capsys, *arguments, "--p1", "first-action", "--p2", "first-action", "--battles", "1")
    assert document["score"] == 1.0


def test_the_document_says_what_was_played_and_how_the_interval_is_computed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = battle(capsys, "--format", "kuhn_poker", "--p1", "random", "--p2", "first-action", "--battles", "40")
    assert [document[key] for key in ("format", "p1", "p2", "seed")] == ["kuhn_poker", "random", "first-action", 0]
    assert (document["battles"], document["failed"], document["confidence"]) == (40, 0, 0.95)
    assert document["estimator"] == "mean-score, wilson-by-pairs"
    assert document["score_draws_as_losses"] is None, "for stakes a draw is a payoff of 0, not a loss"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_match_that_is_stopped_prints_no_score(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, number: signal.Signals, code: int
) -> None:
    """The battles that ended by then are the short ones, so their score is biased."""
    # The log is this process's: objects of earlier tests may log a line when they are collected.
    monkeypatch.setattr("nashdex.telemetry.logging.configure_logging", lambda: None)

    def stop_once_it_listens() -> None:
        while signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            time.sleep(0.01)
        time.sleep(0.5)
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=stop_once_it_listens, daemon=True)
    thread.start()
    arguments = ("--format", "kuhn_poker", "--p1", "random", "--p2", "random", "--battles", "10000000", "--json")
    assert run_command_line(["battle", *arguments]) == code
    thread.join()
    out, error = capsys.readouterr()
    assert out == ""
    *progress, last = error.splitlines()
    assert re.fullmatch(r"error: stopped after [0-9,]+ of 10,000,000 battles; .* so there is none", last)
    # A line of progress is printed where the machine is slow.
    told = re.compile("[0-9,]+ of 10,000,000 battles(, about .* left)?")
    assert [line for line in progress if not told.fullmatch(line)] == []


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--format", "matrix", "--p1", "random", "--p2", "random"), 64, "needs payoffs"),
        (("--format", "kuhn_poker", "--p1", "heuristic", "--p2", "random"), 64, "'heuristic' does not play kuhn_poker"),
        (("--format", "kuhn_poker", "--p1", "max-power", "--p2", "random"), 64, "'max-power' does not play kuhn_poker"),
        (("--format", "kuhn_poker", "--p1", "random@greedy", "--p2", "random"), 64, "these take no suffix"),
        (("--format", "kuhn_poker", "--p1", "runs#nash@greedy", "--p2", "random"), 64, "write 'nash', or name one"),
        (("--format", "kuhn_poker", "--p1", "runs#p1@T0.50", "--p2", "random"), 64, "write 'p1@T0.5'"),
        (("--format", "kuhn_poker", "--p1", "runs#p1@best", "--p2", "random"), 64, "expected '@greedy' or"),
        (("--format", "matrix", "--matrix", "nowhere.json", "--p1", "random", "--p2", "random"), 65, "cannot be read"),
    ],
)
def test_battle_says_what_cannot_be_played(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, says: str
) -> None:
    assert run_command_line(["battle", *arguments]) == code
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert says in error


def test_who_always_passes_draws_with_itself_in_the_mean(capsys: pytest.CaptureFixture[str]) -> None:
    tree = openspiel_tree("kuhn_poker")
    assert first_action_table(tree)[:, 0].all()
    document = battle(
        capsys, "--format", "kuhn_poker", "--p1", "first-action", "--p2", "first-action", "--battles", "1000"
    )
    assert document["low"] < 0.5 < document["high"]
    assert document["decisions"] == 2000


def test_there_is_no_simulator_of_a_card_game_to_measure(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["bench", "collect", "--format", "kuhn_poker"]) == 64
    assert "'kuhn_poker' is not a Showdown format" in capsys.readouterr().err
