"""What learner and actors exchange, and the keys that it has. All of it is below the train shard's prefix.

```
actors/request.json                                  what the learner wants played next; replaced in one write
actors/weights/{sha256}.safetensors                  written once, by content
actors/chunks/{request}/{chunk:05d}.json             a finished chunk; written last and only if absent
actors/chunks/{request}/{chunk:05d}/{attempt}/...    its episodes
```

The learner alone writes requests and weights; actors alone write chunks. The learner deletes what it no longer needs,
and the end of the train step all of it. Actors, when they end, delete what a late one wrote after that.
What a chunk holds follows from its request, so two actors that play the same chunk store the same, and the first one
counts.
"""

import hashlib
from functools import cached_property
from typing import Final

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from nashdex.core import keys
from nashdex.core.documents import SealedDocument
from nashdex.core.ids import AttemptIdField, PolicyIdField
from nashdex.core.manifest import StoredObject
from nashdex.core.steps import StepName
from nashdex.learning.planned import EvaluationBattles, RoundBattles

DROP_CAUSES: Final = ("altered", "space", "twice")
"""Why a chunk is dropped: it does not match its hash or request, it is of another space, or another actor was first."""


class Request(SealedDocument):
    """What the learner wants played next."""

    battles: RoundBattles | EvaluationBattles = Field(discriminator="kind")
    chunk_battles: PositiveInt
    space: str = Field(description="Fingerprint of the space that the network was made for.")
    weights: dict[PolicyIdField, StoredObject] = Field(description="Policies of the battles that are not stored.")
    again: dict[int, PositiveInt] = Field(
        default_factory=dict, description="Chunks that the learner dropped, and how often: they are played again."
    )

    @cached_property
    def id(self) -> str:
        """Its name in keys: the same exactly for the same battles, weights and chunks."""
        content = self.model_dump_json(exclude={"content_sha256", "again"})
        digest = hashlib.sha256(content.encode()).hexdigest()[:16]
        return f"{self.battles.round:08d}-{self.battles.kind}-{digest}"

    @property
    def num_chunks(self) -> int:
        """The number of chunks."""
        return -(-self.battles.size // self.chunk_battles)

    def numbers(self, chunk: int) -> range:
        """Return the numbers of a chunk's battles."""
        return range(chunk * self.chunk_battles, min((chunk + 1) * self.chunk_battles, self.battles.size))


class Chunk(SealedDocument):
    """A finished chunk: its manifest."""

    request: str
    chunk: NonNegativeInt
    actor: NonNegativeInt = Field(description="The shard that played it.")
    attempt: AttemptIdField
    episodes: tuple[StoredObject, ...] = Field((), description="Trajectory parts of a round, in order.")
    scores: tuple[float, ...] = Field(
        (), description="Scores of an evaluation's battles, in the order of their numbers."
    )
    battles: NonNegativeInt
    decisions: NonNegativeInt = Field(description="Decisions of both seats.")
    cpu_seconds: NonNegativeFloat = Field(description="CPU time of the actor and its gateways for this chunk.")


def prefix(iteration: int, shard: int) -> str:
    """Return the prefix of a train shard's exchange."""
    return f"{keys.shard_prefix(iteration, StepName.TRAIN, shard)}/actors"


def request_key(iteration: int, shard: int) -> str:
    """Return the key of a learner's request."""
    return f"{prefix(iteration, shard)}/request.json"


def weights_key(iteration: int, shard: int, sha256: str) -> str:
    """Return the key of weights."""
    return f"{prefix(iteration, shard)}/weights/{sha256}.safetensors"


def chunks_folder(iteration: int, shard: int, request: str) -> str:
    """Return the folder of a request's chunks."""
    return f"{prefix(iteration, shard)}/chunks/{request}"


def chunk_key(iteration: int, shard: int, request: str, chunk: int) -> str:
    """Return the key of a chunk's manifest."""
    return f"{chunks_folder(iteration, shard, request)}/{chunk:05d}.json"


def episodes_key(iteration: int, shard: int, request: str, chunk: int, attempt: str, part: str) -> str:
    """Return the key of a part of a chunk's episodes, as one attempt stores it."""
    return f"{chunks_folder(iteration, shard, request)}/{chunk:05d}/{attempt}/{part}"
