"""Stored battles, and which of them a page embeds."""

from collections import Counter
from collections.abc import Sequence

from pydantic import Field, NonNegativeInt

from nashdex.core.documents import Model
from nashdex.core.ids import PolicyIdField

MAX_EMBEDDED_BYTES = 2_000_000
"""Battle logs in one page, so that it can be sent by mail. The rest stay in the store; the page shows their keys."""


class Replay(Model):
    """One stored battle."""

    policies: tuple[PolicyIdField, PolicyIdField] = Field(description="Policies by seat.")
    winner: PolicyIdField | None = Field(description="Null for a draw.")
    turns: NonNegativeInt
    iteration: NonNegativeInt
    name: str = Field(description="Unique in the run.")
    key: str = Field(description="Key of the log, relative to the run's URI.")
    shard: NonNegativeInt = Field(description="Shard of the evaluate step.")
    object: str = Field(description="The log's name among the shard's objects.")
    size_bytes: NonNegativeInt


def replays_to_embed(replays: Sequence[Replay], max_bytes: int = MAX_EMBEDDED_BYTES) -> tuple[Replay, ...]:
    """Return the replays that fit into a page: the newest of every match-up first, then the second newest of each."""
    seen: Counter[frozenset[str]] = Counter()
    ranked = []
    for replay in sorted(replays, key=lambda r: (-r.iteration, r.name)):
        ranked.append((seen[frozenset(replay.policies)], replay))
        seen[frozenset(replay.policies)] += 1
    chosen, room = [], max_bytes
    for _, replay in sorted(ranked, key=lambda entry: entry[0]):
        if replay.size_bytes <= room:
            chosen.append(replay)
            room -= replay.size_bytes
    return tuple(chosen)
