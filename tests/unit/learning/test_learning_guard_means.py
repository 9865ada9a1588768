"""The guard judges entropy by a running mean: small minibatches differ, and a collapse goes on."""

import math

import pytest
import torch

from nashdex.core.ids import AttemptId, PolicyId
from nashdex.core.steps import StepName
from nashdex.learning.experience.batching import minibatches
from nashdex.learning.updates.checkpoint import Checkpoints
from nashdex.learning.updates.optimiser import Rates
from nashdex.learning.updates.training import StepSettings, Training
from nashdex.policies import masked
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.settings.networks import SlotsSettings
from nashdex.telemetry.progress import Progress
from support.bandit import bandit_space, decisions
from support.memory_store import MemoryStore
from support.ppo import step

LEARNER = PolicyId("p1")
GOOD_NATS = 0.3


@pytest.fixture
def network() -> ActorCritic:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        sizes = SlotsSettings(embedding_size=4, entity_size=16, hidden_size=16, num_hidden_layers=1)
        return make_network(bandit_space(), sizes)


@pytest.fixture
def loop(network: ActorCritic) -> Training:
    """Return a loop in its second round, which began with a policy of ``GOOD_NATS``."""
    checkpoints = Checkpoints(MemoryStore(), 1, 0, AttemptId("attempt"), "fingerprint")
    made = Training(network, StepSettings(0.5, checkpoint_every_updates=1000), checkpoints)
    made.begin_round(GOOD_NATS, 1000)
    return made


def feed(loop: Training, entropies: list[float]) -> None:
    with Progress(StepName.TRAIN, 0, 0, "updates") as progress:
        for entropy in entropies:
            loss = loop.network.values(torch.zeros(1, 3)).square().sum()
            step(loop, loss, {"entropy": entropy}, progress, Rates.both(1e-9))


def test_one_minibatch_of_half_the_entropy_is_no_instability(loop: Training) -> None:
    feed(loop, [0.3, 0.28, 0.32, 0.1, 0.31, 0.3, 0.27, 0.02, 0.33, 0.3] * 5)
    assert loop.state.rollbacks == 0


def test_a_policy_that_collapses_is_caught_within_the_window(loop: Training) -> None:
    feed(loop, [0.3] * 20)
    updates = 0
    while loop.state.rollbacks == 0 and updates < 10:
        feed(loop, [0.01])
        updates += 1
    assert 5 <= updates <= 8, "a mean over ten updates needs some of them"


def test_a_policy_that_has_collapsed_at_the_first_update_is_caught_at_once(loop: Training) -> None:
    feed(loop, [0.1])
    assert loop.state.rollbacks == 1


def test_a_slow_fall_is_caught_however_small_its_steps(loop: Training) -> None:
    feed(loop, [GOOD_NATS * 0.97**update for update in range(60)])
    assert loop.state.rollbacks >= 1


def test_a_rollback_begins_a_mean_that_knows_nothing_of_the_collapse(loop: Training) -> None:
    feed(loop, [0.3] * 10 + [0.01] * 8)
    caught = loop.state.rollbacks
    assert caught >= 1
    feed(loop, [0.3] * 20)
    assert loop.state.rollbacks == caught


def test_minibatches_of_64_differ_by_half_without_a_false_alarm(network: ActorCritic, loop: Training) -> None:
    """Real minibatches of a policy that is certain of three in four decisions: what the mean is for."""
    rows, _ = decisions(6400, seed=1)
    observations, masks = torch.from_numpy(rows.observation), torch.from_numpy(rows.mask)
    with torch.no_grad():
        logits = network.logits(observations)
        certain = observations[:, 1] < 0.67  # the first noise value, standard normal
        logits[certain] += 50 * torch.nn.functional.one_hot(observations[certain, 0].long(), 4)
        entropy = masked.entropy(masked.masked_log_softmax(logits, masks), masks)
        each = [entropy[part].mean().item() for part in minibatches(len(observations), 64, seed=0)]
    mean = entropy.mean().item()
    assert min(each) < 0.6 * mean, "single minibatches would come near the limit of one half"
    loop.begin_round(mean, 2000)
    feed(loop, each)
    assert loop.state.rollbacks == 0
    assert math.isclose(sum(each) / len(each), mean, rel_tol=1e-3)
