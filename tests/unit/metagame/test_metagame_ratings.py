"""Ratings: known Elo, errors that fit, and warnings where one number per policy misleads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.ratings.bradley_terry import expected_scores_of, fit, fit_samples
from nashdex.metagame.ratings.table import ELO_PER_STRENGTH, RatingTable, rate
from support.tournaments import cell, drawn_matrix, matrix


def _rated(counted: SampledCounts, anchors: dict[str, float] | None = None, num_draws: int = 200) -> RatingTable:
    return rate(counted.policies, counted.tally, anchors=anchors or {}, num_draws=num_draws, seed=0)


@pytest.mark.parametrize(("score", "elo"), [(0.60, 70.4), (0.75, 190.9)])
def test_elo_of_a_score(score: float, elo: float) -> None:
    games = 1_000_000
    wins = round(score * games)
    table = _rated(matrix("ab", [[0, wins], [games - wins, 0]], [[0, games], [games, 0]]), {"b": 1000.0})
    assert table.ratings["a"].elo - 1000 == pytest.approx(elo, abs=0.06)
    assert table.ratings["b"].elo == 1000
    assert table.ratings["b"].standard_error == 0


def test_one_pair_gets_one_virtual_draw() -> None:
    """Firth's penalty of one free strength is Jeffreys' prior: half a win each. Two wins of two: 2.5 to 0.5."""
    table = _rated(matrix("ab", [[0, 2], [0, 0]], [[0, 2], [2, 0]]), {"b": 0.0})
    assert table.ratings["a"].elo == pytest.approx(400 * np.log10(5), abs=1e-3)


def test_the_error_of_an_even_match_of_independent_battles() -> None:
    """Information about θ is a quarter of the number of games; a variance has one degree of freedom less."""
    table = _rated(matrix("ab", [[0, 200], [200, 0]], [[0, 400], [400, 0]]), {"b": 1000.0})
    assert table.ratings["a"].sandwich_standard_error == pytest.approx(ELO_PER_STRENGTH / np.sqrt(399 / 4))


def test_the_penalty_adds_one_virtual_game_for_each_free_strength() -> None:
    counted = drawn_matrix("abcdef", expected_scores_of(np.linspace(0, 3, 6)), 30, seed=1)
    tally = counted.tally
    for anchors, free in (({}, 5), ({0: 0.0}, 5), ({0: 0.0, 3: 1.0}, 4)):
        fitted = fit(tally.scores, tally.games.astype(float), anchors)
        between_anchors = sum(fitted.virtual_games[i, j] for i in anchors for j in anchors if i < j)
        assert np.triu(fitted.virtual_games).sum() - between_anchors == pytest.approx(free, abs=1e-3)


@pytest.mark.parametrize(
    ("theta", "battles"),
    [([-3.45, *[0.0] * 11], 100), ([-3.45, *[0.0] * 11], 40), (np.arange(20) * 0.5756, 100)],
    ids=["distant anchor", "distant anchor, few battles", "ladder of 100 Elo steps"],
)
def test_a_distant_anchor_biases_nobody(theta: list[float], battles: int) -> None:
    """A virtual game between every two policies gives coverages of .83, .77 and .84 here."""
    truth = np.array(theta)
    games = battles * (1.0 - np.eye(len(truth)))
    covered, biases = [], []
    generator = np.random.default_rng(11)
    for _ in range(100):
        wins = np.triu(generator.binomial(battles, expected_scores_of(truth)), 1)
        scores = (wins + np.triu(battles - wins, 1).T).astype(float)
        fitted = fit(scores, games, {0: truth[0]})
        off = (fitted.theta - truth)[1:]
        covered.append(np.abs(off) <= 1.96 * np.sqrt(fitted.covariance.diagonal()[1:]))
        biases.append(off.mean() * ELO_PER_STRENGTH)
    # The errors of one tournament go together: about 100 independent facts, standard deviation .022.
    assert 0.88 <= np.mean(covered) <= 0.995
    assert abs(np.mean(biases)) < 4 * np.std(biases) / 10


def test_without_anchors_the_mean_is_1000() -> None:
    table = _rated(matrix("ab", [[0, 30], [10, 0]], [[0, 40], [40, 0]]))
    assert np.mean([rating.elo for rating in table.ratings.values()]) == pytest.approx(1000)


def test_anchors_shift_the_scale_and_nothing_else() -> None:
    counted = drawn_matrix("abcd", expected_scores_of(np.array([0.0, 0.5, 1.0, 1.5])), 100, seed=0)
    low, high = _rated(counted, {"c": 0.0}), _rated(counted, {"c": 1500.0})
    for policy in "abcd":
        assert high.ratings[policy].elo - low.ratings[policy].elo == pytest.approx(1500)
        assert high.ratings[policy].standard_error == pytest.approx(low.ratings[policy].standard_error)
    assert low.gap("a", "b").value == pytest.approx(_rated(counted).gap("a", "b").value)


def test_an_unknown_anchor_is_refused() -> None:
    with pytest.raises(DataError, match="anchor 'z'"):
        _rated(matrix("ab", [[0, 1], [1, 0]], [[0, 2], [2, 0]]), {"z": 1000.0})


@settings(deadline=None, derandomize=True, max_examples=8)
@given(st.permutations("abcd"))
def test_ratings_follow_ids_and_not_places(order: list[str]) -> None:
    counted = drawn_matrix("abcd", expected_scores_of(np.array([0.0, 0.4, 0.8, -0.7])), 50, seed=4)
    turned = counted.restricted_to([policy for name in order for policy in counted.policies if policy == name])
    assert _rated(turned, {"b": 1000.0}, num_draws=100) == _rated(counted, {"b": 1000.0}, num_draws=100)


def test_intervals_hold_the_true_ratings() -> None:
    """A transitive game of four, a hundred times: each interval and each gap holds the truth in about 95."""
    theta = np.array([0.0, 0.3, 0.9, -0.5])
    held, gaps, warned = 0, 0, 0
    for seed in range(100):
        table = _rated(drawn_matrix("abcd", expected_scores_of(theta), 100, seed), {"a": 1000.0}, num_draws=100)
        held += sum(
            table.ratings[name].low <= 1000 + ELO_PER_STRENGTH * strength <= table.ratings[name].high
            for name, strength in zip("bcd", theta[1:], strict=True)
        )
        gap = table.gap("c", "d")
        gaps += gap.low <= ELO_PER_STRENGTH * 1.4 <= gap.high
        warned += bool(table.warnings)
    assert 270 <= held <= 298
    assert 89 <= gaps <= 100
    assert warned <= 8


def test_a_gap_is_surer_than_the_difference_of_two_intervals() -> None:
    """Both are measured against a third: their errors go together."""
    wins = np.array([[0, 10, 10], [90, 0, 50], [90, 50, 0]])
    table = _rated(matrix("abc", wins, 100 * (1 - np.eye(3, dtype=int))), {"a": 1000.0})
    apart = np.hypot(table.ratings["b"].standard_error, table.ratings["c"].standard_error)
    assert table.gap("b", "c").standard_error < 0.8 * apart


def test_a_cycle_is_called_one() -> None:
    """Rock, paper, scissors at 0.7: all ratings equal, and every payoff is missed by 0.2."""
    wins = np.array([[0, 140, 60], [60, 0, 140], [140, 60, 0]])
    table = _rated(matrix("abc", wins, 200 * (1 - np.eye(3, dtype=int))))
    assert [rating.elo for rating in table.ratings.values()] == pytest.approx([1000] * 3)
    assert table.intransitivity == pytest.approx(0.2)
    assert table.largest_misfit == pytest.approx(0.2)
    assert table.intransitivity_by_chance < 0.1
    assert "not transitive" in table.warnings[0]
    assert "'a' is not rated below 'c' and yet scores 0.300" in table.warnings[1]


def test_a_cell_of_few_battles_does_not_hide_a_cycle_of_many() -> None:
    """A cell of six battles may be anything by chance, and counts for six."""
    wins = np.array([[0, 60, 140, 0], [140, 0, 60, 0], [60, 140, 0, 3], [0, 0, 3, 0]])
    table = _rated(matrix("abcd", wins, wins + wins.T))
    assert table.intransitivity == pytest.approx(0.2, abs=0.01)
    assert table.intransitivity_by_chance < 0.07
    assert "not transitive" in table.warnings[0]


def test_a_transitive_game_is_called_none() -> None:
    scores = expected_scores_of(np.array([0.0, 1.0, 2.0]))
    wins = np.round(100_000 * scores * (1 - np.eye(3))).astype(int)
    table = _rated(matrix("abc", wins, 100_000 * (1 - np.eye(3, dtype=int))))
    assert table.intransitivity < 1e-4
    assert table.warnings == ()


def test_a_rating_that_only_the_prior_bounds_is_warned_of() -> None:
    table = _rated(matrix("ab", [[0, 50], [0, 0]], [[0, 50], [50, 0]]))
    assert any("'a' won all its 50 games" in warning for warning in table.warnings)
    assert any("'b' lost all its 50 games" in warning for warning in table.warnings)
    assert np.isfinite(table.ratings["a"].elo)


def test_an_anchor_that_lost_everything_is_where_it_was_put() -> None:
    table = _rated(matrix("ab", [[0, 50], [0, 0]], [[0, 50], [50, 0]]), {"a": 1500.0, "b": 1000.0})
    for policy, elo in (("a", 1500.0), ("b", 1000.0)):
        rating = table.ratings[policy]
        assert (rating.elo, rating.standard_error, rating.low, rating.high) == (elo, 0.0, elo, elo)
    assert table.gap("a", "b").standard_error == 0.0
    assert not any("prior" in warning for warning in table.warnings)


def test_one_policy_alone_is_where_the_scale_begins() -> None:
    rating = _rated(matrix("a", [[0]], [[0]])).ratings["a"]
    assert (rating.elo, rating.standard_error, rating.games) == (1000.0, 0.0, 0)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(0, 5), st.sampled_from([{}, {"b": 1000.0}, {"a": 1200.0, "d": 900.0}]))
def test_the_bootstrap_solves_the_likelihood_equations(seed: int, unplayed: int, anchors: dict[str, float]) -> None:
    """Few battles and lopsided ones: another sample's Hessian and penalty lead to a maximum all the same."""
    generator = np.random.default_rng(seed)
    games = generator.integers(1, 12, (4, 4))
    games.ravel()[generator.choice(16, unplayed, replace=False)] = 0
    games = np.triu(games, 1) + np.triu(games, 1).T
    samples = []
    for _ in range(2):
        wins = np.triu(generator.binomial(games, generator.choice([0.0, 0.02, 0.5, 0.99, 1.0], (4, 4))), 1)
        samples.append((wins + np.triu(games - wins, 1).T).astype(float))
    fixed = {"abcd".index(name): (elo - 1000) / ELO_PER_STRENGTH for name, elo in anchors.items()}
    first = fit(samples[0], games.astype(float), fixed)
    scored = np.array([sample.sum(axis=1) for sample in samples])
    same, again = fit_samples(scored, np.repeat(games[None].astype(float), 2, axis=0), fixed, first)
    assert same == pytest.approx(first.theta, abs=1e-8)
    played = games + first.virtual_games
    gradient = (
        samples[1].sum(axis=1) + first.virtual_games.sum(axis=1) / 2 - (played * expected_scores_of(again)).sum(1)
    )
    gradient[list(fixed)] = 0.0
    assert gradient == pytest.approx(np.zeros(4), abs=1e-4)


def test_a_policy_that_met_nobody_is_warned_of() -> None:
    games = np.array([[0, 10, 0], [10, 0, 0], [0, 0, 0]])
    table = _rated(matrix("abc", games // 2, games), {"a": 1000.0})
    assert any("no chain of battles ties 'c'" in warning for warning in table.warnings)
    assert not any("'b'" in warning for warning in table.warnings)


def test_what_no_battle_measures_has_no_narrow_interval() -> None:
    """Two pairs that never met: only the gaps within each are known, and the ratings of the anchor's."""
    games = np.array([[0, 100, 0, 0], [100, 0, 0, 0], [0, 0, 0, 100], [0, 0, 100, 0]])
    table = _rated(matrix("abcd", games // 2, games), {"a": 1000.0})
    assert table.ratings["b"].standard_error < 50
    assert table.ratings["c"].standard_error > 10_000
    assert table.gap("b", "a").standard_error < 50
    assert table.gap("c", "d").standard_error < 50
    assert table.gap("c", "a").standard_error > 10_000
    assert table.gap("b", "d").standard_error > 10_000


def _paired(winners: list[str]) -> SampledCounts:
    return SampledCounts.unplayed(()).with_records((PolicyId("a"), PolicyId("b")), cell("a", "b", winners))


def test_pairs_decided_by_their_teams_are_fewer_facts_than_battles() -> None:
    """The same policy wins both battles of every pair: half as many facts, in both standard errors."""
    counted = _paired([name for pair in range(100) for name in [("a", "b")[pair % 2]] * 2])
    single = matrix("ab", counted.wins, counted.games)
    blind, clustered = (_rated(each, {"b": 1000.0}).ratings["a"] for each in (single, counted))
    assert clustered.bootstrap_standard_error / blind.bootstrap_standard_error == pytest.approx(np.sqrt(2), rel=0.15)
    assert clustered.sandwich_standard_error / blind.sandwich_standard_error == pytest.approx(np.sqrt(2), rel=0.02)
    assert clustered.elo == blind.elo


def test_pairs_that_swapped_teams_decide_are_more_facts_than_battles() -> None:
    """40 of 50 pairs are split: battles are worth more than independent ones, and the error says so."""
    counted = _paired(["a", "b"] * 45 + ["a"] * 4 + ["b"] * 6)
    single = matrix("ab", counted.wins, counted.games)
    blind, clustered = (_rated(each, {"b": 1000.0}).ratings["a"] for each in (single, counted))
    assert clustered.standard_error < 0.6 * blind.standard_error


def test_ratings_are_given_with_and_without_the_penalty() -> None:
    """19 of 20 won is 511 Elo by maximum likelihood. The penalty draws ratings together."""
    table = _rated(matrix("ab", [[0, 19], [1, 0]], [[0, 20], [20, 0]]), {"b": 0.0})
    assert table.ratings["a"].elo_without_penalty == pytest.approx(400 * np.log10(19), abs=0.01)
    few = _rated(matrix("ab", [[0, 3], [1, 0]], [[0, 4], [4, 0]]), {"b": 0.0}).ratings["a"]
    assert few.elo_without_penalty is not None
    assert few.elo < few.elo_without_penalty


def test_plain_maximum_likelihood_has_no_rating_for_who_won_everything() -> None:
    table = _rated(matrix("ab", [[0, 50], [0, 0]], [[0, 50], [50, 0]]), {"b": 1000.0})
    assert table.ratings["a"].elo_without_penalty is None
    assert np.isfinite(table.ratings["a"].elo)


def test_the_intransitivity_of_a_cycle_is_in_its_interval_and_that_of_none_is_too() -> None:
    wins = np.array([[0, 140, 60], [60, 0, 140], [140, 60, 0]])
    cyclic = _rated(matrix("abc", wins, 200 * (1 - np.eye(3, dtype=int)))).intransitivity_interval
    assert 0.1 < cyclic.low < 0.2 < cyclic.high < 0.3
    even = 100 * (1 - np.eye(3, dtype=int))
    assert _rated(matrix("abc", even, 2 * even)).intransitivity_interval.low == 0


def test_the_highest_of_ten_equal_policies_is_rated_some_12_elo_too_high() -> None:
    """With 200 battles a pair, as docs/explanation/metagame.md says: the report's page warns of it."""
    draws = np.random.default_rng(0)
    games = 200.0 * (1 - np.eye(10))
    highest = []
    for _ in range(200):
        wins = np.triu(draws.binomial(200, 0.5, (10, 10)), 1).astype(float)
        scores = wins + np.tril(200 - wins.T, -1)
        highest.append(ELO_PER_STRENGTH * fit(scores, games, {}).theta.max())
    assert np.mean(highest) == pytest.approx(12, abs=1)
