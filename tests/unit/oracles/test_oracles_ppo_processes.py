"""Several processes that train one policy: they learn what one learns, and end as one."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
import torch

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, StoppedError, TryAgainError
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.games.registry import tabular_game_of_run
from nashdex.learning.devices import check_machine
from nashdex.learning.updates.checkpoint import Checkpoint
from nashdex.policies.archive import load_network
from nashdex.runs.fit import check_fit
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.store.attempt import read_object
from nashdex.store.directory import DirectoryStore
from nashdex.store.protocol import ObjectStore
from nashdex.trainer.step import run
from support.kuhn import FIRST_ACTION, RANDOM, kuhn_settings, prepare, trained
from support.processes import command_line
from support.stopping import asked_to_stop

DAMPING: dict[str, dict[str, object]] = {
    "snapshot": {"preset": "s0-damped", "step_target_nats": 1e-5},
    "moving average": {"preset": "ema-magnet"},
    "each round": {"preset": "ppo-clip-kl", "reference": "round-snapshot"},
}
TOLERANCE = 1e-5
"""Of weights between 0 and 1 in size: sums of gradients differ in their order alone."""


def settings_of(num_processes: int, damping: str = "moving average", **oracle: object) -> RunSettings:
    """Return settings of two rounds, the first for the critic alone, whose optimiser steps have two minibatches."""
    ppo: dict[str, object] = {"decisions": 500, "learning_rate": 1e-2, "minibatch_decisions": 32, "accumulate": 2}
    ppo |= {"critic_warmup_decisions": 1, "damping": DAMPING[damping]} | oracle
    return kuhn_settings(oracle=ppo, num_processes=num_processes)


def begun(store: ObjectStore, settings: RunSettings) -> None:
    """Bring a run to where PPO begins."""
    clone = trained(store, settings, 0, "clone", RANDOM, {RANDOM: 0.5, FIRST_ACTION: 0.5}, "initial").policy
    prepare(store, settings, 1, "ppo", clone, {RANDOM: 0.5, FIRST_ACTION: 0.5})


def learned(folder: Path, settings: RunSettings) -> tuple[torch.Tensor, TrainingResult]:
    """Return all weights that PPO reaches, as a vector, and what it says of itself."""
    store = open_store(str(folder))
    clone = trained(store, settings, 0, "clone", RANDOM, {RANDOM: 0.5, FIRST_ACTION: 0.5}, "initial").policy
    result = trained(store, settings, 1, "ppo", clone, {RANDOM: 0.5, FIRST_ACTION: 0.5})
    return weights(store, settings, result.policy), result


def weights(store: ObjectStore, settings: RunSettings, policy: PolicyId) -> torch.Tensor:
    network = load_network(store, BarePolicyId(policy), tabular_game_of_run(store, settings).space)
    return torch.cat([parameter.detach().flatten() for parameter in network.parameters()])


@pytest.mark.slow
@pytest.mark.parametrize("damping", DAMPING)
def test_two_processes_learn_what_one_learns(tmp_path: Path, damping: str) -> None:
    alone, one = learned(tmp_path / "one", settings_of(1, damping))
    together, two = learned(tmp_path / "two", settings_of(2, damping))
    assert one.num_updates > 10
    assert (two.num_updates, two.num_decisions, two.rollbacks) == (one.num_updates, one.num_decisions, one.rollbacks)
    assert (together - alone).abs().max() < TOLERANCE
    for of_one, of_two in zip(one.curve, two.curve, strict=True):
        assert of_two.values == pytest.approx(of_one.values, rel=1e-3, abs=1e-5)
    assert two.cpu_seconds > one.cpu_seconds + 0.5, "the second process alone takes longer to start"


IN_A_PROCESS = """
import sys
import torch
from torch import distributed
from nashdex.learning.experience import batching
from nashdex.oracles.ppo.processes import Processes
from nashdex.policies.networks.actor_critic import make_network
from nashdex.settings.networks import SlotsSettings
from support.bandit import bandit_space
rank, size, meeting_place = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
distributed.init_process_group("gloo", init_method=meeting_place, rank=rank, world_size=size)
torch.set_num_threads(1)
torch.manual_seed(0)
space = bandit_space()
network = make_network(space, SlotsSettings())
num_decisions = 3 * 4096 + 100
batch = batching.Batch(
    observations=torch.rand(num_decisions, space.observation_size),
    masks=torch.ones(num_decisions, space.num_actions, dtype=torch.bool),
    actions=torch.zeros(num_decisions, dtype=torch.int64),
    log_probs=torch.zeros(num_decisions),
)
together = Processes(rank, size).evaluate(network, batch)
print(all(map(torch.equal, together, batching.evaluate(network, batch))))
"""


@pytest.mark.slow
def test_processes_share_a_pass_over_the_batch_and_have_the_bits_of_one(tmp_path: Path) -> None:
    size, place = 3, (tmp_path / "meeting-place").as_uri()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", IN_A_PROCESS, str(rank), str(size), place],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for rank in range(size)
    ]
    assert [process.communicate()[0] for process in started] == ["True\n"] * size


@pytest.mark.slow
def test_what_two_processes_began_is_continued_to_the_same_bits(tmp_path: Path) -> None:
    settings = settings_of(2)
    through, _ = learned(tmp_path / "through", settings)
    store = open_store(str(tmp_path / "stopped"))
    begun(store, settings)
    for _ in range(3):
        with asked_to_stop(), pytest.raises(StoppedError):
            run(store, settings, 1, 0)
        assert not workers()
    manifest = run(store, settings, 1, 0)
    result = TrainingResult.from_json(store.get(manifest.objects["result.json"].key), "result")
    assert torch.equal(weights(store, settings, result.policy), through)


@pytest.mark.slow
def test_the_best_weights_of_two_processes_are_measured_when_the_others_have_ended(tmp_path: Path) -> None:
    evaluation = {"every_decisions": 1, "battles": 40, "anchors": [RANDOM]}
    _, result = learned(tmp_path, settings_of(2, keep="best", evaluation=evaluation))
    assert result.kept is not None
    assert result.summary["entropy"] > 0


def workers() -> list[psutil.Process]:
    """Return the other processes of trainings that this one runs."""
    return [child for child in psutil.Process().children() if "nashdex.oracles.ppo.training" in command_line(child)]


@contextmanager
def killer(store: ObjectStore) -> Iterator[None]:
    """Kill a worker when the training has saved its first checkpoint."""

    def kill() -> None:
        while not store.exists(keys.checkpoint(1, StepName.TRAIN, 0)):
            time.sleep(0.01)
        workers()[0].kill()

    thread = threading.Thread(target=kill)
    thread.start()
    yield
    thread.join()


@pytest.mark.slow
def test_a_process_that_is_killed_ends_the_attempt_and_the_next_one_goes_on(tmp_path: Path) -> None:
    store, settings = open_store(str(tmp_path)), settings_of(2, decisions=100_000)
    begun(store, settings)
    with killer(store), pytest.raises(TryAgainError, match="another process of this training ended"):
        run(store, settings, 1, 0)
    assert not workers()
    with asked_to_stop(), pytest.raises(StoppedError):
        run(store, settings, 1, 0)


@pytest.mark.parametrize(
    ("train", "message"),
    [
        (
            {"num_processes": 2, "oracle": {"accumulate": 3}},
            "train.oracle.accumulate is 3 and train.num_processes 2, which share .* expected a multiple",
        ),
        ({"num_processes": 2, "oracle": "exact"}, "train.num_processes is 2, and the oracle 'exact' trains in one"),
    ],
)
def test_settings_that_leave_a_process_without_work_are_refused(train: dict[str, object], message: str) -> None:
    kuhn = {"format": "kuhn_poker", "population": {"initial": ["random"]}, "collect": {"teacher": "random"}}
    with pytest.raises(ConfigurationError, match=message):
        check_fit(RunSettings.model_validate(kuhn | {"train": train}))


def test_gpus_that_are_not_there_are_named_before_work_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    check_machine("cuda", num_processes=2)
    with pytest.raises(ConfigurationError, match=r"train\.num_processes is 4 and train\.device 'cuda', .* finds 2"):
        check_machine("cuda", num_processes=4)


class OvertakenStore(DirectoryStore):
    """A store where an older attempt, which still runs, saves its last checkpoint once process 0 has read its first."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.saved: list[tuple[bytes, Checkpoint, bytes]] = []
        """Checkpoints of the older attempt: document, its content, tensors."""
        self.is_overtaken = False

    def put(self, key: str, data: bytes) -> None:
        super().put(key, data)
        if key == keys.checkpoint(1, StepName.TRAIN, 0) and not self.is_overtaken:
            checkpoint = Checkpoint.from_json(data, key)
            self.saved.append((data, checkpoint, super().get(checkpoint.tensors.key)))

    def delete(self, key: str) -> None:
        """Keep it: the older attempt needs it."""

    def delete_folder(self, folder: str) -> None:
        """Keep it, as ``delete`` does."""

    def point_to(self, place: int) -> None:
        """Make a saved checkpoint the newest."""
        document, checkpoint, tensors = self.saved[place]
        super().put(checkpoint.tensors.key, tensors)
        super().put(keys.checkpoint(1, StepName.TRAIN, 0), document)

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        data = super().get(key, max_bytes)
        if self.is_overtaken and key == self.saved[0][1].tensors.key:
            self.point_to(-1)
        return data


@pytest.mark.slow
def test_processes_that_resume_from_different_checkpoints_end_and_are_tried_again(tmp_path: Path) -> None:
    store = OvertakenStore(tmp_path)
    begun(store, settings_of(1))
    whole = TrainingResult.from_json(read_object(store, run(store, settings_of(1), 1, 0), TRAINING_RESULT), "whole")
    open_store(str(tmp_path)).delete(keys.manifest(1, StepName.TRAIN, 0))
    store.is_overtaken = True
    store.point_to(0)
    with pytest.raises(TryAgainError, match="another process of this training ended"):
        run(store, settings_of(2), 1, 0)
    found = TrainingResult.from_json(read_object(store, run(store, settings_of(2), 1, 0), TRAINING_RESULT), "found")
    assert (found.num_updates, found.num_decisions) == (whole.num_updates, whole.num_decisions)
    difference = weights(store, settings_of(1), found.policy) - weights(store, settings_of(1), whole.policy)
    assert difference.abs().max() < TOLERANCE
