"""Settings of the memory network."""

from typing import Literal

from pydantic import Field

from nashdex.policies.networks.pointer.settings import PointerSizes


class MemorySettings(PointerSizes):
    """The pointer network with a GRU over the decisions of a battle. Its minibatches are whole battles."""

    kind: Literal["memory"] = "memory"
    memory_size: int = Field(128, ge=1, le=4096, description="Values that the actor remembers of a battle.")
    critic_memory_size: int = Field(64, ge=1, le=4096, description="Values that the critic remembers.")
