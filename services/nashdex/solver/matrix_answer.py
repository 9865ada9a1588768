"""The answer of ``nashdex solve MATRIX.json``: the mixture, or the two mixtures, that a meta-solver chooses."""

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import Field

from nashdex.core.documents import Model
from nashdex.core.errors import ConfigurationError
from nashdex.metagame.solvers.registry import META_SOLVERS, SolverParameters, meta_solver
from nashdex.metagame.solvers.solution import Floats, MetaSolver, PairSolution, Solution, exploitability, nash_conv
from nashdex.solver.matrix_file import BimatrixGame, Game, SymmetricGame

_DEFAULTS = SolverParameters()
_NUM_PLAYERS = 2


class _Answer(Model):
    """What every answer says."""

    meta_solver: str
    parameters: dict[str, int | float] = Field(description="What the answer depends on beside the payoffs.")
    value: float = Field(description="To the row player; of counts, expected score minus ½.")
    restricted_exploitability: float = Field(description="NashConv over the number of players, within the file.")
    status: str
    residual: float = Field(description="How far the answer is from what its solver promises.")
    promise: str = Field(description="What the residual measures.")
    unique: bool = Field(description="False where the answer was chosen among many.")


class SymmetricAnswer(_Answer):
    """The mixture of one population."""

    policies: tuple[str, ...]
    meta_strategy: dict[str, float]


class TwoPopulationAnswer(_Answer):
    """The mixtures of two populations."""

    row_policies: tuple[str, ...]
    column_policies: tuple[str, ...]
    row_strategy: dict[str, float]
    column_strategy: dict[str, float]


def solve(
    game: Game, solver_name: str = "nash", parameters: SolverParameters = _DEFAULTS
) -> SymmetricAnswer | TwoPopulationAnswer:
    """Return what the meta-solver called ``solver_name`` chooses with ``parameters``.

    Raises:
        ConfigurationError: there is no such meta-solver, or it is not defined for this kind of game.
        DataError: the payoffs have no equilibrium that the linear program finds.
    """
    solver = meta_solver(solver_name, parameters)
    if isinstance(game, SymmetricGame):
        if not game.zero_sum:
            _require_bimatrix(solver)
        one = solver.one_population(game.payoffs)
        return SymmetricAnswer(
            policies=game.policies,
            meta_strategy=_by_name(game.policies, one.strategy),
            restricted_exploitability=exploitability(game.payoffs, one.strategy),
            **_common(solver, one),
        )
    if isinstance(game, BimatrixGame):
        two = _require_bimatrix(solver)(game.row_payoffs, game.column_payoffs)
        gain = nash_conv(game.row_payoffs, game.column_payoffs, two.row, two.column)
    else:
        two = solver.two_populations(game.payoffs)
        gain = nash_conv(game.payoffs, -game.payoffs, two.row, two.column)
    return TwoPopulationAnswer(
        row_policies=game.row_policies,
        column_policies=game.column_policies,
        row_strategy=_by_name(game.row_policies, two.row),
        column_strategy=_by_name(game.column_policies, two.column),
        restricted_exploitability=gain / _NUM_PLAYERS,
        **_common(solver, two),
    )


def _require_bimatrix(solver: MetaSolver) -> Callable[[Floats, Floats], PairSolution]:
    """Return what solves a general-sum game, or say that nothing does."""
    if solver.bimatrix is None:
        able = [name for name in META_SOLVERS if meta_solver(name).bimatrix is not None]
        raise ConfigurationError(
            f"meta-solver {solver.name!r} is not defined for bimatrix games; use one of {', '.join(able)}. "
            "A zero-sum game needs no column_payoffs: leave them out"
        )
    return solver.bimatrix


def _common(solver: MetaSolver, solution: Solution | PairSolution) -> dict[str, Any]:
    return {
        "meta_solver": solver.name,
        "parameters": dict(solution.parameters),
        "value": solution.value,
        "status": solution.status,
        "residual": solution.residual,
        "promise": solver.promise,
        "unique": solution.unique,
    }


def _by_name(names: Sequence[str], strategy: Floats) -> dict[str, float]:
    return dict(zip(names, strategy.tolist(), strict=True))
