"""The learner's side: it asks for battles, waits for their chunks, and reads them in order."""

import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import structlog

from nashdex.core.errors import DataError, TryAgainError
from nashdex.core.manifest import StoredObject
from nashdex.core.stopping import check_stop
from nashdex.games.space import Space
from nashdex.learning.actors import protocol
from nashdex.learning.actors.journal import JournalWriter, entry_of
from nashdex.learning.actors.protocol import Chunk, Request
from nashdex.learning.actors.reading import UnusableChunkError, read_chunk
from nashdex.learning.actors.settings import ActorSettings
from nashdex.learning.planned import EvaluationBattles, PlannedBattles, RoundBattles
from nashdex.learning.rounds import Networks
from nashdex.policies.archive import weights_bytes
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry import metrics
from nashdex.telemetry.heartbeat import beat, beat_without_advance
from nashdex.trajectory.episode import Episode

_log = structlog.get_logger()

_FIRST_WAIT_SECONDS = 0.02
_LONGEST_WAIT_SECONDS = 1.0
_NUM_KEPT = 4
"""Requests whose chunks stay: two rounds and the evaluations after them."""
_MOST_DROPS = 3
"""Times that one chunk is played again because it is unusable."""
_NUM_READERS = 8
"""Threads that read chunks: a store answers many requests at once."""

_Played = tuple[Chunk, list[Episode]]


class ActorsPlayer:
    """Lets actors play the battles of one training. Implements ``learning.rounds.Player``.

    A learner that is stopped resumes from a checkpoint and asks for the same battles again. It finds the chunks of the
    last requests; older ones are played again, to the same bits.
    """

    def __init__(
        self, store: ObjectStore, settings: ActorSettings, space: Space, *, iteration: int, shard: int
    ) -> None:
        self._store = store
        self._settings = settings
        self._space = space
        self._iteration = iteration
        self._shard = shard
        self._current: Request | None = None
        self._asked_seconds: dict[str, float] = {}
        """By request: when this process first published it."""
        self._kept: dict[str, Request] = {}
        self._began_cpu_seconds = time.process_time()
        self._actors_cpu_seconds = 0.0
        self._stored: set[str] = set()
        """Hashes of weights that are stored."""
        self._journal = JournalWriter(store, iteration, shard)
        self._readers = ThreadPoolExecutor(_NUM_READERS, "chunk-reader")
        for cause in protocol.DROP_CAUSES:
            metrics.DROPPED_CHUNKS.add(0, cause=cause)

    @property
    def cpu_seconds(self) -> float:
        """CPU time of this process and of what actors played for it, without evaluations."""
        return time.process_time() - self._began_cpu_seconds + self._actors_cpu_seconds

    def ask(self, battles: RoundBattles, networks: Networks) -> None:
        """Publish the request for a round and return. ``play`` of the same battles waits for them."""
        self._publish(battles, networks)

    def play(self, battles: RoundBattles, networks: Networks) -> list[Episode]:
        """Return the recorded episodes of a round, in the order of its battles."""
        request = self._publish(battles, networks)
        began_seconds = time.monotonic()
        played, read_seconds = self._wait(request)
        now_seconds = time.monotonic()
        chunks = [chunk for chunk, _ in played]
        episodes = [episode for _, part in played for episode in part]
        self._actors_cpu_seconds += sum(chunk.cpu_seconds for chunk in chunks)
        staleness_seconds = now_seconds - self._asked_seconds[request.id]
        metrics.STALENESS_SECONDS.set(staleness_seconds)
        self._journal.write(
            entry_of(
                request,
                chunks,
                episodes,
                waited_seconds=max(0.0, now_seconds - began_seconds - read_seconds),
                read_seconds=read_seconds,
                staleness_seconds=staleness_seconds,
            )
        )
        return episodes

    def scores(self, battles: EvaluationBattles, networks: Networks) -> list[float]:
        """Return the network's score of each battle, by number."""
        return [score for chunk, _ in self._wait(self._publish(battles, networks))[0] for score in chunk.scores]

    def objects(self, num_rounds: int) -> Mapping[str, bytes]:
        """Return the journal of the rounds 1 to ``num_rounds``."""
        return self._journal.objects(num_rounds)

    def close(self) -> None:
        """End the reading threads. What is stored stays, so that a later attempt goes on.

        The end of the train step and actors remove it.
        """
        self._readers.shutdown(wait=False, cancel_futures=True)

    def _publish(self, battles: PlannedBattles, networks: Networks, again: Mapping[int, int] | None = None) -> Request:
        request = Request(
            battles=battles,
            chunk_battles=self._settings.chunk_battles,
            space=self._space.fingerprint,
            weights={name: self._put_weights(network) for name, network in networks.items()},
            again=dict(again or {}),
        )
        if request != self._current:
            self._put(request)
        self._asked_seconds.setdefault(request.id, time.monotonic())
        self._kept[request.id] = request
        return request

    def _put(self, request: Request) -> None:
        self._store.put(protocol.request_key(self._iteration, self._shard), request.to_json())
        self._current = request

    def _wait(self, request: Request) -> tuple[list[_Played], float]:
        """Return the chunks of a request in order when all are there, and the seconds that it took to read them.

        Those of old requests are removed.
        """
        began_seconds = time.monotonic()
        drops = Counter[int]()
        while True:
            self._wait_for_all(request)
            there_seconds = time.monotonic()
            try:
                played = list(self._readers.map(partial(self._read, request), range(request.num_chunks)))
            except UnusableChunkError as unusable:
                drops[unusable.number] += 1
                self._drop(request, unusable, drops)
                continue
            metrics.LEARNER_WAITING.add(time.monotonic() - began_seconds)
            self._remove_old()
            return played, time.monotonic() - there_seconds

    def _read(self, request: Request, number: int) -> _Played:
        return read_chunk(self._store, self._iteration, self._shard, request, number, self._space)

    def _wait_for_all(self, request: Request) -> None:
        folder = f"{protocol.chunks_folder(self._iteration, self._shard, request.id)}/"
        wanted = {
            protocol.chunk_key(self._iteration, self._shard, request.id, chunk) for chunk in range(request.num_chunks)
        }
        wait_seconds, heard_seconds, num_there = _FIRST_WAIT_SECONDS, time.monotonic(), 0
        while True:
            there = wanted.intersection(self._store.list(folder))
            if there == wanted:
                return
            if len(there) > num_there:
                num_there, heard_seconds = len(there), time.monotonic()
                beat()
            elif time.monotonic() - heard_seconds > self._settings.patience_seconds:
                raise TryAgainError(
                    f"no actor has played for {self._settings.patience_seconds:.0f} s: {len(there)} of {len(wanted)} "
                    f"chunks of {request.battles.kind} {request.battles.round} are there; start actors, or raise "
                    "actors.patience_seconds"
                )
            check_stop()
            beat_without_advance()
            time.sleep(wait_seconds)
            wait_seconds = min(wait_seconds * 1.5, _LONGEST_WAIT_SECONDS)

    def _drop(self, request: Request, unusable: UnusableChunkError, drops: Counter[int]) -> None:
        """Remove an unusable chunk and ask for it again.

        Raises:
            DataError: it has been asked for too often.
        """
        metrics.DROPPED_CHUNKS.add(cause=unusable.cause)
        if drops[unusable.number] > _MOST_DROPS:
            raise DataError(f"{unusable}; chunk {unusable.number} was played {_MOST_DROPS} times more, in vain")
        _log.warning(f"dropped chunk {unusable.number} of {request.battles.kind} {request.battles.round}: {unusable}")
        key = protocol.chunk_key(self._iteration, self._shard, request.id, unusable.number)
        self._store.delete(key)
        self._store.delete_folder(key.removesuffix(".json"))
        self._put(request.model_copy(update={"again": dict(drops)}))

    def _put_weights(self, network: ActorCritic) -> StoredObject:
        """Store the weights unless they are there."""
        data = weights_bytes(network)
        stored = StoredObject.of(lambda digest: protocol.weights_key(self._iteration, self._shard, digest), data)
        if stored.sha256 not in self._stored:
            self._store.put_if_absent(stored.key, data)
            self._stored.add(stored.sha256)
        return stored

    def _remove_old(self) -> None:
        """Remove chunks and weights of all but the last requests."""
        while len(self._kept) > _NUM_KEPT:
            old = self._kept.pop(next(iter(self._kept)))
            self._asked_seconds.pop(old.id, None)
            needed = {stored.sha256 for one in self._kept.values() for stored in one.weights.values()}
            self._store.delete_folder(protocol.chunks_folder(self._iteration, self._shard, old.id))
            for stored in old.weights.values():
                if stored.sha256 not in needed:
                    self._store.delete(stored.key)
                    self._stored.discard(stored.sha256)
