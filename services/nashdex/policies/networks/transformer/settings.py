"""Settings of the entity transformer."""

from typing import Literal, Self

from pydantic import Field, model_validator

from nashdex.policies.networks.settings import NetworkSettings


class TransformerSettings(NetworkSettings):
    """Attention over the entities of an observation, and the pointer network's scorer. For GPUs: slow on a CPU."""

    kind: Literal["transformer"] = "transformer"
    embedding_size: int = Field(64, ge=1, le=512, description="Values in the embedding of one category.")
    move_size: int = Field(64, ge=4, le=1024, description="Values that stand for one move before attention.")
    pokemon_size: int = Field(96, ge=4, le=1024, description="Values that stand for one Pokémon before attention.")
    token_size: int = Field(
        128, ge=8, le=4096, description="Width of the layers of attention; a multiple of num_heads."
    )
    num_heads: int = Field(4, ge=1, le=64, description="Heads of each layer of attention.")
    num_layers: int = Field(3, ge=1, le=64, description="Layers of attention.")
    feedforward_size: int = Field(256, ge=8, le=16_384, description="Width of the layer between two of attention.")
    scorer_size: int = Field(128, ge=4, le=4096, description="Width of the layer that scores one action.")
    predicts_opponent: bool = Field(
        default=True,
        description="Has a head that predicts what the opponent chooses, for an auxiliary loss of PPO "
        "(train.oracle.prediction_coefficient).",
    )
    memory_size: int = Field(
        0,
        ge=0,
        le=4096,
        description="Values that the actor remembers of a battle, by a GRU over its decisions; 0 for none. With a "
        "memory, minibatches are whole battles.",
    )
    critic_move_size: int = Field(32, ge=4, le=1024, description="The critic's move_size.")
    critic_pokemon_size: int = Field(64, ge=4, le=1024, description="The critic's pokemon_size.")
    critic_token_size: int = Field(64, ge=8, le=4096, description="The critic's token_size.")
    critic_num_layers: int = Field(2, ge=1, le=64, description="The critic's num_layers.")
    critic_feedforward_size: int = Field(128, ge=8, le=16_384, description="The critic's feedforward_size.")
    critic_memory_size: int = Field(64, ge=1, le=4096, description="The critic's memory_size, if the actor has one.")

    @model_validator(mode="after")
    def _heads_have_equal_parts(self) -> Self:
        for key in ("token_size", "critic_token_size"):
            if (size := getattr(self, key)) % self.num_heads:
                raise ValueError(f"{key} is {size} and num_heads {self.num_heads}; expected a multiple of num_heads")
        return self
