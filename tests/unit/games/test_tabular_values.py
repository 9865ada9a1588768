"""Exact payoffs and best responses of tabular games: known answers, OpenSpiel's own, and what must always hold."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
import pyspiel
import pytest
from hypothesis import given
from hypothesis import strategies as st
from open_spiel.python import policy as openspiel_policy
from open_spiel.python.algorithms import expected_game_score, exploitability

from nashdex.games.tabular.matrix import MatrixDocument, matrix_tree
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.games.tabular.tree import GameTree, Table, check_table, uniform_table
from nashdex.games.tabular.values import (
    best_response,
    expected_payoffs,
    first_seat_payoffs,
    nash_conv,
    payoffs_between,
    realization_plans,
)
from support.mixed_table import mixed_table
from support.tables import first_action_table

SEEDS = st.integers(0, 2**32 - 1)


@cache
def tree_of(name: str) -> GameTree:
    return openspiel_tree(name)


def random_table(tree: GameTree, seed: int, *, pure_share: float = 0.3) -> Table:
    """Return a table with some deterministic rows, so that parts of the tree are never reached."""
    rng = np.random.default_rng(seed)
    table = rng.random(tree.legal.shape) * tree.legal
    pure = rng.random(tree.num_states) < pure_share
    table[pure] = table[pure] == table[pure].max(axis=1, keepdims=True)
    normal: Table = table / table.sum(axis=1, keepdims=True)
    return normal


def to_openspiel(tree: GameTree, table: Table) -> openspiel_policy.TabularPolicy:
    """Return the same policy as OpenSpiel has it."""
    theirs = openspiel_policy.TabularPolicy(pyspiel.load_game(tree.format))
    place = {name: state for state, name in enumerate(tree.state_names)}
    for name, row in theirs.state_lookup.items():
        theirs.action_probability_array[row] = table[place[name]]
    return theirs


@pytest.mark.parametrize(
    ("game", "policy", "expected"),
    [
        ("kuhn_poker", uniform_table, Fraction(11, 12)),
        ("kuhn_poker", first_action_table, Fraction(2)),
        ("leduc_poker", uniform_table, Fraction(1709, 360)),
    ],
)
def test_nash_conv_of_simple_policies_is_what_theory_says(
    game: str, policy: Callable[[GameTree], Table], expected: Fraction
) -> None:
    tree = tree_of(game)
    assert nash_conv(tree, [policy(tree)], [1.0]) == pytest.approx(float(expected), abs=1e-12)


def kuhn_equilibrium(alpha: float) -> Table:
    """Return Kuhn's (1950) equilibrium whose first player bets a jack with probability ``alpha`` ≤ ⅓."""
    tree = tree_of("kuhn_poker")
    betting = {
        "0": alpha, "1": 0.0, "2": 3 * alpha,  # opening, by card
        "0pb": 0.0, "1pb": alpha + 1 / 3, "2pb": 1.0,  # the first player, raised after a pass
        "0p": 1 / 3, "1p": 0.0, "2p": 1.0,  # the second player after a pass
        "0b": 0.0, "1b": 1 / 3, "2b": 1.0,  # and after a bet
    }  # fmt: skip
    return np.array([[1 - betting[name], betting[name]] for name in tree.state_names])


@pytest.mark.parametrize("alpha", [0.0, 0.2, 1 / 3])
def test_kuhns_equilibria_cannot_be_exploited_and_cost_the_first_player_an_eighteenth(alpha: float) -> None:
    tree, table = tree_of("kuhn_poker"), kuhn_equilibrium(alpha)
    assert nash_conv(tree, [table], [1.0]) == pytest.approx(0.0, abs=1e-12)
    plan = realization_plans(tree, [table])
    assert first_seat_payoffs(tree, plan, plan)[0, 0] == pytest.approx(-1 / 18, abs=1e-12)


@pytest.mark.parametrize("game", ["kuhn_poker", "leduc_poker"])
@pytest.mark.parametrize("seed", [1, 2])
def test_openspiel_finds_the_same_nash_conv(game: str, seed: int) -> None:
    tree = tree_of(game)
    table = random_table(tree, seed)
    theirs = exploitability.nash_conv(pyspiel.load_game(game), to_openspiel(tree, table))
    assert nash_conv(tree, [table], [1.0]) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("game", ["kuhn_poker", "leduc_poker"])
def test_openspiel_finds_the_same_payoffs(game: str) -> None:
    tree = tree_of(game)
    tables = [random_table(tree, seed) for seed in (3, 4)]
    first, second = (to_openspiel(tree, table) for table in tables)
    root = pyspiel.load_game(game).new_initial_state()
    as_first = expected_game_score.policy_value(root, [first, second])[0]
    as_second = expected_game_score.policy_value(root, [second, first])[1]
    assert expected_payoffs(tree, tables)[0, 1] == pytest.approx((as_first + as_second) / 2, abs=1e-12)


@pytest.mark.parametrize("game", ["kuhn_poker", "leduc_poker"])
def test_openspiel_values_the_best_response_alike(game: str) -> None:
    """Of a mixture: OpenSpiel is given the one policy that plays like it."""
    tree = tree_of(game)
    tables, mixture = [random_table(tree, seed) for seed in (5, 6, 7)], [0.5, 0.3, 0.2]
    response, value = best_response(tree, tables, mixture)
    theirs = to_openspiel(tree, mixed_table(tree, tables, mixture))
    answers = (
        exploitability.best_response(pyspiel.load_game(game), theirs, 0),
        exploitability.best_response(pyspiel.load_game(game), theirs, 1),
    )
    assert value == pytest.approx(sum(answer["best_response_value"] for answer in answers) / 2, abs=1e-9)
    assert payoffs_between(tree, [response], tables)[0] @ mixture == pytest.approx(value, abs=1e-9)


@given(seed=SEEDS, size=st.integers(1, 5))
def test_nobody_does_better_than_the_best_response(seed: int, size: int) -> None:
    tree = tree_of("kuhn_poker")
    tables = [random_table(tree, seed + i) for i in range(size)]
    mixture = np.random.default_rng(seed).dirichlet(np.ones(size))
    response, value = best_response(tree, tables, mixture)
    check_table(tree, response, "the best response")
    rivals = [*tables, uniform_table(tree), random_table(tree, seed + 99, pure_share=1.0)]
    assert (payoffs_between(tree, rivals, tables) @ mixture).max() <= value + 1e-12
    assert nash_conv(tree, tables, mixture) == pytest.approx(2 * value, abs=1e-12)
    assert value >= -1e-12, "in the symmetrised game a copy of the opponent gets 0"


@given(seed=SEEDS, size=st.integers(1, 4))
def test_the_mixed_table_plays_like_the_mixture_against_anyone(seed: int, size: int) -> None:
    tree = tree_of("kuhn_poker")
    tables = [random_table(tree, seed + i) for i in range(size)]
    mixture = np.random.default_rng(seed).dirichlet(np.ones(size))
    mixed = mixed_table(tree, tables, mixture)
    check_table(tree, mixed, "the mixed table")
    anyone = [random_table(tree, seed + 50 + i) for i in range(3)]
    np.testing.assert_allclose(
        payoffs_between(tree, [mixed], anyone)[0], mixture @ payoffs_between(tree, tables, anyone), atol=1e-12
    )


def test_the_mixed_table_is_no_average_by_state() -> None:
    """Only a player who passes with a jack decides on calling with it, so the other's plan has no effect."""
    tree = tree_of("kuhn_poker")
    opening, answer = tree.state_names.index("0"), tree.state_names.index("0pb")
    passes, bets = first_action_table(tree), first_action_table(tree)
    bets[[opening, answer]] = [0.0, 1.0]
    mixed = mixed_table(tree, [passes, bets], [0.5, 0.5])
    assert mixed[opening].tolist() == [0.5, 0.5]
    assert mixed[answer].tolist() == [1.0, 0.0]


@given(seed=SEEDS, size=st.integers(1, 6), split=st.integers(0, 6))
def test_payoffs_are_antisymmetric_and_made_of_blocks(seed: int, size: int, split: int) -> None:
    tree = tree_of("kuhn_poker")
    tables = [random_table(tree, seed + i) for i in range(size)]
    payoffs = expected_payoffs(tree, tables)
    assert (payoffs == -payoffs.T).all()
    columns = tables[min(split, size - 1) :]
    np.testing.assert_allclose(payoffs_between(tree, tables, columns), payoffs[:, -len(columns) :], atol=1e-12)


def test_of_equally_good_actions_the_first_is_played() -> None:
    even = matrix_tree(
        MatrixDocument(row_policies=("a", "b"), column_policies=("c", "d", "e"), payoffs=((1, 1, 1), (1, 1, 1)))
    )
    table, value = best_response(even, [uniform_table(even)], [1.0])
    assert table.tolist() == [[1, 0, 0], [1, 0, 0]]
    assert value == 0.0


def test_a_matrix_games_payoffs_are_the_matrix() -> None:
    tree = matrix_tree(
        MatrixDocument(row_policies=("a", "b"), column_policies=("c", "d", "e"), payoffs=((1, -2, 3), (-4, 5, -6)))
    )
    rows = np.array([[[1, 0, 0], [1, 0, 0]], [[0, 1, 0], [1, 0, 0]]], dtype=float)
    columns = np.array([[[1, 0, 0], np.eye(3)[c]] for c in range(3)], dtype=float)
    seated = first_seat_payoffs(tree, realization_plans(tree, rows), realization_plans(tree, columns))
    assert seated.tolist() == [[1, -2, 3], [-4, 5, -6]]
    assert tree.max_payoff == 6
