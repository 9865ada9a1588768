"""The entity transformer: it reads every value and no places, and acting agrees with training, with a memory too."""

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

from nashdex.core.ids import PolicyId
from nashdex.games.interface import Decisions
from nashdex.games.legal import LegalActions
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.masked import kl_divergence, masked_log_softmax, uniform_log_probs
from nashdex.policies.networks.actor_critic import ActingNetwork, ActorCritic, make_network
from nashdex.policies.networks.observed import Observed
from nashdex.policies.networks.pointer.entity_network import ActingEntityNetwork
from nashdex.settings.networks import TransformerSettings
from support.battle_spaces import battle_space, random_observations

SPACE = battle_space()
SIZES = {
    "embedding_size": 3,
    "move_size": 5,
    "pokemon_size": 6,
    "token_size": 8,
    "num_heads": 2,
    "num_layers": 2,
    "feedforward_size": 9,
    "scorer_size": 7,
}
MEMORY = [0, 6]
LEARNER = PolicyId("p1")


def network(memory_size: int = 0, seed: int = 0) -> ActorCritic:
    """Return a network whose logits differ clearly."""
    torch.manual_seed(seed)
    net = make_network(SPACE, TransformerSettings(memory_size=memory_size, **SIZES))
    with torch.no_grad():
        net.get_parameter("scorer.score").mul_(100)
        net.get_parameter("opponent.weight").normal_()
        for name, parameter in net.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(std=0.1)
    return net


def acting_copy(net: ActorCritic) -> ActingNetwork:
    acting = net.for_acting()
    assert isinstance(acting, ActingEntityNetwork)
    return acting


def observed(num: int, seed: int) -> np.ndarray:
    return random_observations(SPACE, num, np.random.default_rng(seed))


def rows_of(*battles: np.ndarray, memory_size: int) -> Tensor:
    """Return the observations of battles one after another, with each decision's number if the network remembers."""
    if not memory_size:
        return torch.from_numpy(np.concatenate(battles))
    numbered = [np.column_stack([one, np.arange(len(one))]) for one in battles]
    return torch.from_numpy(np.concatenate(numbered).astype(np.float32))


def decisions(observations: np.ndarray, battles: list[int]) -> Decisions:
    num = len(observations)
    legal = LegalActions.of_mask(np.ones((num, SPACE.num_actions), np.bool_))
    return Decisions(np.array(battles), np.zeros(num, np.int8), np.zeros(num, np.bool_), observations, legal)


@pytest.mark.parametrize("memory_size", MEMORY)
def test_acting_computes_what_training_does(memory_size: int) -> None:
    """In 150 battles of one to six decisions, each after the memory of those before, in batches of any size."""
    net = network(memory_size)
    battles = [observed(1 + (7 * i) % 6, i) for i in range(150)]
    policy = NetworkPolicy(LEARNER, net)
    played: list[list[tuple[int, float]]] = [[] for _ in battles]
    for t in range(6):
        due = [i for i, one in enumerate(battles) if t < len(one)]
        uniforms = np.random.default_rng(t).random(len(due))
        answers = policy.act(decisions(np.stack([battles[i][t] for i in due]), due), uniforms)
        for i, action, log_prob in zip(due, answers.action, answers.log_prob, strict=True):
            played[i].append((int(action), float(log_prob)))
    actions, found = (np.array(column) for column in zip(*(row for one in played for row in one), strict=True))
    rows = rows_of(*battles, memory_size=memory_size)
    with torch.no_grad():
        log_probs = masked_log_softmax(net.logits(rows), torch.ones(len(rows), SPACE.num_actions, dtype=torch.bool))
    assert log_probs.min() < -1.8, "the logits differ, so that the comparison says something"
    np.testing.assert_allclose(found, log_probs.numpy()[np.arange(len(rows)), actions], atol=1e-4)
    if memory_size:
        alone = rows_of(*[one[t : t + 1] for one in battles for t in range(len(one))], memory_size=memory_size)
        with torch.no_grad():
            assert (net.logits(alone) - net.logits(rows)).abs().max() > 0.01


@pytest.mark.parametrize("memory_size", MEMORY)
def test_outputs_are_those_one_by_one_with_and_without_gradients(memory_size: int) -> None:
    net = network(memory_size)
    rows = rows_of(observed(5, 1), observed(40, 2), memory_size=memory_size)
    outputs = net.outputs(rows)
    assert torch.equal(outputs.logits, net.logits_and_prediction(rows)[0])
    prediction = net.logits_and_prediction(rows)[1]
    assert outputs.prediction is not None
    assert prediction is not None
    assert torch.equal(outputs.prediction, prediction)
    assert torch.equal(outputs.values, net.values(rows))
    with torch.no_grad():
        assert torch.equal(net.logits(rows, net.fuse()), outputs.logits)


@pytest.mark.parametrize("memory_size", MEMORY)
def test_all_weights_learn_and_actor_and_critic_share_none(memory_size: int) -> None:
    net = network(memory_size)
    rows = rows_of(observed(150, 3), observed(100, 4), memory_size=memory_size)
    parameters = {name: parameter for name, parameter in net.named_parameters() if parameter.numel()}
    net.values(rows).square().sum().backward()
    of_critic = {name for name, p in parameters.items() if p.grad is not None and p.grad.abs().sum() > 0}
    assert of_critic == {name for name in parameters if name.startswith("critic.")}
    logits, prediction = net.logits_and_prediction(rows)
    assert prediction is not None
    (logits.square().sum() + prediction.square().sum()).backward()
    assert not [name for name, p in parameters.items() if p.grad is None or not p.grad.abs().sum() > 0]


def test_every_observed_value_can_change_the_logits() -> None:
    net, values = network(), observed(32, 5)
    acting = acting_copy(net)
    base = acting.logits(Observed(values))
    for column in range(SPACE.observation_size):
        changed = values.copy()
        changed[:, column] = np.where(changed[:, column] == 1.0, 2.0, 1.0)
        assert not np.array_equal(acting.logits(Observed(changed)), base), f"column {column} is not read"


def test_a_pokemon_has_the_same_score_wherever_it_is_in_the_team() -> None:
    net, values = network(), observed(20, 6)
    order = [2, 0, 1]
    moved = values.copy()
    for name, rows in (("own", order), ("own_moves", [2 * p + m for p in order for m in range(2)])):
        part = next(block for block in SPACE.blocks if block.name == name)
        columns = slice(part.offset, part.offset + part.rows * part.stride)
        moved[:, columns] = values[:, columns].reshape(20, part.rows, -1)[:, rows].reshape(20, -1)
    acting = acting_copy(net)
    before, after = acting.logits(Observed(values)), acting.logits(Observed(moved))
    np.testing.assert_allclose(after[:, :3], before[:, order], atol=1e-4)
    np.testing.assert_allclose(after[:, 3:], before[:, 3:], atol=1e-4)
    assert np.ptp(before, axis=1).min() > 1e-3


def test_a_fresh_network_is_close_to_uniform() -> None:
    torch.manual_seed(0)
    net, mask = make_network(SPACE, TransformerSettings()), torch.ones(32, SPACE.num_actions, dtype=torch.bool)
    log_probs = masked_log_softmax(net.logits(torch.from_numpy(observed(32, 7))), mask)
    assert kl_divergence(log_probs, uniform_log_probs(mask), mask).max() < 0.01


@pytest.mark.parametrize("memory_size", MEMORY)
def test_a_policy_that_acts_is_not_changed_by_further_training(memory_size: int) -> None:
    net, values = network(memory_size), observed(3, 8)
    policy, draws = NetworkPolicy(LEARNER, net), np.full(3, 0.5)
    before = NetworkPolicy(LEARNER, net).act(decisions(values, [0, 1, 2]), draws).log_prob
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(1.0)
    np.testing.assert_array_equal(policy.act(decisions(values, [0, 1, 2]), draws).log_prob, before)


def test_heads_that_do_not_divide_the_width_are_refused_with_both_settings() -> None:
    with pytest.raises(ValidationError, match="token_size is 10 and num_heads 4"):
        TransformerSettings(token_size=10)
