"""The learner's side: it asks for battles, waits for their chunks, and reads them in order."""

import hashlib
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import structlog

from nashdex.core.errors import DataError, TryAgainError
from nashdex.core.journal import Entry, TakenChunk
from nashdex.core.manifest import StoredObject
from nashdex.core.steps import StepName
from nashdex.core.stopping import check_stop
from nashdex.games.space import Space
from nashdex.learning.actors import protocol
from nashdex.learning.actors.chunks import (
    JournalWriter,
    Stream,
    Timing,
    UnusableChunkError,
    entry_of,
    read_episodes,
    read_manifest,
)
from nashdex.learning.actors.protocol import Chunk, NoActorError, Request
from nashdex.learning.rounds.planned import NEWEST, EvaluationBattles, PlannedBattles, RoundBattles
from nashdex.learning.rounds.players import Networks, Played, StreamPosition, WantedRound
from nashdex.policies.archive import weights_bytes
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.settings.run import ActorSettings
from nashdex.store.attempt import find_manifest
from nashdex.store.checked import find_object
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry import metrics
from nashdex.telemetry.progress import beat, beat_without_advance
from nashdex.trajectory.episode import Episode

_log = structlog.get_logger()

_FIRST_WAIT_SECONDS = 0.02
_LONGEST_WAIT_SECONDS = 1.0
_LOOK_SECONDS = 5.0
"""Pause between two checks that the store has the request and its weights: a check costs a request for each."""
_NUM_KEPT = 4
"""Requests whose chunks stay: two rounds and the evaluations after them."""
_MOST_DROPS = 3
"""Times that one chunk is played again because it is unusable."""
_NUM_READERS = 8
"""Threads that read chunks: a store answers many requests at once."""

_Played = tuple[Chunk, list[Episode]]
_Taken = tuple[Chunk, TakenChunk, list[Episode]]


class ActorsPlayer:
    """Lets actors play the battles of one training. Implements ``learning.rounds.players.Player``.

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
        self._networks: Networks = {}
        """The networks of the current request."""
        self._looked_seconds = time.monotonic()
        """When the request was last written or compared with the stored one."""
        self._num_rounds = 0
        """Rounds that were played, also in earlier attempts."""
        self._stream: Stream | None = None
        self._began_seconds = time.monotonic()
        self._recorded_seconds = 0.0
        """When the last entry of the journal was written; 0 before the first one."""
        self._asked_seconds: dict[str, float] = {}
        """By request: when this process first published it."""
        self._version_seconds: dict[int, float] = {}
        """The same of a stream, by version."""
        self._kept: dict[str, Request] = {}
        self._began_cpu_seconds = time.process_time()
        self._actors_cpu_seconds = 0.0
        self._evaluation_cpu_seconds = 0.0
        self._stored: set[str] = set()
        """Hashes of weights that are stored."""
        self._journal = JournalWriter(store, iteration, shard)
        self._readers = ThreadPoolExecutor(_NUM_READERS, "chunk-reader")
        for cause in protocol.DROP_CAUSES:
            metrics.DROPPED_CHUNKS.add(0, cause=cause)

    @property
    def cpu_seconds(self) -> float:
        """CPU time of this process and of what actors played for it, without evaluations."""
        own_seconds = time.process_time() - self._began_cpu_seconds - self._evaluation_cpu_seconds
        return own_seconds + self._actors_cpu_seconds

    def ask(self, wanted: WantedRound) -> None:
        """Publish the request for a round and return. ``play`` of the same round waits for its battles."""
        if wanted.stream is not None:
            self._opened(wanted.battles, wanted.stream)
        self._publish(wanted.battles, wanted.networks)

    def play(self, wanted: WantedRound) -> Played:
        """Return the recorded episodes of a round, in the order of its battles or of a stream's chunks."""
        self._num_rounds = wanted.battles.round + 1
        if wanted.stream is None:
            return Played(self._requested(wanted), (wanted.battles.round - wanted.staleness_versions,))
        return self._streamed(wanted, wanted.stream)

    def _requested(self, wanted: WantedRound) -> list[Episode]:
        """Return the episodes of a round that actors play when they are asked to."""
        battles, networks = wanted.battles, wanted.networks
        request = self._publish(battles, networks)
        began_seconds = time.monotonic()
        played, read_seconds = self._wait(request)
        now_seconds = time.monotonic()
        chunks = [chunk for chunk, _ in played]
        episodes = [episode for _, part in played for episode in part]
        if wanted.is_at_begin:
            self._actors_cpu_seconds += sum(chunk.cpu_seconds for chunk in chunks)
        staleness_seconds = now_seconds - self._asked_seconds[request.id]
        metrics.STALENESS_SECONDS.set(staleness_seconds)
        timing = Timing(
            waited=max(0.0, now_seconds - began_seconds - read_seconds),
            read=read_seconds,
            staleness=staleness_seconds,
            round=self._round_seconds(now_seconds),
        )
        self._journal.write(entry_of(request, chunks, episodes, timing, wanted.staleness_versions))
        return episodes

    def _streamed(self, wanted: WantedRound, position: StreamPosition) -> Played:
        """Return the episodes of a round's chunks, and the versions that played them.

        If another attempt at the round recorded its chunks, earlier or meanwhile, the round uses them again; otherwise,
        it takes the next stored chunks whose weights are not too old.

        Raises:
            DataError: what was recorded is gone or altered, and the round was learned from in part.
            TryAgainError: another attempt at the shard still runs, and has removed what was recorded.
        """
        began_seconds, battles, networks = time.monotonic(), wanted.battles, wanted.networks
        stream = self._opened(battles, position)
        while True:
            entry = stream.recorded(battles.round, self._put_weights(networks[NEWEST]).sha256)
            request = self._publish(battles, networks)
            if entry is not None:
                try:
                    played = list(self._readers.map(partial(self._read_recorded, request), entry.chunks))
                except UnusableChunkError as unusable:
                    self._give_up_recorded(unusable, entry, wanted, position)
                    stream.begin_again(battles.round)
                else:
                    return self._received(stream, wanted, position, played)
            stream.look()
            played, read_seconds = self._take(battles, networks, stream, position)
            if played and self._record(stream, request, played, began_seconds, read_seconds):
                break
        self._publish(battles, networks)
        self._remove_old()
        return self._received(stream, wanted, position, played)

    @staticmethod
    def _give_up_recorded(
        unusable: UnusableChunkError, entry: Entry, wanted: WantedRound, position: StreamPosition
    ) -> None:
        """Note that a round takes other chunks than its entry lists.

        Raises:
            DataError: the round was learned from in part.
            TryAgainError: another attempt at the shard is further, and has removed them.
        """
        if position.is_overtaken():
            raise TryAgainError(
                f"{unusable}; another attempt at the shard is further than round {entry.round}. Run the step again: it "
                "goes on from there"
            ) from unusable
        if not wanted.is_at_begin:
            raise DataError(
                f"{unusable}; round {entry.round} was learned from in part. Remove checkpoint.json of the "
                "train shard to train it from its beginning"
            ) from unusable
        _log.warning(f"round {entry.round} takes other chunks than an earlier attempt: {unusable}")
        metrics.DROPPED_CHUNKS.add(cause=unusable.cause)

    def _opened(self, battles: RoundBattles, bounds: StreamPosition) -> Stream:
        """Return the stream, which begins where the journal says."""
        if self._stream is None:
            chunks_a_round = -(-battles.size // self._settings.chunk_battles)
            self._stream = Stream(
                self._store,
                self._journal,
                self._iteration,
                self._shard,
                size=chunks_a_round * bounds.max_staleness_versions,
                keeps=self._settings.keep_chunks,
            )
            self._stream.resume(battles.round)
        self._version_seconds.setdefault(battles.round, time.monotonic())
        return self._stream

    def _received(self, stream: Stream, wanted: WantedRound, position: StreamPosition, played: list[_Taken]) -> Played:
        if wanted.is_at_begin:
            self._actors_cpu_seconds += sum(chunk.cpu_seconds for chunk, _, _ in played)
        stream.forget(position.saved_round)
        episodes = [episode for _, _, part in played for episode in part]
        return Played(episodes, tuple(chunk.version for chunk, _, _ in played))

    def _read_recorded(self, request: Request, taken: TakenChunk) -> _Taken:
        chunk, data = read_manifest(self._store, self._iteration, self._shard, request, taken.number)
        if hashlib.sha256(data).hexdigest() != taken.sha256:
            raise UnusableChunkError(taken.number, "altered", f"chunk {taken.number} is not the one in the journal")
        return chunk, taken, read_episodes(self._store, chunk, self._space)

    def _take(
        self, battles: RoundBattles, networks: Networks, stream: Stream, bounds: StreamPosition
    ) -> tuple[list[_Taken], float]:
        """Return a round's chunks in the order in which they were seen, and the seconds spent on reading them.

        No chunks, if another attempt at the shard has recorded the round meanwhile.
        """
        request = self._publish(battles, networks)
        played: list[_Taken] = []
        read_seconds, num_unusable = 0.0, 0
        wait_seconds, heard_seconds = _FIRST_WAIT_SECONDS, time.monotonic()
        while len(played) < request.num_chunks:
            if numbers := stream.take(request.num_chunks - len(played)):
                began_seconds = time.monotonic()
                for number, found in zip(
                    numbers, self._readers.map(partial(self._read_new, request, bounds), numbers), strict=True
                ):
                    if not isinstance(found, UnusableChunkError):
                        played.append(found)
                        continue
                    if found.cause != "stale" and stream.is_recorded(battles.round):
                        return [], read_seconds  # that attempt is in a later round, and its weights played the chunk
                    metrics.DROPPED_CHUNKS.add(cause=found.cause)
                    stream.drop(number, found.cause)
                    if found.cause == "stale":
                        continue
                    num_unusable += 1
                    _log.warning(f"dropped chunk {number}: {found}")
                    if num_unusable > _MOST_DROPS * request.num_chunks:
                        raise DataError(f"{found}; it is unusable chunk {num_unusable} of round {battles.round}")
                beat()
                heard_seconds = time.monotonic()
                read_seconds += heard_seconds - began_seconds
                wait_seconds = _FIRST_WAIT_SECONDS
                continue
            if stream.look():
                continue
            self._publish(battles, networks)
            if time.monotonic() - heard_seconds > self._settings.patience_seconds:
                raise self._no_actor(f"{len(played)} of {request.num_chunks} chunks of round {battles.round}")
            check_stop()
            self._ask_again()
            beat_without_advance()
            time.sleep(wait_seconds)
            metrics.LEARNER_WAITING.add(wait_seconds)
            wait_seconds = min(wait_seconds * 1.5, _LONGEST_WAIT_SECONDS)
        return played, read_seconds

    def _read_new(self, request: Request, bounds: StreamPosition, number: int) -> _Taken | UnusableChunkError:
        """Return a chunk, or why it cannot be used."""
        try:
            chunk, data = read_manifest(self._store, self._iteration, self._shard, request, number)
            versions = request.battles.round - chunk.version
            if versions > bounds.max_staleness_versions:
                problem = f"the weights of version {chunk.version} are {versions} versions old"
                return UnusableChunkError(number, "stale", problem)
            episodes = read_episodes(self._store, chunk, self._space)
        except UnusableChunkError as unusable:
            return unusable
        digest = hashlib.sha256(data).hexdigest()
        return chunk, TakenChunk(number=number, version=chunk.version, actor=chunk.actor, sha256=digest), episodes

    def _record(
        self, stream: Stream, request: Request, played: list[_Taken], began_seconds: float, read_seconds: float
    ) -> bool:
        """Write what a round learns from to the journal, before it does; return False if another attempt was first."""
        now_seconds, chunks = time.monotonic(), [chunk for chunk, _, _ in played]
        timing = Timing(
            waited=max(0.0, now_seconds - began_seconds - read_seconds),
            read=read_seconds,
            staleness=sum(self._age_seconds(chunk.version) for chunk in chunks) / len(chunks),
            round=self._round_seconds(now_seconds),
        )
        staleness_versions = sum(request.battles.round - chunk.version for chunk in chunks) / len(chunks)
        metrics.STALENESS_SECONDS.set(timing.staleness)
        episodes = [episode for _, _, part in played for episode in part]
        is_first = stream.record(
            entry_of(request, chunks, episodes, timing, staleness_versions), tuple(taken for _, taken, _ in played)
        )
        oldest = min(chunk.version for chunk in chunks)
        self._version_seconds = {n: at for n, at in self._version_seconds.items() if n >= oldest}
        return is_first

    def _age_seconds(self, version: int) -> float:
        """Return how long ago this process published a version; of an earlier attempt's, how long ago it began."""
        return time.monotonic() - self._version_seconds.get(version, self._began_seconds)

    def _round_seconds(self, now_seconds: float) -> float:
        """Return the time since the entry before, and note that this one is written."""
        before_seconds, self._recorded_seconds = self._recorded_seconds, now_seconds
        return now_seconds - before_seconds if before_seconds else 0.0

    def scores(self, battles: EvaluationBattles, networks: Networks) -> list[float]:
        """Return the network's score of each battle, by number."""
        began_cpu_seconds = time.process_time()
        played, _ = self._wait(self._publish(battles, networks))
        self._evaluation_cpu_seconds += time.process_time() - began_cpu_seconds
        return [score for chunk, _ in played for score in chunk.scores]

    def objects(self) -> Mapping[str, bytes]:
        """Return the journal of all rounds that were played."""
        return self._journal.objects(self._num_rounds)

    def close(self) -> None:
        """End the reading threads.

        Stored objects stay, so that a later attempt can continue. The end of the train step and the actors remove them.
        """
        self._readers.shutdown(wait=False, cancel_futures=True)

    def _publish(self, battles: PlannedBattles, networks: Networks, again: Mapping[int, int] | None = None) -> Request:
        """Store what actors are to play next, unless it is there."""
        request = Request(
            battles=battles,
            chunk_battles=self._settings.chunk_battles,
            space=self._space.fingerprint,
            weights={name: self._put_weights(network) for name, network in networks.items()},
            again=dict(again or {}),
            open_chunks=self._stream.open_chunks if self._stream and isinstance(battles, RoundBattles) else None,
        )
        if request != self._current:
            self._put(request)
        self._networks = networks
        self._asked_seconds.setdefault(request.id, time.monotonic())
        self._kept[request.id] = request
        return request

    def _put(self, request: Request) -> None:
        self._store.put(protocol.request_key(self._iteration, self._shard), request.to_json())
        self._current, self._looked_seconds = request, time.monotonic()

    def _ask_again(self) -> None:
        """Store request and weights again if another attempt at the shard, which still runs, replaced or removed them.

        Raises:
            TryAgainError: that attempt is done.
        """
        request = self._current
        if request is None or time.monotonic() - self._looked_seconds < _LOOK_SECONDS:
            return
        self._looked_seconds = time.monotonic()
        for name, stored in request.weights.items():
            if not self._store.exists(stored.key):
                self._stored.discard(stored.sha256)
                self._put_weights(self._networks[name])
        if find_object(self._store, protocol.request_key(self._iteration, self._shard)) == request.to_json():
            return
        if find_manifest(self._store, self._iteration, StepName.TRAIN, self._shard) is not None:
            raise TryAgainError(
                f"another attempt at shard {self._shard} of train, iteration {self._iteration}, is done. Run the step "
                "again: there is nothing left to do"
            )
        self._put(request)

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
        chunk, _ = read_manifest(self._store, self._iteration, self._shard, request, number)
        return chunk, read_episodes(self._store, chunk, self._space)

    def _no_actor(self, there: str) -> NoActorError:
        return NoActorError(f"{there} are there", self._settings.patience_seconds)

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
                battles = request.battles
                raise self._no_actor(f"{len(there)} of {len(wanted)} chunks of {battles.kind} {battles.round}")
            check_stop()
            self._ask_again()
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
        """Remove chunks and weights of all but the last requests. ``actors.keep_chunks`` keeps the chunks."""
        while len(self._kept) > _NUM_KEPT:
            old = self._kept.pop(next(iter(self._kept)))
            self._asked_seconds.pop(old.id, None)
            needed = {stored.sha256 for one in self._kept.values() for stored in one.weights.values()}
            if old.open_chunks is None and not self._settings.keep_chunks:
                self._store.delete_folder(protocol.chunks_folder(self._iteration, self._shard, old.id))
            for stored in old.weights.values():
                if stored.sha256 not in needed:
                    self._store.delete(stored.key)
                    self._stored.discard(stored.sha256)
