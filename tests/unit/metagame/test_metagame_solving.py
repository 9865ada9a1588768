"""From counts to published documents: what is in them, and that it follows ids."""

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nashdex.core.errors import DataError, StoppedError
from nashdex.core.ids import PolicyId
from nashdex.metagame.analysis.documents import MetaGameAnalysis, MetaStrategy
from nashdex.metagame.analysis.exploitability import Answer
from nashdex.metagame.analysis.solving import EmpiricalGame, solve_game
from nashdex.metagame.evidence.battles import NO_BATTLES, Battles
from nashdex.metagame.evidence.exact import ExactValues
from nashdex.metagame.evidence.imputation import Imputation
from nashdex.metagame.solvers.registry import meta_solver
from support.tournaments import cell, drawn_matrix, matrix

SCORES = 0.5 + np.array([[0, -0.25, 0.4, 0.2], [0.25, 0, -0.05, 0.3], [-0.4, 0.05, 0, 0.1], [-0.2, -0.3, -0.1, 0]])


def _solved(game: EmpiricalGame, name: str = "nash", num_draws: int = 100) -> tuple[MetaStrategy, MetaGameAnalysis]:
    return solve_game(game, meta_solver(name), num_draws=num_draws, seed=1)


def test_documents_survive_their_files() -> None:
    strategy, analysis = _solved(EmpiricalGame(drawn_matrix("abcd", SCORES, 100, 0), anchors={"a": 1000.0}))
    assert MetaStrategy.from_json(strategy.to_json(), "meta_strategy.json") == strategy
    assert MetaGameAnalysis.from_json(analysis.to_json(), "meta_game_analysis.json") == analysis


def test_what_a_certain_game_publishes() -> None:
    """Biased rock, paper, scissors with so many battles that nothing is in doubt, and a fourth that always loses."""
    games = 8_000_000
    wins = np.round(games * SCORES * (1 - np.eye(4))).astype(int)
    strategy, analysis = _solved(EmpiricalGame(matrix("abcd", wins, games * (1 - np.eye(4, dtype=int)))))
    expected = np.array([0.05, 0.4, 0.25, 0]) / 0.7
    assert list(strategy.meta_strategy.values()) == pytest.approx(expected, abs=1e-6)
    assert (strategy.meta_solver, strategy.status, strategy.unique) == ("nash", "optimal", True)
    assert [entry.policy for entry in analysis.dominant_policies] == ["b", "c", "a"]
    assert set(analysis.support) == {"a", "b", "c"}
    assert analysis.support_stability == 1.0
    assert analysis.support_probability[PolicyId("d")] == 0.0
    restricted = analysis.exploitability.restricted
    assert restricted is not None
    assert restricted.value < 1e-12
    assert restricted.high < 2e-3
    assert analysis.exploitability.exact is None
    assert analysis.exploitability.best_response_gap is None
    assert (analysis.coverage.num_cells, analysis.coverage.share) == (6, 1.0)
    assert analysis.imputed_cells == ()


def test_few_battles_leave_the_support_in_doubt() -> None:
    strategy, analysis = _solved(EmpiricalGame(drawn_matrix("abcd", SCORES, 20, 0)))
    assert analysis.support_stability < 0.9
    widths = [interval.high - interval.low for interval in strategy.intervals.values()]
    assert max(widths) > 0.5
    # Wilson's interval of 20 battles is 0.4 wide at most, and not much less near the middle.
    assert 0.2 < analysis.interval_widths.largest <= 0.41


@pytest.mark.parametrize("name", ["nash", "uniform", "last"])
def test_intervals_hold_their_estimates(name: str) -> None:
    strategy, analysis = _solved(EmpiricalGame(drawn_matrix("abcd", SCORES, 30, 5)), name)
    for policy, interval in strategy.intervals.items():
        assert interval.low <= strategy.meta_strategy[policy] <= interval.high
    for estimate in (analysis.exploitability.restricted, analysis.exploitability.legacy_dominance_gap):
        assert estimate is not None
        assert estimate.low <= estimate.value <= estimate.high


@settings(deadline=None, derandomize=True, max_examples=8)
@given(st.permutations("abcd"), st.sampled_from(["nash", "uniform"]))
def test_every_result_follows_the_id(order: list[str], name: str) -> None:
    """Nash weights can not be applied by position: another order of members gives the same documents by id."""
    counted = drawn_matrix("abcd", SCORES, 100, 3)
    turned = counted.restricted_to([PolicyId(policy) for policy in order])
    strategy, analysis = _solved(EmpiricalGame(counted), name)
    turned_strategy, turned_analysis = _solved(EmpiricalGame(turned), name)
    for policy in counted.policies:
        assert turned_strategy.meta_strategy[policy] == pytest.approx(strategy.meta_strategy[policy], abs=1e-9)
        assert turned_strategy.intervals[policy].high == pytest.approx(strategy.intervals[policy].high, abs=1e-9)
    assert turned_analysis.support == analysis.support
    assert turned_analysis.support_stability == analysis.support_stability
    assert turned_analysis.ratings == analysis.ratings


def test_last_is_the_newest_member() -> None:
    strategy, _ = _solved(EmpiricalGame(drawn_matrix("dbca", SCORES, 50, 0)), "last")
    assert strategy.meta_strategy == {"d": 0.0, "b": 0.0, "c": 0.0, "a": 1.0}


def test_the_answer_is_scored_on_its_own_battles() -> None:
    fresh = cell("a", "b", ["a"] * 15 + ["b"] * 5)
    answer = Answer({PolicyId("b"): 1.0}, (PolicyId("a"),), Battles.of(fresh))
    counted = matrix("ba", [[0, 5], [15, 0]], [[0, 20], [20, 0]])
    gap = _solved(EmpiricalGame(counted, answer))[1].exploitability.best_response_gap
    assert gap is not None
    assert (gap.value, gap.games, gap.policy) == (pytest.approx(0.25), 20, "a")


def test_an_unplayed_cell_blocks() -> None:
    games = np.array([[0, 10, 10], [10, 0, 0], [10, 0, 0]])
    with pytest.raises(DataError, match="'b' has not played 'c'"):
        _solved(EmpiricalGame(matrix("abc", games // 2, games)))


def test_solving_stops_when_it_is_told_to() -> None:
    def stop() -> None:
        raise StoppedError("stop")

    with pytest.raises(StoppedError):
        solve_game(
            EmpiricalGame(drawn_matrix("abcd", SCORES, 10, 0)), meta_solver("nash"), num_draws=10, seed=0, tick=stop
        )


def test_twenty_policies_are_quick() -> None:
    """Ten seconds are promised for 500 draws; a tenth of the draws may take a tenth."""
    upper = np.triu(np.random.default_rng(0).normal(scale=0.15, size=(20, 20)), 1)
    scores = np.clip(0.5 + upper - upper.T, 0.02, 0.98)
    counted = drawn_matrix([f"p{i:02}" for i in range(20)], scores, 200, 0)
    began = time.process_time()
    _solved(EmpiricalGame(counted), num_draws=50)
    assert time.process_time() - began < 1.0


def _with_an_unplayed_cell(one: str, other: str) -> EmpiricalGame:
    """The game of SCORES, d worse than all, without the battles of one cell."""
    full = drawn_matrix("abcd", SCORES, 4000, 0)
    i, j = "abcd".index(one), "abcd".index(other)
    wins, games = full.tally.wins.copy(), full.tally.games.copy()
    for counts in (wins, games):
        counts[i, j] = counts[j, i] = 0
    return EmpiricalGame(matrix("abcd", wins, games))


@pytest.mark.parametrize("unplayed", ["bradley-terry", "interval"])
def test_an_imputed_cell_is_named_and_no_exploitability_rests_on_it(unplayed: Imputation) -> None:
    game = _with_an_unplayed_cell("a", "b")
    strategy, analysis = solve_game(game, meta_solver("nash"), unplayed=unplayed, num_draws=100, seed=1)
    assert analysis.imputed_cells == (("a", "b"),)
    assert {"a", "b"} & set(analysis.support)
    assert all(estimate is None for _, estimate in analysis.exploitability)
    assert sum(strategy.meta_strategy.values()) == pytest.approx(1.0)
    assert analysis.coverage.num_played == 5


def test_exploitability_is_published_where_the_support_met_everybody() -> None:
    """Both policies of the cell that was not played lose to all others, and the mixture plays neither."""
    scores = 0.5 + 0.4 * np.array([[0, 0, 1, 1], [0, 0, 1, 1], [-1, -1, 0, 0], [-1, -1, 0, 0]])
    tally = drawn_matrix("abcd", scores, 400, 0).tally
    wins, games = tally.wins.copy(), tally.games.copy()
    for counts in (wins, games):
        counts[2, 3] = counts[3, 2] = 0
    game = EmpiricalGame(matrix("abcd", wins, games))
    _, analysis = solve_game(game, meta_solver("nash"), unplayed="bradley-terry", num_draws=100, seed=1)
    assert analysis.imputed_cells == (("c", "d"),)
    assert analysis.exploitability.restricted is not None


def test_unplayed_cells_block_by_default() -> None:
    with pytest.raises(DataError, match="'a' has not played 'b'"):
        _solved(_with_an_unplayed_cell("a", "b"))


def _exact_game(payoffs: np.ndarray, answer: Answer | None = None) -> EmpiricalGame:
    policies = tuple(PolicyId(name) for name in "abc")
    table = tuple(tuple(row) for row in payoffs.tolist())
    matrix = ExactValues(policies=policies, payoffs=table, largest_payoff=2.0)
    return EmpiricalGame(matrix, answer=answer, nash_conv=lambda mixture: 2 * mixture[PolicyId("a")])


def test_exact_payoffs_leave_nothing_in_doubt() -> None:
    """Biased rock, paper, scissors, four times as large."""
    payoffs = np.array([[0, -1, 2], [1, 0, -0.2], [-2, 0.2, 0]])
    answer = Answer({PolicyId("a"): 1.0}, (PolicyId("b"), PolicyId("c")), fresh=NO_BATTLES)
    strategy, analysis = _solved(_exact_game(payoffs, answer))
    assert list(strategy.meta_strategy.values()) == pytest.approx(np.array([1, 10, 5]) / 16)
    for policy, share in strategy.meta_strategy.items():
        assert (strategy.intervals[policy].low, strategy.intervals[policy].high) == (share, share)
    assert analysis.support_stability == 1.0
    estimates = analysis.exploitability
    assert estimates.exact is not None
    assert estimates.exact.nash_conv == pytest.approx(2 / 16)
    assert estimates.exact.value == estimates.exact.low == estimates.exact.high == pytest.approx(1 / 16)
    gap = estimates.best_response_gap
    assert gap is not None
    assert (gap.policy, gap.value, gap.low, gap.high) == ("b", 1.0, 1.0, 1.0)
    assert all(rating.standard_error == 0.0 for rating in analysis.ratings.values())
    assert (analysis.coverage.num_played, analysis.coverage.share, analysis.coverage.most_games) == (3, 1.0, 0)


def test_a_mixture_is_published_to_twelve_decimals_and_judged_as_published() -> None:
    thirds = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]) / 3
    game = replace(_exact_game(thirds), nash_conv=lambda mixture: mixture[PolicyId("a")])
    strategy, analysis = _solved(game)
    assert list(strategy.meta_strategy.values()) == [0.333333333333] * 3
    assert analysis.exploitability.exact is not None
    assert analysis.exploitability.exact.nash_conv == 0.333333333333
    assert str(strategy.value) == str(strategy.residual) == "0.0"


def test_solvers_that_go_by_age_count_a_policy_that_joined_twice_twice() -> None:
    """Training gives b back after c: it is news, and fictitious play's average holds it twice."""
    game = EmpiricalGame(drawn_matrix("cab", SCORES[:3, :3], 50, 0), history=tuple(PolicyId(n) for n in "abcb"))
    assert _solved(game, "uniform")[0].meta_strategy == {"a": 0.25, "b": 0.5, "c": 0.25}
    assert _solved(game, "last")[0].meta_strategy == {"a": 0.0, "b": 1.0, "c": 0.0}
    assert _solved(game, "last-k")[0].meta_strategy == {"a": 0.25, "b": 0.5, "c": 0.25}
    without = EmpiricalGame(game.matrix)
    assert _solved(game, "nash")[0] == _solved(without, "nash")[0], "an equilibrium asks what there is, not how often"
