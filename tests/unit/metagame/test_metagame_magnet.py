"""The magnet: closed-form regularised equilibria, and its fixed point in every game."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nashdex.metagame.solvers.interface import ConfiguredSolver
from nashdex.metagame.solvers.registry import meta_solver
from support.zero_sum_games import BIASED_RPS, Floats, antisymmetric, each_example, rectangular


def _magnet(temperature: float, num_iterations: int = 100_000) -> ConfiguredSolver:
    return meta_solver("magnet", temperature=temperature, num_iterations=num_iterations)


def _softmax(logits: Floats) -> Floats:
    weights = np.exp(logits - logits.max())
    found: Floats = weights / weights.sum()
    return found


@pytest.mark.parametrize(
    ("temperature", "strategy"), [(1.0, [0.35324, 0.36082, 0.28594]), (0.1, [0.21283, 0.60533, 0.18184])]
)
def test_biased_rock_paper_scissors(temperature: float, strategy: list[float]) -> None:
    solution = _magnet(temperature).one_population(BIASED_RPS)
    np.testing.assert_allclose(solution.strategy, strategy, atol=6e-6)
    assert solution.status == "converged"
    assert solution.residual < 1e-12


@each_example
@given(antisymmetric(max_size=5), st.sampled_from([0.05, 0.3, 2.0]))
def test_one_population_answers_itself_best_under_the_pull(payoffs: Floats, temperature: float) -> None:
    strategy = _magnet(temperature).one_population(payoffs).strategy
    np.testing.assert_allclose(strategy, _softmax(payoffs @ strategy / temperature), atol=1e-9)


@each_example
@given(rectangular(), st.sampled_from([0.2, 1.0]))
def test_two_populations_answer_each_other_best_under_the_pull(payoffs: Floats, temperature: float) -> None:
    solution = _magnet(temperature).two_populations(payoffs)
    np.testing.assert_allclose(solution.row, _softmax(payoffs @ solution.column / temperature), atol=1e-9)
    np.testing.assert_allclose(solution.column, _softmax(-solution.row @ payoffs / temperature), atol=1e-9)


def test_a_weak_pull_is_close_to_equilibrium_and_a_strong_one_to_uniform() -> None:
    np.testing.assert_allclose(_magnet(0.01).one_population(BIASED_RPS).strategy, np.array([1, 10, 5]) / 16, atol=0.03)
    np.testing.assert_allclose(_magnet(1e6).one_population(BIASED_RPS).strategy, 1 / 3, atol=1e-6)


@pytest.mark.parametrize("temperature", [1e-3, 1e-12])
def test_too_few_iterations_are_called_that(temperature: float) -> None:
    """However small the steps: what has hardly moved has not converged. The residual is the regularised gain."""
    solution = _magnet(temperature, 25).one_population(BIASED_RPS)
    assert solution.status == "not-converged"
    assert solution.parameters == {"temperature": temperature, "num_iterations": 25}
    reply = _softmax(BIASED_RPS @ solution.strategy / temperature)
    assert solution.residual == pytest.approx((reply - solution.strategy) @ BIASED_RPS @ solution.strategy, rel=0.1)
