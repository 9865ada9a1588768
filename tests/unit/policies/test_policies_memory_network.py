"""The memory network: it remembers a battle as it acts and as it trains, in the same way, and learns what needs it."""

from collections.abc import Mapping

import numpy as np
import pytest
import torch
from torch import Tensor

from nashdex.core.ids import PolicyId
from nashdex.games.interface import Decisions
from nashdex.games.legal import LegalActions
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.masked import masked_log_softmax
from nashdex.policies.memory import Inputs, Memory, SeatMemory
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.settings.networks import MemorySettings
from support.battle_spaces import battle_space, random_observations

SPACE = battle_space()
SMALL = MemorySettings(
    embedding_size=3,
    move_size=5,
    pokemon_size=6,
    context_size=8,
    scorer_size=7,
    memory_size=9,
)
TOLERANCE = 1e-5


def network(seed: int = 0) -> ActorCritic:
    """Return a network whose logits differ clearly."""
    torch.manual_seed(seed)
    net = make_network(SPACE, SMALL)
    with torch.no_grad():
        net.get_parameter("scorer.score").mul_(100)
    return net


def observed(num: int, seed: int) -> np.ndarray:
    return random_observations(SPACE, num, np.random.default_rng(seed))


def numbered(*battles: np.ndarray) -> Tensor:
    """Return the observations of battles one after another, each with its decision's number."""
    rows = [np.column_stack([one, np.arange(len(one), dtype=np.float32)]) for one in battles]
    return torch.from_numpy(np.concatenate(rows).astype(np.float32))


def decisions(observation: np.ndarray, battles: list[int], *, asked_again: bool = False) -> Decisions:
    num = len(observation)
    return Decisions(
        np.array(battles),
        np.zeros(num, np.int8),
        np.full(num, asked_again),
        observation,
        LegalActions.of_mask(np.ones((num, SPACE.num_actions), np.bool_)),
    )


def log_probs(policy: NetworkPolicy, rows: Decisions, seed: int = 0) -> np.ndarray:
    """Return log π of the actions that ``policy`` draws, and the actions, (N, 2)."""
    answers = policy.act(rows, np.random.default_rng(seed).random(len(rows)))
    return np.column_stack([answers.action, answers.log_prob])


def expected(net: ActorCritic, rows: Tensor, actions: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        found = masked_log_softmax(net.logits(rows), torch.ones(len(rows), SPACE.num_actions, dtype=torch.bool))
    picked: np.ndarray = found.numpy()[np.arange(len(rows)), actions.astype(int)]
    return picked


def test_acting_agrees_with_training_over_interleaved_battles_of_any_number() -> None:
    """More battles than the first slots of a memory, than a chunk of the actor, and of different lengths."""
    net = network()
    lengths = [1 + (7 * i) % 6 for i in range(150)]
    battles = [observed(length, seed) for seed, length in enumerate(lengths)]
    policy = NetworkPolicy(PolicyId("p1"), net)
    played: list[list[np.ndarray]] = [[] for _ in battles]
    for t in range(max(lengths)):
        due = [i for i, one in enumerate(battles) if t < len(one)][:: 1 if t % 2 else -1]
        answers = log_probs(policy, decisions(np.stack([battles[i][t] for i in due]), due), t)
        for i, answer in zip(due, answers, strict=True):
            played[i].append(answer)
    found = np.concatenate([np.stack(one) for one in played])
    wanted = expected(net, numbered(*battles), found[:, 0])
    np.testing.assert_allclose(found[:, 1], wanted, atol=TOLERANCE)
    without = expected(net, numbered(*[one[i : i + 1] for one in battles for i in range(len(one))]), found[:, 0])
    assert np.abs(without - wanted).max() > 0.01
    assert policy.num_remembered == len(battles)
    for i in range(len(battles)):
        policy.forget(i, 0)
    assert policy.num_remembered == 0


def test_what_was_forgotten_leaves_no_trace() -> None:
    net, values = network(), observed(4, 1)
    policy, fresh = NetworkPolicy(PolicyId("p1"), net), NetworkPolicy(PolicyId("p1"), net)
    for t in range(3):
        policy.act(decisions(values[t : t + 1], [5]), np.zeros(1))
    policy.forget(5, 0)
    for t in range(4):
        rows = decisions(values[t : t + 1], [5])
        assert log_probs(policy, rows).tolist() == log_probs(fresh, rows).tolist()


def test_a_rejected_decision_counts_once() -> None:
    """A rejection reveals something, so the second observation differs; training sees that one alone."""
    net, values, rejected = network(), observed(3, 1), observed(1, 2)
    policy = NetworkPolicy(PolicyId("p1"), net)
    found = [log_probs(policy, decisions(values[:1], [0]))]
    policy.act(decisions(np.concatenate([rejected, values[1:2]]), [0, 1]), np.zeros(2))
    found.append(log_probs(policy, decisions(values[1:2], [0], asked_again=True)))
    found.append(log_probs(policy, decisions(values[2:], [0])))
    played = np.concatenate(found)
    np.testing.assert_allclose(played[:, 1], expected(net, numbered(values), played[:, 0]), atol=TOLERANCE)


def test_a_rejected_first_decision_begins_again() -> None:
    net, values, rejected = network(), observed(1, 1), observed(1, 2)
    policy = NetworkPolicy(PolicyId("p1"), net)
    policy.act(decisions(rejected, [0]), np.zeros(1))
    (again,) = log_probs(policy, decisions(values, [0], asked_again=True))
    assert again[1] == pytest.approx(expected(net, numbered(values), again[:1])[0], abs=TOLERANCE)


def test_later_training_does_not_change_a_policy() -> None:
    net, values = network(), observed(2, 1)
    policy = NetworkPolicy(PolicyId("p1"), net)
    before = log_probs(NetworkPolicy(PolicyId("p1"), net), decisions(values[:1], [0]))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(1.0)
    assert log_probs(policy, decisions(values[:1], [0])).tolist() == before.tolist()


def test_a_decision_depends_on_earlier_ones_of_its_battle_alone() -> None:
    net, rows = network(), numbered(observed(5, 1), observed(4, 2))
    with torch.no_grad():
        before = net.outputs(rows)
        for changed, later in ((1, [1, 2, 3, 4]), (6, [6, 7, 8])):
            others = rows.clone()
            others[changed, :-1] = torch.from_numpy(observed(1, 3)[0])
            after = net.outputs(others)
            assert (after.logits != before.logits).any(1).nonzero().flatten().tolist() == later
            assert (after.values != before.values).nonzero().flatten().tolist() == later


def test_actor_and_critic_share_no_weights() -> None:
    net, rows = network(), numbered(observed(5, 1))
    critic = {id(parameter) for parameter in net.critic.parameters()}
    net.values(rows).sum().backward()
    assert {id(p) for p in net.parameters() if p.grad is not None and p.grad.any()} <= critic
    net.zero_grad()
    net.logits(rows).square().sum().backward()
    assert not any(p.grad is not None and p.grad.any() for p in net.critic.parameters())
    for outputs in (net.outputs(rows), net.outputs(rows, net.fuse())):
        torch.testing.assert_close(outputs.logits, net.logits(rows))
        torch.testing.assert_close(outputs.values, net.values(rows))


class CountingNetwork:
    """Remembers how often each seat decided."""

    def memory_shapes(self) -> Mapping[str, tuple[int, ...]]:
        return {"count": ()}

    def rewind(self, memory: Memory, slots: Tensor) -> None:
        memory["count"][slots] -= 1

    def step(self, inputs: Inputs, memory: Memory, slots: Tensor) -> Tensor:
        assert len(set(slots.tolist())) == len(slots) == len(inputs["observations"])
        memory["count"][slots] += 1
        return memory["count"][slots]


def test_a_seats_memory_begins_empty_and_is_its_own() -> None:
    memory = SeatMemory(CountingNetwork())
    seats = [(battle, seat) for battle in range(20) for seat in range(2)]
    inputs = {"observations": torch.zeros(len(seats), 1)}
    assert memory.step(inputs, seats, [False] * 40).tolist() == [1] * 40
    memory.forget((3, 1))
    memory.forget((3, 1))
    assert (len(memory), (3, 1) in memory, (3, 0) in memory) == (39, False, True)
    one = {"observations": torch.zeros(2, 1)}
    assert memory.step(one, [(99, 0), (3, 0)], [False, False]).tolist() == [1, 2]
    assert memory.step(one, [(99, 0), (3, 0)], [False, True]).tolist() == [2, 2]
    assert memory.step(one, [(3, 1), (3, 0)], [True, False]).tolist() == [1, 3]
