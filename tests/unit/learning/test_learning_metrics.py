"""Metrics that training sets besides its progress."""

import math
from pathlib import Path

import prometheus_client
import pytest
import torch

from nashdex.core.ids import AttemptId, PolicyId
from nashdex.core.steps import StepName
from nashdex.learning.experience.batching import Batch, make_batch
from nashdex.learning.experience.round import Experience
from nashdex.learning.updates.checkpoint import Checkpoints
from nashdex.learning.updates.optimiser import Rates
from nashdex.learning.updates.training import StepSettings, Training
from nashdex.oracles.ppo import loss
from nashdex.oracles.ppo.loss import Targets, make_targets
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.settings.networks import SlotsSettings
from nashdex.settings.ppo import PpoSettings
from nashdex.store import open_store
from nashdex.telemetry.metric import identify_process
from nashdex.telemetry.progress import Progress
from support.bandit import bandit_space, play
from support.ppo import learn, step

IDENTITY = {"run": "run-1", "component": "train", "format": "bandit"}
LEARNER = PolicyId("p1")


@pytest.fixture(autouse=True)
def _identity() -> None:
    identify_process(**IDENTITY)


@pytest.fixture
def network() -> ActorCritic:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return make_network(
            bandit_space(), SlotsSettings(embedding_size=4, entity_size=16, hidden_size=16, num_hidden_layers=1)
        )


def sample(name: str) -> float:
    value = prometheus_client.REGISTRY.get_sample_value(name, IDENTITY)
    assert value is not None, f"{name} was not set"
    return value


RATES = Rates.both(0.01)


def new_loop(network: ActorCritic, folder: Path) -> Training:
    checkpoints = Checkpoints(open_store(str(folder)), 1, 0, AttemptId("attempt"), "fingerprint")
    return Training(network, StepSettings(0.5, checkpoint_every_updates=100), checkpoints)


def targets_of(network: ActorCritic, settings: PpoSettings) -> tuple[Batch, Targets]:
    episodes = play(NetworkPolicy(LEARNER, network), 200, seed=3)
    batch = make_batch(episodes, torch.device("cpu"))
    rewards = [torch.tensor([2 * episode.score - 1], dtype=torch.float32).numpy() for episode in episodes]
    return batch, make_targets(network, Experience(batch, tuple(rewards)), settings, 1.0)


def test_an_update_that_is_not_finite_is_counted_and_undone(network: ActorCritic, tmp_path: Path) -> None:
    batch, _ = targets_of(network, PpoSettings())
    loop = new_loop(network, tmp_path)
    before = sample("nashdex_nonfinite_updates_total")
    weights = [parameter.detach().clone() for parameter in network.parameters()]
    with Progress(StepName.TRAIN, 0, 2, "updates") as progress:
        step(loop, network(batch.observations)[1].sum() * math.nan, {}, progress, RATES)
        assert sample("nashdex_nonfinite_updates_total") == before + 1
        assert all(torch.equal(a, b) for a, b in zip(network.parameters(), weights, strict=True))
        step(loop, (network(batch.observations)[1] - 1).square().mean(), {}, progress, RATES)
    assert sample("nashdex_nonfinite_updates_total") == before + 1
    assert not all(torch.equal(a, b) for a, b in zip(network.parameters(), weights, strict=True))
    assert sample("nashdex_gpu_memory_bytes") == 0, "on a CPU"


def test_advantages_are_measured_before_they_are_normalised(
    network: ActorCritic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss, "ADVANTAGE_CLIP", 100.0)
    batch, targets = targets_of(network, PpoSettings())
    with torch.no_grad():
        advantages = targets.returns - network(batch.observations)[1]
    assert sample("nashdex_advantage_mean") == pytest.approx(advantages.mean().item(), abs=1e-5)
    assert sample("nashdex_advantage_standard_deviation") == pytest.approx(
        advantages.std(correction=0).item(), rel=1e-4
    )
    assert sample("nashdex_advantage_clip_ratio") == 0
    limit = targets.advantages.abs().median().item()
    monkeypatch.setattr(loss, "ADVANTAGE_CLIP", limit)
    targets_of(network, PpoSettings())
    clipped = (targets.advantages.abs() > limit).float().mean().item()
    assert 0 < clipped < 1
    assert sample("nashdex_advantage_clip_ratio") == pytest.approx(clipped, abs=0.02)


def test_staleness_counts_the_updates_since_the_data_was_collected(network: ActorCritic, tmp_path: Path) -> None:
    settings = PpoSettings(num_epochs=3, minibatch_decisions=100)
    loop = new_loop(network, tmp_path)
    batch, targets = targets_of(network, settings)
    with Progress(StepName.TRAIN, 0, 0, "updates") as progress:
        learn(loop, batch, targets, settings, progress)
    assert loop.state.update > 3
    assert sample("nashdex_staleness_updates") == loop.state.update - 1
