"""Networks that act on a torch device choose what those choose that are made for the CPU's caches."""

import numpy as np
import pytest
import torch
from pydantic import TypeAdapter

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import PolicyId
from nashdex.games.interface import Decisions
from nashdex.games.legal import LegalActions
from nashdex.games.space import Space
from nashdex.learning.cuda_graphs import GraphedPasses
from nashdex.learning.hardware import Forward, forward_passes
from nashdex.policies.archive import save_policy
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.policies.networks.pointer import encoder, parts
from nashdex.policies.sources import load_policies
from nashdex.settings.networks import NetworkChoice, NetworkSettings
from support.battle_spaces import battle_space, random_observations
from support.joint_space import joint_decisions, joint_space
from support.memory_store import MemoryStore
from support.pairs_network import PairsNetwork, PairsSettings

TORCH_CPU = "cpu:0"
"""The CPU as torch names one of several devices: networks act on it as they do on a GPU."""
DEVICES = [
    TORCH_CPU,
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA device")),
]
NUM_ROWS = 300


def network(kind: str, space: Space) -> ActorCritic:
    """Return a network of default sizes whose logits differ clearly."""
    torch.manual_seed(4)
    if kind == "pairs":
        net: ActorCritic = PairsNetwork(space, PairsSettings())
    else:
        net = make_network(space, TypeAdapter[NetworkSettings](NetworkChoice).validate_python(kind))
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            if not name.startswith("critic"):
                parameter.mul_(1.5)
    return net


def decisions(kind: str) -> tuple[Space, Decisions]:
    if kind == "pairs":
        return joint_space(), joint_decisions(NUM_ROWS, 3)
    space, rng = battle_space(), np.random.default_rng(5)
    mask = rng.random((NUM_ROWS, space.num_actions)) < 0.6
    mask[:, 0] = True
    seats, again = np.zeros(NUM_ROWS, np.int8), np.zeros(NUM_ROWS, np.bool_)
    observations = random_observations(space, NUM_ROWS, rng)
    return space, Decisions(np.arange(NUM_ROWS), seats, again, observations, LegalActions.of_mask(mask))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ["slots", "pairs", "pointer", "transformer"])
def test_actions_and_log_probabilities_are_the_same_within_the_tolerance(kind: str, device: str) -> None:
    space, seen = decisions(kind)
    net, draws = network(kind, space), np.random.default_rng(6).random(NUM_ROWS)
    expected = NetworkPolicy(PolicyId("p1"), net).act(seen, draws)
    found = NetworkPolicy(PolicyId("p1"), net, device).act(seen, draws)
    np.testing.assert_array_equal(found.action, expected.action)
    np.testing.assert_allclose(found.log_prob, expected.log_prob, atol=1e-4, rtol=0)
    assert found.log_prob.dtype == np.float32
    assert np.ptp(expected.log_prob) > 0.1, "the probabilities differ, so that the comparison says something"


@pytest.mark.parametrize("device", ["cpu", *DEVICES[1:]])
@pytest.mark.parametrize("kind", ["pointer", "transformer"])
def test_whole_tensors_give_the_gradients_that_tiles_give(
    kind: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    space, seen = decisions(kind)
    observations = torch.from_numpy(seen.observation).double()
    for block in space.blocks:
        if block.name.startswith("opponent"):  # in half of the decisions, the opponent's Pokémon are equal
            observations[: NUM_ROWS // 2, block.offset : block.offset + block.rows * block.stride] = 0
    tiled = gradients(network(kind, space).double(), observations)
    for module in (parts, encoder):
        monkeypatch.setattr(module, "is_plain", lambda _: True)
    whole = gradients(network(kind, space).double().to(device), observations.to(device))
    assert len(tiled) == len(whole) > 20
    for name, expected in tiled.items():
        size = float(expected.norm())
        assert size > 0, name
        # In single precision, another order of sums would let single ReLUs of single decisions switch.
        assert float((whole[name].cpu() - expected).norm()) < 1e-9 * size, name


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA device")
@pytest.mark.parametrize("kind", ["pointer", "transformer"])
def test_passes_that_a_gpu_launches_as_a_whole_give_the_same_gradients(kind: str) -> None:
    space, seen = decisions(kind)
    plain, graphed = (network(kind, space).cuda() for _ in range(2))
    passes = forward_passes(graphed, "float32", graphed_rows=NUM_ROWS)
    assert isinstance(passes, GraphedPasses)
    observations = torch.from_numpy(seen.observation).cuda()
    for size in (NUM_ROWS, NUM_ROWS // 3, NUM_ROWS):  # a smaller minibatch is filled up
        expected, found = gradients(plain, observations[:size]), gradients(graphed, observations[:size], passes)
        assert len(expected) == len(found) > 20
        for name, gradient in expected.items():
            assert float((found[name] - gradient).norm()) < 1e-4 * float(gradient.norm()), name
        for net in (plain, graphed):
            net.zero_grad(set_to_none=True)


def gradients(net: ActorCritic, observations: torch.Tensor, passes: Forward | None = None) -> dict[str, torch.Tensor]:
    outputs = (passes or net).outputs(observations)
    assert outputs.prediction is not None
    weights = torch.linspace(-1, 1, outputs.logits.numel(), device=observations.device).view_as(outputs.logits)
    loss = (outputs.logits * weights).sum() + outputs.values.square().sum() + outputs.prediction.sum()
    loss.backward()
    return {name: parameter.grad for name, parameter in net.named_parameters() if parameter.grad is not None}


def test_a_policy_on_a_device_is_not_changed_by_further_training() -> None:
    space, seen = decisions("slots")
    net, draws = network("slots", space), np.random.default_rng(6).random(NUM_ROWS)
    policy = NetworkPolicy(PolicyId("p1"), net, TORCH_CPU)
    before = policy.act(seen, draws)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
    np.testing.assert_array_equal(policy.act(seen, draws).log_prob, before.log_prob)


def test_a_network_that_remembers_is_refused() -> None:
    net = network("memory", battle_space())
    with pytest.raises(ConfigurationError, match=r"collect\.device is 'cpu:0', and a network that remembers a battle"):
        NetworkPolicy(PolicyId("p1"), net, TORCH_CPU)


def test_stored_policies_are_loaded_onto_the_device() -> None:
    space, seen = decisions("slots")
    store, draws = MemoryStore(), np.random.default_rng(6).random(NUM_ROWS)
    policy = save_policy(
        store,
        network("slots", space),
        name="a",
        parent=None,
        iteration=0,
        oracle="clone",
        reward="win-loss",
        reward_version="1",
    )
    found, expected = (load_policies(store, [policy], space, device)[policy] for device in (TORCH_CPU, "cpu"))
    np.testing.assert_array_equal(found.act(seen, draws).action, expected.act(seen, draws).action)


@pytest.mark.parametrize("temperature", ["", "@greedy"])
@pytest.mark.parametrize("kind", ["slots", "pairs", "pointer", "transformer"])
def test_weights_that_overflow_are_refused_with_the_policys_name(kind: str, temperature: str) -> None:
    space, seen = decisions(kind)
    net = network(kind, space)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(torch.randn_like(parameter).sign() * 3e38)
    with (
        np.errstate(all="ignore"),
        pytest.raises(DataError, match=f"^policy p1{temperature} gives logits that are not finite"),
    ):
        NetworkPolicy(PolicyId(f"p1{temperature}"), net).act(seen, np.full(NUM_ROWS, 0.5))
