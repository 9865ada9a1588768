"""Writes the journal of a training: which chunks each round learned from (``core.journal``).

The learner writes one entry a round, under the round's number, before it learns from it. A learner that is killed and
repeats a round reads the same chunks: a request determines its chunks, and the entry lists the chunks of a stream. So
the journal describes the rounds that led to the stored weights. At the end it becomes one object of the attempt.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from nashdex.core.journal import JOURNAL, Entry, Journal, journal_folder
from nashdex.learning.actors.protocol import Chunk, Request
from nashdex.learning.rounds.planned import NEWEST
from nashdex.store.checked import MAX_MANIFEST_BYTES
from nashdex.store.protocol import ObjectStore
from nashdex.trajectory.episode import Episode

_NUM_HELD = 2
"""Entries that a learner reads again: for its round, and for the round before."""
_NUM_READERS = 8


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


class JournalWriter:
    """Writes the journal of one train shard."""

    def __init__(self, store: ObjectStore, iteration: int, shard: int) -> None:
        self._store = store
        self._folder = journal_folder(iteration, shard)
        self._written: dict[int, Entry] = {}
        """The newest entries. A training of thousands of rounds does not hold them all."""

    def write(self, entry: Entry) -> None:
        """Write a round's entry."""
        self._store.put(self._key(entry.round), entry.to_json())
        self._written[entry.round] = entry
        while len(self._written) > _NUM_HELD:
            self._written.pop(min(self._written))

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
        """Return the journal of the first ``num_rounds`` rounds as an object of the attempt.

        Raises:
            DataError: an entry of an earlier attempt is missing or altered.
        """
        with ThreadPoolExecutor(_NUM_READERS, "journal-reader") as readers:
            entries = tuple(readers.map(self._entry, range(num_rounds)))
        return {JOURNAL: Journal(entries=entries).to_json()}

    def _entry(self, number: int) -> Entry:
        if entry := self._written.get(number):
            return entry
        key = self._key(number)
        entry = Entry.from_json(self._store.get(key, MAX_MANIFEST_BYTES), f"{self._store.uri}/{key}")
        # Its seal is not part of the whole journal's bytes, which are the same whoever wrote the entry.
        return entry.model_copy(update={"content_sha256": None})

    def _key(self, number: int) -> str:
        return f"{self._folder}/{number:08d}.json"
