"""Settings of actors."""

from typing import Annotated

from pydantic import Field

from nashdex.core.requirements import Needs
from nashdex.core.section import Section


class ActorSettings(Section):
    """Processes that play a training's battles with its newest weights."""

    shards: int = Field(
        1,
        ge=0,
        le=1000,
        description="Actor processes or pods, beside the trainers; 0: each trainer plays its own battles and needs a "
        "gateway. The trainer itself always plays games without gateways.",
    )
    chunk_battles: Annotated[int, Needs("shards")] = Field(
        100,
        ge=2,
        le=1_000_000,
        multiple_of=2,
        description="Battles of a chunk, which an actor plays and stores at a time.",
    )
    patience_seconds: Annotated[float, Needs("shards")] = Field(
        3600.0,
        gt=0,
        le=604_800,
        description="Longest time that learner and actors wait for each other; then they give up, and a retry goes on.",
    )
    keep_chunks: Annotated[bool, Needs("shards")] = Field(
        False,
        description="Whether to keep the chunks and the journal of a training, for replaying it. They take about "
        "as much space as all its decisions.",
    )
