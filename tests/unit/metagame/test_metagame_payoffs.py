"""Payoffs from counts: known intervals, the posterior, and what an unplayed cell may not become."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t

from nashdex.core.errors import DataError
from nashdex.metagame.evidence.estimates import (
    beta_draws,
    cell_intervals,
    centred,
    clustered_wilson_interval,
    count_interval,
    expected_scores,
    posterior_scores,
    require_played,
    student_quantile,
    verdict,
    wilson_interval,
)
from nashdex.metagame.evidence.pairs import pair_statistics
from nashdex.metagame.evidence.tally import Integers, Tally
from support.operating_characteristics import pair_outcomes
from support.tournaments import drawn_matrix, matrix


def test_wilson_of_26_in_50() -> None:
    low, high = wilson_interval(26, 50)
    assert (round(float(low), 4), round(float(high), 4)) == (0.3851, 0.6520)


def test_26_of_50_is_no_difference() -> None:
    assert verdict(26, 50) == "undecided"
    assert verdict(24, 50) == "undecided"
    assert verdict(34, 50) == "better"
    assert verdict(16, 50) == "worse"


def test_a_poisson_count_of_ten_is_between_five_and_nineteen() -> None:
    """The bounds are n + z²/2 ± z √(n + z²/4)."""
    assert count_interval(10) == pytest.approx((5.4320, 18.4095), abs=1e-3)
    assert count_interval(0) == pytest.approx((0.0, 3.8415), abs=1e-3)


@pytest.mark.parametrize("spread", [0.25, 0.5])
def test_a_rate_of_battles_holds_what_it_says(spread: float) -> None:
    """200 battles on 32 places at once, whose lengths differ as those of a format of singles do: gamma distributed."""
    generator, num, sets = np.random.default_rng(1), 200, 300
    seconds = np.empty(sets)
    for place in range(sets):
        ends = np.zeros(32)
        for length in generator.gamma(spread**-2, spread**2, num):
            ends[ends.argmin()] += length
        seconds[place] = ends.max()
    low, high = (end / seconds for end in count_interval(num))
    rate = num / seconds.mean()
    assert ((low <= rate) & (rate <= high)).mean() >= 0.95


def test_wilson_without_games_knows_nothing() -> None:
    assert [float(bound) for bound in wilson_interval(0, 0)] == [0.0, 1.0]


@given(st.integers(0, 500).flatmap(lambda n: st.tuples(st.integers(0, 2 * n), st.just(n))))
def test_wilson_holds_the_rate_and_mirrors(halves_and_games: tuple[int, int]) -> None:
    halves, games = halves_and_games
    low, high = wilson_interval(halves / 2, games)
    mirrored_low, mirrored_high = wilson_interval(games - halves / 2, games)
    assert 0.0 <= low <= (halves / 2 / games if games else 0.5) <= high <= 1.0
    assert low == pytest.approx(1 - mirrored_high)
    assert high == pytest.approx(1 - mirrored_low)


def test_a_draw_is_half_a_win() -> None:
    scores = expected_scores(matrix("ab", [[0, 5], [2, 0]], [[0, 10], [10, 0]], [[0, 3], [3, 0]]).tally)
    assert scores.tolist() == [[0.5, 0.65], [0.35, 0.5]]


def test_payoffs_are_antisymmetric_to_the_last_bit() -> None:
    scores = np.random.default_rng(0).random((7, 7))
    payoffs = centred(expected_scores(drawn_matrix("abcdefg", scores, 33, seed=1).tally))
    assert (payoffs == -payoffs.T).all()
    assert (payoffs.diagonal() == 0).all()


def test_an_unplayed_cell_is_refused_by_name() -> None:
    games = matrix("abc", np.zeros((3, 3), dtype=int), np.zeros((3, 3), dtype=int)).battles_by_cell()
    with pytest.raises(DataError, match=r"'a' has not played 'b' \(and 2 more pairs\)"):
        require_played("abc", games)


def test_posterior_draws_follow_ids_and_not_places() -> None:
    scores = np.random.default_rng(0).random((4, 4))
    counted = drawn_matrix("abcd", scores, 50, seed=2)
    turned = counted.restricted_to(counted.policies[::-1])
    straight = posterior_scores(counted.policies, counted.tally, num_draws=20, seed=3)
    assert (posterior_scores(turned.policies, turned.tally, num_draws=20, seed=3)[:, ::-1, ::-1] == straight).all()


def test_posterior_draws_do_not_change_when_a_policy_joins() -> None:
    counted = drawn_matrix("abcd", np.full((4, 4), 0.6), 50, seed=2)
    fewer = counted.restricted_to(counted.policies[:3])
    all_draws = posterior_scores(counted.policies, counted.tally, num_draws=20, seed=3)
    assert (posterior_scores(fewer.policies, fewer.tally, num_draws=20, seed=3) == all_draws[:, :3, :3]).all()


@settings(deadline=None, derandomize=True, max_examples=30)
@given(st.integers(0, 60), st.integers(0, 20), st.integers(0, 60))
def test_the_posterior_has_its_mean_and_spread(wins: int, draws: int, losses: int) -> None:
    """Moments of Beta(w + d/2 + ½, l + d/2 + ½), within five standard errors of 20,000 draws."""
    drawn = beta_draws(wins + draws / 2, losses + draws / 2, 20_000, seed=5)
    alpha, beta = wins + draws / 2 + 0.5, losses + draws / 2 + 0.5
    deviation = np.sqrt(alpha * beta / (alpha + beta + 1)) / (alpha + beta)
    assert drawn.mean() == pytest.approx(alpha / (alpha + beta), abs=5 * deviation / np.sqrt(20_000))
    assert drawn.std() == pytest.approx(deviation, rel=0.05)


def test_posterior_intervals_cover_the_truth_as_often_as_they_say() -> None:
    generator = np.random.default_rng(11)
    truths = generator.random(400)
    covered = 0
    for index, truth in enumerate(truths):
        wins = int(generator.binomial(100, truth))
        low, high = np.quantile(beta_draws(wins, 100 - wins, 1000, seed=index), (0.025, 0.975))
        covered += low <= truth <= high
    # 380 expected, standard deviation 4.4.
    assert 363 <= covered <= 395


def test_pairs_that_share_a_drawn_member_are_fewer_facts_than_battles() -> None:
    """A mixture of two members that score .8 and .2, drawn once a pair: Wilson's own interval holds ½ in .86."""
    generator = np.random.default_rng(2)
    pairs = np.repeat(np.arange(200), 2)
    covered = 0
    for _ in range(400):
        member = np.where(generator.random(200) < 0.5, 0.8, 0.2)[pairs]
        low, high = clustered_wilson_interval(generator.random(400) < member, pairs)
        covered += low <= 0.5 <= high
    # 380 expected, standard deviation 4.4.
    assert 366 <= covered <= 394


@pytest.mark.parametrize(("scores", "effect"), [([1.0, 0.0] * 50, "narrower"), ([1.0, 1.0, 0.0, 0.0] * 25, "wider")])
def test_pairs_that_go_apart_say_more_than_their_battles_and_pairs_that_go_together_less(
    scores: list[float], effect: str
) -> None:
    low, high = clustered_wilson_interval(scores, [number // 2 for number in range(100)])
    plain_low, plain_high = (float(end) for end in wilson_interval(50, 100))
    assert (high - low < plain_high - plain_low) == (effect == "narrower")


@pytest.mark.parametrize("scores", [[1.0, 0.0, 1.0, 1.0], [0.5], [1.0]])
def test_battles_without_a_partner_have_wilsons_own_interval(scores: list[float]) -> None:
    expected = tuple(float(end) for end in wilson_interval(sum(scores), len(scores)))
    single = list(range(len(scores)))
    assert clustered_wilson_interval(scores, single) == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("correlation", [-0.4, 0.0, 0.5])
@pytest.mark.parametrize("score", [0.5, 0.8])
def test_cells_cover_the_truth_whatever_the_correlation_of_their_pairs(score: float, correlation: float) -> None:
    """1,000 cells of 50 pairs; Wilson's own interval covers .985 at -.4 and .88 at .5."""
    correlation = max(correlation, -0.2) if score > 0.5 else correlation
    lost, split, won = np.random.default_rng(3).multinomial(50, pair_outcomes(score, correlation), 1000).T
    covered = 0
    for both, one, none in zip(won.tolist(), split.tolist(), lost.tolist(), strict=True):
        low, high = cell_intervals(_pairs_of_two(both, one, none))
        covered += low[0, 1] <= score <= high[0, 1]
    assert 0.93 <= covered / 1000 <= 0.97


def _pairs_of_two(won: int, split: int, lost: int) -> Tally:
    def table(one_way: int, other_way: int) -> Integers:
        return np.array([[0, one_way], [other_way, 0]])

    games = 2 * (won + split + lost)
    return Tally(
        wins=table(2 * won + split, 2 * lost + split),
        draws=table(0, 0),
        games=table(games, games),
        won_both=table(won, lost),
        won_and_drew=table(0, 0),
        split=table(split, split),
        drew_both=table(0, 0),
    )


def test_the_same_pairs_have_the_same_interval_as_a_cell_and_as_a_match() -> None:
    tally = _pairs_of_two(12, 30, 8)
    scores = [1.0, 1.0] * 12 + [1.0, 0.0] * 30 + [0.0, 0.0] * 8
    low, high = cell_intervals(tally)
    pairs = [number // 2 for number in range(100)]
    assert clustered_wilson_interval(scores, pairs) == pytest.approx((low[0, 1], high[0, 1]))


def test_the_correlation_of_pairs_is_found_with_its_interval() -> None:
    """400 tournaments of one cell: the interval holds the true correlation, and the mean is right."""
    found, covered = [], 0
    for both, one, none in np.random.default_rng(5).multinomial(100, pair_outcomes(0.6, -0.35)[::-1], 400).tolist():
        correlation = pair_statistics(_pairs_of_two(both, one, none)).correlation
        assert correlation is not None
        found.append(correlation.value)
        covered += correlation.low <= -0.35 <= correlation.high
    assert np.mean(found) == pytest.approx(-0.35, abs=0.02)
    assert 0.92 <= covered / 400 <= 0.975


@pytest.mark.parametrize("freedom", [3, 5, 10, 50])
def test_the_quantile_is_students(freedom: int) -> None:
    assert student_quantile(freedom) == pytest.approx(t.ppf(0.975, freedom), rel=0.012)
