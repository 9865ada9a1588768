"""Streams on Kuhn poker: bounded staleness, a journal that is replayed to the bit, and kills at any request."""

import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.core.errors import StoppedError, TryAgainError
from nashdex.core.ids import AttemptId
from nashdex.core.journal import JOURNAL, Journal, journal_folder
from nashdex.core.steps import StepName
from nashdex.metagame.plan import IterationPlan
from nashdex.oracles.interface import Task, Trained
from nashdex.oracles.ppo.training import train
from nashdex.policies.archive import weights_bytes
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.runs.overlay import OverlayStore
from nashdex.settings.ppo import PpoSettings
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.store.documents import read_published
from nashdex.store.protocol import ObjectStore
from support.acting import acting, actors_player
from support.kuhn import FIRST_ACTION, RANDOM, kuhn_settings, prepare, trained
from support.stopping import asked_to_stop

POOL = {"share": 0.5, "size": 2, "every_decisions": 300}
CHUNK_BATTLES = 40
CHUNKS_A_ROUND = 5


def settings_of(*, versions: int = 3, keep_chunks: bool = True, patience_seconds: float = 60.0) -> RunSettings:
    oracle = {
        "decisions": 2500,
        "round_battles": CHUNK_BATTLES * CHUNKS_A_ROUND,
        "learning_rate": 1e-2,
        "advantages": {"kind": "v-trace"},
        "max_staleness_versions": versions,
        "pool": POOL,
    }
    actors = {
        "shards": 2,
        "chunk_battles": CHUNK_BATTLES,
        "patience_seconds": patience_seconds,
        "keep_chunks": keep_chunks,
    }
    return RunSettings.model_validate(kuhn_settings(oracle=oracle).model_dump() | {"actors": actors})


def begun(folder: Path, settings: RunSettings) -> ObjectStore:
    """Return a store with a clone, and the battles in which it met itself."""
    store = open_store(str(folder))
    learner = trained(store, settings, 0, "clone", RANDOM, {RANDOM: 0.5, FIRST_ACTION: 0.5}, "initial").policy
    prepare(store, settings, 1, "ppo", learner, {learner: 1.0}, "self-play")
    return store


def task_of(store: ObjectStore, settings: RunSettings, attempt: str = "attempt") -> Task:
    plan = read_published(store, 1, keys.PLAN, IterationPlan)
    return Task(store, settings, plan, 0, AttemptId(attempt))


def train_with_actors(store: ObjectStore, settings: RunSettings, attempt: str = "attempt") -> Trained:
    section = settings.train.oracle
    assert isinstance(section, PpoSettings)
    return train(task_of(store, settings, attempt), section, actors_player)


def weights_of(result: Trained) -> bytes:
    assert isinstance(result.policy, ActorCritic)
    return weights_bytes(result.policy)


def journal_of(result: Trained) -> Journal:
    return Journal.from_json(result.objects[JOURNAL], JOURNAL)


def assert_adds_up(result: Trained) -> None:
    """Check that every chunk was learned from at most once, and that all decisions are in the journal."""
    journal = journal_of(result)
    assert [entry.round for entry in journal.entries] == list(range(len(journal.entries)))
    taken = [chunk.number for entry in journal.entries for chunk in entry.chunks]
    assert len(taken) == len(set(taken)) == CHUNKS_A_ROUND * len(journal.entries)
    assert all(entry.battles == CHUNK_BATTLES * CHUNKS_A_ROUND for entry in journal.entries)
    assert journal.learned_decisions == result.num_decisions
    assert list(journal.problems()) == []


def replayed(store: ObjectStore, settings: RunSettings) -> Trained:
    """Return the training that the journal and the chunks in the store give, without any actor."""
    hasty = settings.model_copy(update={"actors": settings.actors.model_copy(update={"patience_seconds": 0.1})})
    hidden = frozenset({keys.checkpoint(1, StepName.TRAIN, 0)})
    return train_with_actors(OverlayStore(store, hidden), hasty, "replayed")


def test_a_replay_of_the_journal_reaches_the_same_bits(tmp_path: Path) -> None:
    settings = settings_of()
    store = begun(tmp_path, settings)
    with acting(store, settings, task_of(store, settings).game, 0, 1):
        result = train_with_actors(store, settings)
    assert_adds_up(result)
    assert result.num_updates > 20
    again = replayed(store, settings)
    assert weights_of(again) == weights_of(result)
    assert (again.curve, again.summary) == (result.curve, result.summary)
    assert journal_of(again) == journal_of(result)


def test_weights_are_never_older_than_the_bound(tmp_path: Path) -> None:
    settings = settings_of(versions=2)
    store = begun(tmp_path, settings)
    with acting(store, settings, task_of(store, settings).game, 0, 1) as played:
        result = train_with_actors(store, settings)
    versions = [entry.round - chunk.version for entry in journal_of(result).entries for chunk in entry.chunks]
    assert 0 < max(versions) <= 2
    assert_adds_up(result)
    assert max(chunk.chunk for chunk in played) < journal_of(result).entries[-1].next_chunk, "actors wait when ahead"


@pytest.mark.slow
def test_a_learner_that_is_stopped_again_and_again_continues_from_its_journal(tmp_path: Path) -> None:
    settings = settings_of()
    store = begun(tmp_path, settings)
    with acting(store, settings, task_of(store, settings).game, 0, 1):
        for attempt in range(7):
            with asked_to_stop(), pytest.raises(StoppedError):
                train_with_actors(store, settings, f"stopped-{attempt}")
        result = train_with_actors(store, settings, "last")
    assert_adds_up(result)
    assert weights_of(replayed(store, settings)) == weights_of(result)


class KilledError(BaseException):
    """The process is gone."""


def dying(uri: str, num_writes: int) -> ObjectStore:
    """Return the store as a process sees it that is killed after some writes."""
    left = num_writes

    def observe(operation: str, _seconds: float, _size_bytes: int, _failed: bool) -> None:  # noqa: FBT001 - its type
        nonlocal left
        left -= operation in {"put", "put_if_absent", "delete", "delete_folder"}
        if left < 0:
            raise KilledError

    return open_store(uri, observe)


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 7])
def test_a_learner_that_is_killed_between_any_two_writes_loses_and_doubles_nothing(tmp_path: Path, step: int) -> None:
    """Each attempt gets some writes further than the one before needed to."""
    settings = settings_of(keep_chunks=False)
    store = begun(tmp_path, settings)
    with acting(store, settings, task_of(store, settings).game, 0, 1):
        for num_writes in range(1, 40, step):
            try:
                train_with_actors(dying(store.uri, num_writes), settings, f"killed-{num_writes}")
            except KilledError:
                continue
        result = train_with_actors(store, settings, "last")
    assert_adds_up(result)
    assert len(list(store.list(f"{journal_folder(1, 0)}/"))) == len(journal_of(result).entries)


@pytest.mark.slow
def test_two_learners_side_by_side_reach_the_same_bits(tmp_path: Path) -> None:
    """The second one begins when the first has saved checkpoints, and either may be ahead."""
    settings = settings_of(keep_chunks=False)
    store = begun(tmp_path, settings)
    found: dict[str, Trained] = {}

    def learn(name: str) -> None:
        for attempt in range(20):
            with suppress(TryAgainError):
                found[name] = train_with_actors(store, settings, f"{name}-{attempt}")
                return

    with acting(store, settings, task_of(store, settings).game, 0, 1):
        first = threading.Thread(target=learn, args=("first",))
        first.start()
        while not store.exists(keys.checkpoint(1, StepName.TRAIN, 0)):
            time.sleep(0.01)
        learn("second")
        first.join()
    for result in found.values():
        assert_adds_up(result)
    assert weights_of(found["first"]) == weights_of(found["second"])
