"""Learner and actors, through a store alone: the same battles as in one process, whoever plays them and dies."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from nashdex.actor.playing import ChunkPlayer
from nashdex.core import keys
from nashdex.core.errors import DataError, TryAgainError
from nashdex.core.ids import AttemptId, PolicyId
from nashdex.core.steps import StepName
from nashdex.games.registry import tabular_game_of_run
from nashdex.games.tabular.game import TabularGame
from nashdex.learning.actors import protocol
from nashdex.learning.actors.learner import ActorsPlayer
from nashdex.learning.actors.protocol import Chunk, Request
from nashdex.learning.planned import NEWEST, EvaluationBattles, RoundBattles
from nashdex.learning.rounds import LocalPlayer, Networks
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.store.protocol import ObjectStore
from nashdex.trajectory.episode import Episode
from support.kuhn import RANDOM, kuhn_settings

OLD = PolicyId("snapshot-00000001")
FIRST_ACTION = PolicyId("first-action")
ROUND = RoundBattles(
    round=3,
    seed=11,
    num_battles=50,
    opponents={NEWEST: 0.7, RANDOM: 0.3},
    snapshots=(OLD,),
    snapshot_share=0.4,
    scripted=(FIRST_ACTION,),
    scripted_share=0.3,
    records_opponents=False,
    deadline_seconds=60.0,
)
EVALUATION = EvaluationBattles(
    round=4, seed=12, battles_each=20, matches=(("greedy", RANDOM), ("sampled", OLD)), deadline_seconds=60.0
)


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return open_store(str(tmp_path))


@pytest.fixture
def settings() -> RunSettings:
    actors = {"shards": 2, "chunk_battles": 12, "patience_seconds": 20.0}
    return RunSettings.model_validate(kuhn_settings().model_dump() | {"actors": actors})


@pytest.fixture
def game(store: ObjectStore, settings: RunSettings) -> TabularGame:
    return tabular_game_of_run(store, settings)


@pytest.fixture
def networks(game: TabularGame, settings: RunSettings) -> Networks:
    return {NEWEST: make_network(game.space, settings.network), OLD: make_network(game.space, settings.network)}


def learner(store: ObjectStore, settings: RunSettings, game: TabularGame) -> ActorsPlayer:
    return ActorsPlayer(store, settings.actors, game.space, iteration=1, shard=0)


def request_of(store: ObjectStore) -> Request | None:
    key = protocol.request_key(1, 0)
    return Request.from_json(store.get(key), key) if store.exists(key) else None


@contextmanager
def acting(store: ObjectStore, settings: RunSettings, game: TabularGame, *shards: int) -> Iterator[list[Chunk]]:
    """Run actors in threads; yield the list of the chunks that they have played."""
    done, played = threading.Event(), list[Chunk]()

    def act(shard: int) -> None:
        with ChunkPlayer(store, settings, game, 1, shard, AttemptId(f"attempt-{shard}")) as player:
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


def assert_equal(found: list[Episode], expected: list[Episode]) -> None:
    assert [(e.seed, e.seat, e.policy, e.opponent, e.score) for e in found] == [
        (e.seed, e.seat, e.policy, e.opponent, e.score) for e in expected
    ]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.observations, other.observations)
        np.testing.assert_array_equal(one.actions, other.actions)
        np.testing.assert_allclose(one.log_probs, other.log_probs, atol=1e-6)


@pytest.mark.parametrize("shards", [(0, 1), (1,)], ids=["both actors", "one actor, the other was killed"])
def test_actors_play_the_battles_of_a_training_in_one_process(
    store: ObjectStore, settings: RunSettings, game: TabularGame, networks: Networks, shards: tuple[int, ...]
) -> None:
    alone = LocalPlayer(store, settings, game)
    expected, expected_scores = alone.play(ROUND, networks), alone.scores(EVALUATION, networks)
    alone.close()
    met = {episode.opponent for episode in expected}
    assert met == {NEWEST, OLD, RANDOM, FIRST_ACTION}
    with acting(store, settings, game, *shards) as played:
        player = learner(store, settings, game)
        assert_equal(player.play(ROUND, networks), expected)
        assert player.scores(EVALUATION, networks) == expected_scores
    assert sum(chunk.battles for chunk in played if "round" in chunk.request) >= ROUND.num_battles
    assert player.cpu_seconds > 0


def test_a_learner_that_comes_back_finds_the_chunks_that_it_asked_for(
    store: ObjectStore, settings: RunSettings, game: TabularGame, networks: Networks
) -> None:
    with acting(store, settings, game, 0, 1):
        expected = learner(store, settings, game).play(ROUND, networks)
    assert_equal(learner(store, settings, game).play(ROUND, networks), expected)


def test_other_weights_are_another_request(
    store: ObjectStore, settings: RunSettings, game: TabularGame, networks: Networks
) -> None:
    """A chunk can never be taken for one of other weights or battles."""
    with acting(store, settings, game, 0, 1):
        player = learner(store, settings, game)
        first = player.play(ROUND, networks)
        changed: dict[PolicyId, ActorCritic] = {**networks, NEWEST: make_network(game.space, settings.network)}
        second = player.play(ROUND, changed)
    assert [e.seed for e in first] == [e.seed for e in second]
    assert any((one.log_probs != other.log_probs).any() for one, other in zip(first, second, strict=True))


def play_all(
    store: ObjectStore, settings: RunSettings, game: TabularGame, shard: int, attempt: str, request: Request
) -> list[Chunk]:
    with ChunkPlayer(store, settings, game, 1, shard, AttemptId(attempt)) as player:
        played = []
        while chunk := player.play_next(0, request):
            played.append(chunk)
        return played


def asked(store: ObjectStore, settings: RunSettings, game: TabularGame, networks: Networks) -> Request:
    """Publish a request that nobody answers, and return it."""
    hasty = settings.model_copy(update={"actors": settings.actors.model_copy(update={"patience_seconds": 0.05})})
    with pytest.raises(TryAgainError, match=r"no actor has played for 0 s: 0 of 5 chunks of round 3 are there"):
        learner(store, hasty, game).play(ROUND, networks)
    request = request_of(store)
    assert request is not None
    return request


def test_a_chunk_that_two_actors_play_counts_once(
    store: ObjectStore, settings: RunSettings, game: TabularGame, networks: Networks
) -> None:
    request = asked(store, settings, game, networks)
    alone = settings.model_copy(update={"actors": settings.actors.model_copy(update={"shards": 1})})
    barrier = threading.Barrier(2)

    def race(attempt: str) -> None:
        with ChunkPlayer(store, alone, game, 1, 0, AttemptId(attempt)) as player:
            barrier.wait()
            while player.play_next(0, request):
                pass

    threads = [threading.Thread(target=race, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    folder = protocol.chunks_folder(1, 0, request.id)
    stored = list(store.list(folder))
    manifests = [key for key in stored if key.endswith(".json")]
    assert len(manifests) == request.num_chunks == 5
    named = [part.key for key in manifests for part in Chunk.from_json(store.get(key), key).episodes]
    assert sorted(named) == sorted(set(stored) - set(manifests)), "what lost the race was removed"
    episodes = learner(store, settings, game).play(ROUND, networks)
    assert len({(e.seed, e.seat) for e in episodes}) == len(episodes)


def test_an_altered_chunk_is_found(
    store: ObjectStore, settings: RunSettings, game: TabularGame, networks: Networks
) -> None:
    request = asked(store, settings, game, networks)
    play_all(store, settings, game, 0, "a", request)
    play_all(store, settings, game, 1, "b", request)
    key = protocol.chunk_key(1, 0, request.id, 2)
    (part,) = Chunk.from_json(store.get(key), key).episodes
    store.put(part.key, store.get(part.key)[:-1] + b"?")
    with pytest.raises(DataError, match=r"it was altered or truncated\. Remove the chunk's manifest"):
        learner(store, settings, game).play(ROUND, networks)
    store.put(key, store.get(protocol.chunk_key(1, 0, request.id, 1)))
    with pytest.raises(DataError, match="describes another chunk"):
        learner(store, settings, game).play(ROUND, networks)


def test_weights_that_no_actor_can_load_are_named(
    store: ObjectStore, settings: RunSettings, game: TabularGame, networks: Networks
) -> None:
    request = asked(store, settings, game, networks)
    other = settings.model_copy(update={"network": settings.network.model_copy(update={"hidden_size": 8})})
    with pytest.raises(DataError, match=r"weights/.*\.safetensors does not fit the network"):
        play_all(store, other, game, 0, "a", request)
    stored = request.weights[NEWEST]
    store.put(stored.key, b"\0" * stored.size_bytes)
    with pytest.raises(DataError, match=r"it was altered or truncated\. Restart the train step"):
        play_all(store, settings, game, 0, "a", request)
    assert not list(store.list(protocol.chunks_folder(1, 0, request.id)))


def test_keys_of_the_exchange_are_below_the_train_shard() -> None:
    assert protocol.prefix(1, 0).startswith(keys.shard_prefix(1, StepName.TRAIN, 0) + "/")
