"""The objects that learner and actors exchange, and their keys. All keys are below the train shard's prefix.

```
actors/request.json                                  what the learner wants played next; replaced in one write
actors/weights/{sha256}.safetensors                  written once, by content
actors/chunks/{folder}/{chunk:05d}.json              a finished chunk; written last and only if absent
actors/chunks/{folder}/{chunk:05d}/{attempt}/...     its episodes
```
FOLDER is the request's id. The chunks of a stream are numbered through all of its requests, a thousand to a folder.

The learner alone writes requests and weights; actors alone write chunks. The learner deletes what it no longer needs.
When the train step ends, everything is deleted; an actor that finishes later deletes its own objects. A request
determines the content of its chunks, so two actors that play the same chunk store the same, and the first one counts.
"""

import hashlib
from functools import cached_property
from typing import Final

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from nashdex.core import keys
from nashdex.core.documents import SealedDocument
from nashdex.core.errors import DataError, TryAgainError
from nashdex.core.ids import AttemptIdField, PolicyIdField
from nashdex.core.manifest import StoredObject
from nashdex.core.seeds import derive_seed
from nashdex.core.steps import StepName
from nashdex.learning.rounds.planned import EvaluationBattles, RoundBattles
from nashdex.store.checked import MAX_MANIFEST_BYTES
from nashdex.store.protocol import ObjectStore

DROP_CAUSES: Final = ("altered", "space", "stale", "twice")
"""Why a chunk is dropped: it does not match its hash or request, it is of another space, its weights are too old, or
another actor was first."""
_STREAM: Final = "stream"
_CHUNKS_A_FOLDER = 1000
"""Chunks of a stream in a folder. A list of possibly new chunks thus stays short, however many are kept."""


class NoActorError(TryAgainError):
    """Chunks did not appear in time. ``missing`` says which."""

    def __init__(self, missing: str, patience_seconds: float) -> None:
        super().__init__(
            f"no actor has played for {patience_seconds:.0f} s: {missing}; start actors, or raise "
            "actors.patience_seconds"
        )
        self.missing = missing


class Request(SealedDocument):
    """The battles that the learner wants next."""

    battles: RoundBattles | EvaluationBattles = Field(discriminator="kind")
    chunk_battles: PositiveInt
    space: str = Field(description="Fingerprint of the space that the network was made for.")
    weights: dict[PolicyIdField, StoredObject] = Field(description="Policies of the battles that are not stored.")
    again: dict[int, PositiveInt] = Field(
        default_factory=dict, description="Chunks that the learner dropped, and how often: they are played again."
    )
    open_chunks: tuple[NonNegativeInt, ...] | None = Field(
        None, description="Chunks of a stream that may be played. None: every chunk of the battles, once each."
    )

    @cached_property
    def id(self) -> str:
        """Its name: the same exactly for the same battles, weights and size of chunks."""
        content = self.model_dump_json(exclude={"content_sha256", "again", "open_chunks"})
        digest = hashlib.sha256(content.encode()).hexdigest()[:16]
        return f"{self.battles.round:08d}-{self.battles.kind}-{digest}"

    def folder(self, chunk: int) -> str:
        """Return the folder of a chunk."""
        return self.id if self.open_chunks is None else stream_folder(chunk)

    @property
    def num_chunks(self) -> int:
        """The number of chunks of the battles; of a stream, of one round."""
        return -(-self.battles.size // self.chunk_battles)

    def planned(self, chunk: int) -> tuple[RoundBattles | EvaluationBattles, range]:
        """Return the battles that a chunk is a part of, and the numbers of its battles among them.

        Each chunk of a stream has a seed of its own.
        """
        if self.open_chunks is None or not isinstance(self.battles, RoundBattles):
            return self.battles, self.numbers(chunk)
        seed = derive_seed(self.battles.seed, "chunk", chunk)
        alone = self.battles.model_copy(update={"seed": seed, "num_battles": self.chunk_battles})
        return alone, range(self.chunk_battles)

    def numbers(self, chunk: int) -> range:
        """Return the numbers of a chunk's battles."""
        return range(chunk * self.chunk_battles, min((chunk + 1) * self.chunk_battles, self.battles.size))


class Chunk(SealedDocument):
    """A finished chunk: its manifest."""

    request: str
    version: NonNegativeInt = Field(description="Round that began with the weights that played it.")
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
    seconds: NonNegativeFloat = Field(0.0, description="How long it took to play and store.")
    waited_seconds: NonNegativeFloat = Field(0.0, description="How long the actor had nothing to play before it.")


def prefix(iteration: int, shard: int) -> str:
    """Return the prefix of a train shard's exchange."""
    return f"{keys.shard_prefix(iteration, StepName.TRAIN, shard)}/{keys.EXCHANGE}"


def request_key(iteration: int, shard: int) -> str:
    """Return the key of a learner's request."""
    return f"{prefix(iteration, shard)}/request.json"


def weights_key(iteration: int, shard: int, sha256: str) -> str:
    """Return the key of weights."""
    return f"{prefix(iteration, shard)}/weights/{sha256}.safetensors"


def stream_folder(chunk: int) -> str:
    """Return the folder of a stream's chunk."""
    return f"{_STREAM}-{chunk // _CHUNKS_A_FOLDER:05d}"


def chunks_folder(iteration: int, shard: int, folder: str) -> str:
    """Return where the chunks of a request, or of the stream, are."""
    return f"{prefix(iteration, shard)}/chunks/{folder}"


def chunk_key(iteration: int, shard: int, folder: str, chunk: int) -> str:
    """Return the key of a chunk's manifest."""
    return f"{chunks_folder(iteration, shard, folder)}/{chunk:05d}.json"


def episodes_key(iteration: int, shard: int, folder: str, chunk: int, attempt: str, part: str) -> str:
    """Return the key of a part of a chunk's episodes, as one attempt stores it."""
    return f"{chunks_folder(iteration, shard, folder)}/{chunk:05d}/{attempt}/{part}"


class Requests:
    """Reads the requests of an iteration's learners: one conditional GET each, once a learner has asked."""

    def __init__(self, store: ObjectStore, iteration: int) -> None:
        self._store = store
        self._iteration = iteration
        self._read: dict[int, tuple[str, Request]] = {}
        """Last request by learner, with the tag of its object."""

    def of(self, learner: int) -> Request | None:
        """Return what a learner wants; None before its first request, and after its last.

        Raises:
            DataError: the request is altered.
        """
        key = request_key(self._iteration, learner)
        tag, request = self._read.get(learner, ("", None))
        if request is None and not self._store.exists(key):
            return None
        try:
            found = self._store.get_if_changed(key, tag, MAX_MANIFEST_BYTES)
        except DataError:
            if self._store.exists(key):
                raise
            return None
        if found is not None:
            data, tag = found
            request = Request.from_json(data, f"{self._store.uri}/{key}")
            self._read[learner] = tag, request
        return request
