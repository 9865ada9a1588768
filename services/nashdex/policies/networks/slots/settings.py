"""Settings of the slots network."""

from typing import Literal

from pydantic import Field

from nashdex.policies.networks.settings import NetworkKind, NetworkSettings


class RowSettings(NetworkSettings):
    """One vector for each row of the observation, and a trunk over all of them."""

    embedding_size: int = Field(32, ge=1, le=512, description="Values in the embedding of one category.")
    entity_size: int = Field(64, ge=4, le=4096, description="Values that stand for one Pokémon or other row.")
    hidden_size: int = Field(512, ge=8, le=8192, description="Width of the trunk.")
    num_hidden_layers: int = Field(2, ge=1, le=16, description="Layers of the trunk.")
    critic_size: int = Field(64, ge=1, le=8192, description="Width of the critic, a network of its own.")


class SlotsSettings(RowSettings):
    """One vector for each row of the observation, a trunk over all of them, one output for each action."""

    kind: Literal["slots"] = "slots"


SLOTS = NetworkKind(SlotsSettings, "entity-mlp-1", "nashdex.policies.networks.slots.network:SlotsNetwork")
