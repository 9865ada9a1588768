"""The cyclic part of a game as points of a plane, on games whose picture is known."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nashdex.core.ids import PolicyId
from nashdex.metagame.analysis.embedding import first_disc, transitive_part
from nashdex.metagame.evidence.estimates import Floats
from nashdex.metagame.ratings.bradley_terry import expected_scores_of

RPS = np.array([[0.0, 0.2, -0.2], [-0.2, 0.0, 0.2], [0.2, -0.2, 0.0]])


def ids(number: int) -> list[PolicyId]:
    return [PolicyId(f"p{i:02d}") for i in range(number)]


def cross(positions: Floats) -> Floats:
    x, y = positions.T
    product: Floats = np.outer(x, y) - np.outer(y, x)
    return product


def random_game(seed: int, size: int) -> Floats:
    upper = np.triu(np.random.default_rng(seed).normal(size=(size, size)), 1)
    game: Floats = upper - upper.T
    return game


def test_rock_paper_scissors_stands_on_a_circle_at_thirds_of_a_turn() -> None:
    disc = first_disc(ids(3), RPS, transitive_part(RPS))
    assert disc is not None
    assert disc.share == pytest.approx(1.0)
    assert np.ptp(np.hypot(*disc.positions.T)) == pytest.approx(0.0, abs=1e-12)
    angles = np.degrees(np.arctan2(disc.positions[:, 1], disc.positions[:, 0])) % 360
    assert angles == pytest.approx([0, 120, 240], abs=1e-6), "each beats the one that follows it counterclockwise"
    assert cross(disc.positions) == pytest.approx(RPS, abs=1e-12)


def test_a_strength_on_top_of_a_cycle_is_left_out() -> None:
    strengths = np.array([0.3, 0.0, -0.1])
    game = RPS + strengths[:, None] - strengths[None, :]
    disc = first_disc(ids(3), game, transitive_part(game))
    assert disc is not None
    assert cross(disc.positions) == pytest.approx(RPS, abs=1e-12)


def test_a_transitive_game_has_nothing_to_show() -> None:
    strengths = np.array([1.0, 0.25, -0.5, 2.0])
    game = strengths[:, None] - strengths[None, :]
    assert first_disc(ids(4), game, transitive_part(game)) is None


def test_scores_that_ratings_predict_have_nothing_to_show() -> None:
    scores = expected_scores_of(np.array([0.0, 2.0, 4.0, 1.0])) - 0.5
    assert first_disc(ids(4), scores, scores) is None
    assert first_disc(ids(4), scores, transitive_part(scores)) is not None, "their differences do not add up"


def test_one_policy_has_nothing_to_show() -> None:
    assert first_disc(ids(1), np.zeros((1, 1)), np.zeros((1, 1))) is None


@given(seed=st.integers(0, 10_000), size=st.integers(3, 9))
def test_the_share_is_what_the_disc_explains(seed: int, size: int) -> None:
    game = random_game(seed, size)
    residue = game - transitive_part(game)
    disc = first_disc(ids(size), game, transitive_part(game))
    assert disc is not None
    left = residue - cross(disc.positions)
    assert disc.share == pytest.approx(1 - (np.linalg.norm(left) / np.linalg.norm(residue)) ** 2, abs=1e-9)
    assert 1 / math.ceil(size / 2) <= disc.share + 1e-9, "it is the largest"


@given(seed=st.integers(0, 10_000), size=st.integers(3, 9))
def test_positions_follow_ids_and_not_places(seed: int, size: int) -> None:
    game = random_game(seed, size)
    order = np.random.default_rng(seed).permutation(size)
    straight = first_disc(ids(size), game, transitive_part(game))
    moved_game = game[np.ix_(order, order)]
    moved = first_disc([ids(size)[i] for i in order], moved_game, transitive_part(moved_game))
    assert straight is not None
    assert moved is not None
    assert moved.positions == pytest.approx(straight.positions[order], abs=1e-6)


@given(seed=st.integers(0, 10_000), size=st.integers(3, 9))
def test_the_transitive_part_is_orthogonal_to_the_rest(seed: int, size: int) -> None:
    game = random_game(seed, size)
    fitted = transitive_part(game)
    assert float((fitted * (game - fitted)).sum()) == pytest.approx(0.0, abs=1e-9)
    assert (game - fitted).sum(axis=1) == pytest.approx(np.zeros(size), abs=1e-9)
