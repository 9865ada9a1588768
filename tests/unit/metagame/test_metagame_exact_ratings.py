"""Ratings of exactly known scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nashdex.core.errors import DataError
from nashdex.metagame.ratings.bradley_terry import expected_scores_of
from nashdex.metagame.ratings.exact import rate_exact
from nashdex.metagame.ratings.table import ELO_PER_STRENGTH

THETA = np.array([0.0, 0.4, -1.0, 2.0])


def test_the_strengths_behind_transitive_scores_are_found() -> None:
    table = rate_exact("abcd", expected_scores_of(THETA), anchors={"a": 1000.0})
    elos = [table.ratings[name].elo for name in "abcd"]
    assert elos == pytest.approx(1000.0 + ELO_PER_STRENGTH * THETA, abs=0.01)
    assert table.intransitivity < 1e-3
    assert table.warnings == ()
    assert table.gap("d", "a").standard_error == 0.0


@pytest.mark.parametrize(("score", "elo"), [(0.6, 70.44), (0.75, 190.85)])
def test_elo_of_a_score(score: float, elo: float) -> None:
    table = rate_exact("ab", np.array([[0.5, score], [1 - score, 0.5]]), anchors={"b": 1000.0})
    assert table.ratings["a"].elo - 1000 == pytest.approx(elo, abs=0.01)


def test_who_always_wins_is_bounded_by_the_penalty_alone() -> None:
    table = rate_exact("abc", np.array([[0.5, 1, 1], [0, 0.5, 0.6], [0, 0.4, 0.5]]), anchors={"b": 1000.0})
    assert table.warnings == ("'a' always wins: only the penalty bounds its rating from above",)
    assert 1500 < table.ratings["a"].elo < 5000


def test_a_cycle_has_equal_ratings_and_a_warning() -> None:
    scores = np.array([[0.5, 0.7, 0.3], [0.3, 0.5, 0.7], [0.7, 0.3, 0.5]])
    table = rate_exact(["rock", "paper", "scissors"], scores, anchors={})
    assert [rating.elo for rating in table.ratings.values()] == pytest.approx([1000.0] * 3)
    assert table.intransitivity == pytest.approx(0.2)
    assert "not transitive" in table.warnings[0]
    assert "scores 0.300" in table.warnings[1]


@given(order=st.permutations(range(4)))
def test_ratings_follow_names(order: list[int]) -> None:
    scores = expected_scores_of(THETA)
    plain = rate_exact("abcd", scores, anchors={"b": 900.0})
    moved = rate_exact(["abcd"[i] for i in order], scores[np.ix_(order, order)], anchors={"b": 900.0})
    assert {n: r.elo for n, r in moved.ratings.items()} == pytest.approx({n: r.elo for n, r in plain.ratings.items()})


def test_one_policy_alone_is_rated() -> None:
    table = rate_exact(["a"], np.array([[0.5]]), anchors={})
    assert table.ratings["a"].elo == 1000.0
    assert table.largest_misfit_cell is None


def test_an_unknown_anchor_is_refused() -> None:
    with pytest.raises(DataError, match="anchor 'z'"):
        rate_exact("ab", np.full((2, 2), 0.5), anchors={"z": 1.0})
