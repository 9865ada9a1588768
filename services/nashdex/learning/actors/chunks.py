"""The chunks that actors play, as the learner reads them, records them in the journal and numbers them in a stream.

A chunk that cannot be used is reported with its fault, so that it is played again.
"""

import hashlib
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from nashdex.core.errors import DataError
from nashdex.core.journal import JOURNAL, Entry, Journal, TakenChunk, journal_folder
from nashdex.games.space import Space
from nashdex.learning.actors import protocol
from nashdex.learning.actors.protocol import Chunk, Request
from nashdex.learning.rounds.planned import NEWEST
from nashdex.store.checked import MAX_MANIFEST_BYTES, put_first, read_described
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry import metrics
from nashdex.trajectory.episode import Episode
from nashdex.trajectory.shard import decode


class UnusableChunkError(Exception):
    """A chunk that the learner drops. ``cause`` is a label of the metric, ``str`` says what is wrong."""

    def __init__(self, number: int, cause: str, problem: str) -> None:
        super().__init__(problem)
        self.number = number
        self.cause = cause


def read_manifest(store: ObjectStore, iteration: int, shard: int, request: Request, number: int) -> tuple[Chunk, bytes]:
    """Return the manifest of a chunk, parsed and as stored. In a stream, any request may have played the chunk.

    Raises:
        UnusableChunkError: it is missing, altered, or describes another chunk.
    """
    key = protocol.chunk_key(iteration, shard, request.folder(number), number)
    try:
        data = store.get(key, MAX_MANIFEST_BYTES)
        chunk = Chunk.from_json(data, f"{store.uri}/{key}")
    except DataError as error:
        raise UnusableChunkError(number, "altered", str(error)) from error
    is_known = chunk.request == request.id
    if request.open_chunks is not None:
        is_known = chunk.version <= request.battles.round
    if not is_known or (chunk.chunk, chunk.battles) != (number, len(request.planned(number)[1])):
        raise UnusableChunkError(number, "altered", f"{store.uri}/{key} describes another chunk")
    if request.battles.kind == "evaluation" and len(chunk.scores) != chunk.battles:
        problem = f"{store.uri}/{key} has {len(chunk.scores)} scores, expected {chunk.battles}"
        raise UnusableChunkError(number, "altered", problem)
    return chunk, data


def read_episodes(store: ObjectStore, chunk: Chunk, space: Space) -> list[Episode]:
    """Return the episodes of a chunk.

    Raises:
        UnusableChunkError: they are missing, altered, or of another space.
    """
    episodes: list[Episode] = []
    for part in chunk.episodes:
        try:
            found, decoded = decode(read_described(store, part, "Its battles are played again"), part.key)
        except DataError as error:
            raise UnusableChunkError(chunk.chunk, "altered", str(error)) from error
        if found.fingerprint != space.fingerprint:
            problem = (
                f"{part.key} of actor {chunk.actor} is {found.format} version {found.version} ({found.fingerprint}); "
                f"the network is of version {space.version} ({space.fingerprint}). Run the same nashdex everywhere"
            )
            raise UnusableChunkError(chunk.chunk, "space", problem)
        episodes += decoded
    return episodes


_NUM_HELD = 2
"""Entries that a learner reads again: for its round, and for the round before."""
_NUM_READERS = 8


@dataclass(frozen=True)
class Timing:
    """Times of a round by the learner's clock, in seconds: see ``Entry``."""

    waited: float
    read: float
    staleness: float
    round: float


def entry_of(
    request: Request, chunks: Sequence[Chunk], episodes: Sequence[Episode], timing: Timing, staleness_versions: float
) -> Entry:
    """Return the entry of a round, without the fields that only a stream has."""
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
    """Writes the journal of one train shard: which chunks each round learned from (``core.journal``).

    The learner writes one entry a round, under the round's number, before it learns from it. A learner that is killed
    and repeats a round reads the same chunks: a request determines its chunks, and the entry lists the chunks of a
    stream. So the journal describes the rounds that led to the stored weights. At the end it becomes one object of the
    attempt.
    """

    def __init__(self, store: ObjectStore, iteration: int, shard: int) -> None:
        self._store = store
        self._folder = journal_folder(iteration, shard)
        self._written: dict[int, Entry] = {}
        """The newest entries. A training of thousands of rounds does not hold them all."""

    def write(self, entry: Entry) -> None:
        """Write a round's entry."""
        self._store.put(self._key(entry.round), entry.to_json())
        self._hold(entry)

    def write_first(self, entry: Entry) -> bool:
        """Write a round's entry unless another attempt did; return whether it is this one's."""
        is_first = put_first(self._store, self._key(entry.round), entry.to_json())
        if is_first:
            self._hold(entry)
        return is_first

    def has(self, number: int) -> bool:
        """Say whether there is an entry of a round, whichever attempt wrote it."""
        return number in self._written or self._store.exists(self._key(number))

    def find(self, number: int) -> Entry | None:
        """Return the entry of a round, which an earlier attempt may have written; None if there is none.

        Raises:
            DataError: it is altered.
        """
        return self._entry(number) if self.has(number) else None

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

    def _hold(self, entry: Entry) -> None:
        self._written[entry.round] = entry
        while len(self._written) > _NUM_HELD:
            self._written.pop(min(self._written))

    def _entry(self, number: int) -> Entry:
        if entry := self._written.get(number):
            return entry
        key = self._key(number)
        entry = Entry.from_json(self._store.get(key, MAX_MANIFEST_BYTES), f"{self._store.uri}/{key}")
        # Its seal is not part of the whole journal's bytes, which are the same whoever wrote the entry.
        return entry.model_copy(update={"content_sha256": None})

    def _key(self, number: int) -> str:
        return f"{self._folder}/{number:08d}.json"


class Stream:
    """The numbers of one training's chunks: open ones may be played, waiting ones are stored and not taken.

    There are always as many open chunks as the bound of staleness allows, so actors that are ahead find nothing to
    play. A number is opened once, and is closed when a round takes the chunk or the learner drops it. ``Entry`` holds
    what a learner needs to resume.
    """

    def __init__(
        self, store: ObjectStore, journal: JournalWriter, iteration: int, shard: int, *, size: int, keeps: bool
    ) -> None:
        """Open ``size`` chunks. ``keeps`` leaves chunks in the store when no attempt needs them again."""
        self._store = store
        self._journal = journal
        self._iteration = iteration
        self._shard = shard
        self._size = size
        self._keeps = keeps
        self._open = list(range(size))
        self._next = size
        self._first_new = 0
        """Chunks below this may be left over from an earlier attempt."""
        self._waiting = deque[int]()
        self._closed: dict[int, list[int]] = {}
        """By round: chunks that it took, and those dropped before."""
        self._taken: list[int] = []
        """Chunks that the current round has taken and not recorded yet."""
        self._dropped_numbers: list[int] = []
        self._late = set[int]()
        self._dropped = Counter[str]()
        self._replaced_round: int | None = None
        """The round whose entry cannot be used: that of this attempt replaces it."""

    @property
    def open_chunks(self) -> tuple[int, ...]:
        """Chunks that may be played: those that are not seen yet."""
        waiting = set(self._waiting)
        return tuple(number for number in self._open if number not in waiting)

    def resume(self, number: int) -> None:
        """Continue after the journal's entry of round ``number``, or else after the entry of the round before.

        Raises:
            DataError: an entry is altered.
        """
        if entry := self._journal.find(number) or (self._journal.find(number - 1) if number else None):
            self._continue_after(entry)
            self._first_new = self._next

    def begin_again(self, number: int) -> None:
        """Open new chunks, because the recorded chunks of round ``number`` cannot be used.

        All that were open after the round before are given up, whether they were played or not.

        Raises:
            DataError: an entry is altered.
        """
        before, last = self._journal.find(number - 1) if number else None, self._journal.last()
        num_closed = 0 if before is None else before.next_chunk - len(before.open_chunks)
        self._next = max(self._next, 0 if last is None else last.next_chunk)
        self._dropped = Counter({"abandoned": self._next - num_closed})
        self._dropped_numbers.clear()
        self._open = []
        self._waiting.clear()
        self._first_new = self._next
        self._replaced_round = number
        self._fill()

    def recorded(self, number: int, weights_sha256: str) -> Entry | None:
        """Return an earlier attempt's entry of a round that begins with these weights.

        Raises:
            DataError: the entry is altered.
        """
        entry = self._journal.find(number)
        if entry is None:
            return None
        if entry.weights_sha256 != weights_sha256:
            self.begin_again(number)
            return None
        self._continue_after(entry)
        return entry

    def is_recorded(self, number: int) -> bool:
        """Say whether another attempt has recorded the round that this one takes chunks for."""
        return number != self._replaced_round and self._journal.has(number)

    def look(self) -> bool:
        """List stored chunks; return whether an open one is new. Chunks that were closed before are removed."""
        known, found = set(self._waiting), False
        for number in self._stored():
            if number in self._open:
                if number not in known:
                    self._waiting.append(number)
                    found = True
            elif number < self._next and number not in self._late and not self._is_kept(number):
                self._late.add(number)
                if number >= self._first_new:
                    metrics.DROPPED_CHUNKS.add(cause="twice")
                self._remove(number)
        return found

    def take(self, most: int) -> list[int]:
        """Close up to ``most`` waiting chunks, in the order in which they were seen, and open others."""
        taken = [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]
        self._open = [number for number in self._open if number not in taken]
        self._taken += taken
        self._fill()
        return taken

    def drop(self, number: int, cause: str) -> None:
        """Count a chunk that was taken and cannot be used."""
        self._dropped[cause] += 1
        self._dropped_numbers.append(number)

    def record(self, entry: Entry, chunks: tuple[TakenChunk, ...]) -> bool:
        """Write the entry of a round that took ``chunks``, before anything is learned from them.

        Return False if another attempt at the shard, which still runs, recorded the round meanwhile: its entry counts.
        """
        stream = {
            "chunks": chunks,
            "dropped": dict(self._dropped),
            "open_chunks": tuple(self._open),
            "next_chunk": self._next,
        }
        whole = entry.model_copy(update=stream)
        if entry.round == self._replaced_round:
            self._journal.write(whole)
        elif not self._journal.write_first(whole):
            return False
        self._closed[entry.round] = [*(chunk.number for chunk in chunks), *self._dropped_numbers]
        self._forget_current()
        return True

    def forget(self, before_round: int) -> None:
        """Remove the chunks of rounds that no attempt repeats, because a checkpoint is later."""
        for number in [number for number in self._closed if number < before_round]:
            for chunk in self._closed.pop(number):
                self._remove(chunk)

    def _forget_current(self) -> None:
        """Forget what the current round took and dropped."""
        self._dropped.clear()
        self._dropped_numbers.clear()
        self._taken.clear()

    def _continue_after(self, entry: Entry) -> None:
        self._forget_current()
        self._closed[entry.round] = [chunk.number for chunk in entry.chunks]
        self._open, self._next = list(entry.open_chunks), entry.next_chunk
        self._waiting = deque(number for number in self._waiting if number in entry.open_chunks)
        self._fill()

    def _fill(self) -> None:
        num_missing = max(0, self._size - len(self._open))
        self._open += range(self._next, self._next + num_missing)
        self._next += num_missing

    def _is_kept(self, number: int) -> bool:
        closed = (*self._closed.values(), self._dropped_numbers, self._taken)
        return self._keeps or any(number in numbers for numbers in closed)

    def _stored(self) -> Iterable[int]:
        """Yield the numbers of stored chunks in the folders that have open ones."""
        for folder in sorted({protocol.stream_folder(number) for number in self._open}):
            prefix = f"{protocol.chunks_folder(self._iteration, self._shard, folder)}/"
            for key in self._store.list(prefix):
                name, _, rest = key.removeprefix(prefix).partition(".")
                if rest == "json" and name.isdecimal():
                    yield int(name)

    def _remove(self, number: int) -> None:
        if self._keeps:
            return
        key = protocol.chunk_key(self._iteration, self._shard, protocol.stream_folder(number), number)
        self._store.delete(key)
        self._store.delete_folder(key.removesuffix(".json"))
