"""The journal: which chunks each round of a training learned from, so that every decision is counted once.

The learner writes one entry a round, under the round's number, before it learns from it. One that is killed and repeats
a round reads the same chunks: those of a request follow from it, and those of a stream are in the entry. So the journal
describes the rounds that led to the stored weights. At the end it becomes one object of the attempt.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nashdex.core import keys
from nashdex.core.documents import Model, SealedDocument
from nashdex.core.steps import StepName
from nashdex.learning.actors.protocol import Chunk, Request
from nashdex.learning.planned import NEWEST
from nashdex.store.checked import MAX_MANIFEST_BYTES
from nashdex.store.protocol import ObjectStore
from nashdex.trajectory.episode import Episode

JOURNAL: Final = "journal.json"
"""The whole journal, among the objects of the train step."""


class TakenChunk(Model):
    """A chunk of a stream that a round learned from."""

    number: NonNegativeInt = Field(description="Of the chunk in the stream. No number is played twice.")
    version: NonNegativeInt = Field(description="Round that began with the weights that played it.")
    actor: NonNegativeInt
    sha256: str = Field(description="Of its manifest, which holds the hashes of its episodes.")


class Entry(SealedDocument):
    """One round."""

    round: NonNegativeInt
    request: str
    weights_sha256: str = Field(description="Of the network in training, as it played.")
    episodes_sha256: str = Field(description="Hash of the hashes of all trajectory parts, in order.")
    battles: NonNegativeInt
    learned_decisions: NonNegativeInt = Field(description="Of the network in training, from both seats.")
    chunks_by_actor: dict[int, NonNegativeInt] = Field(description="By the shard that played them.")
    waited_seconds: NonNegativeFloat = Field(description="How long the learner waited for the last chunk.")
    read_seconds: NonNegativeFloat = Field(0.0, description="How long it then took to read all chunks.")
    staleness_seconds: NonNegativeFloat = Field(
        description="Age of the weights that played when the learner reads the last chunk, by its clock: the mean over "
        "chunks; of the last attempt at the round."
    )
    staleness_versions: NonNegativeFloat = Field(
        0.0, description="Rounds between the weights that played and those that learn: the mean over chunks."
    )
    round_seconds: NonNegativeFloat = Field(
        0.0, description="Since the entry before, by the learner's clock; 0 for the first one of an attempt."
    )
    actors_seconds: NonNegativeFloat = Field(0.0, description="How long actors played the chunks.")
    actors_waited_seconds: NonNegativeFloat = Field(
        0.0, description="How long these actors had nothing to play before them."
    )
    chunks: tuple[TakenChunk, ...] = Field((), description="Of a stream: what the round learned from, in this order.")
    dropped: dict[str, NonNegativeInt] = Field(
        default_factory=dict, description="Of a stream: chunks that were dropped since the entry before, by cause."
    )
    open_chunks: tuple[NonNegativeInt, ...] = Field((), description="Of a stream: open after this round was read.")
    next_chunk: NonNegativeInt = Field(0, description="Of a stream: the lowest number that was never open.")

    @property
    def num_chunks(self) -> int:
        """The number of chunks."""
        return sum(self.chunks_by_actor.values())


class Journal(SealedDocument):
    """All rounds that actors played, in order. Round 0 learns from the collected battles and is not among them."""

    entries: tuple[Entry, ...]

    @property
    def learned_decisions(self) -> int:
        """Decisions that the training learned from, without the collected ones."""
        return sum(entry.learned_decisions for entry in self.entries)


@dataclass(frozen=True)
class Timing:
    """What the learner's clock says of a round, in seconds: see ``Entry``."""

    waited: float
    read: float
    staleness: float
    round: float


def entry_of(
    request: Request, chunks: Sequence[Chunk], episodes: Sequence[Episode], timing: Timing, staleness_versions: float
) -> Entry:
    """Return the entry of a round, without what only a stream's has."""
    parts = "\n".join(part.sha256 for chunk in chunks for part in chunk.episodes)
    return Entry(
        round=request.battles.round,
        request=request.id,
        weights_sha256=request.weights[NEWEST].sha256,
        episodes_sha256=hashlib.sha256(parts.encode()).hexdigest(),
        battles=sum(chunk.battles for chunk in chunks),
        learned_decisions=sum(len(episode) for episode in episodes if episode.policy == NEWEST),
        chunks_by_actor=dict(sorted(Counter(chunk.actor for chunk in chunks).items())),
        waited_seconds=timing.waited,
        read_seconds=timing.read,
        staleness_seconds=timing.staleness,
        staleness_versions=staleness_versions,
        round_seconds=timing.round,
        actors_seconds=sum(chunk.seconds for chunk in chunks),
        actors_waited_seconds=sum(chunk.waited_seconds for chunk in chunks),
    )


def journal_folder(iteration: int, shard: int) -> str:
    """Return where the entries of a training that runs are."""
    return f"{keys.shard_prefix(iteration, StepName.TRAIN, shard)}/{keys.JOURNAL_ENTRIES}"


class JournalWriter:
    """Writes the journal of one train shard."""

    def __init__(self, store: ObjectStore, iteration: int, shard: int) -> None:
        self._store = store
        self._folder = journal_folder(iteration, shard)
        self._written: dict[int, Entry] = {}

    def write(self, entry: Entry) -> None:
        """Write a round's entry."""
        self._store.put(self._key(entry.round), entry.to_json())
        self._written[entry.round] = entry

    def find(self, number: int) -> Entry | None:
        """Return the entry of a round, which an earlier attempt may have written; None if there is none.

        Raises:
            DataError: it is altered.
        """
        if number not in self._written and not self._store.exists(self._key(number)):
            return None
        return self._entry(number)

    def last(self) -> Entry | None:
        """Return the entry of the latest round that any attempt wrote; None if there is none.

        Raises:
            DataError: it is altered.
        """
        *_, last = (None, *self._store.list(f"{self._folder}/"))
        return None if last is None else Entry.from_json(self._store.get(last, MAX_MANIFEST_BYTES), last)

    def objects(self, num_rounds: int) -> Mapping[str, bytes]:
        """Return the journal of the rounds 1 to ``num_rounds`` as an object of the attempt.

        Raises:
            DataError: an entry of an earlier attempt is missing or altered.
        """
        return {JOURNAL: Journal(entries=tuple(self._entry(n) for n in range(1, num_rounds + 1))).to_json()}

    def _entry(self, number: int) -> Entry:
        if entry := self._written.get(number):
            return entry
        key = self._key(number)
        entry = Entry.from_json(self._store.get(key, MAX_MANIFEST_BYTES), f"{self._store.uri}/{key}")
        # Its seal is not part of the whole journal's bytes, which are the same whoever wrote the entry.
        return entry.model_copy(update={"content_sha256": None})

    def _key(self, number: int) -> str:
        return f"{self._folder}/{number:08d}.json"
