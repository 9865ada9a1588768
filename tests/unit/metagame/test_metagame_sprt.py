"""The sequential test: its error rates are what it says, under any draws and any dependence within a pair."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nashdex.metagame.ratings.ladder import score_of_elo
from nashdex.metagame.tournament.gate import SequentialState, SequentialTest
from support.operating_characteristics import operating_characteristics, pair_outcomes

TEST = SequentialTest()
"""The gate's: Elo 0 against 50, both error rates 0.05, side-swapped pairs."""
CORRELATIONS = (-0.5, 0.0, 0.3, 1.0)


@pytest.mark.parametrize(("elo", "score"), [(0.0, 0.5), (70.44, 0.6), (190.85, 0.75), (-190.85, 0.25)])
def test_score_of_elo(elo: float, score: float) -> None:
    assert score_of_elo(elo) == pytest.approx(score, abs=1e-5)


def test_single_battles_without_draws_are_walds_test() -> None:
    """Each battle adds log(p₁/p₀) or log(q₁/q₀), and the other evidence is its inverse."""
    test, high = SequentialTest(battles_per_look=1), score_of_elo(50.0)
    assert test.log_factors(1.0) == pytest.approx((log(high / 0.5), -log(high / 0.5)))
    assert test.log_factors(0.0) == pytest.approx((log((1 - high) / 0.5), -log((1 - high) / 0.5)))
    state = SequentialState(test).observe(1.0).observe(0.0).observe(1.0)
    ratio = 2 * log(high / 0.5) + log((1 - high) / 0.5)
    assert (state.num_looks, state.log_evidence_against_low) == (3, pytest.approx(ratio))


@given(
    st.floats(-100.0, 100.0),
    st.floats(1.0, 200.0),
    st.integers(1, 4),
    st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.01, 1.0)), min_size=1, max_size=6),
)
def test_no_distribution_bets_well_against_a_hypothesis_that_holds(
    elo: float, width: float, num_battles: int, atoms: list[tuple[float, float]]
) -> None:
    """E[factor] ≤ 1 for any distribution in [0, 1] whose mean its hypothesis allows: what makes the bounds exact."""
    test = SequentialTest(elo_low=elo, elo_high=elo + width, battles_per_look=num_battles)
    scores, weights = np.array(atoms).T
    weights = weights / weights.sum()
    factors = np.exp([test.log_factors(float(score)) for score in scores])
    mean, expected = float(weights @ scores), weights @ factors
    if mean <= score_of_elo(elo):
        assert expected[0] <= 1 + 1e-12
    if mean >= score_of_elo(elo + width):
        assert expected[1] <= 1 + 1e-12


@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_exact_error_rates_of_pairs(correlation: float) -> None:
    even = operating_characteristics(TEST, pair_outcomes(0.5, correlation), 300)
    better = operating_characteristics(TEST, pair_outcomes(score_of_elo(50), correlation), 300)
    assert 0.01 < even.accept <= 0.05
    assert 0.01 < better.reject <= 0.05
    for ends in (even, better):
        assert ends.accept + ends.reject + ends.undecided == pytest.approx(1.0)


def test_a_test_that_is_not_cut_off_decides_and_keeps_its_rates() -> None:
    """Wins and losses one by one, 1,500 battles at most: hardly one test in fifteen hundred is undecided."""
    test, better = SequentialTest(battles_per_look=1), score_of_elo(50)
    at_low = operating_characteristics(test, (0.5, 0.0, 0.5), 1500)
    at_high = operating_characteristics(test, (1 - better, 0.0, better), 1500)
    assert max(at_low.undecided, at_high.undecided) < 1 / 1500
    assert 0.04 < at_low.accept <= 0.05
    assert 0.04 < at_high.reject <= 0.05


def test_draws_cost_nothing_in_error_rates() -> None:
    for share in (0.1, 0.5, 0.9):
        even = operating_characteristics(
            SequentialTest(battles_per_look=1), ((1 - share) / 2, share, (1 - share) / 2), 400
        )
        assert even.accept <= 0.05


def test_operating_characteristics_are_those_of_the_test_that_is_played() -> None:
    """2,000 simulated tests of an even match, and of one at Elo 50 whose battles are drawn one time in five."""
    generator = np.random.default_rng(0)
    exact = operating_characteristics(TEST, pair_outcomes(0.5), 100)
    ends = []
    for _ in range(2000):
        state = SequentialState(TEST)
        while state.decision == "continue" and state.num_looks < 100:
            state = state.observe(float(generator.binomial(2, 0.5)) / 2)
        ends.append((state.decision, state.num_looks))
    accepted, rejected = (np.mean([decision == name for decision, _ in ends]) for name in ("accept", "reject"))
    assert accepted == pytest.approx(exact.accept, abs=0.016)
    assert rejected == pytest.approx(exact.reject, abs=0.045)
    assert 2 * np.mean([looks for _, looks in ends]) == pytest.approx(exact.expected_battles, rel=0.02)

    wrong = 0
    for _ in range(400):
        state, win = SequentialState(TEST), score_of_elo(50) - 0.1
        while state.decision == "continue" and state.num_looks < 400:
            state = state.observe(float(generator.choice([0, 0.5, 1], size=2, p=[0.8 - win, 0.2, win]).mean()))
        wrong += state.decision == "reject"
    # At most 20 expected; 34 are three standard deviations more.
    assert wrong <= 34


def test_a_clear_case_needs_fewer_battles_than_a_close_one() -> None:
    battles = {
        elo: operating_characteristics(TEST, pair_outcomes(score_of_elo(elo)), 300).expected_battles
        for elo in (-100.0, 0.0, 25.0, 50.0, 150.0)
    }
    assert battles[-100.0] < battles[0.0] < battles[25.0]
    assert battles[150.0] < battles[50.0] < battles[25.0]
    # A table of fixed size that is as sure of the same 50 Elo takes 2 · 1.645² / 0.0715² ≈ 530 battles.
    assert battles[0.0] < 300


def test_what_is_decided_stays_decided() -> None:
    state = SequentialState(TEST)
    while state.decision == "continue":
        state = state.observe(1.0)
    assert (state.decision, state.num_looks) == ("accept", 13)
    assert exp(state.log_evidence_against_low) >= 20
    assert state.observe(0.0) is state
    lost = SequentialState(TEST)
    for _ in range(100):
        lost = lost.observe(0.0)
    assert (lost.decision, lost.num_looks) == ("reject", 12)


def test_impossible_scores_and_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        SequentialState(TEST).observe(2.0)
    with pytest.raises(ValueError, match="cannot have a correlation"):
        pair_outcomes(0.9, -1.0)
