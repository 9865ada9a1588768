"""The train step as a whole: it learns, resumes to the same bits, and refuses what is damaged."""

import math
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, DataError, StoppedError
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.games.interface import Decisions
from nashdex.oracles.clone import make_lessons
from nashdex.oracles.ppo.training import train
from nashdex.policies.archive import load_network
from nashdex.policies.document import read_document
from nashdex.policies.interface import Actions, Policy
from nashdex.policies.scripted.playing import scripted_policy
from nashdex.policies.sources import load_policies
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.store.attempt import read_object
from nashdex.store.protocol import ObjectStore
from nashdex.trainer.step import run
from support.bandit import FORMAT, bandit_player, bandit_space, play, write_iteration
from support.stopping import asked_to_stop, stop_handlers

TEACHER = PolicyId("teacher")


class Teacher:
    """Knows the bandit's answer."""

    id = TEACHER
    needs_lines = False
    needs_state = False
    view = None

    def act(self, rows: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        return Actions(rows.observation[:, 0].astype("int64"), np.zeros(len(uniforms), np.float32))

    def forget(self, battle: int, seat: int) -> None:
        """Remember nothing."""


def make_settings(*, first: dict[str, object] | None = None, device: str = "cpu", **ppo: object) -> RunSettings:
    """Return settings of a run of the bandit, with overrides of the clone's and of PPO's."""
    oracle: dict[str, object] = {
        "decisions": 1,
        "round_battles": 400,
        "learning_rate": 3e-3,
        "clip_range": 0.4,
        "num_epochs": 8,
        "minibatch_decisions": 128,
    }
    return RunSettings.model_validate(
        {
            "format": FORMAT,
            "seed": 5,
            "network": {"embedding_size": 4, "entity_size": 16, "hidden_size": 32, "num_hidden_layers": 1},
            "collect": {"shards": 2},
            "train": {
                "oracle": oracle | ppo,
                "first": first or {"minibatch_decisions": 64, "num_epochs": 3, "learning_rate": 3e-3},
                "checkpoint_every_updates": 4,
                "device": device,
            },
        }
    )


SETTINGS = make_settings()


@pytest.fixture(autouse=True)
def _rounds_of_the_bandit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nashdex.oracles.ppo.training.train", partial(train, player_of=bandit_player))


def new_store(folder: Path) -> ObjectStore:
    folder.mkdir()
    return open_store(str(folder))


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return new_store(tmp_path / "run")


def result_of(store: ObjectStore, manifest: Manifest) -> TrainingResult:
    return TrainingResult.from_json(read_object(store, manifest, TRAINING_RESULT), "result")


def win_rate(store: ObjectStore, policy: PolicyId) -> float:
    episodes = play(load_policies(store, [policy], bandit_space())[policy], 1000, seed=999)
    return sum(e.score for e in episodes) / len(episodes)


def clone_of(store: ObjectStore, teacher: Policy, num: int = 400, settings: RunSettings = SETTINGS) -> TrainingResult:
    write_iteration(store, settings, 0, teacher.id, play(teacher, num, seed=1))
    return result_of(store, run(store, settings, 0, 0))


def prepare_ppo(store: ObjectStore, settings: RunSettings = SETTINGS) -> PolicyId:
    """Store a clone of the random policy, and the plan of iteration 1, which improves it; return its id."""
    learner = clone_of(store, scripted_policy("random", bandit_space()), 200, settings).policy
    write_iteration(store, settings, 1, learner, [])
    return learner


def test_cloning_reaches_the_teacher(store: ObjectStore) -> None:
    settings = make_settings(first={"minibatch_decisions": 32, "num_epochs": 12, "learning_rate": 1e-2})
    result = clone_of(store, Teacher(), 600, settings)
    assert result.summary["validation_accuracy"] > 0.97
    assert win_rate(store, result.policy) > 0.95
    assert (result.parent, result.oracle, result.reference, result.rollbacks) == (None, "clone", "none", 0)
    assert result.num_decisions == 600
    assert result.curve[-1].values["validation_loss"] < result.curve[0].values["loss"] / 3
    assert "validation_explained_variance" in result.summary
    assert all("validation_explained_variance" not in point.values for point in result.curve), "the critic learns last"
    document = read_document(store, BarePolicyId(result.policy))
    assert (document.iteration, document.oracle, document.parent) == (0, "clone", None)


def test_a_magnet_is_stored_as_a_policy_between_the_start_and_the_trained_one(store: ObjectStore) -> None:
    settings = make_settings(damping={"preset": "none", "reference": "ema", "beta": {"initial": 0.05}})
    start = prepare_ppo(store, settings)
    result = result_of(store, run(store, settings, 1, 0))
    assert result.magnet not in {None, result.policy, start}
    document = read_document(store, BarePolicyId(result.magnet))
    assert (document.parent, document.name) == (result.policy, "magnet of best response 1")
    first, magnet, last = (
        load_network(store, BarePolicyId(policy), bandit_space()).state_dict()
        for policy in (start, result.magnet, result.policy)
    )
    name = max(first, key=lambda name: float((last[name] - first[name]).abs().sum()))
    assert 0 < torch.dist(magnet[name], first[name]) < torch.dist(last[name], first[name])


@pytest.mark.slow
def test_ppo_finds_the_best_response_from_a_clone_of_random(store: ObjectStore) -> None:
    """Seven iterations of the real step on fresh battles: from a third of the battles won to nearly all."""
    policy = clone_of(store, scripted_policy("random", bandit_space())).policy
    rates = [win_rate(store, policy)]
    for iteration in range(1, 8):
        write_iteration(store, SETTINGS, iteration, policy, [])
        result = result_of(store, run(store, SETTINGS, iteration, 0))
        assert (result.parent, result.oracle, result.preset) == (policy, "ppo", "ppo-clip-kl")
        assert result.reference == f"snapshot:{policy}"
        assert result.curve[0].values["kl_reference"] == 0.0
        assert result.summary["kl_iteration_start"] > 0
        policy = result.policy
        rates.append(win_rate(store, policy))
    assert rates[0] < 0.45
    assert max(rates) > 0.93, rates
    assert min(rates[-3:]) > 0.8, rates


def test_a_stronger_reference_term_keeps_the_policy_closer(tmp_path: Path) -> None:
    moved = []
    for beta in (0.0, 20.0):
        other = new_store(tmp_path / f"beta-{beta}")
        settings = make_settings(damping={"beta": {"initial": beta}})
        prepare_ppo(other, settings)
        moved.append(result_of(other, run(other, settings, 1, 0)).summary["kl_iteration_start"])
    assert moved[1] < moved[0] / 2


def stopped_at_every_update(store: ObjectStore, iteration: int, updates: int) -> None:
    """Run the step with a request to stop already made: each attempt does one update and saves."""
    for _ in range(updates):
        with asked_to_stop(), pytest.raises(StoppedError):
            run(store, SETTINGS, iteration, 0)


@pytest.mark.parametrize("iteration", [0, 1], ids=["clone", "ppo"])
def test_an_interrupted_step_reaches_the_same_bits(tmp_path: Path, iteration: int) -> None:
    """Stopped after each single update through epoch and phase boundaries, against one that ran through."""
    results = []
    for name in ("through", "stopped"):
        store = new_store(tmp_path / name)
        if iteration == 0:
            write_iteration(store, SETTINGS, 0, TEACHER, play(Teacher(), 200, seed=1))
        else:
            prepare_ppo(store)
        if name == "stopped":
            stopped_at_every_update(store, iteration, 11)
        results.append(result_of(store, run(store, SETTINGS, iteration, 0)))
    through, stopped = results
    assert stopped.policy == through.policy
    assert stopped.curve == through.curve
    assert stopped.summary == through.summary
    assert through.num_updates > 11


def test_rollbacks_survive_an_interruption_too(tmp_path: Path) -> None:
    results = []
    settings = make_settings(learning_rate=0.3)
    for name in ("through", "stopped"):
        store = new_store(tmp_path / name)
        prepare_ppo(store, settings)
        if name == "stopped":
            for _ in range(9):
                with asked_to_stop(), pytest.raises(StoppedError):
                    run(store, settings, 1, 0)
        results.append(result_of(store, run(store, settings, 1, 0)))
    assert results[0].rollbacks > 0
    assert [r.policy for r in results] == [results[0].policy] * 2
    assert [r.rollbacks for r in results] == [results[0].rollbacks] * 2


def test_the_guard_restores_the_last_good_state_and_halves_the_step(store: ObjectStore) -> None:
    settings = make_settings(learning_rate=0.3, annealing={"learning_rate": 1.0})
    learner = prepare_ppo(store, settings)
    result = result_of(store, run(store, settings, 1, 0))
    assert result.rollbacks > 0
    rates = [point.values["learning_rate"] for point in result.curve]
    assert rates[0] == pytest.approx(0.3)
    halvings = [round(math.log2(0.3 / rate)) for rate in rates]
    assert rates == pytest.approx([0.3 / 2**times for times in halvings])
    assert halvings == sorted(halvings)
    # The last rollback may come after the last step, from the check of the whole batch.
    assert result.rollbacks - 1 <= halvings[-1] <= result.rollbacks
    assert result.summary["clip_fraction"] <= 0.6
    assert result.summary["entropy"] > 0.25 * result.summary["entropy_at_start"]
    assert win_rate(store, result.policy) > win_rate(store, learner) - 0.05


class SignalsAtCheckpoint:
    """A store whose process gets SIGTERM while it writes its second checkpoint."""

    def __init__(self, inner: ObjectStore) -> None:
        self._inner = inner
        self._num_checkpoints = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def put(self, key: str, data: bytes) -> None:
        self._inner.put(key, data)
        if key.endswith("checkpoint.json"):
            self._num_checkpoints += 1
            if self._num_checkpoints == 2:
                signal.raise_signal(signal.SIGTERM)


def checkpoint_keys(store: ObjectStore, iteration: int) -> list[str]:
    return [key for key in store.list(keys.shard_prefix(iteration, StepName.TRAIN, 0)) if "checkpoint" in key]


def test_sigterm_leaves_one_checkpoint_and_a_finished_step_none(store: ObjectStore) -> None:
    prepare_ppo(store)
    with stop_handlers(), pytest.raises(StoppedError):
        run(cast("ObjectStore", SignalsAtCheckpoint(store)), SETTINGS, 1, 0)
    found = checkpoint_keys(store, 1)
    assert len(found) == 2, "the pointer and the newest tensors; the older ones are gone"
    assert any(key.endswith("checkpoint-00000008.safetensors") for key in found)
    run(store, SETTINGS, 1, 0)
    assert not checkpoint_keys(store, 1)


@pytest.mark.parametrize(
    "change",
    [lambda data: data[:-5], lambda data: data[:-1] + bytes([data[-1] ^ 1])],
    ids=["truncated", "altered"],
)
def test_a_damaged_checkpoint_is_named_with_a_way_out(store: ObjectStore, change: Callable[[bytes], bytes]) -> None:
    prepare_ppo(store)
    stopped_at_every_update(store, 1, 2)
    key = next(key for key in checkpoint_keys(store, 1) if key.endswith(".safetensors"))
    store.put(key, change(store.get(key)))
    remedy = r"altered or truncated\. Remove .*checkpoint.json to train the shard from its"
    with pytest.raises(DataError, match=rf"{key} has sha256 .*{remedy}"):
        run(store, SETTINGS, 1, 0)
    store.delete(keys.checkpoint(1, StepName.TRAIN, 0))
    run(store, SETTINGS, 1, 0)


def test_a_checkpoint_of_other_trajectories_is_not_gone_on_from(tmp_path: Path) -> None:
    store, fresh = new_store(tmp_path / "stopped"), new_store(tmp_path / "fresh")
    write_iteration(store, SETTINGS, 0, TEACHER, play(Teacher(), 200, seed=1))
    stopped_at_every_update(store, 0, 3)
    for shard in range(2):
        store.delete(keys.manifest(0, StepName.COLLECT, shard))
    for one in (store, fresh):
        write_iteration(one, SETTINGS, 0, TEACHER, play(Teacher(), 200, seed=77))
    results = [result_of(one, run(one, SETTINGS, 0, 0)) for one in (store, fresh)]
    assert results[0].policy == results[1].policy


def test_a_finished_step_is_done_at_once(store: ObjectStore) -> None:
    write_iteration(store, SETTINGS, 0, TEACHER, play(Teacher(), 100, seed=1))
    manifest = run(store, SETTINGS, 0, 0)
    store.delete(keys.published(0, keys.PLAN))
    assert run(store, SETTINGS, 0, 0) == manifest
    assert manifest.counts["decisions"] == 100


def test_the_result_has_the_cpu_time_of_an_oracle_that_does_not_measure_it(store: ObjectStore) -> None:
    write_iteration(store, SETTINGS, 0, TEACHER, play(Teacher(), 100, seed=1))
    manifest = run(store, SETTINGS, 0, 0)
    assert 0 < result_of(store, manifest).cpu_seconds <= manifest.cpu_seconds


def test_shards_train_from_seeds_of_their_own(store: ObjectStore) -> None:
    write_iteration(store, SETTINGS, 0, TEACHER, play(Teacher(), 100, seed=1))
    policies = [result_of(store, run(store, SETTINGS, 0, shard)).policy for shard in range(2)]
    assert policies[0] != policies[1]


def test_what_is_missing_or_impossible_is_named(store: ObjectStore) -> None:
    write_iteration(store, SETTINGS, 0, TEACHER, play(Teacher(), 1, seed=1))
    with pytest.raises(DataError, match="cloning needs two battles to hold one out, and got 1"):
        run(store, SETTINGS, 0, 0)
    store.delete(keys.manifest(0, StepName.COLLECT, 1))
    with pytest.raises(DataError, match="collect has not finished shard 1 of iteration 0"):
        run(store, SETTINGS, 0, 0)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
def test_cuda_that_is_not_there_is_a_wrong_setting(store: ObjectStore) -> None:
    write_iteration(store, SETTINGS, 0, TEACHER, play(Teacher(), 2, seed=1))
    with pytest.raises(ConfigurationError, match=r"train\.device is 'cuda', and torch finds no CUDA device"):
        run(store, make_settings(device="cuda"), 0, 0)


def test_the_critic_learns_alone_after_the_best_epoch(tmp_path: Path) -> None:
    """Warm-up epochs change the critic's head and nothing that the actor uses."""
    weights = []
    for epochs in (0, 2):
        store = new_store(tmp_path / str(epochs))
        cloning: dict[str, object] = {"minibatch_decisions": 64, "num_epochs": 2, "critic_warmup_epochs": epochs}
        result = clone_of(store, scripted_policy("random", bandit_space()), 300, make_settings(first=cloning))
        weights.append(load_network(store, BarePolicyId(result.policy), bandit_space()).state_dict())
    changed = {name for name in weights[0] if not torch.equal(weights[0][name], weights[1][name])}
    assert changed == {"critic.0.weight", "critic.0.bias", "critic.2.weight", "critic.2.bias"}


def test_battles_are_held_out_whole() -> None:
    episodes = play(Teacher(), 40, seed=1) * 2
    rewards = [torch.ones(1).numpy() for _ in episodes]
    lesson, validation = make_lessons(episodes, rewards, 1.0, 1, torch.device("cpu"))
    assert (len(lesson.batch), len(validation.batch)) == (72, 8)
    seen = {tuple(row) for row in lesson.batch.observations.tolist()}
    assert not seen & {tuple(row) for row in validation.batch.observations.tolist()}
