"""Settings of the pointer-pairs network."""

from typing import Literal

from pydantic import Field

from nashdex.policies.networks.settings import NetworkSettings


class PointerPairsSettings(NetworkSettings):
    """One encoder for all moves, one for all Pokémon, and one scorer for both slots' actions and their interaction."""

    kind: Literal["pointer-pairs"] = "pointer-pairs"
    embedding_size: int = Field(32, ge=1, le=512, description="Values in the embedding of one category.")
    move_size: int = Field(64, ge=4, le=1024, description="Values that stand for one move, and for the field.")
    pokemon_size: int = Field(96, ge=4, le=1024, description="Values that stand for one Pokémon.")
    context_size: int = Field(256, ge=8, le=8192, description="Width of the two layers over both sides.")
    scorer_size: int = Field(64, ge=4, le=4096, description="Width of the layer that scores one action.")
    interaction_size: int = Field(8, ge=1, le=256, description="Rank of the interaction of two slots' actions.")
    critic_move_size: int = Field(32, ge=4, le=1024, description="The critic's move_size.")
    critic_pokemon_size: int = Field(64, ge=4, le=1024, description="The critic's pokemon_size.")
    critic_context_size: int = Field(128, ge=8, le=8192, description="The critic's context_size.")
