"""Games in files: every form, every kind of wrong one."""

import json
from pathlib import Path

import numpy as np
import pytest

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.exact import ExactValues
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.evidence.tally import Tally
from nashdex.metagame.solvers.registry import META_SOLVERS, meta_solver
from nashdex.solver import matrix_answer, matrix_file
from nashdex.solver.matrix_answer import SymmetricAnswer, TwoPopulationAnswer

COUNTS = {
    "policies": ["a", "b"],
    "wins": [[0, 60], [30, 0]],
    "draws": [[0, 10], [10, 0]],
    "games": [[0, 100], [100, 0]],
}
BIASED_RPS = [[0, -0.25, 0.5], [0.25, 0, -0.05], [-0.5, 0.05, 0]]
PENNIES = [[1, -1], [-1, 1]]


def _solve(path: Path, content: object, name: str = "nash") -> SymmetricAnswer | TwoPopulationAnswer:
    file = path / "matrix.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return matrix_answer.solve(matrix_file.read(file), meta_solver(name))


def test_counts(tmp_path: Path) -> None:
    answer = _solve(tmp_path, COUNTS)
    assert isinstance(answer, SymmetricAnswer)
    assert answer.meta_strategy == {"a": 1.0, "b": 0.0}
    assert (answer.policies, answer.value, answer.restricted_exploitability) == (("a", "b"), 0.0, 0.0)
    assert (answer.status, answer.residual) == ("optimal", 0.0)


def test_counts_that_a_run_published(tmp_path: Path) -> None:
    tables = [np.array(COUNTS[name]) for name in ("wins", "draws", "games")]
    counts = SampledCounts.of([PolicyId("a"), PolicyId("b")], Tally.of_single_battles(*tables))
    answer = _solve(tmp_path, counts.to_json().decode(), "uniform")
    assert isinstance(answer, SymmetricAnswer)
    assert answer.meta_strategy == {"a": 0.5, "b": 0.5}
    assert answer.restricted_exploitability == pytest.approx(0.075)


def test_exact_payoffs_that_a_run_published(tmp_path: Path) -> None:
    values = {"policies": ["a", "b", "c"], "payoffs": BIASED_RPS, "largest_payoff": 0.5}
    answer = _solve(tmp_path, ExactValues.model_validate(values).to_json().decode())
    assert isinstance(answer, SymmetricAnswer)
    assert answer.meta_strategy == pytest.approx({"a": 1 / 16, "b": 10 / 16, "c": 5 / 16})


def test_antisymmetric_payoffs_are_one_population(tmp_path: Path) -> None:
    answer = _solve(tmp_path, {"payoffs": BIASED_RPS})
    assert isinstance(answer, SymmetricAnswer)
    assert answer.meta_strategy == pytest.approx({"0": 1 / 16, "1": 10 / 16, "2": 5 / 16})


def test_names_go_with_their_rows(tmp_path: Path) -> None:
    answer = _solve(tmp_path, {"payoffs": BIASED_RPS, "policies": ["rock", "paper", "scissors"], "symmetric": True})
    assert isinstance(answer, SymmetricAnswer)
    assert answer.meta_strategy["paper"] == pytest.approx(10 / 16)


def test_payoffs_in_decimals_may_be_rounded(tmp_path: Path) -> None:
    payoffs = [[0, 0.1 + 0.2, -1], [-0.3, 0, 1], [1, -1, 0]]
    assert isinstance(_solve(tmp_path, {"payoffs": payoffs}), SymmetricAnswer)


def test_other_payoffs_are_two_populations(tmp_path: Path) -> None:
    answer = _solve(tmp_path, {"payoffs": [[1, 2, 3], [4, 1, 2]], "row_policies": ["up", "down"]})
    assert isinstance(answer, TwoPopulationAnswer)
    assert answer.row_strategy == pytest.approx({"up": 0.75, "down": 0.25})
    assert answer.column_strategy == pytest.approx({"0": 0.25, "1": 0.75, "2": 0.0})
    assert answer.value == pytest.approx(1.75)


def test_policies_name_both_sides_of_a_square_game(tmp_path: Path) -> None:
    answer = _solve(tmp_path, {"payoffs": PENNIES, "policies": ["heads", "tails"]})
    assert isinstance(answer, TwoPopulationAnswer)
    assert answer.row_strategy == answer.column_strategy == {"heads": 0.5, "tails": 0.5}


def test_two_populations_may_play_an_antisymmetric_game(tmp_path: Path) -> None:
    names = {"row_policies": ["a", "b", "c"], "column_policies": ["x", "y", "z"]}
    answer = _solve(tmp_path, {"payoffs": BIASED_RPS} | names)
    assert isinstance(answer, TwoPopulationAnswer)
    assert answer.column_strategy["y"] == pytest.approx(10 / 16)


def test_restricted_exploitability_of_two_populations_is_nash_conv_over_two(tmp_path: Path) -> None:
    assert _solve(tmp_path, {"payoffs": PENNIES}, "last").restricted_exploitability == pytest.approx(1.0)


@pytest.mark.parametrize("name", [name for name in META_SOLVERS.names if name not in {"prd", "alpha-rank"}])
@pytest.mark.parametrize("column_payoffs", [PENNIES, [[1, 2], [3, 4]]])
def test_bimatrix_games_need_a_solver_that_is_defined_for_them(
    tmp_path: Path, name: str, column_payoffs: list[list[int]]
) -> None:
    with pytest.raises(ConfigurationError, match=r"not defined for bimatrix games; use one of prd, alpha-rank\."):
        _solve(tmp_path, {"payoffs": PENNIES, "column_payoffs": column_payoffs}, name)


@pytest.mark.slow
def test_a_bimatrix_game_whose_column_payoffs_are_the_transpose_is_of_one_population(tmp_path: Path) -> None:
    """Hawk and dove, V = 2 and C = 4: each half the time, worth ½."""
    game = {"payoffs": [[-1, 2], [0, 1]], "column_payoffs": [[-1, 0], [2, 1]], "policies": ["hawk", "dove"]}
    answer = _solve(tmp_path, game, "prd")
    assert isinstance(answer, SymmetricAnswer)
    assert answer.meta_strategy == pytest.approx({"hawk": 0.5, "dove": 0.5}, abs=1e-3)
    assert answer.value == pytest.approx(0.5, abs=1e-3)
    assert answer.restricted_exploitability == answer.residual < 1e-3
    assert isinstance(_solve(tmp_path, game | {"symmetric": False}, "prd"), TwoPopulationAnswer)


def test_a_bimatrix_game_of_two_populations(tmp_path: Path) -> None:
    """Both are worth most in the second row and first column, which is the only state that mutants do not leave."""
    game = {"payoffs": [[1, 0], [3, 1]], "column_payoffs": [[2, 1], [3, 0]], "row_policies": ["up", "down"]}
    answer = _solve(tmp_path, game, "alpha-rank")
    assert isinstance(answer, TwoPopulationAnswer)
    assert answer.row_strategy == pytest.approx({"up": 0, "down": 1})
    assert answer.column_strategy == pytest.approx({"0": 1, "1": 0})
    assert (answer.value, answer.restricted_exploitability) == (pytest.approx(3), pytest.approx(0, abs=1e-8))


def test_parameters_reach_the_solver_and_the_answer(tmp_path: Path) -> None:
    file = tmp_path / "matrix.json"
    file.write_text(json.dumps({"payoffs": BIASED_RPS}))
    solver = meta_solver("alpha-rank", alpha=10.0, population_size=20)
    answer = matrix_answer.solve(matrix_file.read(file), solver)
    assert answer.parameters == {"alpha": 10.0, "population_size": 20}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in META_SOLVERS.names if name not in {"last", "last-k", "recency"}])
def test_weights_follow_names_whatever_the_order(tmp_path: Path, name: str) -> None:
    """The same counts, listed in another order, give every policy the weight that it had."""
    wins = {("a", "b"): 60, ("b", "a"): 30, ("b", "c"): 70, ("c", "b"): 20, ("a", "c"): 35, ("c", "a"): 55}
    answers = []
    for order in ("abc", "cab"):
        table = [[wins.get((one, other), 0) for other in order] for one in order]
        draws = [[10 * (one != other) for other in order] for one in order]
        games = [[100 * (one != other) for other in order] for one in order]
        answer = _solve(tmp_path, {"policies": list(order), "wins": table, "draws": draws, "games": games}, name)
        assert isinstance(answer, SymmetricAnswer)
        answers.append(answer.meta_strategy)
    assert answers[0] == pytest.approx(answers[1], abs=1e-6)
    if name == "nash":
        assert answers[0] == pytest.approx({"a": 5 / 10, "b": 2 / 10, "c": 3 / 10})


def test_an_unknown_solver_is_a_wrong_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="'nahs'"):
        _solve(tmp_path, COUNTS, "nahs")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "JSON"),
        ("{", "JSON"),
        ("[]", "object"),
        ("[" * 10_000, "recursion"),
        ({}, "expected payoffs, or all of wins, draws and games"),
        ({"payoffs": [[0]], "payofs": 1}, "payofs: no such key"),
        ({"payoffs": [[0]], "schema_version": 4}, "schema_version"),
        (COUNTS | {"payoffs": [[0]]}, "both payoffs and wins"),
        ({"payoffs": []}, "payoffs is empty"),
        ({"payoffs": [[]]}, "payoffs is empty"),
        ({"payoffs": [[0, 1], [-1]]}, "row 1 has 1 entries, row 0 has 2"),
        ('{"payoffs": [[0, NaN], [1, 0]]}', "payoffs.0.1: .*finite"),
        ('{"payoffs": [[0, 1e999], [1, 0]]}', "payoffs.0.1: .*finite"),
        ({"payoffs": [[0, "1"], [-1, 0]]}, "payoffs.0.1: .*number"),
        ({"payoffs": [[0, None], [-1, 0]]}, "payoffs.0.1: .*number"),
        ({"payoffs": [[0, 1, 2], [-1, 0, 1]], "symmetric": True}, "2 × 3; expected a square matrix"),
        (
            {"payoffs": [[0, 1], [1, 0]], "symmetric": True},
            r"not antisymmetric: \[0\]\[1\] is 1.0 and \[1\]\[0\] is 1.0",
        ),
        ({"payoffs": [[0.5, 0.7], [0.3, 0.5]], "symmetric": True}, "look like win rates"),
        (
            {"payoffs": [[1, 2], [3, 4]], "column_payoffs": [[1, 2], [3, 4]], "symmetric": True},
            r"column_payoffs is not the transpose of payoffs: \[1\]\[0\] is 3.0 and \[0\]\[1\] of payoffs is 2.0",
        ),
        ({"payoffs": [[1, 2, 3]], "column_payoffs": [[1, 2, 3]], "symmetric": True}, "1 × 3; expected a square matrix"),
        ({"payoffs": [[0, 1e-200], [-1e-200, 0]]}, "the largest is 1e-200; expected 0 or 1e-100 or more"),
        ({"payoffs": [[0, 1], [-1, 0]], "policies": ["a"]}, "policies holds 1 names; expected 2"),
        ({"payoffs": [[0, 1], [-1, 0]], "policies": []}, "policies holds 0 names"),
        ({"payoffs": [[0, 1], [-1, 0]], "policies": ["a", "a"]}, "'a' is named twice"),
        ({"payoffs": [[0, 1], [-1, 0]], "policies": [1, 2]}, "policies.0: .*string"),
        ({"payoffs": [[1, 2, 3], [4, 1, 2]], "policies": ["a", "b"]}, "expected row_policies and column_policies"),
        ({"payoffs": PENNIES, "policies": ["a", "b"], "row_policies": ["a", "b"]}, "expected one or the other"),
        ({"payoffs": PENNIES, "column_policies": ["a", "b", "c"]}, "column_policies holds 3 names; expected 2"),
        ({"payoffs": PENNIES, "column_payoffs": [[1, 2]]}, "column_payoffs is 1 × 2 and payoffs 2 × 2"),
        (COUNTS | {"wins": [[0, -1], [30, 0]]}, "wins.0.1: .*greater than or equal to 0"),
        (COUNTS | {"wins": [[0, 80], [30, 0]]}, "80 wins, 10 draws and 30 losses make 120 games, but games says 100"),
        (COUNTS | {"wins": [[0, 0.6], [30, 0]]}, "wins.0.1: .*integer"),
        (COUNTS | {"wins": [[0, 60], [30, 1]]}, "'b' is counted against itself"),
        (COUNTS | {"wins": [[0, 60], [30]]}, "wins of 'b' has 1 entries"),
        (COUNTS | {"wins": [[0, 60]]}, "wins has 1 rows for 2 policies"),
        (COUNTS | {"draws": [[0, 10], [9, 0]]}, "10 draws one way and 9 the other"),
        (COUNTS | {"policies": ["a", "b", "c"]}, "for 3 policies"),
        (COUNTS | {"policies": []}, "no policies"),
        (COUNTS | {"row_policies": ["a", "b"]}, "row_policies does not go with counts"),
        (COUNTS | {"games": None}, "all of wins, draws and games"),
        (
            COUNTS | {"wins": [[0, 0], [0, 0]], "draws": [[0, 0], [0, 0]], "games": [[0, 0], [0, 0]]},
            "'a' has not played 'b'",
        ),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path: Path, content: object, problem: str) -> None:
    with pytest.raises(DataError, match=problem) as caught:
        _solve(tmp_path, content)
    assert "matrix.json: " in str(caught.value)


def test_a_missing_file_is_wrong_data(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        matrix_file.read(tmp_path / "none.json")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        matrix_file.read(tmp_path)


def test_a_file_of_many_wrong_entries_is_answered_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="and 392 more problems") as caught:
        _solve(tmp_path, {"payoffs": [["x"] * 20] * 20})
    assert len(str(caught.value)) < 1000


def test_counts_have_intervals_and_given_payoffs_have_none(tmp_path: Path) -> None:
    answer = _solve(tmp_path, COUNTS)
    assert isinstance(answer, SymmetricAnswer)
    found = answer.uncertainty
    assert found is not None
    assert found.restricted_exploitability is not None
    assert found.largest_gain is not None
    assert (found.confidence, found.estimator) == (0.95, "posterior-quantiles")
    assert found.meta_strategy["a"].low <= 1.0 == found.meta_strategy["a"].high
    assert found.restricted_exploitability.low == 0.0
    assert 0.0 <= found.largest_gain.value <= found.largest_gain.high
    exact = _solve(tmp_path, {"payoffs": BIASED_RPS})
    assert isinstance(exact, SymmetricAnswer)
    assert exact.uncertainty is None
