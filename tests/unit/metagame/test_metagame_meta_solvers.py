"""Meta-solvers by name: what holds for all of them, and known answers of those that iterate or only choose."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nashdex.core.errors import ConfigurationError
from nashdex.metagame.solvers.interface import ConfiguredSolver, MetaSolver
from nashdex.metagame.solvers.nash import nash
from nashdex.metagame.solvers.registry import META_SOLVERS, meta_solver
from nashdex.metagame.solvers.repeated_play import averaged_pair
from nashdex.settings.solve import SolveSettings
from support.zero_sum_games import BIASED_RPS, DOMINATED, RPS, Floats, antisymmetric, is_probability_vector, rectangular

NAMES = META_SOLVERS.names
BY_AGE = {"last", "last-k", "recency"}
WHATEVER_THE_ORDER = sorted(set(NAMES) - BY_AGE)
STATUSES = {"optimal", "imprecise", "converged", "not-converged", "closed-form"}

some_examples = settings(deadline=None, derandomize=True, max_examples=15)


def played(name: str, num_iterations: int) -> ConfiguredSolver:
    """Return the meta-solver called ``name``, with ``num_iterations`` where it iterates."""
    iterates = "num_iterations" in META_SOLVERS[name].parameters
    return meta_solver(name, num_iterations=num_iterations) if iterates else meta_solver(name)


every_solver = pytest.mark.parametrize("solver", [played(name, 100) for name in NAMES], ids=NAMES)


def test_the_solvers_that_are_promised() -> None:
    assert list(NAMES) == [
        *("nash", "regret-matching", "prd", "alpha-rank", "magnet", "rectified-nash"),
        *("uniform", "last", "last-k", "recency"),
    ]
    assert [name for name in NAMES if META_SOLVERS[name].bimatrix] == ["prd", "alpha-rank"]
    assert all(META_SOLVERS[name].name == name for name in NAMES)


def test_an_unknown_solver_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ConfigurationError, match=r"'nahs'.*nash, regret-matching.*last-k, recency"):
        meta_solver("nahs")


@every_solver
@some_examples
@given(payoffs=antisymmetric())
def test_one_population_gets_a_distribution_and_how_good_it_is(solver: ConfiguredSolver, payoffs: Floats) -> None:
    solution = solver.one_population(payoffs)
    assert is_probability_vector(solution.strategy)
    assert abs(solution.value) < 1e-12
    assert 0.0 <= solution.residual < np.inf
    assert solution.status in STATUSES


@every_solver
@some_examples
@given(payoffs=rectangular(max_size=4))
def test_two_populations_get_distributions_that_change_seats_with_them(
    solver: ConfiguredSolver, payoffs: Floats
) -> None:
    solution, swapped = solver.two_populations(payoffs), solver.two_populations(-payoffs.T)
    assert is_probability_vector(solution.row)
    assert is_probability_vector(solution.column)
    assert 0.0 <= solution.residual < np.inf
    assert solution.status in STATUSES
    assert solution.value == pytest.approx(solution.row @ payoffs @ solution.column)
    np.testing.assert_allclose(swapped.row, solution.column, atol=1e-6)
    np.testing.assert_allclose(swapped.column, solution.row, atol=1e-6)


@pytest.mark.parametrize("name", WHATEVER_THE_ORDER)
@some_examples
@given(payoffs=antisymmetric(), random=st.randoms(use_true_random=False))
def test_relabelling_relabels_the_answer(name: str, payoffs: Floats, random: Random) -> None:
    solver, order = played(name, 100), list(range(len(payoffs)))
    random.shuffle(order)
    relabelled = solver.one_population(payoffs[np.ix_(order, order)])
    np.testing.assert_allclose(relabelled.strategy, solver.one_population(payoffs).strategy[order], atol=1e-6)


@pytest.mark.parametrize("name", ["nash", "regret-matching", "prd", "magnet", "rectified-nash"])
@some_examples
@given(payoffs=antisymmetric())
def test_two_populations_of_one_symmetric_game_do_the_same(name: str, payoffs: Floats) -> None:
    solver = played(name, 100)
    pair, one = solver.two_populations(payoffs), solver.one_population(payoffs)
    np.testing.assert_allclose(pair.row, one.strategy, atol=1e-6)
    np.testing.assert_allclose(pair.column, one.strategy, atol=1e-6)


@pytest.mark.parametrize("name", ["nash", "regret-matching", "prd", "alpha-rank", "magnet", "rectified-nash"])
def test_the_unit_and_the_origin_of_payoffs_do_not_matter(name: str) -> None:
    payoffs = np.random.default_rng(5).normal(size=(3, 4))
    solver = scaled = played(name, 300)
    if name == "magnet":
        solver, scaled = (meta_solver(name, num_iterations=300, temperature=each) for each in (0.5, 0.5 * 64))
    one, other = solver.two_populations(payoffs), scaled.two_populations(64 * payoffs + 5.0)
    np.testing.assert_allclose(other.row, one.row, atol=1e-9)
    np.testing.assert_allclose(other.column, one.column, atol=1e-9)


@every_solver
def test_many_games_at_once_are_each_solved_and_counted(solver: ConfiguredSolver) -> None:
    """230 games are more than a batch. A tenth of the steps, or ten times their length, must not change much."""
    upper = np.triu(np.random.default_rng(6).uniform(-0.5, 0.5, size=(230, 4, 4)), 1)
    payoffs = upper - np.swapaxes(upper, 1, 2)
    ticks: list[None] = []
    solver = played(solver.name, 10_000)
    strategies = solver.one_population_of_many(payoffs, lambda: ticks.append(None))
    assert len(ticks) == 230
    assert all(is_probability_vector(strategy) for strategy in strategies)
    iterates = {"regret-matching", "prd"}
    for index in (0, 99, 100, 229):
        alone = solver.one_population(payoffs[index]).strategy
        np.testing.assert_allclose(strategies[index], alone, atol=0.05 if solver.name in iterates else 1e-4)


def test_many_games_stop_when_the_tick_says_so() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        meta_solver("uniform").one_population_of_many(np.zeros((3, 2, 2)), stop)


@pytest.mark.parametrize(("name", "tolerance"), [("regret-matching", 0.005), ("prd", 0.015)])
def test_averages_come_close_to_the_equilibrium_of_biased_rock_paper_scissors(name: str, tolerance: float) -> None:
    """Their defaults: 100,000 iterations, for prd a time of 100 in the largest payoff's unit."""
    solution = meta_solver(name).one_population(BIASED_RPS)
    np.testing.assert_allclose(solution.strategy, np.array([1, 10, 5]) / 16, atol=tolerance)
    assert solution.status == "converged"
    assert solution.residual == pytest.approx((BIASED_RPS @ solution.strategy).max())
    assert solution.residual < 0.005
    assert solution.parameters == {"num_iterations": 100_000}


@pytest.mark.parametrize("name", ["regret-matching", "prd"])
def test_longer_play_is_closer_to_equilibrium(name: str) -> None:
    short, long = (played(name, number).one_population(BIASED_RPS) for number in (100, 20_000))
    assert long.residual < short.residual / 2
    assert short.status == "not-converged"


@pytest.mark.parametrize("name", ["nash", "regret-matching", "alpha-rank", "rectified-nash"])
def test_a_policy_that_beats_all_others_is_played_alone(name: str) -> None:
    strategy = played(name, 20_000).one_population(DOMINATED).strategy
    np.testing.assert_allclose(strategy, [1, 0, 0], atol=1e-3)


@pytest.mark.parametrize("name", WHATEVER_THE_ORDER)
def test_rock_paper_scissors_is_played_evenly(name: str) -> None:
    """Rounding alone starts regret matching on a cycle around even play, which its average comes back to."""
    tolerance = 0.02 if name == "regret-matching" else 1e-9
    solution = played(name, 2000).one_population(RPS)
    np.testing.assert_allclose(solution.strategy, 1 / 3, atol=tolerance)


def test_replicator_dynamics_of_a_coordination_game_settle_on_one_convention() -> None:
    """From even weights both come to play what more is at stake for; the average is still on its way."""
    rows, columns = np.array([[3.0, 0.0], [0.0, 1.0]]), np.array([[2.0, 0.0], [0.0, 1.0]])
    prd = played("prd", 30_000)
    solution = prd.bimatrix(rows, columns)
    assert solution.row[0] > 0.75
    assert solution.column[0] > 0.75
    assert solution.status == "not-converged"
    gains = rows[0] @ solution.column - solution.row @ rows @ solution.column
    gains += solution.row @ columns[:, 0] - solution.row @ columns @ solution.column
    assert solution.residual == pytest.approx(gains)


def test_replicator_dynamics_of_one_population_need_no_zero_sum() -> None:
    """Hawk and dove, V = 2 and C = 4: half of each."""
    solution = played("prd", 100).one_population(np.array([[-1.0, 2.0], [0.0, 1.0]]))
    np.testing.assert_allclose(solution.strategy, 0.5, atol=0.01)
    assert solution.status == "converged"


def test_rectified_nash_meets_whom_the_players_of_the_equilibrium_beat_or_tie() -> None:
    """By hand, p = (1, 10, 5)/16: rock meets (1, 0, 5)/6, paper (1, 10, 0)/11 and scissors (0, 10, 5)/15."""
    expected = (np.array([1, 0, 5]) / 6 + 10 * np.array([1, 10, 0]) / 11 + 5 * np.array([0, 10, 5]) / 15) / 16
    np.testing.assert_allclose(meta_solver("rectified-nash").one_population(BIASED_RPS).strategy, expected, atol=1e-12)


def test_rectified_nash_of_two_populations_means_the_value_by_a_tie() -> None:
    """By hand, p = (¾, ¼), q = (¼, ¾, 0), value 7/4: each row reaches it against one column, each column one row."""
    solution = meta_solver("rectified-nash").two_populations(np.array([[1.0, 2.0, 3.0], [4.0, 1.0, 2.0]]))
    np.testing.assert_allclose(solution.column, [0.25, 0.75, 0.0], atol=1e-12)
    np.testing.assert_allclose(solution.row, [0.25, 0.75], atol=1e-12)


@pytest.mark.parametrize(
    ("name", "parameters", "strategy"),
    [
        ("uniform", {}, [0.25, 0.25, 0.25, 0.25]),
        ("last", {}, [0, 0, 0, 1]),
        ("last-k", {"num_policies": 2}, [0, 0, 0.5, 0.5]),
        ("last-k", {}, [0.25, 0.25, 0.25, 0.25]),
        ("recency", {"temperature": 1 / np.log(2)}, [1 / 15, 2 / 15, 4 / 15, 8 / 15]),
    ],
)
def test_baselines_go_by_age_alone(name: str, parameters: dict[str, float], strategy: list[float]) -> None:
    solution = meta_solver(name, **parameters).one_population(np.zeros((4, 4)))
    np.testing.assert_allclose(solution.strategy, strategy, atol=1e-15)
    assert (solution.residual, solution.status) == (0.0, "closed-form")


@pytest.mark.parametrize(
    ("name", "values", "says"),
    [
        ("alpha-rank", {"alpha": 0.0}, "alpha: .* greater than or equal to"),
        ("alpha-rank", {"alpha": float("nan")}, "alpha: .* finite"),
        ("alpha-rank", {"population_size": 1}, "population_size: .* greater than or equal to 2"),
        ("last-k", {"num_policies": 0}, "num_policies: .* greater than or equal to 1"),
        ("recency", {"temperature": -1.0}, "temperature: .* greater than"),
        ("magnet", {"temperature": float("inf")}, "temperature: .* finite"),
        ("prd", {"num_iterations": 0}, "num_iterations: .* greater than or equal to 1"),
        ("magnet", {"alpha": 1.0}, "alpha: no such key .*; magnet takes temperature, num_iterations"),
        ("nash", {"alpha": 1.0}, "nash takes no settings"),
    ],
)
def test_settings_out_of_range_or_without_effect_are_refused(name: str, values: dict[str, float], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        meta_solver(name, **values)


def test_a_solver_needs_a_kind() -> None:
    with pytest.raises(TypeError, match="has no field `kind`"):
        MetaSolver(  # type: ignore[type-var]
            settings=SolveSettings, summary="", promise="", one_population=lambda payoffs, _: nash(payoffs)
        )


def test_a_pair_has_converged_only_if_each_player_has() -> None:
    """One player at its best and the other 1.6 % above the promise: together they are under twice the promise."""
    payoffs = np.array([[1.0, -1.0], [-1.0, 1.0]])
    even, leaning = np.array([0.5, 0.5]), np.array([0.508, 0.492])
    solution = averaged_pair(payoffs, -payoffs, (leaning, even), 10)
    assert solution.status == "not-converged"
    assert averaged_pair(payoffs, -payoffs, (even, even), 10).status == "converged"


def test_the_last_tenth_of_prd_forgets_its_uniform_start() -> None:
    """Common interest: the first policy is best for both, and replicator dynamics find it."""
    payoffs = np.array([[1.0, 0.0], [0.0, 0.2]])
    whole, tenth = (
        meta_solver("prd", num_iterations=50_000, average=average).bimatrix(payoffs, payoffs).row[0]
        for average in ("all", "last-tenth")
    )
    assert whole < 0.99
    assert tenth > 0.999
