"""A stream of chunks: what the learner drops and counts, how many actors it needs, and what kills leave."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from nashdex.actor.playing import ChunkPlayer
from nashdex.core.errors import DataError, TryAgainError
from nashdex.core.ids import AttemptId
from nashdex.core.journal import Entry, Journal, journal_folder
from nashdex.core.manifest import StoredObject
from nashdex.games.registry import tabular_game_of_run
from nashdex.games.tabular.game import TabularGame
from nashdex.learning.actors import protocol
from nashdex.learning.actors.learner import ActorsPlayer
from nashdex.learning.actors.protocol import Chunk, Request
from nashdex.learning.rounds.planned import NEWEST, EvaluationBattles, RoundBattles
from nashdex.learning.rounds.players import Networks, StreamPosition, WantedRound
from nashdex.policies.networks.actor_critic import make_network
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.store.protocol import ObjectStore
from nashdex.trajectory.episode import Episode
from nashdex.trajectory.shard import ShardWriter, decode
from support.acting import acting, num_dropped, request_of
from support.kuhn import RANDOM, kuhn_settings

CHUNKS_A_ROUND = 3
BOUNDS = StreamPosition(2)
OPEN = CHUNKS_A_ROUND * BOUNDS.max_staleness_versions


def battles_of(number: int) -> RoundBattles:
    return RoundBattles(
        round=number,
        seed=100 + number,
        num_battles=30,
        opponents={NEWEST: 0.7, RANDOM: 0.3},
        snapshots=(),
        snapshot_share=0.0,
        records_opponents=False,
        deadline_seconds=60.0,
    )


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return open_store(str(tmp_path))


@pytest.fixture
def settings() -> RunSettings:
    actors = {"shards": 2, "chunk_battles": 10, "patience_seconds": 20.0}
    return RunSettings.model_validate(kuhn_settings().model_dump() | {"actors": actors})


@pytest.fixture
def game(store: ObjectStore, settings: RunSettings) -> TabularGame:
    return tabular_game_of_run(store, settings)


class Learner:
    """The learner of a training that takes one round after another."""

    def __init__(self, store: ObjectStore, settings: RunSettings, game: TabularGame) -> None:
        self._player = ActorsPlayer(store, settings.actors, game.space, iteration=1, shard=0)
        self._store = store
        self._game = game
        self._settings = settings

    def networks(self) -> Networks:
        """Return the network, the same for each version."""
        return {NEWEST: make_network(self._game.space, self._settings.network)}

    def take(
        self, number: int, networks: Networks, *, is_at_begin: bool = True, bounds: StreamPosition = BOUNDS
    ) -> list[Episode]:
        """Return what a round learns from, when a checkpoint of its begin is stored."""
        stream = replace(bounds, saved_round=number)
        wanted = WantedRound(battles_of(number), networks, stream=stream, is_at_begin=is_at_begin)
        return self._player.play(wanted).episodes

    def offer(self, networks: Networks, number: int = 0) -> None:
        """Ask for a round; the first time, open the stream."""
        self._player.ask(WantedRound(battles_of(number), networks, stream=BOUNDS))

    def evaluate(self, networks: Networks, num_chunks: int) -> list[float]:
        """Return the scores of an evaluation."""
        size = num_chunks * self._settings.actors.chunk_battles
        matches = (("greedy", RANDOM),)
        battles = EvaluationBattles(round=0, seed=1, battles_each=size, matches=matches, deadline_seconds=60.0)
        return self._player.scores(battles, networks)

    def entry(self, number: int) -> Entry:
        """Return the entry of one round."""
        return Entry.from_json(self._store.get(f"{journal_folder(1, 0)}/{number:08d}.json"), "entry")

    def entries(self, num_rounds: int) -> tuple[Entry, ...]:
        """Return the journal of the rounds from 1 on."""
        return tuple(map(self.entry, range(1, num_rounds + 1)))


@pytest.fixture
def learner(store: ObjectStore, settings: RunSettings, game: TabularGame) -> Learner:
    return Learner(store, settings, game)


@pytest.fixture
def networks(learner: Learner) -> Networks:
    return learner.networks()


@pytest.fixture
def play(store: ObjectStore, settings: RunSettings, game: TabularGame) -> Iterator[Callable[[int, int], list[int]]]:
    """Let an actor play up to a number of chunks of what is asked for now; return which."""
    actors: dict[int, ChunkPlayer] = {}

    def play_some(shard: int, most: int) -> list[int]:
        actor = actors.setdefault(shard, ChunkPlayer(store, settings, game, 1, shard, AttemptId(f"attempt-{shard}")))
        request = request_of(store)
        played: list[int] = []
        assert request is not None
        while len(played) < most and (chunk := actor.play_next(0, request)):
            played.append(chunk.chunk)
        return played

    yield play_some
    for actor in actors.values():
        actor.__exit__()


def chunk_key(number: int) -> str:
    return protocol.chunk_key(1, 0, protocol.stream_folder(number), number)


def seeds(episodes: list[Episode]) -> set[tuple[int, int]]:
    return {(episode.seed, episode.seat) for episode in episodes}


Play = Callable[[int, int], list[int]]


def test_actors_that_are_ahead_wait(learner: Learner, networks: Networks, play: Play) -> None:
    learner.offer(networks)
    assert play(0, 2) == [0, 2]
    assert play(1, 2) == [1, 3]
    # The rest in either's hands: one that is slow, as on a busy machine, is helped.
    assert sorted(play(0, 100) + play(1, 100)) == [4, 5]
    first = learner.take(1, networks)
    assert sorted(play(0, 100) + play(1, 100)) == [6, 7, 8]
    second = learner.take(2, networks)
    assert not seeds(first) & seeds(second)
    assert [[c.number for c in entry.chunks] for entry in learner.entries(2)] == [[0, 1, 2], [3, 4, 5]]
    assert [entry.staleness_versions for entry in learner.entries(2)] == [1.0, 2.0]


def test_an_evaluation_hides_no_chunk_of_the_stream(
    store: ObjectStore, learner: Learner, networks: Networks, play: Play
) -> None:
    """Both number their chunks from 0."""
    evaluating = threading.Thread(target=learner.evaluate, args=(networks, OPEN))
    evaluating.start()
    num_played = 0
    while num_played < OPEN:
        num_played += len(play(0, 100)) if request_of(store) else 0
        time.sleep(0.01)
    evaluating.join()
    learner.offer(networks)
    assert play(0, 3) == [0, 2, 4]


def test_one_actor_of_two_keeps_the_learner_going(
    store: ObjectStore, settings: RunSettings, game: TabularGame, learner: Learner, networks: Networks
) -> None:
    """The other one was never there; then a third one joins, under a shard that nobody planned."""
    learner.offer(networks)
    with acting(store, settings, game, 1):
        episodes = [learner.take(number, networks) for number in range(1, 6)]
    with acting(store, settings, game, 1, 1000):
        episodes += [learner.take(number, networks) for number in range(6, 9)]
    assert len(set().union(*map(seeds, episodes))) == sum(map(len, episodes))
    assert set().union(*(entry.chunks_by_actor for entry in learner.entries(5))) == {1}
    taken = [chunk.number for entry in learner.entries(8) for chunk in entry.chunks]
    assert len(taken) == len(set(taken)) == 8 * CHUNKS_A_ROUND


def test_actors_that_join_play_what_the_planned_ones_do_not(
    learner: Learner, networks: Networks, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planned actors are playing chunks 0 and 1."""
    learner.offer(networks)
    assert sorted(play(1000, 1) + play(1001, 1)) == [2, 3]
    assert sorted(play(1000, 1) + play(1001, 1)) == [4, 5]
    monkeypatch.setattr("nashdex.actor.playing._PATIENCE", 1e9)
    assert play(1000, 1) == []
    monkeypatch.setattr("nashdex.actor.playing._PATIENCE", 0.0)
    assert sorted(play(1000, 100)) == [0, 1]


def test_nobody_plays(store: ObjectStore, settings: RunSettings, game: TabularGame, networks: Networks) -> None:
    hasty = settings.model_copy(update={"actors": settings.actors.model_copy(update={"patience_seconds": 0.05})})
    with pytest.raises(TryAgainError, match="no actor has played for 0 s: 0 of 3 chunks of round 1 are there"):
        Learner(store, hasty, game).take(1, networks)


def test_chunks_of_weights_that_are_too_old_are_dropped_and_counted(
    store: ObjectStore,
    settings: RunSettings,
    game: TabularGame,
    learner: Learner,
    networks: Networks,
    play: Play,
) -> None:
    learner.offer(networks)
    assert play(0, 1) == [0]
    before = num_dropped("stale")
    with acting(store, settings, game, 0, 1):
        learner.take(9, networks)
    entry = learner.entry(9)
    assert entry.dropped["stale"] == num_dropped("stale") - before >= 1
    assert 0 not in [chunk.number for chunk in entry.chunks]


def alter_part(store: ObjectStore, number: int) -> None:
    (part,) = Chunk.from_json(store.get(chunk_key(number)), "chunk").episodes
    store.put(part.key, store.get(part.key)[:-1] + b"?")


def move(store: ObjectStore, number: int) -> None:
    store.put(chunk_key(number), store.get(chunk_key(number + 2)))


def put_another_space(store: ObjectStore, number: int) -> None:
    """Store what an actor of another version of the game might."""
    chunk = Chunk.from_json(store.get(chunk_key(number)), "chunk")
    (part,) = chunk.episodes
    space, episodes = decode(store.get(part.key), part.key)
    written: list[bytes] = []
    writer = ShardWriter(lambda _, data: written.append(data), space.model_copy(update={"version": "other"}))
    for episode in episodes:
        writer.add(episode)
    writer.close()
    store.put(part.key, written[0])
    altered = chunk.model_copy(update={"episodes": (StoredObject.of(part.key, written[0]),)})
    store.put(chunk_key(number), altered.to_json())


@pytest.mark.parametrize(
    ("damage", "cause"), [(alter_part, "altered"), (move, "altered"), (put_another_space, "space")]
)
def test_an_unusable_chunk_is_dropped_and_another_taken(
    store: ObjectStore,
    settings: RunSettings,
    game: TabularGame,
    learner: Learner,
    networks: Networks,
    play: Play,
    damage: Callable[[ObjectStore, int], None],
    cause: str,
) -> None:
    learner.offer(networks)
    play(0, 3)
    damage(store, 0)
    before = num_dropped(cause)
    with acting(store, settings, game, 0, 1):
        episodes = learner.take(1, networks)
    assert num_dropped(cause) == before + 1
    (entry,) = learner.entries(1)
    assert entry.dropped == {cause: 1}
    assert entry.num_chunks == CHUNKS_A_ROUND
    assert 0 not in [chunk.number for chunk in entry.chunks]
    assert len(seeds(episodes)) == len(episodes)


def test_a_chunk_that_comes_when_its_round_is_over_is_removed(
    store: ObjectStore, settings: RunSettings, game: TabularGame, learner: Learner, networks: Networks, play: Play
) -> None:
    """An actor of an earlier attempt plays a number that the learner took from another actor and removed."""
    learner.offer(networks)
    old: Request | None = request_of(store)
    assert old is not None
    play(0, 3)
    play(1, 3)
    learner.take(1, networks)
    play(0, 3)
    learner.take(2, networks)  # removes what round 1 took
    assert not store.exists(chunk_key(0))
    with ChunkPlayer(store, settings, game, 1, 0, AttemptId("slow")) as slow:
        late = slow.play_next(0, old)
    assert late is not None
    assert late.chunk == 0
    before = num_dropped("twice")
    with acting(store, settings, game, 0, 1):
        learner.take(3, networks)
        learner.take(4, networks)
    assert num_dropped("twice") >= before + 1
    assert not store.exists(chunk_key(0))
    assert 0 not in [chunk.number for entry in learner.entries(4)[1:] for chunk in entry.chunks]


def test_a_recorded_round_is_read_again_even_where_nobody_plays(
    store: ObjectStore, settings: RunSettings, game: TabularGame, learner: Learner, networks: Networks, play: Play
) -> None:
    learner.offer(networks)
    play(1, 3)
    first = learner.take(1, networks)
    again = Learner(store, settings, game)
    assert [e.seed for e in again.take(1, networks, is_at_begin=False)] == [e.seed for e in first]
    assert again.entries(1) == learner.entries(1)


def test_a_recorded_round_whose_chunks_were_altered_takes_others_if_nothing_is_learned(
    store: ObjectStore, settings: RunSettings, game: TabularGame, learner: Learner, networks: Networks, play: Play
) -> None:
    learner.offer(networks)
    play(0, 3)
    learner.take(1, networks)
    next_chunk = learner.entry(1).next_chunk
    alter_part(store, 2)
    with pytest.raises(DataError, match=r"round 1 was learned from in part\. Remove checkpoint\.json"):
        Learner(store, settings, game).take(1, networks, is_at_begin=False)
    again = Learner(store, settings, game)
    before = num_dropped("altered")
    with acting(store, settings, game, 0, 1):
        again.take(1, networks)
    assert num_dropped("altered") == before + 1
    (entry,) = again.entries(1)
    assert min(chunk.number for chunk in entry.chunks) >= next_chunk
    assert list(Journal(entries=(entry,)).problems()) == []


def test_two_attempts_side_by_side_learn_from_the_same_chunks(
    store: ObjectStore,
    settings: RunSettings,
    game: TabularGame,
    learner: Learner,
    networks: Networks,
    play: Play,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A node was lost and came back. The second attempt records a round that the first one has taken chunks for."""
    learner.offer(networks)
    assert play(0, 3) == [0, 2, 4]
    second = Learner(store, settings, game)
    found: list[list[Episode]] = []
    put = {"put": store.put, "put_if_absent": store.put_if_absent}

    def after_the_second(name: str, key: str, data: bytes) -> bool | None:
        if "/journal/" in key and not found:
            found.append([])
            play(1, 3)
            found[0] = second.take(1, networks)
        return put[name](key, data)

    for name in put:
        monkeypatch.setattr(store, name, partial(after_the_second, name))
    first = learner.take(1, networks)
    assert seeds(first) == seeds(found[0])
    assert [chunk.number for chunk in learner.entry(1).chunks] == [0, 1, 2]
    play(0, 9)
    assert [e.seed for e in learner.take(2, networks)] == [e.seed for e in second.take(2, networks)]
    assert list(Journal(entries=learner.entries(2)).problems()) == []


def test_an_attempt_takes_no_chunk_of_the_other_one_s_next_round(
    store: ObjectStore,
    settings: RunSettings,
    game: TabularGame,
    learner: Learner,
    networks: Networks,
    play: Play,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its weights are newer than those of the round: it is neither altered nor counted as dropped."""
    learner.offer(networks)
    play(0, 3)
    second = Learner(store, settings, game)
    found: list[list[Episode]] = []
    list_keys = store.list

    def after_the_first(prefix: str) -> Iterator[str]:
        if not found:
            found.append([])
            found[0] = learner.take(1, networks)
            learner.offer(networks, 2)
            play(1, 3)
        return list_keys(prefix)

    monkeypatch.setattr(store, "list", after_the_first)
    before = num_dropped("altered")
    assert [e.seed for e in second.take(1, networks)] == [e.seed for e in found[0]]
    assert num_dropped("altered") == before


def test_an_attempt_whose_recorded_chunks_another_one_removed_ends_and_leaves_the_journal(
    store: ObjectStore, settings: RunSettings, game: TabularGame, learner: Learner, networks: Networks, play: Play
) -> None:
    learner.offer(networks)
    play(0, 3)
    play(1, 3)
    learner.take(1, networks)
    learner.take(2, networks)  # a checkpoint is stored: the chunks of round 1 are removed
    entry = learner.entry(1)
    with pytest.raises(TryAgainError, match="another attempt at the shard is further than round 1"):
        Learner(store, settings, game).take(1, networks, bounds=replace(BOUNDS, is_overtaken=lambda: True))
    assert learner.entry(1) == entry


def test_a_training_of_other_weights_takes_none_of_the_recorded_chunks(
    store: ObjectStore, settings: RunSettings, game: TabularGame, learner: Learner, networks: Networks, play: Play
) -> None:
    """As after its checkpoint was removed, and with it the rounds that led to these weights."""
    learner.offer(networks)
    play(0, 3)
    learner.take(1, networks)
    other = Learner(store, settings, game)
    with acting(store, settings, game, 0, 1):
        other.take(1, other.networks())
    (entry,) = other.entries(1)
    assert min(chunk.number for chunk in entry.chunks) >= OPEN
    assert list(Journal(entries=(entry,)).problems()) == []


def test_a_journal_that_does_not_add_up_is_a_problem(learner: Learner, networks: Networks, play: Play) -> None:
    learner.offer(networks)
    play(0, 3)
    learner.take(1, networks)
    (entry,) = learner.entries(1)
    again = entry.model_copy(update={"round": 2})
    assert list(Journal(entries=(entry, again)).problems()) == [
        "3 chunks were learned from twice",
        f"6 chunks were learned from, 0 dropped and {OPEN} left open; expected {OPEN + 3} in all",
    ]


def test_a_chunk_that_was_taken_is_kept_while_its_round_waits_for_others(
    store: ObjectStore, settings: RunSettings, game: TabularGame, learner: Learner, networks: Networks, play: Play
) -> None:
    """An attempt that is killed after the round was recorded reads all of its chunks again."""
    learner.offer(networks)
    assert play(0, 1) == [0]

    def join() -> None:
        time.sleep(0.3)  # the learner has looked for others meanwhile
        play(0, 2)

    late = threading.Thread(target=join)
    late.start()
    first = learner.take(1, networks)
    late.join()
    assert learner.entry(1).chunks[0].number == 0
    again = Learner(store, settings, game).take(1, networks, is_at_begin=False)
    assert seeds(again) == seeds(first)


def test_an_actor_keeps_the_episodes_of_a_chunk_whose_write_was_repeated(
    store: ObjectStore, learner: Learner, networks: Networks, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3's client repeats a write whose answer was lost, and is told that the object is there."""
    put = store.put_if_absent
    monkeypatch.setattr(store, "put_if_absent", lambda key, data: put(key, data) and ".json" not in key)
    learner.offer(networks)
    before = num_dropped("twice"), num_dropped("altered")
    assert play(0, 3) == [0, 2, 4]
    assert len(learner.take(1, networks)) >= 3 * 10
    assert (num_dropped("twice"), num_dropped("altered")) == before
