"""Which battles an iteration's tournament plays: the same answer for whoever plays them and whoever checks them."""

from nashdex.metagame.evidence.ledger import InteractionMatrix, PlannedCell, planned_battles
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import Population
from nashdex.metagame.tournament.settings import EvaluateSettings


def scheduled_battles(
    plan: IterationPlan, population: Population, matrix: InteractionMatrix | None, settings: EvaluateSettings
) -> list[PlannedCell]:
    """Return the cells that get battles in an iteration, and the numbers of these battles, in the order of ids.

    Args:
        plan: the iteration's, which holds the further battles of the adaptive schedule.
        population: everybody, this iteration's new policies included.
        matrix: what was counted up to the iteration before; None in the first one.
        settings: the run's.
    """
    return planned_battles(
        population,
        matrix,
        first_battles(settings),
        further={(more.a, more.b): more.battles for more in plan.further},
    )


def first_battles(settings: EvaluateSettings) -> int:
    """Return how many battles a new cell gets, whoever meets in it."""
    if settings.schedule == "uniform":
        return settings.battles_per_pair
    return min(settings.first_battles, settings.battles_per_pair)


def full_table_battles(num_policies: int, settings: EvaluateSettings) -> int:
    """Return how many battles the uniform schedule would have played among so many policies."""
    return num_policies * (num_policies - 1) // 2 * settings.battles_per_pair
