"""Online Elo, Glicko-1 and GXE: published examples, and what a ladder cannot know."""

from collections.abc import Sequence
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.battles import BattleRecord, tally_of
from nashdex.metagame.evidence.estimates import wilson_interval
from nashdex.metagame.ratings.ladder import (
    INITIAL,
    NO_BATTLES,
    Glicko,
    LadderRating,
    LadderSums,
    climbed,
    gxe_of_mean_score,
    online_elo,
    sums_of_one_period,
    updated,
)
from nashdex.metagame.ratings.ladder import ladder_ratings as ratings_of_sums
from support.tournaments import cell

A, B, C = PolicyId("a"), PolicyId("b"), PolicyId("c")
BATTLES = st.lists(
    st.tuples(st.sampled_from([("a", "b"), ("b", "a"), ("c", "a"), ("b", "c")]), st.sampled_from([0.0, 0.5, 1.0])).map(
        lambda battle: (*battle[0], battle[1])
    ),
    max_size=40,
)


def glicko_after_one_period(policies: str, battles: Sequence[tuple[str, str, float]]) -> dict[str, Glicko]:
    found = sums_of_one_period(battles, dict.fromkeys(policies, NO_BATTLES))
    return {policy: of_policy.after(INITIAL) for policy, of_policy in found.items()}


def ladder_ratings(policies: Sequence[PolicyId], records: Sequence[BattleRecord]) -> dict[PolicyId, LadderRating]:
    sums = climbed({policy: LadderSums() for policy in policies}, records)
    return ratings_of_sums(sums, tally_of(policies, records))


def test_an_even_battle_moves_half_of_k() -> None:
    assert online_elo("ab", [("a", "b", 1.0)]) == {"a": 1016.0, "b": 984.0}
    assert online_elo("ab", [("a", "b", 0.5)]) == {"a": 1000.0, "b": 1000.0}


def test_the_second_win_moves_less() -> None:
    """A lead of 32 expects 0.54592."""
    assert online_elo("ab", [("a", "b", 1.0)] * 2)["a"] == pytest.approx(1016 + 32 * (1 - 0.5459195))


def test_online_elo_depends_on_the_order() -> None:
    battles = [("a", "b", 1.0), ("a", "b", 0.0)]
    assert online_elo("ab", battles)["a"] < 1000 < online_elo("ab", battles[::-1])["a"]


@given(BATTLES)
def test_online_elo_only_passes_points_around(battles: list[tuple[str, str, float]]) -> None:
    assert sum(online_elo("abc", battles).values()) == pytest.approx(3000)


def test_glickmans_example() -> None:
    """A player at 1500 ± 200 beats one at 1400 ± 30, and loses to 1550 ± 100 and 1700 ± 300: 1464 ± 151.4."""
    results = [(Glicko(1400, 30), 1.0), (Glicko(1550, 100), 0.0), (Glicko(1700, 300), 0.0)]
    after = updated(Glicko(1500, 200), results)
    assert after.rating == pytest.approx(1464.1, abs=0.05)
    assert after.deviation == pytest.approx(151.4, abs=0.05)


@pytest.mark.parametrize(
    ("player", "gxe"),
    [
        (Glicko(1500, 25), 50.0),
        (Glicko(1500, 350), 50.0),
        # By hand: g(√(25² + 130²)) = 0.92193, and 10^(−0.92193 · 250 / 400) = 0.26534.
        (Glicko(1750, 25), 79.030),
    ],
)
def test_gxe(player: Glicko, gxe: float) -> None:
    assert player.gxe == pytest.approx(gxe, abs=5e-3)


@given(st.floats(500, 2500), st.floats(1, 350))
def test_gxe_mirrors_and_shrinks_with_doubt(rating: float, deviation: float) -> None:
    gxe, mirrored = Glicko(rating, deviation).gxe, Glicko(3000 - rating, deviation).gxe
    assert gxe + mirrored == pytest.approx(100)
    assert abs(Glicko(rating, deviation + 50).gxe - 50) <= abs(gxe - 50)


@given(BATTLES, st.randoms(use_true_random=False))
def test_glicko_in_one_period_knows_no_order(battles: list[tuple[str, str, float]], random: Random) -> None:
    shuffled = random.sample(battles, len(battles))
    one, other = glicko_after_one_period("abc", battles), glicko_after_one_period("abc", shuffled)
    for policy in "abc":
        assert one[policy] == pytest.approx(other[policy])


def test_battles_make_glicko_surer() -> None:
    deviations = [glicko_after_one_period("ab", [("a", "b", 1.0)] * n)["a"].deviation for n in (0, 1, 10, 100)]
    assert deviations[0] == INITIAL.deviation
    assert all(after < before for before, after in pairwise(deviations))


def test_the_ladder_of_a_ledger() -> None:
    """Winners count by policy, whichever seat they sat in."""
    records = cell("a", "b", ["a", "a", None, "b"])
    ladder = ladder_ratings((A, B), records)
    assert set(ladder) == {A, B}
    assert ladder[A].online_elo > 1000 > ladder[B].online_elo
    expected = glicko_after_one_period("ab", [("a", "b", 1.0), ("a", "b", 1.0), ("a", "b", 0.5), ("a", "b", 0.0)])
    assert (ladder[A].glicko, ladder[A].glicko_deviation) == pytest.approx(expected["a"])
    assert ladder[A].gxe == pytest.approx(expected["a"].gxe)
    assert ladder[A].gxe + ladder[B].gxe == pytest.approx(100)


def test_the_interval_of_gxe_is_that_of_the_mean_score() -> None:
    """25 of 50 battles without their side-swapped partners: Wilson's interval, and Glicko grows with the mean score."""
    alone = cell("a", "b", ["a", "a", "b", "b"] * 25)[::2]
    rating = ladder_ratings((A, B), alone)[A]
    low, high = (gxe_of_mean_score(float(end), 50) for end in wilson_interval(25, 50))
    assert (rating.gxe_interval.low, rating.gxe_interval.high) == pytest.approx((low, high))
    assert rating.gxe == pytest.approx(gxe_of_mean_score(0.5, 50)) == pytest.approx(50)


def test_pairs_that_always_split_make_gxe_surer() -> None:
    def width(results: list[str | None]) -> float:
        interval = ladder_ratings((A, B), cell("a", "b", results))[A].gxe_interval
        return interval.high - interval.low

    assert width(["a", "b"] * 50) < 0.6 * width(["a", "a", "b", "b"] * 25)


def test_who_has_not_played_is_where_everybody_begins() -> None:
    rating = ladder_ratings((C,), [])[C]
    assert (rating.online_elo, rating.glicko, rating.glicko_deviation, rating.gxe) == (1000, 1500, 350, 50)
    assert (rating.gxe_interval.low, rating.gxe_interval.high) == (0, 100)
