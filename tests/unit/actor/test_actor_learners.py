"""Several learners share a pool of actors: each trains on its own battles, and none waits for the others."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nashdex.actor import step
from nashdex.actor.playing import ChunkPlayer
from nashdex.core import keys
from nashdex.core.ids import AttemptId, PolicyId
from nashdex.core.journal import JOURNAL, Journal
from nashdex.core.steps import StepName
from nashdex.games.registry import tabular_game_of_run
from nashdex.games.tabular.game import TabularGame
from nashdex.learning.actors import protocol
from nashdex.learning.actors.learner import ActorsPlayer
from nashdex.learning.actors.protocol import Request, Requests
from nashdex.learning.rounds.planned import NEWEST, RoundBattles
from nashdex.learning.rounds.players import StreamPosition, WantedRound
from nashdex.metagame.plan import IterationPlan
from nashdex.oracles.interface import Task, Trained
from nashdex.oracles.ppo.training import train
from nashdex.policies.archive import weights_bytes
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.settings.ppo import PpoSettings
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.store.attempt import Attempt
from nashdex.store.directory import DirectoryStore
from nashdex.store.documents import read_published
from nashdex.store.protocol import ObjectStore
from support.acting import actors_player
from support.kuhn import FIRST_ACTION, RANDOM, kuhn_settings, prepare, trained
from support.memory_store import MemoryStore

NUM_LEARNERS = 2
CHUNK_BATTLES = 20
CHUNKS_A_ROUND = 4


def settings_of(num_actors: int = 1, *, versions: int = 0) -> RunSettings:
    oracle = {
        "decisions": 1500,
        "round_battles": CHUNK_BATTLES * CHUNKS_A_ROUND,
        "advantages": {"kind": "v-trace"},
        "max_staleness_versions": versions,
    }
    actors = {"shards": num_actors, "chunk_battles": CHUNK_BATTLES, "patience_seconds": 600.0, "keep_chunks": True}
    settings = kuhn_settings(oracle=oracle, battles=100, seeds=NUM_LEARNERS)
    return RunSettings.model_validate(settings.model_dump() | {"actors": actors})


class RecordingStore(DirectoryStore):
    """A store that keeps the order of writes and reads."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.written: list[str] = []
        self.read: list[str] = []

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Write an object unless there is one, and note it."""
        self.written.append(key)
        return super().put_if_absent(key, data)

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        """Return an object, and note it."""
        self.read.append(key)
        return super().get(key, max_bytes)

    def chunks(self) -> list[int]:
        """Return the learners that chunks were stored for, in order."""
        prefixes = [f"{protocol.prefix(1, learner)}/chunks/" for learner in range(NUM_LEARNERS)]
        return [prefixes.index(prefix) for key in self.written for prefix in prefixes if key.startswith(prefix)]


def begun(store: ObjectStore, settings: RunSettings) -> IterationPlan:
    """Store a clone and the battles in which it met itself."""
    learner = trained(store, settings, 0, "clone", RANDOM, {RANDOM: 0.5, FIRST_ACTION: 0.5}, "initial").policy
    prepare(store, settings, 1, "ppo", learner, {learner: 1.0}, "self-play")
    return read_published(store, 1, keys.PLAN, IterationPlan)


@pytest.mark.slow
@pytest.mark.parametrize("versions", [0, 2], ids=["lock-step", "stream"])
def test_two_learners_train_on_the_battles_of_one_actor(tmp_path: Path, versions: int) -> None:
    settings = settings_of(versions=versions)
    store = open_store(str(tmp_path))
    plan = begun(store, settings)
    section = settings.train.oracle
    assert isinstance(section, PpoSettings)

    def learn(shard: int) -> Trained:
        attempt = Attempt(store, 1, StepName.TRAIN, shard)
        result = train(Task(store, settings, plan, shard, attempt.id), section, actors_player)
        attempt.finish({}, keeps=frozenset({keys.EXCHANGE}))
        return result

    with ThreadPoolExecutor(NUM_LEARNERS + 1) as pool:
        learning = [pool.submit(learn, shard) for shard in range(NUM_LEARNERS)]
        actor = pool.submit(step.run, store, settings, 1, 0)
        results = [one.result() for one in learning]
        acted = actor.result()
    policies = [result.policy for result in results]
    assert len({weights_bytes(policy) for policy in policies if isinstance(policy, ActorCritic)}) == NUM_LEARNERS
    num_chunks = 0
    for shard, result in enumerate(results):
        journal = Journal.from_json(result.objects[JOURNAL], JOURNAL)
        assert list(journal.problems()) == []
        assert journal.learned_decisions == result.num_decisions
        assert all(entry.chunks_by_actor == {0: CHUNKS_A_ROUND} for entry in journal.entries)
        stored = [key for key in store.list(f"{protocol.prefix(1, shard)}/chunks/") if key.endswith(".json")]
        num_closed = sum(entry.num_chunks + sum(entry.dropped.values()) for entry in journal.entries)
        num_left_open = len(stored) - num_closed
        assert 0 <= num_left_open <= CHUNKS_A_ROUND * versions
        num_chunks += len(stored)
    assert acted.counts["chunks"] == num_chunks
    assert acted.counts["battles"] == num_chunks * CHUNK_BATTLES


def battles_of(snapshots: tuple[PolicyId, ...] = ()) -> RoundBattles:
    return RoundBattles(
        round=1,
        seed=5,
        num_battles=CHUNK_BATTLES * CHUNKS_A_ROUND,
        opponents={NEWEST: 1.0},
        snapshots=snapshots,
        snapshot_share=0.5,
        records_opponents=False,
        deadline_seconds=60.0,
    )


def open_streams(
    store: ObjectStore,
    settings: RunSettings,
    game: TabularGame,
    learners: tuple[int, ...],
    snapshots: tuple[PolicyId, ...] = (),
) -> None:
    """Let learners ask for chunks that none of them takes."""
    for shard in learners:
        networks = {name: make_network(game.space, settings.network) for name in (NEWEST, *snapshots)}
        player = ActorsPlayer(store, settings.actors, game.space, iteration=1, shard=shard)
        player.ask(WantedRound(battles_of(snapshots), networks, stream=StreamPosition(2)))
        player.close()


@pytest.mark.parametrize("asking", [(0, 1), (1,)], ids=["both ask", "one asks"])
def test_an_actor_plays_for_learners_in_turn(
    asking: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step, "LOOK_SECONDS", 0.05)
    settings = settings_of(versions=2)
    store = RecordingStore(tmp_path)
    begun(store, settings)
    open_streams(store, settings, tabular_game_of_run(store, settings), asking)
    expected = list(asking) * CHUNKS_A_ROUND * 2
    actor = threading.Thread(target=step.run, args=(store, settings, 1, 0))
    actor.start()
    while len(store.chunks()) < len(expected) and actor.is_alive():
        time.sleep(0.01)
    for shard in range(NUM_LEARNERS):
        Attempt(store, 1, StepName.TRAIN, shard).finish({})
    actor.join()
    assert store.chunks() == expected


def test_an_actor_reads_the_weights_of_all_learners_once(tmp_path: Path) -> None:
    settings = settings_of(versions=2)
    store = RecordingStore(tmp_path)
    game = tabular_game_of_run(store, settings)
    open_streams(store, settings, game, (0, 1), tuple(PolicyId(f"snapshot-{number:08d}") for number in range(5)))
    requests = Requests(store, 1)
    with ChunkPlayer(store, settings, game, 1, 0, AttemptId("a")) as player:
        for learner in (0, 1) * CHUNKS_A_ROUND:
            request = requests.of(learner)
            assert request is not None
            assert player.play_next(learner, request, num_learners=2)
    read = [key for key in store.read if key.endswith(".safetensors")]
    assert len(read) == len(set(read)) == 12


def test_an_actor_that_finds_nothing_to_play_reads_no_weights(tmp_path: Path) -> None:
    """So a version of the weights is read at most once a chunk, however many actors wait."""
    settings = settings_of(versions=2)
    store = RecordingStore(tmp_path)
    game = tabular_game_of_run(store, settings)
    open_streams(store, settings, game, (0,), (PolicyId("snapshot-00000000"),))
    request = Requests(store, 1).of(0)
    assert request is not None
    with ChunkPlayer(store, settings, game, 1, 0, AttemptId("a")) as player:
        while player.play_next(0, request):
            pass
    store.read.clear()
    with ChunkPlayer(store, settings, game, 1, 1, AttemptId("b")) as waiting:
        assert waiting.play_next(0, request) is None
    assert not [key for key in store.read if key.endswith(".safetensors")]


@pytest.mark.parametrize(("num_learners", "helps"), [(1, True), (4, False)])
def test_an_actor_that_learners_share_is_given_more_time(
    num_learners: int,
    helps: bool,  # noqa: FBT001 - a parameter of the test
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else its chunks would be played twice: it plays for the other learners before this one."""
    settings = settings_of(2)
    store = MemoryStore()
    game = tabular_game_of_run(store, settings)
    network = make_network(game.space, settings.network)
    learner = ActorsPlayer(store, settings.actors, game.space, iteration=1, shard=0)
    learner.ask(WantedRound(battles_of(), {NEWEST: network}))
    learner.close()
    request = Requests(store, 1).of(0)
    assert isinstance(request, Request)
    now_seconds = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now_seconds)
    with ChunkPlayer(store, settings, game, 1, 0, AttemptId("a")) as player:
        put = store.put_if_absent

        def take_a_second(key: str, data: bytes) -> bool:
            nonlocal now_seconds
            now_seconds += 1.0
            return put(key, data)

        monkeypatch.setattr(store, "put_if_absent", take_a_second)
        own = [player.play_next(0, request, num_learners=num_learners) for _ in range(2)]
        assert [chunk.chunk for chunk in own if chunk] == [0, 2]
        now_seconds += 10.0
        helped = player.play_next(0, request, num_learners=num_learners)
        assert (helped is not None) == helps
