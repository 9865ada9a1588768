"""The layout of observations and actions, as data. A game describes its own; all other code reads it."""

import hashlib
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt, model_validator

from nashdex.core.documents import Model

NUM_SEATS = 2

MAX_OBSERVATION_SIZE = 1 << 20
MAX_ACTIONS = (1 << 16) - 1
"""Bounds far above any game's, so that no document makes a reader allocate without end."""
VocabularySize = Annotated[int, Field(ge=1, le=1 << 20)]


class ObservationField(Model):
    """Consecutive numbers of a row."""

    name: str
    offset: int = Field(ge=0, description="Within the row.")
    size: PositiveInt
    kind: Literal["number", "category"] = Field(description="A category is an index into a vocabulary, 0 for unknown.")
    vocabulary: str | None = None
    description: str = ""


class ObservationBlock(Model):
    """Consecutive rows of one shape, such as a side's Pokémon."""

    name: str
    offset: int = Field(ge=0, description="Within the observation.")
    rows: PositiveInt
    stride: PositiveInt = Field(description="Numbers per row.")
    fields: tuple[ObservationField, ...]

    @model_validator(mode="after")
    def _fields_tile_the_row(self) -> "ObservationBlock":
        at = 0
        for field in self.fields:
            if field.offset != at:
                raise ValueError(f"field {field.name!r} of block {self.name!r} is at {field.offset}, expected {at}")
            at += field.size
        if at != self.stride:
            raise ValueError(f"the fields of block {self.name!r} cover {at} numbers of {self.stride}")
        return self


class Space(Model):
    """Observation and action space of one format. Its fingerprint is part of a policy's identity."""

    game: str
    format: str
    version: str
    observation_size: int = Field(ge=1, le=MAX_OBSERVATION_SIZE)
    num_actions: int = Field(ge=1, le=MAX_ACTIONS, description="The actions of a decision, numbered from 0.")
    actions: tuple[str, ...] = Field(description="Names of the actions of one slot.")
    num_slots: Literal[1, 2] = Field(
        1, description="Slots that one decision chooses for: with 2, action first · (actions of a slot) + second."
    )
    vocabularies: dict[str, VocabularySize] = Field(description="Sizes, index 0 (none or unknown) counted.")
    blocks: tuple[ObservationBlock, ...]

    @model_validator(mode="after")
    def _blocks_tile_the_observation(self) -> "Space":
        at = 0
        for block in self.blocks:
            if block.offset != at:
                raise ValueError(f"block {block.name!r} is at {block.offset}, expected {at}")
            at += block.rows * block.stride
            for field in block.fields:
                if field.kind == "category" and field.vocabulary not in self.vocabularies:
                    raise ValueError(f"field {field.name!r} names an unknown vocabulary {field.vocabulary!r}")
        if at != self.observation_size:
            raise ValueError(f"the blocks cover {at} numbers of {self.observation_size}")
        if len(self.actions) ** self.num_slots != self.num_actions:
            raise ValueError(
                f"{len(self.actions)} action names and {self.num_slots} slots for {self.num_actions} actions"
            )
        return self

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits over everything but the descriptions. Policies of one fingerprint are interchangeable."""
        bare = self.model_dump(exclude={"blocks": {"__all__": {"fields": {"__all__": {"description"}}}}})
        if self.num_slots == 1:
            del bare["num_slots"]
        return hashlib.sha256(repr(bare).encode()).hexdigest()[:16]

    def view(self, observations: NDArray[np.float32], block: str, field: str) -> NDArray[np.float32]:
        """Return ``field`` of ``block`` as a view of shape (N, rows, size) on observations of shape (N, size)."""
        found = next(b for b in self.blocks if b.name == block)
        part = next(f for f in found.fields if f.name == field)
        rows = observations[:, found.offset : found.offset + found.rows * found.stride]
        shaped = rows.reshape(len(observations), found.rows, found.stride)
        return shaped[:, :, part.offset : part.offset + part.size]
