"""Plays one chunk of a learner's request at a time, and stores it."""

import time
from collections.abc import Iterable
from typing import Self

from nashdex.core.errors import DataError, NoObjectError
from nashdex.core.ids import AttemptId, PolicyId
from nashdex.core.manifest import StoredObject
from nashdex.games.interface import Game
from nashdex.games.teams import training_teams
from nashdex.learning.actors import protocol
from nashdex.learning.actors.protocol import Chunk, Request
from nashdex.learning.rounds.players import play_planned
from nashdex.policies.archive import read_weights
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.rollout.play import PlayedBattle, require_finished
from nashdex.rollout.session import Session
from nashdex.rollout.sizing import choose_sizes, cores_of_shard
from nashdex.settings.run import RunSettings
from nashdex.store.checked import put_first, read_described
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry import metrics
from nashdex.trajectory.shard import ShardWriter

_PATIENCE = 3.0
"""A chunk of another actor is played here when it takes this many times as long as one of this actor's."""
_LATER = 0.5
"""Added to ``_PATIENCE`` for each place from the chunk's own actor to this one, so that helpers do not all play it."""
_MOST_SPARE_NETWORKS = 4
"""Networks that are kept ready beside the ones in the learners' last requests."""


class ChunkPlayer:
    """Plays chunks on an arena that opens with the first one. Use as a context manager.

    Actor k of n first plays the chunks k, k + n, … of a request. Then it plays chunks that other actors are slow with,
    so that a killed actor leaves no gap. If an actor is absent in a request, the others do not wait for it in the next
    one. In a stream, a chunk is played with the weights that were the newest when it began; if several actors play it,
    the one that is stored first counts. An actor beyond the planned ones plays chunks that those do not begin with.
    """

    def __init__(
        self, store: ObjectStore, settings: RunSettings, game: Game, iteration: int, shard: int, attempt: AttemptId
    ) -> None:
        self._store = store
        self._settings = settings
        self._game = game
        self._teams = training_teams(store, settings.team_schedule, game, iteration)
        self._iteration = iteration
        self._shard = shard
        self._attempt = attempt
        self._sizes = choose_sizes(
            settings.arena, settings.actors.chunk_battles, cores_of_shard(settings.actors.shards)
        )
        self._opened: Session | None = None
        self._networks: dict[str, ActorCritic] = {}
        """By the hash of their weights; the one that played last comes last."""
        self._wanted: dict[int, set[str]] = {}
        """By learner: hashes of the weights that its last request names."""
        self._seen: dict[int, tuple[str, float]] = {}
        """By learner: the id of its request, and when this actor first saw it."""
        self._done: dict[int, set[str]] = {}
        """By learner: keys of the chunks of that request that are known to be stored."""
        self._again: dict[int, dict[int, int]] = {}
        """By learner: chunks of that request that it dropped, and how often."""
        self._absent: dict[int, set[int]] = {}
        """By learner: distances of the actors whose chunks this one played in the request before."""
        self._played_for: dict[int, set[int]] = {}
        """By learner: the same, in this request alone."""
        self._opened_seconds: dict[int, dict[int, float]] = {}
        """By learner: since when this actor knows that a chunk of a stream is open."""
        self._chunk_seconds = 0.0
        self._idle_since_seconds = time.monotonic()
        metrics.DROPPED_CHUNKS.add(0, cause="twice")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._close_session()

    def play_next(self, learner: int, request: Request, *, num_learners: int = 1) -> Chunk | None:
        """Play and store one chunk of a learner's request; return None if there is nothing to do now.

        Actors that serve ``num_learners`` learners in turn take that many times as long to return to this one.

        Raises:
            ConfigurationError: the game cannot be played here.
            DataError: the weights are missing, altered or of another space.
            TryAgainError: a battle could not be finished.
            StoppedError: the process was asked to stop.
        """
        if self._seen.get(learner, ("", 0.0))[0] != request.id:
            self._seen[learner] = request.id, time.monotonic()
            self._absent[learner] = self._played_for.get(learner, set())
            self._played_for[learner] = set()
            self._again[learner] = {}
            self._wanted[learner] = {stored.sha256 for stored in request.weights.values()}
            # The chunks of a stream are numbered through all of its requests; an evaluation's are not among them.
            wanted = {self._key(learner, request, chunk) for chunk in request.open_chunks or ()}
            self._done[learner] = self._done.get(learner, set()) & wanted
        if self._again[learner] != request.again:
            self._again[learner] = request.again
            self._done[learner] -= {self._key(learner, request, chunk) for chunk in request.again}
        turn_seconds = num_learners * self._chunk_seconds
        if self._shard >= self._settings.actors.shards:
            following = self._next_joined
        else:
            following = self._next_chunk if request.open_chunks is None else self._next_open
        number = following(learner, request, turn_seconds)
        return None if number is None else self._play(learner, request, number)

    def _next_chunk(self, learner: int, request: Request, turn_seconds: float) -> int | None:
        """Return the next chunk of a request; None if there is nothing to do now."""
        chunks = range(request.num_chunks)
        own = [chunk for chunk in chunks if self._distance(chunk) == 0]
        missing = self._not_done(learner, request, own)
        if not missing:
            waited_seconds = time.monotonic() - self._seen[learner][1]
            is_late = waited_seconds >= _PATIENCE * max(1, len(own)) * turn_seconds
            others = self._not_done(learner, request, chunks)
            if not is_late:
                others = [chunk for chunk in others if self._distance(chunk) in self._absent[learner]]
            # From the far end, and from different chunks, so that two helpers do not both begin with the same one.
            others.reverse()
            first = len(others) * self._place // self._settings.actors.shards
            missing = others[first:] + others[:first]
        return self._first_missing(learner, request, missing)

    def _next_open(self, learner: int, request: Request, turn_seconds: float) -> int | None:
        """Return the next chunk of a stream; None if there is nothing to do now."""
        now_seconds, open_chunks = time.monotonic(), request.open_chunks or ()
        known = self._known_since(learner, request, now_seconds)
        missing = self._not_done(learner, request, open_chunks)
        each_seconds = self._share(len(open_chunks)) * turn_seconds
        own = [chunk for chunk in missing if self._distance(chunk) == 0]
        late = [
            chunk
            for chunk in missing
            if (distance := self._distance(chunk))
            and now_seconds - known[chunk] >= (_PATIENCE + _LATER * distance) * each_seconds
        ]
        return self._first_missing(learner, request, own + late)

    def _next_joined(self, learner: int, request: Request, turn_seconds: float) -> int | None:
        """Return the next chunk for an actor beyond the planned ones; None if there is nothing to do now.

        Each planned actor is likely to be playing the first missing chunk of its own. So those come last, and only when
        they are late. Actors that joined under consecutive numbers begin with different chunks.
        """
        now_seconds, num_planned = time.monotonic(), self._settings.actors.shards
        known = self._known_since(learner, request, now_seconds)
        missing = self._not_done(learner, request, known)
        in_play = {chunk % num_planned: chunk for chunk in reversed(missing)}.values()
        free = [chunk for chunk in missing if chunk not in in_play]
        first = self._shard % max(1, len(free))
        patience_seconds = _PATIENCE * self._share(len(known)) * turn_seconds
        late = [chunk for chunk in in_play if now_seconds - known[chunk] >= patience_seconds]
        return self._first_missing(learner, request, free[first:] + free[:first] + late)

    def _share(self, num_chunks: int) -> int:
        """Return how many of ``num_chunks`` are a planned actor's, at most."""
        return -(-num_chunks // self._settings.actors.shards)

    def _known_since(self, learner: int, request: Request, now_seconds: float) -> dict[int, float]:
        """Return since when this actor knows of each chunk that may be played."""
        if request.open_chunks is None:
            return dict.fromkeys(range(request.num_chunks), self._seen[learner][1])
        known = self._opened_seconds.get(learner, {})
        self._opened_seconds[learner] = {chunk: known.get(chunk, now_seconds) for chunk in request.open_chunks}
        return self._opened_seconds[learner]

    @property
    def _place(self) -> int:
        """Its place among the planned actors."""
        return self._shard % self._settings.actors.shards

    def _distance(self, chunk: int) -> int:
        """Return how many places this actor comes after the one that owns ``chunk``; 0 if it owns the chunk itself."""
        return (self._shard - chunk) % self._settings.actors.shards

    def _key(self, learner: int, request: Request, chunk: int) -> str:
        return protocol.chunk_key(self._iteration, learner, request.folder(chunk), chunk)

    def _not_done(self, learner: int, request: Request, chunks: Iterable[int]) -> list[int]:
        """Return the ``chunks`` that are not known to be stored."""
        return [chunk for chunk in chunks if self._key(learner, request, chunk) not in self._done[learner]]

    def _first_missing(self, learner: int, request: Request, chunks: list[int]) -> int | None:
        """Return the first of ``chunks`` that is not stored."""
        for chunk in chunks:
            key = self._key(learner, request, chunk)
            if not self._store.exists(key):
                return chunk
            self._done[learner].add(key)
        return None

    def _play(self, learner: int, request: Request, number: int) -> Chunk | None:
        session = self._session()
        if session.space.fingerprint != request.space:
            raise DataError(
                f"the training of shard {learner} is of space {request.space}; this actor plays {session.space.format} "
                f"version {session.space.version} ({session.space.fingerprint}). Run the same nashdex everywhere"
            )
        began_seconds, began_cpu_seconds = time.monotonic(), self._cpu_seconds()
        began_decisions = session.counts.decisions
        try:
            networks = {PolicyId(name): self._network(stored) for name, stored in request.weights.items()}
        except NoObjectError:
            # The learner has gone on; or another attempt at its shard has, and the learner stores them again.
            return None
        battles, numbers = request.planned(number)
        try:
            finished = play_planned(session, self._store, self._game, battles, networks, numbers, self._teams)
        except DataError:
            self._close_session()  # with the battles that still run on its arena: the next chunk begins on another one
            raise
        is_round = battles.kind == "round"
        chunk = Chunk(
            request=request.id,
            version=battles.round,
            chunk=number,
            actor=self._shard,
            attempt=self._attempt,
            episodes=self._put_episodes(learner, request, number, finished) if is_round else (),
            scores=() if is_round else tuple(_score(one) for one in finished),
            battles=len(numbers),
            decisions=session.counts.decisions - began_decisions,
            cpu_seconds=self._cpu_seconds() - began_cpu_seconds,
            seconds=time.monotonic() - began_seconds,
            waited_seconds=began_seconds - self._idle_since_seconds,
        )
        key, data = self._key(learner, request, number), chunk.to_json()
        if put_first(self._store, key, data):
            if distance := self._distance(number):
                self._played_for[learner].add(distance)
        else:
            metrics.DROPPED_CHUNKS.add(cause="twice")
            for part in chunk.episodes:  # another actor was faster
                self._store.delete(part.key)
        self._done[learner].add(key)
        self._idle_since_seconds = time.monotonic()
        self._chunk_seconds = self._idle_since_seconds - began_seconds
        return chunk

    def _put_episodes(
        self, learner: int, request: Request, number: int, finished: list[PlayedBattle]
    ) -> tuple[StoredObject, ...]:
        parts: list[StoredObject] = []

        def write(name: str, data: bytes) -> None:
            key = protocol.episodes_key(self._iteration, learner, request.folder(number), number, self._attempt, name)
            self._store.put(key, data)
            parts.append(StoredObject.of(key, data))

        with ShardWriter(write, self._session().space) as writer:
            for one in finished:
                for episode in one.episodes:
                    if len(episode):
                        writer.add(episode)
        return tuple(parts)

    def _network(self, stored: StoredObject) -> ActorCritic:
        """Return the network with the stored weights.

        Raises:
            DataError: the weights are missing, altered or do not fit.
        """
        network = self._networks.pop(stored.sha256, None) or self._read_network(stored)
        self._networks[stored.sha256] = network
        spare = [digest for digest in self._networks if not any(digest in one for one in self._wanted.values())]
        for digest in spare[:-_MOST_SPARE_NETWORKS]:
            del self._networks[digest]
        return network

    def _read_network(self, stored: StoredObject) -> ActorCritic:
        data = read_described(self._store, stored, "Restart the train step")
        space, settings = self._session().space, self._settings.network
        network = make_network(space, settings)
        network.load_state_dict(read_weights(space, settings, data, f"{self._store.uri}/{stored.key}"))
        return network

    def _session(self) -> Session:
        if self._opened is None:
            arena = self._game.open_arena(num_gateways=self._sizes.gateways)
            self._opened = Session(arena, self._sizes.concurrent_battles, self._settings.collect.device)
        return self._opened

    def _close_session(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _cpu_seconds(self) -> float:
        return time.process_time() + self._session().cpu_seconds()


def _score(finished: PlayedBattle) -> float:
    return require_finished(finished).score(finished.assignment.first_seat)
