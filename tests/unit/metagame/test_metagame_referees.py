"""Other programs as referees: OpenSpiel for meta-solvers, cvxpy for equilibria, choix for Bradley–Terry."""

import sys
from collections.abc import Mapping
from itertools import product
from types import ModuleType

import choix
import cvxpy
import numpy as np
import pytest

from nashdex.metagame.ratings.bradley_terry import fit, fit_samples
from nashdex.metagame.solvers.registry import meta_solver
from support.zero_sum_games import BIASED_RPS, DOMINATED, RPS, Floats

# OpenSpiel's α-rank imports its own plots, and with them matplotlib, which nothing here needs.
_PLOTS = "open_spiel.python.egt.alpharank_visualizer"
sys.modules.setdefault(_PLOTS, ModuleType(_PLOTS))

from open_spiel.python.algorithms.projected_replicator_dynamics import projected_replicator_dynamics  # noqa: E402
from open_spiel.python.algorithms.regret_matching import regret_matching  # noqa: E402
from open_spiel.python.egt import alpharank  # noqa: E402


def _random(size: int, seed: int) -> Floats:
    upper = np.triu(np.random.default_rng(seed).uniform(-1.0, 1.0, (size, size)), 1)
    return upper - upper.T


TWINS = _random(4, 9)[np.ix_([0, 1, 1, 2], [0, 1, 1, 2])]
"""Two policies that play alike."""
GAMES = {
    "rock-paper-scissors": RPS,
    "biased": BIASED_RPS,
    "dominated": DOMINATED,
    "all-even": np.zeros((3, 3)),
    "alone": np.zeros((1, 1)),
    "twins": TWINS,
    "random-5": _random(5, 1),
    "random-8": _random(8, 2),
}
one_population = pytest.mark.parametrize("payoffs", list(GAMES.values()), ids=list(GAMES))
RECTANGLES = {
    "3x2": np.array([[1.0, -1.0], [-0.5, 0.25], [0.0, 0.5]]),
    "2x4": np.random.default_rng(3).uniform(-1.0, 1.0, (2, 4)),
    "even": np.zeros((2, 3)),
}
two_populations = pytest.mark.parametrize("payoffs", list(RECTANGLES.values()), ids=list(RECTANGLES))


def _scale(payoffs: Floats) -> float:
    return float(payoffs.max() - payoffs.min()) / 2 or 1.0


@pytest.mark.parametrize("name", [name for name in GAMES if name != "alone"])  # OpenSpiel has no chain of one state
@pytest.mark.parametrize(("alpha", "population_size"), [(0.1, 50), (1.0, 10), (5.0, 20)])
def test_alpha_rank_of_one_population(name: str, alpha: float, population_size: int) -> None:
    payoffs = GAMES[name]
    _, _, expected, *_ = alpharank.compute([payoffs], m=population_size, alpha=alpha)
    solver = meta_solver("alpha-rank", alpha=alpha, population_size=population_size)
    np.testing.assert_allclose(solver.one_population(payoffs).strategy, expected, atol=1e-9)


@two_populations
@pytest.mark.parametrize("alpha", [0.1, 2.0])
def test_alpha_rank_of_two_populations(payoffs: Floats, alpha: float) -> None:
    _, _, expected, *_ = alpharank.compute([payoffs, -payoffs], m=20, alpha=alpha)
    solution = meta_solver("alpha-rank", alpha=alpha, population_size=20).two_populations(payoffs)
    profiles = np.asarray(expected).reshape(payoffs.shape)
    np.testing.assert_allclose(solution.row, profiles.sum(axis=1), atol=1e-9)
    np.testing.assert_allclose(solution.column, profiles.sum(axis=0), atol=1e-9)


@pytest.mark.filterwarnings("ignore:overflow encountered")  # OpenSpiel's; its result is right
@pytest.mark.parametrize("name", ["rock-paper-scissors", "biased", "random-5"])
def test_alpha_rank_in_the_limit(name: str) -> None:
    expected = alpharank.sweep_pi_vs_alpha([GAMES[name]])
    found = meta_solver("alpha-rank").one_population(GAMES[name])
    assert found.status == "converged"
    np.testing.assert_allclose(found.strategy, expected, atol=1e-3)


@one_population
def test_replicator_dynamics_of_one_population(payoffs: Floats) -> None:
    """OpenSpiel averages the start and every step after it; here the last step is not averaged."""
    scaled = payoffs / _scale(payoffs)
    expected, _ = projected_replicator_dynamics(
        [scaled, scaled.T], prd_iterations=1999, prd_gamma=1e-6 / len(payoffs), use_approx=True
    )
    found = meta_solver("prd", num_iterations=2000).one_population(payoffs)
    np.testing.assert_allclose(found.strategy, expected, atol=1e-10)


@two_populations
def test_replicator_dynamics_of_two_populations(payoffs: Floats) -> None:
    """The two floors differ where the populations do; OpenSpiel has one, so its exact projection is compared."""
    scaled = payoffs / _scale(payoffs)
    row, column = projected_replicator_dynamics([scaled, -scaled], prd_iterations=1999)
    found = meta_solver("prd", num_iterations=2000).two_populations(payoffs)
    np.testing.assert_allclose(found.row, row, atol=1e-5)
    np.testing.assert_allclose(found.column, column, atol=1e-5)


@one_population
def test_regret_matching_of_one_population(payoffs: Floats) -> None:
    scaled = payoffs / _scale(payoffs)
    expected, _ = regret_matching([scaled, scaled.T], iterations=499)
    found = meta_solver("regret-matching", num_iterations=500).one_population(payoffs)
    np.testing.assert_allclose(found.strategy, expected, atol=1e-6)


@two_populations
def test_regret_matching_of_two_populations(payoffs: Floats) -> None:
    scaled = payoffs / _scale(payoffs)
    row, column = regret_matching([scaled, -scaled], iterations=499)
    found = meta_solver("regret-matching", num_iterations=500).two_populations(payoffs)
    np.testing.assert_allclose(found.row, row, atol=1e-6)
    np.testing.assert_allclose(found.column, column, atol=1e-6)


def _tournament(size: int, games: int, seed: int, spread: float = 1.0) -> tuple[Floats, Floats]:
    """Return scores and games of a tournament of Bradley–Terry players; some cells are not played."""
    generator = np.random.default_rng(seed)
    theta = generator.normal(scale=spread, size=size)
    played = np.triu(generator.integers(0, 2, (size, size)) * games, 1)
    played += np.triu(np.eye(size, k=1, dtype=np.int64) * games, 1) * (played == 0)
    won = generator.binomial(played, 1 / (1 + np.exp(theta[None, :] - theta[:, None]))).astype(float)
    return won + np.triu(played - won, 1).T, (played + played.T).astype(float)


NEVER_LOST = (np.array([[0.0, 9, 9], [0, 0, 5], [0, 4, 0]]), np.array([[0.0, 9, 9], [9, 0, 9], [9, 9, 0]]))
ONE_GAME = (np.array([[0.0, 1], [0, 0]]), np.array([[0.0, 1], [1, 0]]))
ALL_DRAWN = (np.full((3, 3), 2.0) - 2 * np.eye(3), 4 * (1 - np.eye(3)))
TOURNAMENTS = {
    "six": _tournament(6, 40, 1),
    "far-apart": _tournament(5, 200, 2, spread=3.0),
    "never-lost": NEVER_LOST,
    "one-game": ONE_GAME,
    "all-drawn": ALL_DRAWN,
}
every_tournament = pytest.mark.parametrize("tournament", list(TOURNAMENTS.values()), ids=list(TOURNAMENTS))


def _by_choix(won: Floats, anchors: Mapping[int, float]) -> Floats:
    theta: Floats = choix.ilsr_pairwise_dense(won, max_iter=10_000, tol=1e-12)
    (anchor, value), *_ = anchors.items() if anchors else [(None, 0.0)]
    shifted: Floats = theta - theta.mean() if anchor is None else theta - theta[anchor] + value
    return shifted


@every_tournament
@pytest.mark.parametrize("anchors", [{}, {1: 0.25}], ids=["mean", "anchor"])
def test_firth_s_estimate_is_choix_s_once_its_virtual_games_are_played(
    tournament: tuple[Floats, Floats], anchors: dict[int, float]
) -> None:
    scores, games = tournament
    found = fit(scores, games, anchors)
    np.testing.assert_allclose(found.theta, _by_choix(scores + found.virtual_games / 2, anchors), atol=1e-5)


def test_with_many_battles_it_is_choix_s_maximum_of_the_likelihood() -> None:
    scores, games = _tournament(6, 100_000, 3)
    np.testing.assert_allclose(fit(scores, games, {}).theta, _by_choix(scores, {}), atol=1e-3)


@every_tournament
def test_a_bootstrap_s_estimate_is_choix_s_too(tournament: tuple[Floats, Floats]) -> None:
    scores, games = tournament
    near = fit(scores, games, {})
    again, doubled = scores + np.tril(np.ones_like(scores), -1), games + 1 - np.eye(len(games))
    (found,) = fit_samples(again.sum(axis=1)[None], doubled[None], {}, near)
    np.testing.assert_allclose(found, _by_choix(again + near.virtual_games / 2, {}), atol=1e-5)


@pytest.mark.parametrize(("size", "seed"), list(product([3, 6], range(3))))
def test_alpha_rank_of_random_games(size: int, seed: int) -> None:
    payoffs = _random(size, seed)
    _, _, expected, *_ = alpharank.compute([payoffs], m=30, alpha=1.5)
    found = meta_solver("alpha-rank", alpha=1.5, population_size=30).one_population(payoffs)
    np.testing.assert_allclose(found.strategy, expected, atol=1e-9)


@pytest.mark.parametrize(("size", "seed"), list(product([2, 4, 5], range(3))))
@pytest.mark.parametrize("symmetric", [False, True])
def test_alpha_rank_by_fitness_against_the_whole_population(size: int, seed: int, *, symmetric: bool) -> None:
    """General payoffs, whose fitness changes with the number of mutants, and antisymmetric ones, where it does not."""
    payoffs = np.random.default_rng(seed).normal(size=(size, size))
    payoffs = payoffs - payoffs.T if symmetric else payoffs
    _, _, expected, *_ = alpharank.compute([payoffs], m=20, alpha=0.1, use_local_selection_model=False)
    solver = meta_solver("alpha-rank", alpha=0.1, population_size=20, fitness="population")
    np.testing.assert_allclose(solver.one_population(payoffs).strategy, expected, atol=1e-9)


HAN = np.array([[0.875, 0.75, 0, 2.75, 0.75], [1, 1, -1, -1, -1], [0, 2, 0, 0, 0], [-2, 2, 0, 0, 0], [1, 2, 0, 0, 0]])
"""Commitment in the prisoner's dilemma (Han, Pereira, Santos and Lenaerts 2013, "Good agreements make good friends"):
reward 1, temptation 2, punishment 0, sucker −1, compensation 4, cost of arranging 0.25."""


@pytest.mark.parametrize(
    ("fitness", "expected"),
    [
        ("population", [0.4097, 0.0796, 0.2051, 0.0851, 0.2206]),
        ("local", [0.3140, 0.0248, 0.2748, 0.0747, 0.3118]),
    ],
)
def test_alpha_rank_gives_the_table_of_han_2013(fitness: str, expected: list[float]) -> None:
    """The first row is OpenSpiel's own test of that paper; the second is by payoffs against one opponent."""
    solver = meta_solver("alpha-rank", alpha=0.1, population_size=20, fitness=fitness)
    np.testing.assert_allclose(solver.one_population(HAN).strategy, expected, atol=5e-5)
    openspiel = alpharank.compute([HAN], m=20, alpha=0.1, use_local_selection_model=fitness == "local")[2]
    np.testing.assert_allclose(openspiel, expected, atol=5e-5)


NUM_MADE = 300


def _made(number: int) -> Floats:
    """Return a game; every other one is degenerate: few distinct payoffs, copies, or all even."""
    generator = np.random.default_rng(number)
    size = int(generator.integers(2, 8))
    kind = number % 6
    if kind in {0, 2}:
        return _random(size, number)
    if kind == 4:  # far apart in size
        scale = 10.0 ** generator.uniform(-2, 1, size)
        return _random(size, number) * np.outer(scale, scale)
    if kind == 1:
        upper: Floats = np.triu(generator.integers(-2, 3, (size, size)) / 4.0, 1)
        return upper - upper.T
    if kind == 3:
        copied = generator.integers(0, size, size + 1)
        return _random(size, number)[np.ix_(copied, copied)]
    twins = np.kron(_random(size, number), np.ones((2, 2))).astype(np.float64)
    return np.zeros((size, size)) if number % 5 == 0 else twins


def _by_cvxpy(payoffs: Floats) -> Floats:
    """Return the equilibrium of maximum entropy: σ maximises −Σ σ log σ where no policy gains against it."""
    strategy = cvxpy.Variable(len(payoffs))
    scaled = payoffs / max(1e-300, float(np.abs(payoffs).max()))
    fair = [strategy >= 0, cvxpy.sum(strategy) == 1, scaled @ strategy <= 0]
    cvxpy.Problem(cvxpy.Maximize(cvxpy.sum(cvxpy.entr(strategy))), fair).solve(
        solver=cvxpy.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10
    )
    found: Floats = np.asarray(strategy.value)
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.timeout(300)
def test_nash_is_cvxpy_s_equilibrium_of_maximum_entropy_in_made_games() -> None:
    solver = meta_solver("nash")
    differences = []
    for number in range(NUM_MADE):
        payoffs = _made(number)
        found = solver.one_population(payoffs).strategy
        assert (payoffs @ found).max() <= 1e-9 * max(1.0, float(np.abs(payoffs).max())), number
        differences.append(float(np.abs(found - _by_cvxpy(payoffs)).max()))
    assert np.quantile(differences, 0.95) < 2e-5
    # Where an inequality is nearly tight, an interior point stops short of it.
    assert max(differences) < 2e-3


@pytest.mark.timeout(300)
def test_one_population_solvers_agree_with_openspiel_in_made_games() -> None:
    for number in range(0, NUM_MADE, 3):
        payoffs = _made(number)
        scaled = payoffs / _scale(payoffs)
        _, _, ranked, *_ = alpharank.compute([scaled], m=30, alpha=1.5)
        chain = meta_solver("alpha-rank", alpha=1.5, population_size=30).one_population(scaled)
        np.testing.assert_allclose(chain.strategy, ranked, atol=1e-8, err_msg=str(number))
        regretted, _ = regret_matching([scaled, scaled.T], iterations=99)
        matched = meta_solver("regret-matching", num_iterations=100).one_population(payoffs)
        np.testing.assert_allclose(matched.strategy, regretted, atol=1e-6, err_msg=str(number))
        replicated, _ = projected_replicator_dynamics(
            [scaled, scaled.T], prd_iterations=199, prd_gamma=1e-6 / len(payoffs), use_approx=True
        )
        dynamics = meta_solver("prd", num_iterations=200).one_population(payoffs)
        np.testing.assert_allclose(dynamics.strategy, replicated, atol=1e-10, err_msg=str(number))


def test_bradley_terry_agrees_with_choix_in_made_tournaments() -> None:
    for number in range(NUM_MADE // 3):
        scores, games = _tournament(2 + number % 7, 1 + number % 40, number, spread=0.5 + number % 4)
        found = fit(scores, games, {})
        expected = _by_choix(scores + found.virtual_games / 2, {})
        np.testing.assert_allclose(found.theta, expected, atol=1e-4, err_msg=str(number))
