"""The adaptive schedule: which cells get an iteration's further battles. Decided once, by the plan step."""

from collections.abc import Callable, Collection

import numpy as np

from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.plan import FurtherBattles
from nashdex.metagame.solvers.registry import configured
from nashdex.metagame.tournament.allocation import best_division, contest, divided, even_division, influence
from nashdex.settings.run import EvaluateSettings
from nashdex.settings.solve import SolveSettings


def further_battles(
    matrix: InteractionMatrix,
    solve: SolveSettings,
    evaluate: EvaluateSettings,
    *,
    active: Collection[PolicyId],
    seed: int,
    tick: Callable[[], None] = lambda: None,
) -> tuple[FurtherBattles, ...]:
    """Return the cells of ``matrix`` that get further battles, and how many each gets. None where payoffs are exact.

    The cells whose uncertainty moves the meta-strategy most get the battles, if this division is expected to serve the
    mixture clearly better than an even one; otherwise every cell gets equally many.

    ``matrix`` is the evidence up to the iteration before, members oldest first, and ``active`` are the members that
    play. Draws follow ids. ``tick`` is called once a draw, and may raise to stop.

    Raises:
        DataError: a pair has not played and that blocks.
    """
    drawn = matrix.payoffs_with(solve.unplayed, num_draws=solve.num_draws, seed=seed).drawn()
    if drawn is None:
        return ()
    solver = configured(solve.meta_solver)
    strategies = solver.one_population_of_many(drawn, tick)
    games, most = matrix.battles_by_cell(), evaluate.battles_per_pair
    plays = np.array([policy in active for policy in matrix.policies])
    # A cell of a member that does not play counts as full, so the budget goes to the others.
    taken = np.where(np.logical_and.outer(plays, plays), games, most)
    budget = {"num_battles": evaluate.adaptive_battles, "most_battles": most}
    divisions = [
        even_division(matrix.policies, taken, **budget),
        divided(matrix.policies, taken, influence(drawn, strategies), **budget),
        divided(matrix.policies, taken, contest(drawn, strategies), **budget),
    ]
    values = matrix.payoffs_with(solve.unplayed, num_draws=1, seed=seed).values
    chosen = best_division(
        divisions,
        matrix.policies,
        games,
        values,
        drawn,
        solver.one_population_of_many,
        seed=derive_seed(seed, "foresight"),
    )
    return tuple(chosen)
