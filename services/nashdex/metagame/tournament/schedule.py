"""Number of battles of an iteration's tournament, shared by the step that plays them and the step that checks them."""

from nashdex.metagame.evidence.planned import Demand
from nashdex.metagame.opponents.registry import OPPONENT_RULES
from nashdex.metagame.plan import IterationPlan
from nashdex.settings.run import EvaluateSettings


def demand_of(plan: IterationPlan, settings: EvaluateSettings) -> Demand:
    """Return how many battles the cells are to have after the iteration of ``plan``."""
    target = plan.answered if OPPONENT_RULES[plan.rule].is_fixed else None
    each = settings.battles_per_pair
    if settings.adaptive_battles:
        each = min(settings.first_battles, each)
    further = {(more.a, more.b): more.battles for more in plan.further}
    before = frozenset(plan.population.ids) - frozenset(target or ())
    return Demand(
        each if plan.is_scored else 0, further, target, before, None if plan.met is None else frozenset(plan.met)
    )


def full_table_battles(num_policies: int, settings: EvaluateSettings) -> int:
    """Return how many battles the uniform schedule would have played among ``num_policies``."""
    return num_policies * (num_policies - 1) // 2 * settings.battles_per_pair
