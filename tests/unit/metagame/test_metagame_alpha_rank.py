"""α-rank: chains that can be solved by hand, the limit of the sweep, and numbers that would overflow."""

import numpy as np
import pytest
from hypothesis import given

from nashdex.core.errors import ConfigurationError
from nashdex.metagame.solvers.interface import ConfiguredSolver, PairSolution
from nashdex.metagame.solvers.registry import meta_solver
from support.zero_sum_games import BIASED_RPS, RPS, Floats, antisymmetric, each_example, is_probability_vector


def _solver(alpha: float | None, population_size: int = 50) -> ConfiguredSolver:
    return meta_solver("alpha-rank", alpha=alpha, population_size=population_size)


def _of_two(alpha: float | None, rows: Floats, columns: Floats) -> PairSolution:
    return _solver(alpha).bimatrix(rows, columns)


def _stationary(payoffs: Floats, alpha: float, population_size: int) -> Floats:
    """Return the definition, written out: the left eigenvector of the chain of one population."""
    size = len(payoffs)
    chain = np.zeros((size, size))
    for s in range(size):
        for r in range(size):
            u = alpha * (payoffs[r, s] - payoffs[s, r])
            if s != r:
                neutral = abs(u) < 1e-14
                rate = 1 / population_size if neutral else (1 - np.exp(-u)) / (1 - np.exp(-population_size * u))
                chain[s, r] = rate / (size - 1)
        chain[s, s] = 1 - chain[s].sum()
    values, vectors = np.linalg.eig(chain.T)
    vector = np.real(vectors[:, np.argmin(np.abs(values - 1))])
    found: Floats = vector / vector.sum()
    return found


@pytest.mark.parametrize("alpha", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("population_size", [2, 50])
def test_biased_rock_paper_scissors_by_definition(alpha: float, population_size: int) -> None:
    solution = _solver(alpha, population_size).one_population(BIASED_RPS)
    np.testing.assert_allclose(solution.strategy, _stationary(BIASED_RPS, alpha, population_size), rtol=1e-9)
    assert (solution.status, solution.parameters) == ("optimal", {"alpha": alpha, "population_size": population_size})
    assert solution.residual < 1e-15


@pytest.mark.parametrize("alpha", [0.5, None])
def test_rock_paper_scissors_is_uniform(alpha: float | None) -> None:
    np.testing.assert_allclose(_solver(alpha).one_population(RPS).strategy, 1 / 3, atol=1e-12)


def test_two_policies_by_hand() -> None:
    """Stag hunt: hare against stag gets 3 and gives 0, and ρ(u) / ρ(−u) = e^{(m − 1)u} is the ratio of the times."""
    solution = _solver(0.02, 50).one_population(np.array([[4.0, 0.0], [3.0, 2.0]]))
    assert solution.strategy[1] / solution.strategy[0] == pytest.approx(np.exp(49 * 0.02 * 3))


def test_a_coordination_game_of_two_populations_by_hand() -> None:
    """Both get 2, 1 or 0: the chain is reversible, and a profile's time is ∝ e^{(m − 1)α payoff}."""
    payoffs = np.array([[2.0, 0.0], [0.0, 1.0]])
    profiles = np.exp(49 * 0.1 * payoffs)
    profiles /= profiles.sum()
    solution = _of_two(0.1, payoffs, payoffs)
    np.testing.assert_allclose(solution.row, profiles.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(solution.column, profiles.sum(axis=0), rtol=1e-12)


def test_a_coordination_game_with_other_stakes_for_each_by_hand() -> None:
    """Leaving (0, 0) costs the row player 3, leaving (1, 1) the column player 3: conventions last equally long."""
    solution = _of_two(1.0, np.array([[3.0, 0.0], [0.0, 2.0]]), np.array([[2.0, 0.0], [0.0, 3.0]]))
    np.testing.assert_allclose(solution.row, 0.5, atol=1e-12)
    np.testing.assert_allclose(solution.column, 0.5, atol=1e-12)


def test_a_sweep_ends_at_the_limit_whatever_the_sizes_of_payoffs() -> None:
    """Three policies in a cycle, whose members beat a fourth: a third each, once the smallest edge is decided."""
    payoffs = np.zeros((4, 4))
    payoffs[0, 1], payoffs[1, 2], payoffs[2, 0] = 1e-5, 0.3, 0.01
    payoffs[:3, 3] = 1e-6, 0.4, 0.2
    solution = _solver(None).one_population(payoffs - payoffs.T)
    np.testing.assert_allclose(solution.strategy, [1 / 3, 1 / 3, 1 / 3, 0], atol=1e-8)
    assert solution.status == "converged"
    assert solution.residual < 1e-9


@each_example
@given(antisymmetric())
def test_a_stronger_selection_than_the_sweeps_changes_nothing(payoffs: Floats) -> None:
    swept = _solver(None).one_population(payoffs)
    stronger = _solver(4 * swept.parameters["alpha"]).one_population(payoffs)
    np.testing.assert_allclose(stronger.strategy, swept.strategy, atol=1e-7)


@each_example
@given(antisymmetric())
def test_no_selection_is_too_strong_and_none_too_weak(payoffs: Floats) -> None:
    assert is_probability_vector(_solver(1e12, 1_000_000).one_population(payoffs).strategy)
    np.testing.assert_allclose(_solver(1e-12).one_population(payoffs).strategy, 1 / len(payoffs), atol=1e-9)


def test_too_many_profiles_are_refused_before_they_are_made() -> None:
    with pytest.raises(ConfigurationError, match="100 × 50 policies have 5000; expected at most 1024"):
        _solver(1.0).two_populations(np.zeros((100, 50)))
