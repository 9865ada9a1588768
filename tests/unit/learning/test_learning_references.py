"""What a KL holds the policy to: whole networks in their own right, never something cached."""

import math
from collections.abc import Callable
from typing import Literal

import pytest
import torch
from torch import Tensor

from nashdex.core.ids import PolicyId
from nashdex.games.space import Space
from nashdex.learning.references import (
    Distribution,
    EmaReference,
    HierarchicalReference,
    MixtureReference,
    PortfolioReference,
    Reference,
    RoundReference,
    SnapshotReference,
    UniformReference,
)
from nashdex.policies.masked import entropy, masked_log_softmax, uniform_log_probs
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.settings.networks import SlotsSettings
from support.bandit import bandit_space, decisions

P1, P2 = PolicyId("p1"), PolicyId("p2")
SMALL = SlotsSettings(embedding_size=4, entity_size=16, hidden_size=16, num_hidden_layers=1)


def network(seed: int = 0) -> ActorCritic:
    torch.manual_seed(seed)
    net = make_network(bandit_space(), SMALL)
    with torch.no_grad():
        net.get_parameter("actor.weight").mul_(50)
    return net


def rows(num: int = 50) -> tuple[Tensor, Tensor]:
    """Return observations and masks."""
    found, _ = decisions(num, 1)
    return torch.from_numpy(found.observation), torch.from_numpy(found.mask)


def log_probs(net: ActorCritic) -> Tensor:
    observations, masks = rows()
    return masked_log_softmax(net.logits(observations), masks)


def kl(reference: Reference, net: ActorCritic) -> Tensor:
    return reference.kl(log_probs(net), *rows())


def change(net: ActorCritic) -> None:
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(7)))


@pytest.mark.parametrize(
    "make",
    [
        lambda: SnapshotReference(network(), P1),
        UniformReference,
        lambda: HierarchicalReference(bandit_space()),
        lambda: EmaReference(network(), P1, 0.9),
        lambda: MixtureReference([(0.3, SnapshotReference(network(), P1)), (0.7, UniformReference())]),
    ],
    ids=["snapshot", "uniform", "hierarchical", "ema", "league"],
)
def test_a_reference_is_a_distribution_over_the_legal_actions_and_no_others(make: Callable[[], Distribution]) -> None:
    """A mask added with the wrong sign would give all its weight to what is illegal."""
    observations, masks = rows()
    found = make().log_probs(observations, masks)
    assert torch.equal(found > -torch.inf, masks)
    torch.testing.assert_close(found.exp().sum(dim=1), torch.ones(len(masks)))
    assert not found.requires_grad


def test_kl_from_uniform_is_the_entropy_that_is_missing() -> None:
    _, masks = rows()
    net = network()
    expected = masks.sum(dim=1).log() - entropy(log_probs(net), masks)
    torch.testing.assert_close(kl(UniformReference(), net), expected, atol=1e-6, rtol=0)
    logits = torch.tensor([[2.0, 1.0, 0.0]])
    masks = torch.ones(1, 3, dtype=torch.bool)
    known = UniformReference().kl(masked_log_softmax(logits, masks), logits, masks)
    assert known.item() == pytest.approx(0.2662167, abs=1e-6)
    assert known.item() == pytest.approx(math.log(3) - entropy(masked_log_softmax(logits, masks), masks).item())


def named_space(*actions: str, num_slots: Literal[1, 2] = 1) -> Space:
    return bandit_space().model_copy(
        update={"actions": actions, "num_actions": len(actions) ** num_slots, "num_slots": num_slots}
    )


def test_hierarchical_is_uniform_over_kinds_and_then_within_a_kind() -> None:
    reference = HierarchicalReference(named_space("switch 1", "switch 2", "move 1", "move 2", "move 3"))
    masks = torch.tensor([[True, False, True, True, True], [True, True, False, False, False]])
    found = reference.log_probs(torch.zeros(2, 1), masks).exp()
    torch.testing.assert_close(found, torch.tensor([[1 / 2, 0, 1 / 6, 1 / 6, 1 / 6], [1 / 2, 1 / 2, 0, 0, 0]]))


def test_the_kind_of_a_joint_action_is_the_kinds_of_its_slots() -> None:
    reference = HierarchicalReference(named_space("switch 1", "move 1 at -1", "move 1 at 2", num_slots=2))
    switch_move, switch_other, both_move = 0 * 3 + 1, 0 * 3 + 2, 1 * 3 + 2
    pairs = torch.tensor([[switch_move, switch_other, both_move], [both_move, switch_other, -1]], dtype=torch.int32)
    found = reference.log_probs(torch.zeros(2, 1), pairs).exp()
    torch.testing.assert_close(found, torch.tensor([[1 / 4, 1 / 4, 1 / 2], [1 / 2, 1 / 2, 0]]))


@pytest.mark.parametrize("num_slots", [1, 2])
def test_the_table_of_kinds_is_made_where_the_network_is(num_slots: Literal[1, 2]) -> None:
    away = torch.device("meta")
    reference = HierarchicalReference(named_space("switch 1", "move 1", num_slots=num_slots), away)
    masks = torch.ones(3, 2**num_slots, dtype=torch.bool if num_slots == 1 else torch.int32, device=away)
    assert reference.log_probs(torch.zeros(3, 1, device=away), masks).device == away


def test_names_without_numbers_are_kinds_of_their_own() -> None:
    observations, masks = rows()
    reference = HierarchicalReference(named_space(*"abcdefgh"[: masks.shape[1]]))
    torch.testing.assert_close(reference.log_probs(observations, masks), uniform_log_probs(masks))


def test_a_stepwise_reference_is_renewed_every_so_many_rounds() -> None:
    net = network()
    reference = RoundReference(net, P1, every_rounds=3)
    change(net)
    distances = []
    for number in range(1, 5):
        reference.begin_round(net, number)
        distances.append(kl(reference, net).mean().item())
    assert distances[0] == distances[1] > 1e-4
    assert distances[2] == distances[3] == 0.0


def test_kl_is_exactly_0_from_where_training_begins_and_above_0_after_a_change() -> None:
    references: list[Callable[[ActorCritic], Reference]] = [
        lambda net: SnapshotReference(net, P1),
        lambda net: EmaReference(net, P1, 0.9),
        lambda net: PortfolioReference([SnapshotReference(net, P1), UniformReference()]),
        lambda net: MixtureReference([(1.0, SnapshotReference(net, P1))]),
    ]
    for make in references:
        net = network()
        reference = make(net)
        assert torch.equal(kl(reference, net), torch.zeros(50)), reference.source
        change(net)
        assert kl(reference, net).mean() > 1e-4, reference.source


def test_the_moving_average_is_what_is_measured_from() -> None:
    """Log-probabilities cached at the start would leave the KL as if the average never moved."""
    net = network()
    reference = EmaReference(net, P1, decay=0.75)
    change(net)
    before = kl(reference, net).mean()
    expected = [p.detach().clone() for p in network().parameters()]
    for _ in range(3):
        reference.follow(net)
        expected = [0.75 * old + 0.25 * new.detach() for old, new in zip(expected, net.parameters(), strict=True)]
    for found, wanted in zip(reference.weights().values(), expected, strict=True):
        torch.testing.assert_close(found, wanted)
    after = kl(reference, net).mean()
    assert 0 < after < before / 2
    follower = EmaReference(network(), P1, decay=0.0)
    follower.follow(net)
    assert torch.equal(kl(follower, net), torch.zeros(50))


def test_a_moving_average_returns_from_a_checkpoint() -> None:
    net = network()
    reference, resumed = (EmaReference(network(), P1, decay=0.5) for _ in range(2))
    change(net)
    reference.follow(net)
    assert not torch.equal(kl(resumed, net), kl(reference, net))
    resumed.set_weights({name: tensor.clone() for name, tensor in reference.weights().items()})
    assert torch.equal(kl(resumed, net), kl(reference, net))


def test_a_league_mixes_probabilities_not_logarithms() -> None:
    observations, masks = rows()
    first, second = SnapshotReference(network(1), P1), SnapshotReference(network(2), P2)
    mixed = MixtureReference([(0.25, first), (0.75, second)])
    expected = 0.25 * first.log_probs(observations, masks).exp() + 0.75 * second.log_probs(observations, masks).exp()
    torch.testing.assert_close(mixed.log_probs(observations, masks).exp(), expected)
    assert mixed.source == "league:snapshot:p1=0.25,snapshot:p2=0.75"
    assert mixed.kind == "league"


def test_an_opponent_at_a_temperature_is_a_reference_at_that_temperature() -> None:
    observations, masks = rows()
    plain, sharp = SnapshotReference(network(1), P1), SnapshotReference(network(1), PolicyId("p1@T0.5"))
    squares = plain.log_probs(observations, masks).exp() ** 2
    expected = squares / squares.sum(dim=1, keepdim=True)
    torch.testing.assert_close(sharp.log_probs(observations, masks).exp(), expected)
    assert sharp.source == "snapshot:p1@T0.5"


def test_of_a_portfolio_the_nearest_counts_in_every_row() -> None:
    net = network()
    first, second = SnapshotReference(network(1), P1), SnapshotReference(network(2), P2)
    smallest = torch.minimum(kl(first, net), kl(second, net))
    assert torch.equal(kl(PortfolioReference([first, second]), net), smallest)
    assert (smallest < kl(first, net)).any()
    assert (smallest < kl(second, net)).any()
