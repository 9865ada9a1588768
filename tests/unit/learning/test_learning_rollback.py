"""One poisoned update, under every preset: weights, reference and controllers are restored, and training goes on."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from nashdex.core.ids import AttemptId, PolicyId
from nashdex.core.steps import StepName
from nashdex.learning.damping import Moment, coefficients
from nashdex.learning.experience.batching import Batch, make_batch
from nashdex.learning.experience.round import Experience
from nashdex.learning.references import (
    EMA_DECAY,
    EmaReference,
    PortfolioReference,
    Reference,
    SnapshotReference,
    UniformReference,
)
from nashdex.learning.updates.checkpoint import Checkpoints
from nashdex.learning.updates.optimiser import Rates
from nashdex.learning.updates.training import StepSettings, Training
from nashdex.oracles.clone import clone, make_lessons
from nashdex.oracles.ppo.loss import Targets, make_targets, ppo_loss
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.settings.damping import DAMPING_PRESETS, Damping, DampingSettings
from nashdex.settings.networks import SlotsSettings
from nashdex.settings.oracles import CloneSettings
from nashdex.settings.ppo import PpoSettings
from nashdex.store import open_store
from nashdex.telemetry.progress import Progress
from support.bandit import bandit_space, play
from support.ppo import learn, step

LEARNER = PolicyId("p1")
WITH_CONTROLLERS = "s0-damped"


@dataclass
class Trial:
    """PPO on 150 battles of the bandit, three updates an epoch; every sound update is kept as good."""

    loop: Training
    batch: Batch
    targets: Targets
    reference: Reference | None
    settings: PpoSettings
    progress: Progress

    def improve(self, num_epochs: int, targets: Targets | None = None) -> None:
        """Train up to the end of epoch ``num_epochs``."""
        settings = self.settings.model_copy(update={"num_epochs": num_epochs})
        learn(self.loop, self.batch, targets or self.targets, settings, self.progress)

    def step(self, rate: float) -> None:
        """Take one update on the whole batch."""
        weights = coefficients(self.settings.damping, Moment(update=self.loop.state.update))
        loss, values = ppo_loss(self.loop.network, self.batch, self.targets, self.reference, weights, self.settings)
        step(self.loop, loss, values, self.progress, Rates.both(rate))

    def kl_reference(self) -> Tensor:
        """Return the mean KL from the reference, and 0 without one."""
        if self.reference is None:
            return torch.zeros(())
        with torch.no_grad():
            logits = self.loop.network(self.batch.observations)[0]
            log_probs = logits.masked_fill(~self.batch.masks, -torch.inf).log_softmax(dim=-1)
            return self.reference.kl(log_probs, self.batch.observations, self.batch.masks).mean()


def reference_of(damping: Damping, network: ActorCritic) -> Reference | None:
    start = SnapshotReference(network, LEARNER)
    made: dict[str, Callable[[], Reference | None]] = {
        "none": lambda: None,
        "snapshot": lambda: start,
        "ema": lambda: EmaReference(network, LEARNER, EMA_DECAY),
        "portfolio": lambda: PortfolioReference([start, UniformReference()]),
    }
    return made[damping.reference]()


def training_of(preset: str, folder: Path) -> Iterator[Trial]:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        sizes = SlotsSettings(embedding_size=4, entity_size=16, hidden_size=16, num_hidden_layers=1)
        network = make_network(bandit_space(), sizes)
    settings = PpoSettings(
        damping=DampingSettings.model_validate({"preset": preset}), minibatch_decisions=50, learning_rate=1e-3
    )
    episodes = play(NetworkPolicy(LEARNER, network), 150, seed=3)
    batch = make_batch(episodes, torch.device("cpu"))
    rewards = tuple(torch.tensor([2 * episode.score - 1]).numpy() for episode in episodes)
    reference = reference_of(settings.damping, network)
    checkpoints = Checkpoints(open_store(str(folder)), 1, 0, AttemptId("attempt"), "fingerprint")
    loop = Training(
        network,
        StepSettings(0.5, checkpoint_every_updates=1),
        checkpoints,
        reference=reference,
    )
    targets = make_targets(network, Experience(batch, rewards), settings, 1.0)
    with Progress(StepName.TRAIN, 0, 0, "updates") as progress:
        yield Trial(loop, batch, targets, reference, settings, progress)


@pytest.fixture(params=DAMPING_PRESETS.names)
def training(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Trial]:
    yield from training_of(request.param, tmp_path)


def poison_weights(training: Trial) -> None:
    """An optimiser step that makes weights NaN, which the moving average follows."""
    with torch.no_grad():
        next(iter(training.loop.network.parameters())).fill_(torch.nan)
    if training.reference is not None:
        training.reference.follow(training.loop.network)
    training.improve(2)


def poison_rewards(training: Trial) -> None:
    training.improve(2, replace(training.targets, advantages=training.targets.advantages * torch.nan))


def poison_gradients(training: Trial) -> None:
    parameters = list(training.loop.network.parameters())
    hooks = [parameter.register_hook(lambda gradient: gradient * torch.inf) for parameter in parameters]
    training.improve(2)
    for hook in hooks:
        hook.remove()


def poison_step_size(training: Trial) -> None:
    training.step(rate=1e3)
    training.improve(2)


@pytest.mark.parametrize("poison", [poison_weights, poison_rewards, poison_gradients, poison_step_size])
def test_training_survives_a_poisoned_update(training: Trial, poison: Callable[[Trial], None]) -> None:
    training.improve(1)
    assert training.loop.state.rollbacks == 0
    distance = training.kl_reference()
    poison(training)
    assert training.loop.state.rollbacks > 0
    assert all(parameter.isfinite().all() for parameter in training.loop.network.parameters())
    if training.reference is not None:
        assert all(weight.isfinite().all() for weight in training.reference.weights().values())
    assert training.kl_reference() <= distance + 0.05
    before, rollbacks = training.loop.state.update, training.loop.state.rollbacks
    training.improve(4)
    assert training.loop.state.rollbacks == rollbacks, "it is sound again"
    assert training.loop.state.curve.with_newest()[-1].update >= before


def test_controllers_return_to_the_good_state_too(tmp_path: Path) -> None:
    """The wild KL of a poisoned update would otherwise move them for good."""
    for training in training_of(WITH_CONTROLLERS, tmp_path):
        training.improve(1)
        kept = dict(training.loop.state.controllers)
        assert kept, "the preset has controllers"
        training.step(rate=1e3)
        while training.loop.state.rollbacks == 0:
            training.improve(2)
        assert training.loop.state.controllers.keys() == kept.keys()
        for name, state in training.loop.state.controllers.items():
            now, before = (each.total_nats / max(1, each.num_updates) for each in (state, kept[name]))
            assert now < before + 0.05


def reference_weights(training: Trial) -> dict[str, Tensor]:
    assert training.reference is not None
    return training.reference.weights()


def test_a_checkpoint_keeps_the_good_reference_and_controllers(tmp_path: Path) -> None:
    for training in training_of("ema-magnet", tmp_path):
        training.improve(1)
        good = {name: weight.clone() for name, weight in reference_weights(training).items()}
        resumed_reference = reference_of(training.settings.damping, training.loop.network)
        assert isinstance(resumed_reference, EmaReference)
        resumed = Training(
            training.loop.network,
            StepSettings(0.5, checkpoint_every_updates=1),
            Checkpoints(open_store(str(tmp_path)), 1, 0, AttemptId("second"), "fingerprint"),
            reference=resumed_reference,
        )
        resumed_reference.set_weights({name: weight * torch.nan for name, weight in good.items()})
        resumed.roll_back("it was poisoned")
        for name, weight in resumed_reference.weights().items():
            torch.testing.assert_close(weight, good[name], atol=1e-3, rtol=0)


def test_a_clone_whose_critic_is_unstable_keeps_its_best_actor(tmp_path: Path) -> None:
    """The guard goes back to the weights that the critic began to learn beside, not to those of the last epoch."""
    actors = []
    for scale in (1.0, 1e9):
        torch.manual_seed(0)
        network = make_network(bandit_space(), SlotsSettings(embedding_size=4, entity_size=16, hidden_size=16))
        checkpoints = Checkpoints(open_store(str(tmp_path / str(scale))), 0, 0, AttemptId("attempt"), "fingerprint")
        loop = Training(network, StepSettings(0.5, checkpoint_every_updates=1), checkpoints)
        episodes = play(NetworkPolicy(LEARNER, network), 100, seed=3)
        rewards = [np.full(len(episode), scale * (2 * episode.score - 1), np.float32) for episode in episodes]
        lesson, validation = make_lessons(episodes, rewards, 1.0, 7, torch.device("cpu"))
        settings = CloneSettings(num_epochs=4, learning_rate=0.1, minibatch_decisions=50, critic_warmup_epochs=1)
        with Progress(StepName.TRAIN, 0, 0, "updates") as progress:
            clone(loop, lesson, validation, settings, 0, progress)
        assert (loop.state.rollbacks > 0) == (scale > 1)
        actors.append(torch.cat([parameter.flatten() for parameter in network.actor_parameters()]))
    assert torch.equal(*actors)
