"""The adaptive schedule: which cells get an iteration's further battles. Decided once, by the plan step."""

from collections.abc import Callable

from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.plan import FurtherBattles
from nashdex.metagame.solvers.registry import configured
from nashdex.metagame.tournament.allocation import decisive_cells
from nashdex.settings.run import RunSettings


def further_battles(
    matrix: InteractionMatrix, settings: RunSettings, *, seed: int, tick: Callable[[], None] = lambda: None
) -> tuple[FurtherBattles, ...]:
    """Return the cells of ``matrix`` whose uncertainty moves the meta-strategy most, and how many battles each gets.

    None where payoffs are exact.

    Args:
        matrix: the evidence up to the iteration before, members oldest first.
        settings: the run's: its meta-solver, the number of further battles, and the most battles of a cell.
        seed: of the posterior draws; they follow ids.
        tick: called once a draw, and may raise to stop.

    Raises:
        DataError: a pair has not played and that blocks.
    """
    solve, evaluate = settings.solve, settings.evaluate
    drawn = matrix.payoffs_with(solve.unplayed, num_draws=solve.num_draws, seed=seed).drawn
    if drawn is None:
        return ()
    strategies = configured(solve.meta_solver).one_population_of_many(drawn, tick)
    return tuple(
        decisive_cells(
            matrix.policies,
            matrix.battles_by_cell(),
            drawn,
            strategies,
            num_battles=evaluate.adaptive_battles,
            most_battles=evaluate.battles_per_pair,
        )
    )
