"""Measures a learner with many simulated actors: one program stores recorded chunks as fast as they would."""

import heapq
import math
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Self

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from nashdex.actor.step import LONGEST_WAIT_SECONDS, LOOK_SECONDS
from nashdex.core.documents import Model
from nashdex.core.ids import AttemptId
from nashdex.core.journal import JOURNAL, Journal
from nashdex.core.manifest import StoredObject
from nashdex.core.steps import StepName
from nashdex.games.registry import showdown_game
from nashdex.games.showdown.game import ShowdownGame
from nashdex.learning.actors import protocol
from nashdex.learning.actors.learner import ActorsPlayer
from nashdex.learning.actors.protocol import Chunk, Request, Requests
from nashdex.learning.experience.data import fresh_network, prepare_torch
from nashdex.learning.rounds.planned import NEWEST, RoundBattles
from nashdex.learning.rounds.players import StreamPosition, WantedRound, play_planned
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.rollout.session import Session
from nashdex.rollout.sizing import BATTLES_PER_GATEWAY
from nashdex.settings.networks import NetworkSettings
from nashdex.settings.ppo import PpoSettings
from nashdex.settings.run import ActorSettings
from nashdex.store import open_store
from nashdex.store.attempt import find_manifest
from nashdex.store.protocol import ObjectStore
from nashdex.trajectory.shard import MAX_PART_BYTES, ShardWriter
from nashdex_bench.training import open_training

_ATTEMPT = AttemptId("simulated")
_NO_STEP = 1e-12
"""Learning rate: so low that the recorded battles still fit the current weights."""


class ActorsBenchResult(Model):
    """Rates over all rounds after the first. Store requests are counted where they are made."""

    format: str
    network: str
    num_parameters: PositiveInt
    num_actors: PositiveInt
    actor_decisions_per_second: PositiveFloat = Field(description="Decisions per second of one actor, both seats.")
    chunk_battles: PositiveInt
    round_battles: PositiveInt
    overlap_rounds: NonNegativeInt
    max_staleness_versions: NonNegativeInt = Field(description="0: no stream.")
    seconds: PositiveFloat
    cpu_seconds: PositiveFloat = Field(description="CPU time of this process: the learner and the simulated actors.")
    rounds: PositiveInt
    chunks: PositiveInt = Field(description="Chunks that training learned from.")
    decisions: PositiveInt = Field(description="Decisions of both seats that training learned from.")
    decisions_per_second: PositiveFloat
    learner_waiting_share: NonNegativeFloat
    learner_reading_share: NonNegativeFloat = Field(description="Share of the time in which it reads stored chunks.")
    actors_waiting_share: NonNegativeFloat
    staleness_seconds: NonNegativeFloat = Field(
        description="Mean age of the weights that played a round when its last chunk is read."
    )
    staleness_versions: NonNegativeFloat = Field(description="The same in rounds.")
    dropped_chunks: NonNegativeInt
    learner_requests: dict[str, int] = Field(description="Store requests of the learner, by operation.")
    actors_requests: dict[str, int]
    requests_per_second: NonNegativeFloat
    stored_bytes_per_decision: PositiveFloat
    resident_mib: tuple[float, ...] = Field(description="Memory of the whole process after each round.")
    resident_quarters_mib: tuple[float, ...] = Field(description="Their median in each quarter of the rounds.")


def lines(result: ActorsBenchResult) -> Iterator[str]:
    """Yield the result as text."""
    yield (
        f"{result.decisions:,} decisions of {result.chunks:,} chunks in {result.seconds:.0f} s, "
        f"{result.decisions_per_second:,.0f} a second; the learner waits {result.learner_waiting_share:.0%} and reads "
        f"{result.learner_reading_share:.0%} of the time, "
        f"actors wait {result.actors_waiting_share:.0%}"
    )
    yield (
        f"weights are {result.staleness_seconds:.1f} s and {result.staleness_versions:.1f} rounds old when a round's "
        f"last chunk is read; {result.dropped_chunks} chunks were dropped"
    )
    for who, requests in (("learner", result.learner_requests), ("actors", result.actors_requests)):
        yield f"{who}: " + ", ".join(f"{count:,} {name}" for name, count in sorted(requests.items()))
    yield (
        f"{result.requests_per_second:.0f} requests a second; {result.stored_bytes_per_decision:.0f} bytes a decision; "
        "memory, median of each quarter: " + ", ".join(f"{mib:,.0f}" for mib in result.resident_quarters_mib) + " MiB"
    )


_S3_NAMES = {"exists": "head", "put_if_absent": "put"}


def _counting_store(uri: str) -> tuple[ObjectStore, Counter[str]]:
    """Return a store at ``uri`` and its requests by S3's names. Removing a folder counts as one request."""
    requests, lock = Counter[str](), threading.Lock()

    def observe(operation: str, _seconds: float, _size_bytes: int, _failed: bool) -> None:  # noqa: FBT001 - its type
        with lock:
            requests[_S3_NAMES.get(operation, operation)] += 1

    return open_store(uri, observe), requests


class SimulatedActors:
    """Plays requests as actors of the same number would, in time, but stores one recorded chunk again and again."""

    def __init__(
        self, store: ObjectStore, recorded: bytes, chunk_decisions: int, num_actors: int, decisions_per_second: float
    ) -> None:
        self._store = store
        self._recorded = recorded
        self._chunk_decisions = chunk_decisions
        self._num_actors = num_actors
        self._chunk_seconds = chunk_decisions / decisions_per_second
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.playing_seconds = 0.0
        """Sum over all actors."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        """Let each actor act when its time comes: look for a request while it waits, or store what it played."""
        due = [(time.monotonic() + LONGEST_WAIT_SECONDS * k / self._num_actors, k) for k in range(self._num_actors)]
        heapq.heapify(due)
        working: dict[int, tuple[Request, list[int]]] = {}
        seen: dict[int, str] = {}
        given = set[int]()
        """Chunks of a stream that an actor plays or has played."""
        looked: dict[int, float] = {}
        requests = Requests(self._store, 0)
        while not self._stop.is_set():
            moment, actor = due[0]
            if self._stop.wait(max(0.0, moment - time.monotonic())):
                return
            now = time.monotonic()
            if actor in working:
                request, chunks = working[actor]
                self._put(request, actor, chunks.pop(0))
                if not chunks:
                    del working[actor]
                # An actor that is late because this program is slow goes on at once.
                heapq.heapreplace(due, (moment + (self._chunk_seconds if chunks else 0.0), actor))
                continue
            if now - looked.get(actor, -math.inf) > LOOK_SECONDS:
                looked[actor] = now
                find_manifest(self._store, 0, StepName.TRAIN, 0)
            request_or_none = requests.of(0)
            if request_or_none is None:
                heapq.heapreplace(due, (now + LONGEST_WAIT_SECONDS, actor))
                continue
            request = request_or_none
            is_new, seen[actor] = seen.get(actor) != request.id, request.id
            chunks = self._chunks(request, actor, given, is_new=is_new)
            if chunks:
                working[actor] = request, chunks
                for stored in request.weights.values() if is_new else ():
                    self._store.get(stored.key)
            heapq.heapreplace(due, (now + (self._chunk_seconds if chunks else LONGEST_WAIT_SECONDS), actor))

    def _chunks(self, request: Request, actor: int, given: set[int], *, is_new: bool) -> list[int]:
        """Return the chunks that an actor plays next, after it asked the store for each."""
        if request.open_chunks is None:
            chunks = list(range(actor, request.num_chunks, self._num_actors)) if is_new else []
        else:
            given.intersection_update(range(min(request.open_chunks, default=0), max(given, default=0) + 1))
            chunks = [chunk for chunk in request.open_chunks if chunk not in given][:1]
            given.update(chunks)
        for chunk in chunks:
            self._store.exists(protocol.chunk_key(0, 0, request.folder(chunk), chunk))
        return chunks

    def _put(self, request: Request, actor: int, number: int) -> None:
        folder = request.folder(number)
        key = protocol.episodes_key(0, 0, folder, number, _ATTEMPT, "trajectories-00000.lz4")
        self._store.put(key, self._recorded)
        chunk = Chunk(
            request=request.id,
            version=request.battles.round,
            chunk=number,
            actor=actor,
            attempt=_ATTEMPT,
            episodes=(StoredObject.of(key, self._recorded),),
            battles=len(request.planned(number)[1]),
            decisions=self._chunk_decisions,
            cpu_seconds=0.0,
        )
        self._store.put_if_absent(protocol.chunk_key(0, 0, folder, number), chunk.to_json())
        self.playing_seconds += self._chunk_seconds


def run_actors_bench(
    format_id: str,
    network_settings: NetworkSettings,
    settings: PpoSettings,
    *,
    num_actors: int,
    actor_decisions_per_second: float,
    chunk_battles: int,
    rounds: int,
) -> ActorsBenchResult:
    """Learn from rounds of ``settings.round_battles`` battles that simulated actors store in a temporary folder.

    Raises:
        ConfigurationError: it is not a Showdown format, or Node or the gateway's package is missing.
        TryAgainError: a battle could not be finished.
    """
    prepare_torch("cpu", 1)
    game = showdown_game(format_id)
    settings = settings.model_copy(update={"learning_rate": _NO_STEP, "critic_learning_rate": _NO_STEP})
    ahead, versions = settings.overlap_rounds, settings.max_staleness_versions
    with TemporaryDirectory() as folder:
        below = open_store(str(Path(folder)))
        recorded, chunk_decisions, network = _record(below, game, network_settings, chunk_battles)
        learner_store, learner_requests = _counting_store(below.uri)
        actors_store, actors_requests = _counting_store(below.uri)
        player = ActorsPlayer(
            learner_store,
            ActorSettings(shards=num_actors, chunk_battles=chunk_battles),
            network.space,
            iteration=0,
            shard=0,
        )
        simulated = SimulatedActors(actors_store, recorded, chunk_decisions, num_actors, actor_decisions_per_second)
        resident, learned, playing_seconds = list[float](), 0, 0.0
        with simulated, open_training(game, network, settings) as training:
            for number in range(rounds + 1):
                if number == 1:
                    began_seconds, playing_seconds = time.monotonic(), simulated.playing_seconds
                    began_cpu_seconds = time.process_time()
                    learner_requests.clear()
                    actors_requests.clear()
                stream = StreamPosition(versions, saved_round=number) if versions else None
                wanted = WantedRound(_round(number, settings), {NEWEST: network}, ahead, stream)
                episodes = player.play(wanted).episodes
                if ahead:
                    player.ask(WantedRound(_round(number + 1, settings), {NEWEST: network}))
                training.learn(episodes)
                if number:
                    learned += sum(map(len, episodes))
                    resident.append(_resident_mib())
            seconds = time.monotonic() - began_seconds
            cpu_seconds = time.process_time() - began_cpu_seconds
        entries = Journal.from_json(player.objects()[JOURNAL], JOURNAL).entries[1:]
        player.close()
    requests = learner_requests.total() + actors_requests.total()
    return ActorsBenchResult(
        format=format_id,
        network=network_settings.kind,
        num_parameters=network.num_parameters,
        num_actors=num_actors,
        actor_decisions_per_second=actor_decisions_per_second,
        chunk_battles=chunk_battles,
        round_battles=settings.round_battles,
        overlap_rounds=ahead,
        max_staleness_versions=versions,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        rounds=rounds,
        chunks=sum(entry.num_chunks for entry in entries),
        decisions=learned,
        decisions_per_second=learned / seconds,
        learner_waiting_share=sum(entry.waited_seconds for entry in entries) / seconds,
        learner_reading_share=sum(entry.read_seconds for entry in entries) / seconds,
        actors_waiting_share=1 - (simulated.playing_seconds - playing_seconds) / seconds / num_actors,
        staleness_seconds=sum(entry.staleness_seconds for entry in entries) / rounds,
        staleness_versions=sum(entry.staleness_versions for entry in entries) / rounds,
        dropped_chunks=sum(sum(entry.dropped.values()) for entry in entries),
        learner_requests=dict(learner_requests),
        actors_requests=dict(actors_requests),
        requests_per_second=requests / seconds,
        stored_bytes_per_decision=len(recorded) / chunk_decisions,
        resident_mib=tuple(resident),
        resident_quarters_mib=tuple(median(quarter) for quarter in _quarters(resident)),
    )


def _round(number: int, settings: PpoSettings) -> RoundBattles:
    """Return a round of the network with itself."""
    return RoundBattles(
        round=number,
        seed=number,
        num_battles=settings.round_battles,
        opponents={NEWEST: 1.0},
        snapshots=(),
        snapshot_share=0.0,
        records_opponents=False,
        deadline_seconds=300.0,
    )


def _record(
    store: ObjectStore, game: ShowdownGame, settings: NetworkSettings, chunk_battles: int
) -> tuple[bytes, int, ActorCritic]:
    """Play one chunk; return it as stored, its decisions by both seats, and the network."""
    written = list[bytes]()
    with Session(game.open_arena(num_gateways=1), BATTLES_PER_GATEWAY) as session:
        network = fresh_network(session.space, settings, seed=0)
        battles = _round(0, PpoSettings(round_battles=chunk_battles))
        finished = play_planned(session, store, game, battles, {NEWEST: network}, range(chunk_battles))
        part_bytes = MAX_PART_BYTES // 2
        with ShardWriter(lambda _, data: written.append(data), session.space, part_bytes) as writer:
            for one in finished:
                for episode in one.episodes:
                    writer.add(episode)
    (recorded,) = written
    return recorded, sum(len(episode) for one in finished for episode in one.episodes), network


def _quarters(values: list[float]) -> Iterator[list[float]]:
    """Yield four parts of about the same size, or one for each value if there are fewer."""
    num_parts = min(4, len(values))
    for part in range(num_parts):
        yield values[part * len(values) // num_parts : (part + 1) * len(values) // num_parts]


def _resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
