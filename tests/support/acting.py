"""Actors in threads, which play what a learner asks for through a store."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import prometheus_client

from nashdex.actor.playing import ChunkPlayer
from nashdex.core.errors import StoppedError
from nashdex.core.ids import new_attempt_id
from nashdex.games.interface import Game
from nashdex.games.space import Space
from nashdex.learning.actors import protocol
from nashdex.learning.actors.learner import ActorsPlayer
from nashdex.learning.actors.protocol import Chunk, Request
from nashdex.learning.rounds.players import Player
from nashdex.oracles.interface import Task
from nashdex.settings.run import RunSettings
from nashdex.store.protocol import ObjectStore


def request_of(store: ObjectStore, iteration: int = 1) -> Request | None:
    """Return what the learner of an iteration's first train shard wants."""
    key = protocol.request_key(iteration, 0)
    return Request.from_json(store.get(key), key) if store.exists(key) else None


def num_dropped(cause: str) -> float:
    """Return the number of dropped chunks, whatever the labels of the process were when they were counted."""
    return sum(
        sample.value
        for metric in prometheus_client.REGISTRY.collect()
        for sample in metric.samples
        if sample.name == "nashdex_dropped_chunks_total" and sample.labels["cause"] == cause
    )


def actors_player(task: Task, space: Space, num_battles: int) -> Player:
    """Return the learner's side of the exchange, although the game is tabular."""
    del num_battles  # actors play chunks
    return ActorsPlayer(task.store, task.settings.actors, space, iteration=task.plan.iteration, shard=task.shard)


@contextmanager
def acting(store: ObjectStore, settings: RunSettings, game: Game, *shards: int) -> Iterator[list[Chunk]]:
    """Run actors in threads; yield the list of the chunks that they have played."""
    done, played = threading.Event(), list[Chunk]()

    def act(shard: int) -> None:
        while not done.is_set():
            # A request to stop is for the whole process, and a test means its learner.
            with suppress(StoppedError), ChunkPlayer(store, settings, game, 1, shard, new_attempt_id()) as player:
                while not done.is_set():
                    request = request_of(store)
                    if request and (chunk := player.play_next(0, request)):
                        played.append(chunk)
                    else:
                        done.wait(0.01)

    threads = [threading.Thread(target=act, args=(shard,)) for shard in shards]
    for thread in threads:
        thread.start()
    try:
        yield played
    finally:
        done.set()
        for thread in threads:
            thread.join()
