"""Rounds that are played ahead, on Kuhn poker: one version old, corrected, resumable, and the same with actors."""

from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.core.errors import StoppedError
from nashdex.core.ids import AttemptId, PolicyId
from nashdex.core.journal import JOURNAL, Journal
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.metagame.plan import IterationPlan
from nashdex.oracles.interface import Task, Trained
from nashdex.oracles.ppo.training import train
from nashdex.policies.archive import weights_bytes
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.runs.overlay import OverlayStore
from nashdex.runs.verification import replay_settings
from nashdex.settings.ppo import PpoSettings
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.store.attempt import read_object
from nashdex.store.documents import read_published
from nashdex.store.protocol import ObjectStore
from nashdex.trainer.step import run
from support.acting import acting, actors_player
from support.kuhn import FIRST_ACTION, RANDOM, kuhn_settings, prepare, trained
from support.stopping import asked_to_stop

POOL = {"share": 0.5, "size": 1, "every_decisions": 300}


def settings_of(overlap_rounds: int, **ppo: object) -> RunSettings:
    oracle = {
        "decisions": 2000,
        "learning_rate": 1e-2,
        "overlap_rounds": overlap_rounds,
        "advantages": {"kind": "v-trace"},
        "pool": POOL,
    }
    settings = kuhn_settings(oracle=oracle | ppo)
    actors = {"shards": 2, "chunk_battles": 40, "patience_seconds": 60.0}
    return RunSettings.model_validate(settings.model_dump() | {"actors": actors})


def begun(folder: Path, settings: RunSettings) -> ObjectStore:
    """Return a store with a clone, and the battles in which it met itself."""
    store = open_store(str(folder))
    learner = trained(store, settings, 0, "clone", RANDOM, {RANDOM: 0.5, FIRST_ACTION: 0.5}, "initial").policy
    prepare(store, settings, 1, "ppo", learner, {learner: 1.0}, "self-play")
    return store


def result_of(store: ObjectStore, settings: RunSettings) -> TrainingResult:
    return TrainingResult.from_json(read_object(store, run(store, settings, 1, 0), TRAINING_RESULT), "result")


def by_round(result: TrainingResult, name: str) -> list[float]:
    """Return a value of each round, which is the same at all its updates."""
    values = [point.values[name] for point in result.curve]
    return [value for value, before in zip(values, [None, *values], strict=False) if value != before]


def test_in_lock_step_the_network_that_learns_is_the_one_that_acted(tmp_path: Path) -> None:
    settings = settings_of(0)
    result = result_of(begun(tmp_path / "run", settings), settings)
    assert result.curve[-1].values["effective_sample_share"] == 1.0
    assert result.curve[-1].values["importance_ratio_max"] == 1.0


def test_a_round_that_is_played_ahead_is_one_version_old(tmp_path: Path) -> None:
    settings = settings_of(1)
    result = result_of(begun(tmp_path / "run", settings), settings)
    shares = by_round(result, "effective_sample_share")
    assert shares[0] == pytest.approx(1.0), "nothing is learned before the first round"
    assert len(shares) > 3
    assert all(0.5 < share < 0.99999 for share in shares[1:])


@pytest.mark.slow
def test_a_training_played_ahead_and_stopped_again_and_again_reaches_the_same_bits(tmp_path: Path) -> None:
    """Its pool of one drops a snapshot that a round which is being played still meets."""
    settings = settings_of(1)
    through = result_of(begun(tmp_path / "through", settings), settings)
    store = begun(tmp_path / "stopped", settings)
    for _ in range(9):
        with asked_to_stop(), pytest.raises(StoppedError):
            run(store, settings, 1, 0)
    stopped = result_of(store, settings)
    assert through.num_updates > 20
    assert (stopped.policy, stopped.curve, stopped.summary) == (through.policy, through.curve, through.summary)
    left = [key for key in store.list("iterations/0001/train/") if "snapshot-" in key or "checkpoint" in key]
    assert left == []


def train_with_actors(store: ObjectStore, settings: RunSettings, attempt: str) -> Trained:
    plan = read_published(store, 1, keys.PLAN, IterationPlan)
    task = Task(store, settings, plan, 0, AttemptId(attempt))
    section = settings.train.oracle
    assert isinstance(section, PpoSettings)
    return train(task, section, actors_player)


@pytest.mark.slow
@pytest.mark.parametrize("overlap_rounds", [0, 1])
def test_actors_and_a_learner_that_is_stopped_reach_the_bits_of_one_process(
    tmp_path: Path, overlap_rounds: int
) -> None:
    settings = settings_of(overlap_rounds)
    alone = result_of(begun(tmp_path / "alone", settings), settings)
    store = begun(tmp_path / "acted", settings)
    plan = read_published(store, 1, keys.PLAN, IterationPlan)
    task = Task(store, settings, plan, 0, AttemptId("none"))
    with acting(store, settings, task.game, 0, 1):
        for attempt in range(5):
            with asked_to_stop(), pytest.raises(StoppedError):
                train_with_actors(store, settings, f"stopped-{attempt}")
        result = train_with_actors(store, settings, "last")
    assert (result.num_updates, result.num_decisions) == (alone.num_updates, alone.num_decisions)
    assert dict(result.summary) == alone.summary
    assert isinstance(result.policy, ActorCritic)
    stored = store_weights(tmp_path / "alone", alone.policy)
    assert weights_bytes(result.policy) == stored
    journal = Journal.from_json(result.objects[JOURNAL], JOURNAL)
    assert journal.learned_decisions == result.num_decisions
    assert [entry.round for entry in journal.entries] == list(range(len(journal.entries)))


@pytest.mark.parametrize("overlap_rounds", [0, 1])
def test_kept_chunks_repeat_a_training_and_its_evaluations_without_actors(tmp_path: Path, overlap_rounds: int) -> None:
    evaluation = {"every_decisions": 500, "battles": 40, "anchors": [RANDOM]}
    settings = settings_of(overlap_rounds, evaluation=evaluation)
    keeping = settings.model_copy(update={"actors": settings.actors.model_copy(update={"keep_chunks": True})})
    store = begun(tmp_path, keeping)
    plan = read_published(store, 1, keys.PLAN, IterationPlan)
    with acting(store, keeping, Task(store, keeping, plan, 0, AttemptId("none")).game, 0, 1):
        result = train_with_actors(store, keeping, "first")
    assert len(result.evaluations) > 3
    hidden = OverlayStore(store, frozenset({keys.checkpoint(1, StepName.TRAIN, 0)}))
    again = train_with_actors(hidden, replay_settings(keeping), "replayed")
    assert isinstance(result.policy, ActorCritic)
    assert isinstance(again.policy, ActorCritic)
    assert weights_bytes(again.policy) == weights_bytes(result.policy)
    assert [one.score for one in again.evaluations] == [one.score for one in result.evaluations]


def store_weights(folder: Path, policy: PolicyId) -> bytes:
    return open_store(str(folder)).get(f"policies/{policy}/weights.safetensors")
