"""The learner's side: it asks for battles, waits for their chunks, and reads them in order."""

import time

from nashdex.core.errors import DataError, TryAgainError
from nashdex.core.manifest import StoredObject
from nashdex.core.stopping import check_stop
from nashdex.games.space import Space
from nashdex.learning.actors import protocol
from nashdex.learning.actors.protocol import Chunk, Request
from nashdex.learning.actors.settings import ActorSettings
from nashdex.learning.planned import EvaluationBattles, PlannedBattles, RoundBattles
from nashdex.learning.rounds import Networks
from nashdex.policies.archive import weights_bytes
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.store.checked import MAX_MANIFEST_BYTES, read_described
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry import metrics
from nashdex.telemetry.heartbeat import beat, beat_without_advance
from nashdex.trajectory.episode import Episode
from nashdex.trajectory.shard import decode

_FIRST_WAIT_SECONDS = 0.02
_LONGEST_WAIT_SECONDS = 1.0
_NUM_KEPT = 4
"""Requests whose chunks stay: two rounds and the evaluations after them."""


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
        self._kept: list[Request] = []
        self._began_cpu_seconds = time.process_time()
        self._actors_cpu_seconds = 0.0
        self._stored: set[str] = set()
        """Hashes of weights that are stored."""

    @property
    def cpu_seconds(self) -> float:
        """CPU time of this process and of what actors played for it, without evaluations."""
        return time.process_time() - self._began_cpu_seconds + self._actors_cpu_seconds

    def play(self, battles: RoundBattles, networks: Networks) -> list[Episode]:
        """Return the recorded episodes of a round, in the order of its battles."""
        chunks = self._ask(battles, networks)
        self._actors_cpu_seconds += sum(chunk.cpu_seconds for chunk in chunks)
        episodes: list[Episode] = []
        for chunk in chunks:
            episodes += self._episodes(chunk)
        return episodes

    def scores(self, battles: EvaluationBattles, networks: Networks) -> list[float]:
        """Return the network's score of each battle, by number."""
        chunks = self._ask(battles, networks)
        scores = [score for chunk in chunks for score in chunk.scores]
        if len(scores) != battles.size:
            raise DataError(f"the actors' chunks hold {len(scores)} scores, expected {battles.size}; remove them")
        return scores

    def close(self) -> None:
        """Do nothing: what is stored lets a later attempt go on. The end of the train step and actors remove it."""

    def _ask(self, battles: PlannedBattles, networks: Networks) -> list[Chunk]:
        """Publish a request; return its chunks, in order, when all are there."""
        request = Request(
            battles=battles,
            chunk_battles=self._settings.chunk_battles,
            weights={name: self._put_weights(network) for name, network in networks.items()},
        )
        self._store.put(protocol.request_key(self._iteration, self._shard), request.to_json())
        began_seconds = time.monotonic()
        self._wait(request)
        metrics.LEARNER_WAITING.add(time.monotonic() - began_seconds)
        self._keep(request)
        return [self._chunk(request, number) for number in range(request.num_chunks)]

    def _wait(self, request: Request) -> None:
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

    def _chunk(self, request: Request, number: int) -> Chunk:
        key = protocol.chunk_key(self._iteration, self._shard, request.id, number)
        chunk = Chunk.from_json(self._store.get(key, MAX_MANIFEST_BYTES), f"{self._store.uri}/{key}")
        if (chunk.request, chunk.chunk, chunk.battles) != (request.id, number, len(request.numbers(number))):
            raise DataError(f"{self._store.uri}/{key} describes another chunk; it was moved or altered. Remove it")
        return chunk

    def _episodes(self, chunk: Chunk) -> list[Episode]:
        found: list[Episode] = []
        for part in chunk.episodes:
            space, episodes = decode(read_described(self._store, part, "Remove the chunk's manifest"), part.key)
            if space.fingerprint != self._space.fingerprint:
                raise DataError(
                    f"{part.key} is of {space.format} version {space.version} ({space.fingerprint}); the network is of "
                    f"version {self._space.version} ({self._space.fingerprint}). Run the same nashdex everywhere"
                )
            found += episodes
        return found

    def _put_weights(self, network: ActorCritic) -> StoredObject:
        """Store the weights unless they are there."""
        data = weights_bytes(network)
        stored = StoredObject.of(lambda digest: protocol.weights_key(self._iteration, self._shard, digest), data)
        if stored.sha256 not in self._stored:
            self._store.put_if_absent(stored.key, data)
            self._stored.add(stored.sha256)
        return stored

    def _keep(self, request: Request) -> None:
        """Remove chunks and weights that neither this request nor the one before needs."""
        self._kept.append(request)
        if len(self._kept) <= _NUM_KEPT:
            return
        old = self._kept.pop(0)
        needed = {stored.sha256 for one in self._kept for stored in one.weights.values()}
        self._store.delete_folder(protocol.chunks_folder(self._iteration, self._shard, old.id))
        for stored in old.weights.values():
            if stored.sha256 not in needed:
                self._store.delete(stored.key)
                self._stored.discard(stored.sha256)
