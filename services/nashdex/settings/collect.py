"""Settings of the collect step."""

from typing import Literal

from pydantic import Field, field_validator

from nashdex.core.ids import SAMPLED
from nashdex.core.section import Section
from nashdex.settings.population import PolicyName, stored_policy


class CollectSettings(Section):
    """Collecting battles of the learner against the meta-strategy."""

    battles: int = Field(500, ge=1, le=10_000_000, description="Battles per iteration, over all shards.")
    shards: int = Field(2, ge=1, le=200, description="Processes or pods that share the battles.")
    device: Literal["cpu", "cuda"] = Field(
        "cpu",
        description="Where networks choose their actions in battles of collectors and actors; there is no fallback. "
        "For large networks without a memory of the battle.",
    )
    teacher: PolicyName = Field(
        "heuristic",
        description="Policy that the first iteration's policy is cloned from: scripted, STORE#ID or zoo:NAME. The run "
        "copies it when it begins.",
    )

    @field_validator("teacher")
    @classmethod
    def _teaches_its_distribution(cls, teacher: str) -> str:
        stored = stored_policy(teacher)
        if stored is not None and stored.temperature != SAMPLED:
            raise ValueError(f"{teacher!r}: a teacher plays its own distribution; leave the suffix out")
        return teacher

    @property
    def num_gpus(self) -> int:
        """The number of GPUs that a collector or actor holds."""
        return 1 if self.device == "cuda" else 0
