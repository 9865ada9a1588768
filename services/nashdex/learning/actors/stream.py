"""The chunks of a stream, as the learner knows them: open ones may be played, waiting ones are stored and not taken.

There are always as many open chunks as the bound of staleness allows, so actors that are ahead find nothing to play.
A number is opened once, and is closed when a round takes the chunk or the learner drops it.
"""

from collections import Counter, deque
from collections.abc import Iterable

from nashdex.core.journal import Entry, TakenChunk
from nashdex.learning.actors import protocol
from nashdex.learning.actors.journal import JournalWriter
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry import metrics


class Stream:
    """The numbers of one training's chunks. ``Entry`` holds what a learner needs to resume."""

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

    def look(self) -> bool:
        """List what is stored; return whether an open chunk is new. One that was closed before is removed."""
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

    def record(self, entry: Entry, chunks: tuple[TakenChunk, ...]) -> None:
        """Write the entry of a round that took ``chunks``, before anything is learned from them."""
        self._closed[entry.round] = [*(chunk.number for chunk in chunks), *self._dropped_numbers]
        stream = {
            "chunks": chunks,
            "dropped": dict(self._dropped),
            "open_chunks": tuple(self._open),
            "next_chunk": self._next,
        }
        self._journal.write(entry.model_copy(update=stream))
        self._dropped.clear()
        self._dropped_numbers.clear()
        self._taken.clear()

    def forget(self, before_round: int) -> None:
        """Remove the chunks of rounds that no attempt repeats, because a checkpoint is later."""
        for number in [number for number in self._closed if number < before_round]:
            for chunk in self._closed.pop(number):
                self._remove(chunk)

    def _continue_after(self, entry: Entry) -> None:
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
