"""Learner and actors, through a store alone: the same battles as in one process, whoever plays them and dies."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nashdex.actor import step
from nashdex.actor.playing import ChunkPlayer
from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, DataError, TryAgainError
from nashdex.core.ids import AttemptId, PolicyId
from nashdex.core.journal import JOURNAL, Journal
from nashdex.core.manifest import StoredObject
from nashdex.core.steps import StepName
from nashdex.games.interface import Arena, Decisions
from nashdex.games.registry import tabular_game_of_run
from nashdex.games.tabular.game import TabularGame
from nashdex.learning.actors import protocol
from nashdex.learning.actors.learner import ActorsPlayer
from nashdex.learning.actors.protocol import Chunk, Request
from nashdex.learning.rounds.planned import NEWEST, EvaluationBattles, RoundBattles
from nashdex.learning.rounds.players import LocalPlayer, Networks, WantedRound
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.interface import Actions
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.rollout.sizing import Sizes
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.store.attempt import Attempt
from nashdex.store.protocol import ObjectStore
from nashdex.trajectory.episode import Episode
from nashdex.trajectory.shard import ShardWriter, decode
from support.acting import acting, num_dropped, request_of
from support.kuhn import RANDOM, kuhn_settings, prepare
from support.memory_store import MemoryStore

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
SIZES = Sizes(gateways=1, concurrent_battles=100, reason="as set")


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
    alone = LocalPlayer(store, game, SIZES)
    expected, expected_scores = alone.play(WantedRound(ROUND, networks)).episodes, alone.scores(EVALUATION, networks)
    alone.close()
    met = {episode.opponent for episode in expected}
    assert met == {NEWEST, OLD, RANDOM, FIRST_ACTION}
    with acting(store, settings, game, *shards) as played:
        player = learner(store, settings, game)
        assert_equal(player.play(WantedRound(ROUND, networks)).episodes, expected)
        assert player.scores(EVALUATION, networks) == expected_scores
    assert sum(chunk.battles for chunk in played if "round" in chunk.request) >= ROUND.num_battles
    assert player.cpu_seconds > 0


def test_networks_on_a_torch_device_play_the_same_battles(
    store: ObjectStore, game: TabularGame, networks: Networks
) -> None:
    """The way of ``cuda``, on the CPU: torch calls the one device ``cpu:0`` too."""
    found = []
    for device in ("cpu", "cpu:0"):
        player = LocalPlayer(store, game, SIZES, device=device)
        found.append(player.play(WantedRound(ROUND, networks)).episodes)
        player.close()
    assert_equal(found[1], found[0])


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
def test_an_actor_without_the_gpu_that_it_is_to_use_ends_at_once(store: ObjectStore, settings: RunSettings) -> None:
    prepare(store, settings, 1, "ppo", RANDOM, {RANDOM: 1.0})
    collect = settings.collect.model_copy(update={"device": "cuda"})
    on_gpu = settings.model_copy(
        update={
            "collect": collect,
            "train": settings.train.model_copy(
                update={"oracle": settings.train.oracle.model_copy(update={"decisions": 100})}
            ),
        }
    )
    with pytest.raises(ConfigurationError, match=r"collect\.device is 'cuda', and torch finds no CUDA device here"):
        step.run(store, on_gpu, 1, 0)


def test_a_learner_that_comes_back_finds_the_chunks_that_it_asked_for(
    store: ObjectStore, settings: RunSettings, game: TabularGame, networks: Networks
) -> None:
    with acting(store, settings, game, 0, 1):
        expected = learner(store, settings, game).play(WantedRound(ROUND, networks)).episodes
    assert_equal(learner(store, settings, game).play(WantedRound(ROUND, networks)).episodes, expected)


@pytest.mark.parametrize("is_at_begin", [True, False], ids=["killed before it learned", "killed within the round"])
def test_a_learner_that_comes_back_counts_the_cpu_time_of_chunks_once(
    store: ObjectStore,
    settings: RunSettings,
    game: TabularGame,
    networks: Networks,
    monkeypatch: pytest.MonkeyPatch,
    is_at_begin: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """A checkpoint within the round has counted it. Evaluations are never counted."""
    with acting(store, settings, game, 0, 1):
        before = learner(store, settings, game)
        before.play(WantedRound(ROUND, networks))
        before.scores(EVALUATION, networks)
    cpu_seconds, listed = 0.0, store.list

    def take_a_second(prefix: str) -> Iterator[str]:
        nonlocal cpu_seconds
        cpu_seconds += 1.0
        return listed(prefix)

    monkeypatch.setattr(time, "process_time", lambda: cpu_seconds)
    monkeypatch.setattr(store, "list", take_a_second)
    resumed = learner(store, settings, game)
    resumed.scores(EVALUATION, networks)
    assert cpu_seconds >= 1
    assert resumed.cpu_seconds == 0
    resumed.play(WantedRound(ROUND, networks, is_at_begin=is_at_begin))
    assert (resumed.cpu_seconds > 1) == is_at_begin


def test_other_weights_are_another_request(
    store: ObjectStore, settings: RunSettings, game: TabularGame, networks: Networks
) -> None:
    """A chunk can never be taken for one of other weights or battles."""
    with acting(store, settings, game, 0, 1):
        player = learner(store, settings, game)
        first = player.play(WantedRound(ROUND, networks)).episodes
        changed: dict[PolicyId, ActorCritic] = {**networks, NEWEST: make_network(game.space, settings.network)}
        second = player.play(WantedRound(ROUND, changed)).episodes
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
        learner(store, hasty, game).play(WantedRound(ROUND, networks))
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
    episodes = learner(store, settings, game).play(WantedRound(ROUND, networks)).episodes
    assert len({(e.seed, e.seat) for e in episodes}) == len(episodes)


def alter_part(store: ObjectStore, request: Request) -> None:
    (part,) = Chunk.from_json(store.get(protocol.chunk_key(1, 0, request.id, 2)), "chunk").episodes
    store.put(part.key, store.get(part.key)[:-1] + b"?")


def exchange_manifests(store: ObjectStore, request: Request) -> None:
    store.put(
        protocol.chunk_key(1, 0, request.id, 2),
        store.get(protocol.chunk_key(1, 0, request.id, 1)),
    )


def put_another_space(store: ObjectStore, request: Request) -> None:
    """Store what an actor of another version of the game might."""
    key = protocol.chunk_key(1, 0, request.id, 2)
    chunk = Chunk.from_json(store.get(key), key)
    (part,) = chunk.episodes
    space, episodes = decode(store.get(part.key), part.key)
    written: list[bytes] = []
    writer = ShardWriter(lambda _, data: written.append(data), space.model_copy(update={"version": "other"}))
    for episode in episodes:
        writer.add(episode)
    writer.close()
    store.put(part.key, written[0])
    store.put(key, chunk.model_copy(update={"episodes": (StoredObject.of(part.key, written[0]),)}).to_json())


@pytest.mark.parametrize(
    ("damage", "cause"),
    [(alter_part, "altered"), (exchange_manifests, "altered"), (put_another_space, "space")],
    ids=["altered", "moved", "another space"],
)
def test_an_unusable_chunk_is_dropped_counted_and_played_again(
    store: ObjectStore,
    settings: RunSettings,
    game: TabularGame,
    networks: Networks,
    damage: Callable[[ObjectStore, Request], None],
    cause: str,
) -> None:
    request = asked(store, settings, game, networks)
    with acting(store, settings, game, 0, 1):
        expected = learner(store, settings, game).play(WantedRound(ROUND, networks)).episodes
        damage(store, request)
        before = num_dropped(cause)
        assert_equal(learner(store, settings, game).play(WantedRound(ROUND, networks)).episodes, expected)
    assert num_dropped(cause) == before + 1


def test_a_chunk_that_stays_unusable_is_an_error(
    store: ObjectStore, settings: RunSettings, game: TabularGame, networks: Networks
) -> None:
    """Someone puts it there again and again."""
    request = asked(store, settings, game, networks)
    play_all(store, settings, game, 0, "a", request)
    play_all(store, settings, game, 1, "b", request)
    key = protocol.chunk_key(1, 0, request.id, 2)
    broken = store.get(key).replace(b'"chunk": 2', b'"chunk": 3')
    done = threading.Event()

    def break_again() -> None:
        while not done.wait(0.002):
            store.put_if_absent(key, broken)

    store.put(key, broken)
    thread = threading.Thread(target=break_again)
    thread.start()
    with pytest.raises(DataError, match=r"was altered: .*; chunk 2 was played 3 times more, in vain"):
        learner(store, settings, game).play(WantedRound(ROUND, networks))
    done.set()
    thread.join()


def test_an_actor_of_another_space_plays_nothing(
    store: ObjectStore, settings: RunSettings, game: TabularGame, networks: Networks
) -> None:
    request = asked(store, settings, game, networks).model_copy(update={"space": "0" * 16})
    with pytest.raises(DataError, match=r"is of space 0{16}; this actor plays kuhn_poker .*Run the same nashdex"):
        play_all(store, settings, game, 0, "a", request)
    assert not list(store.list(protocol.chunks_folder(1, 0, request.id)))


def test_clocks_an_hour_apart_change_nothing(
    store: ObjectStore,
    settings: RunSettings,
    game: TabularGame,
    networks: Networks,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with acting(store, settings, game, 0, 1):
        expected = learner(store, settings, game).play(WantedRound(ROUND, networks)).episodes
    elsewhere = open_store(f"{store.uri}-elsewhere")
    Path(f"{store.uri}-elsewhere").mkdir()
    now = time.time
    main = threading.get_ident()
    monkeypatch.setattr(time, "time", lambda: now() + (0 if threading.get_ident() == main else 3600))
    with acting(elsewhere, settings, game, 0, 1):
        assert_equal(learner(elsewhere, settings, game).play(WantedRound(ROUND, networks)).episodes, expected)


class FullStore(MemoryStore):
    """A store in memory that refuses further episodes while it is full."""

    is_full = True

    def put(self, key: str, data: bytes) -> None:
        """Write an object, or fail in the middle of a chunk."""
        if self.is_full and key.endswith(".lz4"):
            raise TryAgainError("there is no space left in the bucket")
        super().put(key, data)


def test_a_full_bucket_loses_and_doubles_nothing(settings: RunSettings, networks: Networks) -> None:
    store = FullStore()
    game = tabular_game_of_run(store, settings)
    request = asked(store, settings, game, networks)
    with pytest.raises(TryAgainError, match="no space left"):
        play_all(store, settings, game, 0, "a", request)
    assert not list(store.list(protocol.chunks_folder(1, 0, request.id)))
    store.is_full = False
    with acting(store, settings, game, 0, 1):
        found = learner(store, settings, game).play(WantedRound(ROUND, networks)).episodes
    alone = LocalPlayer(store, game, SIZES)
    assert_equal(found, alone.play(WantedRound(ROUND, networks)).episodes)
    alone.close()


def test_an_actor_that_leaves_and_another_that_joins_leave_no_gap(
    store: ObjectStore, settings: RunSettings, game: TabularGame, networks: Networks
) -> None:
    """One plays a chunk and is gone; the same shard comes back as another attempt; a third shard joins."""
    request = asked(store, settings, game, networks)
    with ChunkPlayer(store, settings, game, 1, 1, AttemptId("preempted")) as player:
        assert player.play_next(0, request)
    with acting(store, settings, game, 1, 1000):
        found = learner(store, settings, game).play(WantedRound(ROUND, networks)).episodes
    assert len({(e.seed, e.seat) for e in found}) == len(found)
    alone = LocalPlayer(store, game, SIZES)
    assert_equal(found, alone.play(WantedRound(ROUND, networks)).episodes)
    alone.close()


def test_an_actor_that_joins_plays_what_the_planned_ones_do_not_begin_with(
    store: ObjectStore, settings: RunSettings, game: TabularGame, networks: Networks
) -> None:
    request = asked(store, settings, game, networks)
    with ChunkPlayer(store, settings, game, 1, 1000, AttemptId("joined")) as player:
        played = [chunk.chunk for _ in range(3) if (chunk := player.play_next(0, request))]
    assert sorted(played) == [2, 3, 4]


def test_the_journal_says_what_a_training_learned_from(
    store: ObjectStore, settings: RunSettings, game: TabularGame, networks: Networks
) -> None:
    """Also after the learner was killed: each round counts once."""
    with acting(store, settings, game, 0, 1):
        first = learner(store, settings, game)
        wanted = [WantedRound(ROUND.model_copy(update={"round": number}), networks) for number in range(3)]
        episodes = [first.play(one).episodes for one in wanted[:2]]
        second = learner(store, settings, game)  # it resumes in round 1
        episodes[1] = second.play(wanted[1]).episodes
        episodes.append(second.play(wanted[2]).episodes)
        journal = Journal.from_json(second.objects()[JOURNAL], JOURNAL)
    learned = [sum(len(e) for e in played if e.policy == NEWEST) for played in episodes]
    assert [entry.learned_decisions for entry in journal.entries] == learned
    assert [entry.round for entry in journal.entries] == [0, 1, 2]
    assert {entry.battles for entry in journal.entries} == {ROUND.num_battles}
    assert {entry.num_chunks for entry in journal.entries} == {5}
    assert set().union(*(entry.chunks_by_actor for entry in journal.entries)) == {0, 1}


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


def test_a_learner_that_waits_asks_again_where_another_attempt_replaced_its_request_and_removed_its_weights(
    store: ObjectStore,
    settings: RunSettings,
    game: TabularGame,
    networks: Networks,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An attempt whose node was lost, and came back, is rounds ahead."""
    monkeypatch.setattr("nashdex.learning.actors.learner._LOOK_SECONDS", 0.05)
    alone = LocalPlayer(store, game, SIZES)
    expected = alone.play(WantedRound(ROUND, networks)).episodes
    alone.close()
    player, ahead = learner(store, settings, game), learner(store, settings, game)
    player.ask(WantedRound(ROUND, networks))
    request = request_of(store)
    assert request is not None
    others = {name: make_network(game.space, settings.network) for name in networks}
    ahead.ask(WantedRound(ROUND.model_copy(update={"round": 9}), others))
    for stored in request.weights.values():
        store.delete(stored.key)
    with acting(store, settings, game, 0, 1):
        assert_equal(player.play(WantedRound(ROUND, networks)).episodes, expected)


def test_an_actor_plays_nothing_while_the_weights_are_gone(
    store: ObjectStore, settings: RunSettings, game: TabularGame, networks: Networks
) -> None:
    request = asked(store, settings, game, networks)
    for stored in request.weights.values():
        store.delete(stored.key)
    assert play_all(store, settings, game, 0, "a", request) == []


def test_a_chunk_that_ends_halfway_leaves_its_battles_to_no_other_one(
    store: ObjectStore,
    settings: RunSettings,
    game: TabularGame,
    networks: Networks,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A policy fails while battles run, and the learner has gone on meanwhile, so that the actor does too."""
    request = asked(store, settings, game, networks)
    act, fails, open_arena, arenas = NetworkPolicy.act, [True], TabularGame.open_arena, list[Arena]()

    def fail_once(self: NetworkPolicy, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        if fails:
            fails.clear()
            raise DataError("no answer")
        return act(self, decisions, uniforms)

    def opened(self: TabularGame, *, num_gateways: int) -> Arena:
        arenas.append(open_arena(self, num_gateways=num_gateways))
        return arenas[-1]

    monkeypatch.setattr(NetworkPolicy, "act", fail_once)
    monkeypatch.setattr(TabularGame, "open_arena", opened)
    with ChunkPlayer(store, settings, game, 1, 0, AttemptId("a")) as player:
        with pytest.raises(DataError, match="no answer"):
            player.play_next(0, request)
        assert player.play_next(0, request) is not None
        assert player.play_next(0, request) is not None
    assert len(arenas) == 2, "the second one plays on, where no battle of the failed chunk runs"


def test_a_learner_that_waits_ends_when_another_attempt_is_done(
    store: ObjectStore,
    settings: RunSettings,
    game: TabularGame,
    networks: Networks,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("nashdex.learning.actors.learner._LOOK_SECONDS", 0.05)
    player = learner(store, settings, game)
    player.ask(WantedRound(ROUND, networks))
    Attempt(store, 1, StepName.TRAIN, 0).finish({})
    with pytest.raises(TryAgainError, match="another attempt at shard 0 of train, iteration 1, is done"):
        player.play(WantedRound(ROUND, networks))


def test_keys_of_the_exchange_are_below_the_train_shard() -> None:
    assert protocol.prefix(1, 0).startswith(keys.shard_prefix(1, StepName.TRAIN, 0) + "/")
