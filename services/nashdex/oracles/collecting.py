"""How many battles an iteration collects for its oracle."""

from nashdex.core.sharding import shard_range
from nashdex.metagame.plan import IterationPlan
from nashdex.oracles.registry import ORACLES
from nashdex.settings.run import RunSettings


def battles_to_collect(settings: RunSettings, plan: IterationPlan, shard: int) -> range:
    """Return the numbers of the battles that a collect shard plays.

    There are none if the oracle learns from none, or from replays alone.
    """
    oracle = ORACLES[plan.oracle]
    replays = oracle.replays(settings.train.section_of(plan.oracle))
    wants_battles = oracle.needs_battles and (replays is None or replays.share < 1)
    return shard_range(settings.collect.battles if wants_battles else 0, settings.collect.shards, shard)
