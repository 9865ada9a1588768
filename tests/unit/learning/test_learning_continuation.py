"""Training that goes on in the next iteration: two trainings of n updates against one of 2n."""

from dataclasses import replace

import pytest
import torch

from nashdex.core.errors import DataError
from nashdex.core.ids import AttemptId, PolicyId
from nashdex.core.manifest import Manifest
from nashdex.core.steps import StepName
from nashdex.learning.experience.batching import make_batch
from nashdex.learning.experience.round import Experience
from nashdex.learning.updates.checkpoint import Checkpoints, Continuation
from nashdex.learning.updates.training import StepSettings, Training
from nashdex.oracles.ppo.loss import make_targets
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.settings.damping import DampingSettings
from nashdex.settings.networks import SlotsSettings
from nashdex.settings.ppo import Annealing, PpoSettings
from nashdex.store.attempt import Attempt
from nashdex.telemetry.progress import Progress
from support.bandit import bandit_space, play
from support.memory_store import MemoryStore
from support.ppo import learn as learn_from

LEARNER = PolicyId("p1")
SETTINGS = PpoSettings(
    num_epochs=5,
    minibatch_decisions=10_000,  # one minibatch, whose order changes nothing but rounding
    learning_rate=1e-2,
    annealing=Annealing(learning_rate=1.0),
    damping=DampingSettings.model_validate({"preset": "none", "step_target_nats": 1e-4}),
)


def network(hidden_size: int = 16) -> ActorCritic:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        sizes = SlotsSettings(embedding_size=4, entity_size=16, hidden_size=hidden_size, num_hidden_layers=1)
        return make_network(bandit_space(), sizes)


def loop(net: ActorCritic, continuation: Continuation | None = None) -> Training:
    checkpoints = Checkpoints(MemoryStore(), 1, 0, AttemptId("attempt"), "fingerprint")
    return Training(net, StepSettings(0.5, checkpoint_every_updates=1000), checkpoints, continuation=continuation)


def learn(training: Training, seed: int) -> None:
    """Play 200 battles with the newest weights, and learn from them."""
    episodes = play(NetworkPolicy(LEARNER, training.network), 200, seed=seed)
    batch = make_batch(episodes, torch.device("cpu"))
    rewards = tuple(torch.tensor([2 * episode.score - 1]).numpy() for episode in episodes)
    targets = make_targets(training.network, Experience(batch, rewards), SETTINGS, 1.0)
    with Progress(StepName.TRAIN, 0, 0, "updates") as progress:
        learn_from(training, batch, targets, SETTINGS, progress)


def weights(training: Training) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in training.network.parameters()])


def attempt_with(objects: dict[str, bytes]) -> tuple[MemoryStore, Manifest]:
    """Store ``objects`` as the train step does."""
    store = MemoryStore()
    attempt = Attempt(store, 1, StepName.TRAIN, 0)
    for name, data in objects.items():
        attempt.write(name, data)
    return store, attempt.finish({})


def test_two_trainings_equal_one_of_both_lengths_up_to_rounding() -> None:
    """Rounds of one training, against iterations. Without Adam's moments they would differ."""
    whole = loop(network())
    learn(whole, seed=1)
    whole.begin_round(1.0, 200)
    learn(whole, seed=2)

    first = loop(network())
    learn(first, seed=1)
    read = Continuation.read(*attempt_with(first.continuation().objects()))
    assert read is not None
    second, forgetful = loop(first.network, read), network()
    forgetful.load_state_dict(first.network.state_dict())
    learn(second, seed=2)
    without = loop(forgetful)
    learn(without, seed=2)

    assert whole.state.update == first.state.update + second.state.update == 10
    torch.testing.assert_close(weights(second), weights(whole), atol=1e-5, rtol=1e-4)
    assert (weights(without) - weights(whole)).abs().max() > 1e-3
    assert second.state.controllers["learning_rate"].multiplier == whole.state.controllers["learning_rate"].multiplier
    ours, theirs = second.continuation().optimiser, whole.continuation().optimiser
    assert {ours[name].item() for name in ours if name.endswith("/step")} == {10.0}
    assert ours.keys() == theirs.keys()


def test_a_checkpoint_is_newer_than_what_the_iteration_began_with() -> None:
    first = loop(network())
    learn(first, seed=1)
    store = MemoryStore()

    def attempt() -> Training:
        checkpoints = Checkpoints(store, 2, 0, AttemptId("attempt"), "fingerprint")
        settings = StepSettings(0.5, checkpoint_every_updates=1)
        return Training(network(), settings, checkpoints, continuation=first.continuation())

    killed = attempt()
    learn(killed, seed=2)
    resumed = attempt()
    assert torch.equal(weights(resumed), weights(killed))
    steps = [value.item() for name, value in resumed.continuation().optimiser.items() if name.endswith("/step")]
    assert set(steps) == {10.0}


def test_an_attempt_of_an_oracle_that_leaves_nothing_is_no_continuation() -> None:
    assert Continuation.read(*attempt_with({})) is None


def test_moments_of_another_shape_are_refused_by_parameter() -> None:
    first = loop(network(hidden_size=32))
    learn(first, seed=1)
    with pytest.raises(DataError, match=r"does not fit the network: the optimiser's state of \S+ has another shape"):
        loop(network(), first.continuation())


def test_what_is_no_safetensors_is_refused() -> None:
    objects = loop(network()).continuation().objects()
    store, manifest = attempt_with(objects | {"optimiser.safetensors": b"nothing"})
    with pytest.raises(DataError, match="is not safetensors"):
        Continuation.read(store, manifest)
    assert replace(Continuation({}, {})).objects().keys() == objects.keys()
