"""The journal: which chunks each round of a training learned from, so that every decision is counted once.

The learner writes one entry a round, under the round's number. One that is killed and repeats a round replaces its
entry: the journal describes the rounds that led to the stored weights. At the end it becomes one object of the attempt.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nashdex.core import keys
from nashdex.core.documents import SealedDocument
from nashdex.core.steps import StepName
from nashdex.learning.actors.protocol import Chunk, Request
from nashdex.learning.planned import NEWEST
from nashdex.store.checked import MAX_MANIFEST_BYTES
from nashdex.store.protocol import ObjectStore
from nashdex.trajectory.episode import Episode

JOURNAL: Final = "journal.json"
"""The whole journal, among the objects of the train step."""
_FOLDER: Final = "journal"


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
        description="From the request to the last chunk, by the learner's clock; of the last attempt at the round."
    )

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


def entry_of(
    request: Request,
    chunks: Sequence[Chunk],
    episodes: Sequence[Episode],
    *,
    waited_seconds: float,
    read_seconds: float,
    staleness_seconds: float,
) -> Entry:
    """Return the entry of a round."""
    parts = "\n".join(part.sha256 for chunk in chunks for part in chunk.episodes)
    return Entry(
        round=request.battles.round,
        request=request.id,
        weights_sha256=request.weights[NEWEST].sha256,
        episodes_sha256=hashlib.sha256(parts.encode()).hexdigest(),
        battles=sum(chunk.battles for chunk in chunks),
        learned_decisions=sum(len(episode) for episode in episodes if episode.policy == NEWEST),
        chunks_by_actor=dict(sorted(Counter(chunk.actor for chunk in chunks).items())),
        waited_seconds=waited_seconds,
        read_seconds=read_seconds,
        staleness_seconds=staleness_seconds,
    )


class JournalWriter:
    """Writes the journal of one train shard."""

    def __init__(self, store: ObjectStore, iteration: int, shard: int) -> None:
        self._store = store
        self._folder = f"{keys.shard_prefix(iteration, StepName.TRAIN, shard)}/{_FOLDER}"
        self._written: dict[int, Entry] = {}

    def write(self, entry: Entry) -> None:
        """Write a round's entry."""
        self._store.put(self._key(entry.round), entry.to_json())
        self._written[entry.round] = entry

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
        return Entry.from_json(self._store.get(key, MAX_MANIFEST_BYTES), f"{self._store.uri}/{key}")

    def _key(self, number: int) -> str:
        return f"{self._folder}/{number:08d}.json"
