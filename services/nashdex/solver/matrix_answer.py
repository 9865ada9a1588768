"""The answer of ``nashdex solve MATRIX.json``: the mixture, or the two mixtures, that a meta-solver chooses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field, PositiveInt

from nashdex.core.documents import Model
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed
from nashdex.metagame.analysis.documents import SUPPORT_THRESHOLD
from nashdex.metagame.analysis.exploitability import interval, interval_of_largest, not_negative
from nashdex.metagame.analysis.solving import by_policy, drawn_mixtures, places_of, published_cells
from nashdex.metagame.equilibria import Floats, restricted_exploitability, restricted_nash_conv
from nashdex.metagame.evidence.estimates import CONFIDENCE
from nashdex.metagame.evidence.imputation import touches_support
from nashdex.metagame.evidence.intervals import Estimate, Interval
from nashdex.metagame.evidence.sampled import posterior_payoffs
from nashdex.metagame.evidence.tally import Integers, Tally
from nashdex.metagame.solvers.interface import ConfiguredSolver, PairSolution, Solution
from nashdex.metagame.solvers.registry import META_SOLVERS
from nashdex.settings.run import RunSettings
from nashdex.solver.matrix_file import BimatrixGame, Game, SymmetricGame, TwoPopulationGame

_NUM_PLAYERS = 2


@dataclass(frozen=True, slots=True)
class Draws:
    """The posterior's draws."""

    num: int = 500
    seed: int = 0


_DRAWS = Draws()


def draws_of_run(settings: RunSettings, iteration: int) -> Draws:
    """Return the draws of the solve step of ``iteration``."""
    return Draws(settings.solve.num_draws, derive_seed(settings.seed, "solve", iteration))


class _Answer(Model):
    """The fields of every answer."""

    meta_solver: str
    parameters: dict[str, int | float] = Field(description="What the answer depends on besides the payoffs.")
    value: float = Field(description="To the row player; of counts, expected score minus ½.")
    restricted_exploitability: float | None = Field(
        description="NashConv over the number of players, within the file. Null where a policy of the support has an "
        "imputed payoff."
    )
    status: str
    residual: float = Field(description="How far the answer is from what its solver promises.")
    promise: str = Field(description="What the residual measures.")
    unique: bool = Field(description="False where the answer was chosen among many.")


class Uncertainty(Model):
    """What battles leave open: of counts alone."""

    estimator: str = Field(
        "posterior-quantiles",
        description="The solver's answers on draws of all payoffs from their posterior by side-swapped pairs. Of the "
        "restricted exploitability: bounds that hold for all policies at once.",
    )
    confidence: float = CONFIDENCE
    num_draws: PositiveInt
    meta_strategy: dict[str, Interval]
    value: Interval = Field(description="0 by symmetry, whatever the battles say.")
    restricted_exploitability: Interval | None
    largest_gain: Estimate | None = Field(
        description="What the best member truly gains against the mixture: posterior mean, and the bounds. Null with "
        "the restricted exploitability."
    )


class SymmetricAnswer(_Answer):
    """The mixture of one population."""

    policies: tuple[str, ...]
    meta_strategy: dict[str, float]
    uncertainty: Uncertainty | None = Field(description="Null where payoffs are given, not counted.")
    imputed_cells: tuple[tuple[str, str], ...] = Field(
        (),
        description="Pairs without battles, whose payoffs are imputed as the run's settings say. In a population of "
        "more than 257 policies, those of the support.",
    )


class TwoPopulationAnswer(_Answer):
    """The mixtures of two populations."""

    row_policies: tuple[str, ...]
    column_policies: tuple[str, ...]
    row_strategy: dict[str, float]
    column_strategy: dict[str, float]


def solve(game: Game, solver: ConfiguredSolver, draws: Draws = _DRAWS) -> SymmetricAnswer | TwoPopulationAnswer:
    """Return what ``solver`` chooses. Intervals of counts come from ``draws``.

    Raises:
        ConfigurationError: the meta-solver is not defined for this kind of game.
        DataError: the payoffs have no equilibrium that the linear program finds.
    """
    if isinstance(game, SymmetricGame):
        return _of_one_population(game, solver, draws)
    if isinstance(game, BimatrixGame):
        _require_bimatrix(solver)
        two = solver.bimatrix(game.row_payoffs, game.column_payoffs)
        gain = restricted_nash_conv(game.row_payoffs, game.column_payoffs, two.row, two.column)
    else:
        _require_two_populations(solver)
        two = solver.two_populations(game.payoffs)
        gain = restricted_nash_conv(game.payoffs, -game.payoffs, two.row, two.column)
    return _of_two_populations(game, solver, two, gain / _NUM_PLAYERS)


def _of_one_population(game: SymmetricGame, solver: ConfiguredSolver, draws: Draws) -> SymmetricAnswer:
    if not game.zero_sum:
        _require_bimatrix(solver)
    places = places_of(game.policies, game.history, solver)
    one = solver.one_population(game.payoffs[np.ix_(places, places)])
    strategy = by_policy(one.strategy, places, len(game.policies))
    support = [policy for policy, share in zip(game.policies, strategy, strict=True) if share > SUPPORT_THRESHOLD]
    known = not touches_support(game.imputed, support)
    return SymmetricAnswer(
        policies=game.policies,
        meta_strategy=_by_name(game.policies, strategy),
        restricted_exploitability=restricted_exploitability(game.payoffs, strategy) if known else None,
        uncertainty=None
        if game.tally is None
        else _uncertainty(game, game.tally, solver, strategy, places, draws, is_known=known),
        imputed_cells=published_cells(game.imputed, support, len(game.policies)),
        **_common(solver, one),
    )


def _uncertainty(
    game: SymmetricGame,
    tally: Tally,
    solver: ConfiguredSolver,
    strategy: Floats,
    places: Integers,
    draws: Draws,
    *,
    is_known: bool,
) -> Uncertainty:
    policies = tuple(map(PolicyId, game.policies))  # any names: nothing below reads more than their order
    payoffs = posterior_payoffs(policies, tally, game.unplayed, num_draws=draws.num, seed=draws.seed)
    drawn = drawn_mixtures(payoffs, strategy, places, solver)
    bounds = not_negative(interval_of_largest(game.payoffs @ strategy, drawn.gains))
    expected_gain = max(0.0, float(drawn.gains.max(axis=1).mean()))
    return Uncertainty(
        num_draws=draws.num,
        meta_strategy={
            policy: interval(float(strategy[place]), drawn.strategies[:, place])
            for place, policy in enumerate(game.policies)
        },
        value=Interval(low=0.0, high=0.0),
        restricted_exploitability=bounds if is_known else None,
        largest_gain=Estimate(value=expected_gain, low=bounds.low, high=bounds.high) if is_known else None,
    )


def _of_two_populations(
    game: TwoPopulationGame | BimatrixGame, solver: ConfiguredSolver, two: PairSolution, exploitability: float
) -> TwoPopulationAnswer:
    return TwoPopulationAnswer(
        row_policies=game.row_policies,
        column_policies=game.column_policies,
        row_strategy=_by_name(game.row_policies, two.row),
        column_strategy=_by_name(game.column_policies, two.column),
        restricted_exploitability=exploitability,
        **_common(solver, two),
    )


def _require_two_populations(solver: ConfiguredSolver) -> None:
    if solver.solver.two_populations is None:
        able = [name for name, entry in META_SOLVERS.all().items() if entry.two_populations is not None]
        raise ConfigurationError(
            f"meta-solver {solver.name!r} is not defined for two populations; use one of {', '.join(able)}"
        )


def _require_bimatrix(solver: ConfiguredSolver) -> None:
    if solver.solver.bimatrix is None:
        able = [name for name, entry in META_SOLVERS.all().items() if entry.bimatrix is not None]
        raise ConfigurationError(
            f"meta-solver {solver.name!r} is not defined for bimatrix games; use one of {', '.join(able)}. "
            "A zero-sum game needs no column_payoffs: leave them out"
        )


def _common(solver: ConfiguredSolver, solution: Solution | PairSolution) -> dict[str, Any]:
    return {
        "meta_solver": solver.name,
        "parameters": dict(solution.parameters),
        "value": solution.value,
        "status": solution.status,
        "residual": solution.residual,
        "promise": solver.solver.promise,
        "unique": solution.unique,
    }


def _by_name(names: Sequence[str], strategy: Floats) -> dict[str, float]:
    return dict(zip(names, strategy.tolist(), strict=True))
