"""Large populations: the same mixture and intervals from few columns, and errors that need no draws."""

import numpy as np
import pytest

from nashdex.core.ids import PolicyId
from nashdex.metagame.analysis.documents import MetaGameAnalysis, MetaStrategy
from nashdex.metagame.analysis.solving import EmpiricalGame, solve_game
from nashdex.metagame.evidence import large
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.ratings import bradley_terry
from nashdex.metagame.solvers import nash
from nashdex.metagame.solvers.registry import configured
from nashdex.settings.run import RunSettings
from nashdex_bench.scaling.synthetic import drawn_tally

SIZE, DRAWS = 40, 200


def _counted(pairs: int = 20) -> SampledCounts:
    order = np.random.default_rng(0).permutation(SIZE)
    return SampledCounts.of([PolicyId(f"p{number:02}") for number in order], drawn_tally(SIZE, pairs, 1))


def _solved(game: EmpiricalGame) -> tuple[MetaStrategy, MetaGameAnalysis]:
    return solve_game(game, configured(RunSettings().solve.meta_solver), num_draws=DRAWS, seed=3)


def _assert_alike(one: MetaStrategy, other: MetaStrategy) -> None:
    """Compare all numbers; the linear program of a whole draw may be imprecise in the sixth decimal."""
    assert one.meta_strategy == other.meta_strategy
    for policy, bounds in one.intervals.items():
        assert dict(bounds) == pytest.approx(dict(other.intervals[policy]), abs=1e-5)
    assert dict(one.entropy) == pytest.approx(dict(other.entropy), abs=1e-5)


@pytest.fixture
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "MOST_DRAWN", 3)


def test_columns_are_those_of_the_whole_draws() -> None:
    payoffs = _counted().payoffs_with("block", num_draws=7, seed=3)
    drawn = payoffs.drawn()
    assert drawn is not None
    assert payoffs.columns is not None
    for place in range(SIZE):
        assert (drawn[:, :, place] == payoffs.columns[place]).all()
    assert payoffs.columns.num_drawn == SIZE


@pytest.mark.parametrize("apart", [False, True])
def test_few_columns_solve_all_draws_of_uncertain_payoffs(monkeypatch: pytest.MonkeyPatch, *, apart: bool) -> None:
    """With four battles a pair every draw plays others. Draws that are solved apart need more columns."""
    if apart:
        monkeypatch.setattr(nash, "_HELD_BYTES", 50 * 8 * SIZE * nash._MOST_GUESSED)
    payoffs = _counted(pairs=2).payoffs_with("block", num_draws=DRAWS, seed=3)
    drawn, ticks = payoffs.drawn(), list[None]()
    assert drawn is not None
    assert payoffs.columns is not None
    found = nash.nash_of_columns(payoffs.columns, [0, 1], SIZE, lambda: ticks.append(None))
    assert found is not None
    assert found == pytest.approx(nash.nash_of_many(drawn), abs=1e-9)
    assert len(ticks) == DRAWS
    assert (found > 0).any(axis=0).sum() > SIZE / 2
    assert payoffs.columns.num_drawn < (12 if apart else 4) * SIZE


def test_a_large_population_gets_the_mixture_and_intervals_of_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    game = EmpiricalGame(_counted(), anchors={"p00": 1000.0})
    strategy, analysis = _solved(game)
    monkeypatch.setattr(large, "MOST_DRAWN", 3)
    of_large, large_analysis = _solved(game)
    _assert_alike(of_large, strategy)
    assert large_analysis.support_probability == analysis.support_probability
    one, other = analysis.exploitability.restricted, large_analysis.exploitability.restricted
    assert one is not None
    assert other is not None
    assert (other.value, other.low, other.high) == pytest.approx((one.value, one.low, one.high), abs=1e-12)


@pytest.mark.parametrize("bytes_of_candidates", [0, 5 * DRAWS])
def test_candidates_that_do_not_fit_into_memory_are_given_up(
    monkeypatch: pytest.MonkeyPatch, bytes_of_candidates: int
) -> None:
    """With room for five candidates a draw, draws that are solved together soon have more."""
    monkeypatch.setattr(nash, "_HELD_BYTES", bytes_of_candidates * 8 * SIZE)
    monkeypatch.setattr(nash, "_MOST_GUESSED", 1)
    payoffs = _counted(pairs=2).payoffs_with("block", num_draws=DRAWS, seed=3)
    assert payoffs.columns is not None
    assert nash.nash_of_columns(payoffs.columns, [0, 1], SIZE, lambda: None) is None


@pytest.mark.usefixtures("everything_is_large")
def test_a_population_whose_draws_play_too_many_policies_is_solved_in_whole_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = EmpiricalGame(_counted())
    by_columns = _solved(game)
    monkeypatch.setattr(nash, "_MOST_COLUMNS", 0)
    _assert_alike(_solved(game)[0], by_columns[0])


def test_rating_errors_without_draws_are_those_of_many_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = _counted()
    drawn = counted.rated({"p00": 1000.0}, num_draws=4000, seed=1)
    monkeypatch.setattr(large, "MOST_DRAWN", 3)
    direct = counted.rated({"p00": 1000.0}, num_draws=1, seed=1)
    for policy, rating in drawn.ratings.items():
        assert direct.ratings[policy].elo == pytest.approx(rating.elo, abs=1e-8)
        assert direct.ratings[policy].bootstrap_standard_error == pytest.approx(
            rating.bootstrap_standard_error, rel=0.08
        )
        assert direct.ratings[policy].elo_without_penalty == pytest.approx(rating.elo_without_penalty, abs=1e-6)
    assert direct.intransitivity_by_chance == pytest.approx(drawn.intransitivity_by_chance, rel=0.01)
    assert len(direct.gap_standard_errors) == 11 < len(drawn.gap_standard_errors)
    best = max(direct.ratings, key=lambda policy: direct.ratings[policy].elo)
    assert direct.gap("p00", best).value == pytest.approx(-direct.gap(best, "p00").value)


@pytest.mark.parametrize("anchors", [{}, {0: 0.3}])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("penalised", [False, True])
def test_a_large_fit_is_that_of_a_small_one(
    anchors: dict[int, float], monkeypatch: pytest.MonkeyPatch, *, is_sparse: bool, penalised: bool
) -> None:
    """A policy that won everything is among them, and with few pairs some that nothing connects."""
    tally = drawn_tally(SIZE, 20, 1)
    played = np.triu(np.random.default_rng(3).random((SIZE, SIZE)) < (0.08 if is_sparse else 1.0), 1)
    scores, games = tally.scores.copy(), tally.games.astype(np.float64)
    scores[1], scores[:, 1] = games[1], 0.0
    scores, games = scores * (played | played.T), games * (played | played.T)
    small = bradley_terry.fit(scores, games, anchors, penalised=penalised)
    monkeypatch.setattr(large, "MOST_DRAWN", 3)
    of_large = bradley_terry.fit(scores, games, anchors, penalised=penalised)
    assert of_large.theta == pytest.approx(small.theta, abs=1e-9, rel=1e-9)
    assert of_large.covariance == pytest.approx(small.covariance, rel=1e-6, abs=1e-9)
    assert of_large.virtual_games == pytest.approx(small.virtual_games, rel=1e-6, abs=1e-9)
