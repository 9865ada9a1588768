"""``nashdex tabular``: the answers that theory gives, and what it refuses."""

import json
from pathlib import Path

import pytest

from nashdex.evaluator.tabular import double_oracle, game_value
from nashdex.games.tabular.matrix import MatrixDocument, matrix_tree
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.games.tabular.tree import uniform_table
from nashdex_cli.cli import run_command_line
from support.tables import first_action_table

BIASED_RPS = {"policies": ["r", "p", "s"], "payoffs": [[0, -0.25, 0.5], [0.25, 0, -0.05], [-0.5, 0.05, 0]]}


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert run_command_line(["tabular", *arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    return document


def test_kuhns_value_is_an_eighteenth_for_the_second_player(capsys: pytest.CaptureFixture[str]) -> None:
    document = answer(capsys, "value", "kuhn_poker")
    assert document["value"] == pytest.approx(-1 / 18, abs=1e-9)
    assert document["nash_conv"] == {"random": pytest.approx(11 / 12), "first-action": pytest.approx(2.0)}


def test_leducs_value_is_the_literatures() -> None:
    """To more digits than the −0.0856 that is usually given."""
    assert game_value(openspiel_tree("leduc_poker")) == pytest.approx(-0.085606424, abs=1e-8)


def test_a_matrix_games_value_is_the_linear_programs() -> None:
    tree = matrix_tree(MatrixDocument(row_policies=("a", "b"), column_policies=("c", "d"), payoffs=((3, -1), (0, 2))))
    assert game_value(tree) == pytest.approx(1.0, abs=1e-9), "each row a third and two thirds of the time"


def test_double_oracle_solves_kuhn_in_eight_iterations_from_passing_always(capsys: pytest.CaptureFixture[str]) -> None:
    document = answer(capsys, "double-oracle", "kuhn_poker")
    iterations = document["iterations"]
    assert isinstance(iterations, list)
    assert document["converged"] is True
    assert len(iterations) == 8
    assert iterations[0]["nash_conv"] == pytest.approx(2.0)
    assert iterations[-2]["nash_conv"] > 0.1
    assert iterations[-1]["nash_conv"] < 1e-12
    assert iterations[-1]["value"] == pytest.approx(-1 / 18, abs=1e-9)


def test_double_oracle_needs_all_three_of_rock_paper_scissors(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "rps.json").write_text(json.dumps(BIASED_RPS))
    document = answer(capsys, "double-oracle", str(tmp_path / "rps.json"))
    iterations = document["iterations"]
    assert isinstance(iterations, list)
    assert [step["row_policies"] for step in iterations] == [1, 2, 3]
    assert [step["converged"] for step in iterations] == [False, False, True]


def test_double_oracle_ends_where_it_began_in_an_equilibrium() -> None:
    tree = matrix_tree(MatrixDocument(row_policies=("a", "b"), column_policies=("c", "d"), payoffs=((0, 1), (-1, 0))))
    (only,) = double_oracle(tree, first_action_table(tree), 9)
    assert only.converged
    assert len(list(double_oracle(tree, uniform_table(tree), 9))) == 2


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("value", "gen1ou"), 64, "'gen1ou' is not a tabular game; expected one of kuhn_poker, leduc_poker, matrix"),
        (("value", "nowhere.json"), 65, "nowhere.json: cannot be read"),
        (("double-oracle", "kuhn_poker", "--initial", "heuristic"), 64, "'heuristic' does not play kuhn_poker"),
        (("double-oracle", "kuhn_poker", "--iterations", "0"), 64, "--iterations"),
    ],
)
def test_what_cannot_be_solved_is_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, says: str
) -> None:
    assert run_command_line(["tabular", *arguments]) == code
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert says in error


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"payoffs": [[1, 2], [3]]}, "expected rows of one length"),
        ({"payoffs": [[1, 2], [3, 4]], "column_payoffs": [[1, 2], [3, 4]]}, "is not zero-sum"),
        ({"payoffs": [[0, 1], [1, 0]], "column_payoffs": [[0, 1], [1, 0]]}, "is not zero-sum"),
        ({"payoffs": [[0] * 101]}, "at most 100 rows and columns"),
        ({"payoffs": [[0, 1], [1, 0]], "symmetric": True}, "not antisymmetric"),
    ],
)
def test_a_file_that_is_no_game_to_play_is_wrong_data(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, document: dict[str, object], says: str
) -> None:
    (tmp_path / "game.json").write_text(json.dumps(document))
    assert run_command_line(["tabular", "value", str(tmp_path / "game.json")]) == 65
    assert says in capsys.readouterr().err
