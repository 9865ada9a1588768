"""Settings of the initial population and of the network."""

from typing import Literal

from pydantic import Field, field_validator

from nashdex.core.section import Section

Scripted = Literal["random", "max-power", "heuristic", "first-action"]
"""Scripted policies. Tabular games have random and first-action; Showdown has all."""


class PopulationSettings(Section):
    """Who is in the population before the first iteration."""

    initial: tuple[Scripted, ...] = Field(
        default=("random", "max-power", "heuristic"),
        min_length=1,
        description="Scripted policies that the population begins with. They also anchor the ratings.",
    )

    @field_validator("initial")
    @classmethod
    def _names_differ(cls, initial: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(initial)) != len(initial):
            raise ValueError("a policy is named twice")
        return initial


class NetworkSettings(Section):
    """Sizes of the actor-critic network."""

    embedding_size: int = Field(32, ge=1, le=512, description="Values in the embedding of one category.")
    entity_size: int = Field(64, ge=4, le=4096, description="Values that stand for one Pokémon or other row.")
    hidden_size: int = Field(512, ge=8, le=8192, description="Width of the trunk.")
    num_hidden_layers: int = Field(2, ge=1, le=16, description="Layers of the trunk.")
    critic_size: int = Field(64, ge=1, le=8192, description="Width of the critic, a network of its own.")
