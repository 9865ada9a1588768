"""Nash equilibria: known ones, and what must hold for every game."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from nashdex.metagame.equilibria import symmetric_equilibrium
from nashdex.metagame.solvers.nash import nash, nash_of_many, nash_of_two
from nashdex.metagame.solvers.registry import meta_solver
from support.zero_sum_games import (
    BIASED_RPS,
    DOMINATED,
    RPS,
    Floats,
    antisymmetric,
    each_example,
    is_probability_vector,
    rectangular,
)


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
    assert is_probability_vector(solution.strategy)
    assert (payoffs @ solution.strategy).max() < 1e-12
    assert abs(solution.value) < 1e-12


@each_example
@given(rectangular())
def test_nash_of_two_has_no_better_reply_on_either_side(payoffs: Floats) -> None:
    solution = nash_of_two(payoffs)
    assert is_probability_vector(solution.row)
    assert is_probability_vector(solution.column)
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
        assert answer.fun is not None
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
    assert all(is_probability_vector(strategy) for strategy in (one.strategy, two.row, two.column))


@pytest.mark.parametrize(("size", "seed"), [(4, 106), (5, 162), (8, 23)])
def test_payoffs_over_twelve_orders_of_magnitude_never_break_a_solver(size: int, seed: int) -> None:
    """Weights so far apart are beyond the linear algebra behind the exact answer; the linear program's own remains."""
    generator = np.random.default_rng(seed)
    payoffs = 10.0 ** generator.integers(-12, 1, size=(size, size)) * generator.choice([-1, 1], size=(size, size))
    upper = np.triu(payoffs, 1)
    solution = nash(upper - upper.T)
    assert is_probability_vector(solution.strategy)
    assert solution.status == "imprecise"
    assert solution.residual < 1e-6
    rectified = meta_solver("rectified-nash")
    assert is_probability_vector(rectified.one_population(upper - upper.T).strategy)
    assert is_probability_vector(rectified.two_populations(payoffs).column)


def _population(seed: int, size: int, *, cyclic: float) -> Floats:
    """Return payoffs of policies of different strength with some cycles among them."""
    generator = np.random.default_rng(seed)
    strength, noise = generator.normal(size=size), generator.normal(size=(size, size))
    upper = np.triu(np.tanh(0.4 * (strength[:, None] - strength) + cyclic * noise) / 2, 1)
    return upper - upper.T


@pytest.mark.parametrize(("seed", "cyclic"), [(0, 0.0), (1, 0.1), (2, 0.4), (3, 3.0)])
def test_many_policies_have_the_equilibrium_that_the_program_of_all_finds(seed: int, cyclic: float) -> None:
    """Few of them matter where strength does, most where cycles do; the short cut changes neither."""
    payoffs = _population(seed, 80, cyclic=cyclic)
    solution, whole = nash(payoffs), symmetric_equilibrium(payoffs)
    np.testing.assert_allclose(solution.strategy, whole.row, atol=1e-12)
    assert (solution.unique, solution.status) == (whole.unique, "optimal")


def test_many_policies_that_are_one_share_their_weight() -> None:
    """Thirty copies of rock, paper and scissors: no equilibrium among a few of them tells that of all."""
    order = np.arange(90) % 3
    solution = nash(BIASED_RPS[np.ix_(order, order)])
    np.testing.assert_allclose(solution.strategy, np.array([1, 10, 5])[order] / 480, atol=1e-9)
    assert not solution.unique


def test_a_champion_of_many_is_played_alone() -> None:
    payoffs = _population(4, 100, cyclic=1.0)
    payoffs[37] = 0.25
    payoffs[:, 37] = -0.25
    payoffs[37, 37] = 0.0
    assert np.flatnonzero(nash(payoffs).strategy).tolist() == [37]


@pytest.mark.parametrize("size", [1, 2, 5, 8, 11, 13])
def test_many_games_at_once_have_the_same_equilibria(size: int) -> None:
    """Random games, one of ties, which has many equilibria, and one where a policy beats every other."""
    upper = np.triu(np.random.default_rng(size).normal(size=(12, size, size)), 1)
    payoffs = upper - np.swapaxes(upper, 1, 2)
    payoffs[3] = 0.0
    payoffs[5] = np.sign(payoffs[5])
    champion, others = size // 2, np.arange(size) != size // 2
    payoffs[7, champion, others], payoffs[7, others, champion] = 0.1, -0.1
    np.testing.assert_allclose(nash_of_many(payoffs), [nash(each).strategy for each in payoffs], atol=1e-12)
