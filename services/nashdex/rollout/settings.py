"""Settings of the collect step."""

from pydantic import Field

from nashdex.core.section import Section
from nashdex.policies.settings import Scripted


class CollectSettings(Section):
    """Collecting battles of the learner against the meta-strategy."""

    battles: int = Field(500, ge=1, le=10_000_000, description="Battles an iteration, over all shards.")
    shards: int = Field(2, ge=1, le=200, description="Processes or pods that share the battles.")
    gateways: int = Field(
        1, ge=0, le=64, description="Gateway processes a shard; 0 has a short trial choose, up to the cores there are."
    )
    concurrent_battles: int = Field(
        64, ge=0, le=4096, description="Battles under way at once in a shard; 0 has a short trial choose."
    )
    deadline_seconds: float = Field(300.0, gt=0, le=86_400, description="Longest wall time of one battle.")
    teacher: Scripted = Field(
        "heuristic", description="Scripted policy that the first iteration's policy is cloned from."
    )
