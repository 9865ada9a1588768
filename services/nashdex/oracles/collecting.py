"""What an iteration collects for its oracle: battles, replays."""

from nashdex.core.steps import shard_range
from nashdex.metagame.plan import IterationPlan
from nashdex.oracles.registry import ORACLES
from nashdex.settings.oracles import ReplaySettings
from nashdex.settings.run import RunSettings


def replays_of(settings: RunSettings, plan: IterationPlan) -> ReplaySettings | None:
    """Return the replays that the iteration's oracle learns from, or None."""
    return ORACLES[plan.oracle].replays(settings.train.section_of(plan.oracle))


def battles_to_collect(settings: RunSettings, plan: IterationPlan, shard: int) -> range:
    """Return the numbers of the battles that a collect shard plays.

    There are none if the oracle learns from none, or from replays alone.
    """
    replays = replays_of(settings, plan)
    wants_battles = ORACLES[plan.oracle].collects is not None and (replays is None or replays.share < 1)
    return shard_range(settings.collect.battles if wants_battles else 0, settings.collect.shards, shard)
