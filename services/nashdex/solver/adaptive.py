"""The adaptive schedule: where an iteration's further battles go. Decided once, when the iteration is planned."""

from collections.abc import Callable

from nashdex.metagame.evidence.estimates import centred
from nashdex.metagame.evidence.imputation import filled_draws
from nashdex.metagame.evidence.ledger import InteractionMatrix
from nashdex.metagame.plan import FurtherBattles
from nashdex.metagame.solvers.registry import configured
from nashdex.metagame.tournament.allocation import decisive_cells
from nashdex.settings.run import RunSettings


def further_battles(
    matrix: InteractionMatrix, settings: RunSettings, *, seed: int, tick: Callable[[], None] = lambda: None
) -> tuple[FurtherBattles, ...]:
    """Return the cells of ``matrix`` whose uncertainty moves the meta-strategy most, and how many battles each gets.

    Args:
        matrix: what was counted up to the iteration before, members oldest first.
        settings: the run's: its meta-solver, how many battles there are to give away, and the most of a cell.
        seed: of the posterior draws; they follow ids.
        tick: called once a draw, and may raise to stop.

    Raises:
        DataError: a pair has not played and that blocks.
    """
    policies = matrix.policies
    solve, evaluate = settings.solve, settings.evaluate
    wins, draws, games = matrix.arrays()
    drawn = centred(filled_draws(policies, wins, draws, games, solve.unplayed, num_draws=solve.num_draws, seed=seed))
    strategies = configured(solve.meta_solver).one_population_of_many(drawn, tick)
    cells = decisive_cells(
        policies,
        games,
        drawn,
        strategies,
        num_battles=evaluate.adaptive_battles,
        most_battles=evaluate.battles_per_pair,
    )
    return tuple(FurtherBattles(a=cell.a, b=cell.b, battles=cell.num_battles) for cell in cells)
