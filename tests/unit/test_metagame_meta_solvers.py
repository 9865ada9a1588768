"""Meta-solvers: known equilibria, and what must hold for every game."""

import time
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from nashdex.core.errors import ConfigurationError
from nashdex.metagame.meta_solvers import META_SOLVERS, meta_solver
from nashdex.metagame.nash import nash, nash_of_two

Floats = NDArray[np.float64]

RPS = np.array([[0.5, 0.7, 0.3], [0.3, 0.5, 0.7], [0.7, 0.3, 0.5]]) - 0.5
BIASED_RPS = np.array([[0, -0.25, 0.5], [0.25, 0, -0.05], [-0.5, 0.05, 0]])
DOMINATED = np.array([[0.5, 0.9, 0.8], [0.1, 0.5, 0.6], [0.2, 0.4, 0.5]]) - 0.5

each_example = settings(deadline=None, derandomize=True, max_examples=60)


@st.composite
def antisymmetric(draw: st.DrawFn, levels: int = 3, max_size: int = 7) -> Floats:
    """Return payoffs with few distinct values, so that ties and many equilibria are common."""
    size = draw(st.integers(1, max_size))
    upper = np.zeros((size, size))
    for i in range(size):
        for j in range(i + 1, size):
            upper[i, j] = draw(st.integers(-levels, levels)) / 8
    return upper - upper.T


@st.composite
def rectangular(draw: st.DrawFn) -> Floats:
    rows, columns = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    values = draw(st.lists(st.integers(-3, 3), min_size=rows * columns, max_size=rows * columns))
    return np.array(values, dtype=float).reshape(rows, columns) / 4


def _is_probability_vector(strategy: Floats) -> bool:
    return bool((strategy >= 0).all()) and abs(strategy.sum() - 1) < 1e-12


@pytest.mark.parametrize(
    ("payoffs", "strategy"),
    [
        (RPS, [1 / 3, 1 / 3, 1 / 3]),
        (BIASED_RPS, [1 / 16, 10 / 16, 5 / 16]),
        (DOMINATED, [1, 0, 0]),
        (np.zeros((1, 1)), [1]),
        (np.zeros((4, 4)), [0.25] * 4),
    ],
)
def test_known_equilibria(payoffs: Floats, strategy: list[float]) -> None:
    solution = nash(payoffs)
    np.testing.assert_allclose(solution.strategy, strategy, atol=1e-12)
    assert solution.value == pytest.approx(0, abs=1e-15)
    assert solution.residual < 1e-15
    assert solution.status == "optimal"


def test_a_game_of_two_populations() -> None:
    """Row and column mixtures of a 2 × 3 game, by hand: the third column is dominated; value 7/4."""
    solution = nash_of_two(np.array([[1.0, 2.0, 3.0], [4.0, 1.0, 2.0]]))
    np.testing.assert_allclose(solution.row, [0.75, 0.25], atol=1e-12)
    np.testing.assert_allclose(solution.column, [0.25, 0.75, 0.0], atol=1e-12)
    assert solution.value == pytest.approx(1.75)
    assert solution.residual < 1e-12


def test_of_many_equilibria_the_one_of_maximum_entropy() -> None:
    """The column player may mix the first two columns with 3q₁ + q₂ ≤ 2 only, and even weights do just that."""
    solution = nash_of_two(np.array([[3.0, 1.0, 4.0], [2.0, 2.0, 5.0]]))
    np.testing.assert_allclose(solution.column, [0.5, 0.5, 0.0], atol=1e-12)
    assert not solution.unique


def test_maximum_entropy_where_an_inequality_binds() -> None:
    """The column player must keep 4q₁ + q₂ at 2 or less: all weight that q₁ ≤ ⅓ leaves goes to q₂."""
    solution = nash_of_two(np.array([[4.0, 1.0], [2.0, 2.0]]))
    np.testing.assert_allclose(solution.column, [1 / 3, 2 / 3], atol=1e-9)
    np.testing.assert_allclose(solution.row, [0.0, 1.0], atol=1e-12)


@each_example
@given(antisymmetric())
def test_nash_has_no_better_reply_in_the_population(payoffs: Floats) -> None:
    solution = nash(payoffs)
    assert _is_probability_vector(solution.strategy)
    assert (payoffs @ solution.strategy).max() < 1e-12
    assert abs(solution.value) < 1e-12


@each_example
@given(rectangular())
def test_nash_of_two_has_no_better_reply_on_either_side(payoffs: Floats) -> None:
    solution = nash_of_two(payoffs)
    assert _is_probability_vector(solution.row)
    assert _is_probability_vector(solution.column)
    assert (payoffs @ solution.column).max() - (solution.row @ payoffs).min() < 1e-12
    swapped = nash_of_two(-payoffs.T)
    assert swapped.value == pytest.approx(-solution.value, abs=1e-12)
    np.testing.assert_allclose(swapped.row, solution.column, atol=1e-6)


@each_example
@given(antisymmetric())
def test_nash_has_the_maximum_entropy_of_all_equilibria(payoffs: Floats) -> None:
    """First-order certificate: no equilibrium lies uphill in entropy, and none plays what this one does not."""
    size = len(payoffs)
    strategy = nash(payoffs).strategy
    played = strategy > 0

    def lowest(cost: Floats) -> float:
        answer = linprog(cost, A_ub=payoffs, b_ub=np.zeros(size), A_eq=np.ones((1, size)), b_eq=[1.0])
        return float(answer.fun)

    for policy in np.flatnonzero(~played):
        assert lowest(-np.eye(size)[policy]) > -1e-7
    slope = np.where(played, np.log(np.where(played, strategy, 1.0)), 0.0)
    assert lowest(slope) > slope @ strategy - 1e-6


@each_example
@given(antisymmetric(), st.randoms(use_true_random=False))
def test_relabelling_relabels_the_answer(payoffs: Floats, random: Random) -> None:
    order = list(range(len(payoffs)))
    random.shuffle(order)
    np.testing.assert_allclose(nash(payoffs[np.ix_(order, order)]).strategy, nash(payoffs).strategy[order], atol=1e-6)


@each_example
@given(antisymmetric())
def test_a_dominated_policy_changes_nothing(payoffs: Floats) -> None:
    """The newcomer does worse than policy 0 against everybody, itself included."""
    size = len(payoffs)
    wider = np.zeros((size + 1, size + 1))
    wider[:size, :size] = payoffs
    wider[size, :size] = payoffs[0] - 0.125
    wider[:size, size] = -wider[size, :size]
    solution = nash(wider).strategy
    assert solution[size] == 0
    np.testing.assert_allclose(solution[:size], nash(payoffs).strategy, atol=1e-6)


@each_example
@given(antisymmetric(), st.data())
def test_duplicates_share_their_weight(payoffs: Floats, data: st.DataObject) -> None:
    twin = data.draw(st.integers(0, len(payoffs) - 1))
    order = [*range(len(payoffs)), twin]
    doubled, single = nash(payoffs[np.ix_(order, order)]), nash(payoffs)
    assert doubled.strategy[-1] == pytest.approx(doubled.strategy[twin], abs=1e-6)
    if single.unique:
        assert doubled.strategy[-1] == pytest.approx(single.strategy[twin] / 2, abs=1e-6)


@each_example
@given(antisymmetric(), st.sampled_from([1e-6, 1e-3, 1e4]))
def test_scale_does_not_matter(payoffs: Floats, factor: float) -> None:
    np.testing.assert_allclose(nash(factor * payoffs).strategy, nash(payoffs).strategy, atol=1e-6)


@pytest.mark.parametrize("name", sorted(META_SOLVERS))
def test_every_solver_returns_distributions(name: str) -> None:
    solver = meta_solver(name)
    one, two = solver.one_population(BIASED_RPS), solver.two_populations(BIASED_RPS[:2])
    assert all(_is_probability_vector(strategy) for strategy in (one.strategy, two.row, two.column))
    assert np.isfinite([one.value, one.residual, two.value, two.residual]).all()


def test_an_unknown_solver_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ConfigurationError, match=r"'nahs'.*nash, uniform, last"):
        meta_solver("nahs")


def test_five_hundred_draws_of_a_game_of_twenty_are_quick() -> None:
    """Ten seconds are promised; a twentieth of the draws may take a twentieth."""
    generator = np.random.default_rng(0)
    began = time.process_time()
    for _ in range(25):
        upper = np.triu(generator.normal(size=(20, 20)), 1)
        assert nash(upper - upper.T).residual < 1e-12
    assert time.process_time() - began < 0.5


def test_large_games_are_solved_to_machine_precision() -> None:
    generator = np.random.default_rng(1)
    upper = np.triu(generator.normal(size=(100, 100)), 1)
    assert nash(upper - upper.T).residual < 1e-12
    assert nash_of_two(generator.normal(size=(100, 60))).residual < 1e-12


def test_payoffs_of_very_different_sizes_are_solved_and_called_imprecise() -> None:
    """Products of normal draws ask for weights from 1 down to 1e-8, which no linear program tells apart."""
    first, second = np.random.default_rng(23).normal(size=(2, 39))
    upper = np.triu(np.outer(first, second), 1)
    payoffs = upper - upper.T
    one, two = nash(payoffs), nash_of_two(payoffs)
    assert (one.status, two.status) == ("imprecise", "imprecise")
    assert 0 < one.residual < 1e-6
    assert all(_is_probability_vector(strategy) for strategy in (one.strategy, two.row, two.column))
