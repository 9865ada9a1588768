"""How training uses a machine: minibatches whose gradients add up, bfloat16, and too little memory."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import AttemptId, PolicyId
from nashdex.core.steps import StepName
from nashdex.learning.experience.batching import CPU, Batch, evaluate, make_batch
from nashdex.learning.hardware import Precision, memory_limited_by
from nashdex.learning.updates.checkpoint import Checkpoints
from nashdex.learning.updates.training import StepSettings, Training
from nashdex.oracles.ppo.loss import Targets
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.settings.networks import NetworkSettings, PointerSettings, SlotsSettings
from nashdex.settings.ppo import PpoSettings
from nashdex.store import open_store
from nashdex.telemetry.progress import Progress
from support.battle_spaces import battle, battle_space
from support.kuhn import FIRST_ACTION, RANDOM, kuhn_settings, trained
from support.ppo import learn

NETWORKS = {
    "slots": SlotsSettings(embedding_size=4, entity_size=16, hidden_size=16, num_hidden_layers=1),
    "pointer": PointerSettings(predicts_opponent=True),
}
P1, P2 = PolicyId("p1"), PolicyId("p2")


def made(settings: NetworkSettings) -> ActorCritic:
    """Return a network of equal weights each time, whose every output depends on its input."""
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        network = make_network(battle_space(), settings)
        for parameter in network.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
        return network


def lesson(network: ActorCritic, num_battles: int = 25) -> tuple[Batch, Targets]:
    """Return decisions of which a third leave no choice and a third has no label, and targets for them."""
    episodes = [battle(seed, (P1, P2))[0] for seed in range(num_battles)]
    num = sum(len(episode) for episode in episodes)
    labels = np.where(np.arange(num) % 3 == 1, -1, np.arange(num) % 4)
    batch = make_batch(episodes, CPU, [labels])
    forced = torch.arange(num) % 3 == 0
    batch.masks[forced] = torch.nn.functional.one_hot(batch.actions[forced], batch.masks.shape[1]).bool()
    log_probs, values = evaluate(network, batch)
    batch.log_probs.copy_(log_probs.gather(1, batch.actions[:, None]).squeeze(1))
    draws = torch.randn(2, num, generator=torch.Generator().manual_seed(1))
    return batch, Targets(draws[0], values + draws[1], log_probs)


def learned(
    folder: Path, kind: str, *, precision: Precision = "float32", **ppo: object
) -> tuple[torch.Tensor, Training]:
    """Return all weights after one epoch, as a vector, and the loop."""
    network = made(NETWORKS[kind])
    batch, targets = lesson(network)
    settings = PpoSettings.model_validate({"num_epochs": 1, "learning_rate": 1e-3, **ppo})
    checkpoints = Checkpoints(open_store(str(folder)), 1, 0, AttemptId("attempt"), "fingerprint")
    loop = Training(network, StepSettings(0.5, 1000, precision), checkpoints)
    with Progress(StepName.TRAIN, 0, 0, "updates") as progress:
        learn(loop, batch, targets, settings, progress)
    return torch.cat([parameter.detach().flatten() for parameter in network.parameters()]), loop


@pytest.mark.parametrize("kind", NETWORKS)
@pytest.mark.parametrize("warmup_decisions", [0, 1000])
def test_accumulated_minibatches_are_the_large_one_within_rounding(
    tmp_path: Path, kind: str, warmup_decisions: int
) -> None:
    common: dict[str, Any] = {"critic_warmup_decisions": warmup_decisions, "annealing": {"entropy": 0.5}}
    large, one = learned(tmp_path / "large", kind, minibatch_decisions=51, **common)
    small, other = learned(tmp_path / "small", kind, minibatch_decisions=17, accumulate=3, **common)
    start = torch.cat([parameter.detach().flatten() for parameter in made(NETWORKS[kind]).parameters()])
    assert one.state.update == other.state.update == 2
    assert (large - start).norm() > 1e-3
    assert (small - large).norm() / (large - start).norm() < 1e-3
    for of_large, of_small in zip(one.state.curve.with_newest(), other.state.curve.with_newest(), strict=True):
        assert of_small.values.keys() == of_large.values.keys()
        for name, value in of_large.values.items():
            if name != "explained_variance":  # of each minibatch
                assert of_small.values[name] == pytest.approx(value, rel=1e-3, abs=1e-6), name


def test_a_step_of_fewer_decisions_than_minibatches_is_taken(tmp_path: Path) -> None:
    _, loop = learned(tmp_path, "slots", minibatch_decisions=1, accumulate=500)
    assert loop.state.update == 1


@pytest.mark.parametrize("kind", NETWORKS)
def test_bfloat16_takes_nearly_the_same_step(tmp_path: Path, kind: str) -> None:
    """Gradients differ by up to 1 % of their norm; weights and what is measured stay float32."""
    exact, one = learned(tmp_path / "exact", kind, max_gradient_norm=1e9)
    rounded, other = learned(tmp_path / "rounded", kind, precision="bfloat16", max_gradient_norm=1e9)
    assert rounded.dtype == torch.float32
    assert rounded.isfinite().all()
    assert not torch.equal(rounded, exact), "some layer computes in bfloat16"
    measured, expected = (loop.state.curve.with_newest()[0].values for loop in (other, one))
    for name in ("policy_loss", "value_loss", "entropy", "gradient_norm"):
        assert measured[name] == pytest.approx(expected[name], rel=0.02, abs=1e-3), name
    assert measured["kl_round_start"] < 1e-4


def test_a_run_in_bfloat16_learns_and_its_own_battles_agree_with_it(tmp_path: Path) -> None:
    """What acts is float32, whatever the precision of optimiser steps."""
    store = open_store(str(tmp_path))
    ppo = {"decisions": 1000, "learning_rate": 1e-2, "damping": {"preset": "none"}, "accumulate": 2}
    settings = kuhn_settings(oracle=ppo, precision="bfloat16")
    clone = trained(store, settings, 0, "clone", RANDOM, {RANDOM: 0.5, FIRST_ACTION: 0.5}, "initial").policy
    result = trained(store, settings, 1, "ppo", clone, {RANDOM: 1.0})
    assert result.num_decisions >= 1000
    assert result.summary["kl_iteration_start"] > 0.01


def test_too_little_memory_names_the_setting() -> None:
    with (
        pytest.raises(ConfigurationError, match=r"ran out of memory .*: lower train\.oracle\.minibatch_decisions"),
        memory_limited_by("train.oracle.minibatch_decisions"),
    ):
        torch.empty(1 << 60, dtype=torch.uint8)


def test_too_little_memory_of_the_host_names_the_setting() -> None:
    with (
        pytest.raises(ConfigurationError, match=r"ran out of memory .*: lower train\.oracle\.round_battles"),
        memory_limited_by("train.oracle.round_battles"),
    ):
        np.empty(1 << 60, dtype=np.uint8)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_gpu_learns_from_rounds(tmp_path: Path) -> None:
    """Rounds are measured in the host's memory, so nothing on the GPU meets what is not there."""
    store = open_store(str(tmp_path))
    ppo = {"decisions": 1000, "learning_rate": 1e-2, "damping": {"preset": "s0-damped"}, "keep": "best"}
    ppo |= {"evaluation": {"every_decisions": 500, "battles": 40, "anchors": ["first-action", "start"]}}
    settings = kuhn_settings(oracle=ppo, device="cuda")
    clone = trained(store, settings, 0, "clone", RANDOM, {RANDOM: 0.5, FIRST_ACTION: 0.5}, "initial").policy
    result = trained(store, settings, 1, "ppo", clone, {RANDOM: 1.0})
    assert result.num_decisions >= 1000
    assert result.summary["kl_iteration_start"] > 0.01


def test_other_errors_are_left_alone() -> None:
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"), memory_limited_by("anything"):
        torch.ones(2, 3) @ torch.ones(2, 3)
