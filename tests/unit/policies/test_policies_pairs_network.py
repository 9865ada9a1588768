"""The pairs network against a dense softmax over all pairs, and its actor against its training."""

import numpy as np
import pytest
import torch

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.games.interface import Decisions
from nashdex.policies import masked
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.masked import acting_logits, padded, pair_logits
from nashdex.policies.networks.actor_critic import make_network
from nashdex.policies.networks.observed import Observed
from nashdex.settings.networks import PointerPairsSettings, SlotsSettings
from support.joint_space import ACTIONS_EACH, joint_decisions, joint_space
from support.pairs_network import PairsNetwork, PairsSettings
from support.spaces import tiny_space

SMALL = {"embedding_size": 4, "entity_size": 8, "hidden_size": 16, "num_hidden_layers": 2, "critic_size": 4}


def pairs_network(seed: int = 0, *, is_trained: bool = True) -> PairsNetwork:
    """Return a network, by default with weights that are far from those of a first policy."""
    torch.manual_seed(seed)
    network = PairsNetwork(joint_space(), PairsSettings(**SMALL, interaction_size=3))
    if is_trained:
        with torch.no_grad():
            network.get_parameter("actor.weight").normal_(0, 0.3)
    return network


def dense(scores: torch.Tensor) -> torch.Tensor:
    """Return the logits of all pairs, (B, M²), by the definition."""
    first, second = scores[:, 0], scores[:, 1]
    interaction = torch.einsum("baz,bcz->bac", first[:, :, 1:], second[:, :, 1:])
    return (first[:, :, None, 0] + second[:, None, :, 0] + interaction).flatten(1)


def rows(num: int = 60, seed: int = 1) -> tuple[Decisions, torch.Tensor, torch.Tensor]:
    """Return decisions, their observations and their padded legal pairs."""
    found = joint_decisions(num, seed)
    return found, torch.from_numpy(found.observation), torch.from_numpy(padded(found.legal))


def test_distributions_are_those_of_a_dense_softmax() -> None:
    """Log-probabilities, entropy and KL over the lists are those over all M² pairs with a mask."""
    decisions, observations, pairs = rows()
    mask = torch.from_numpy(decisions.mask)
    one, other = (network.logits(observations) for network in (pairs_network(1), pairs_network(2)))
    listed, listed_other = masked.masked_log_softmax(one, pairs), masked.masked_log_softmax(other, pairs)
    full, full_other = masked.masked_log_softmax(dense(one), mask), masked.masked_log_softmax(dense(other), mask)
    for row in range(len(decisions)):
        legal = torch.from_numpy(decisions.legal[row].astype(np.int64))
        torch.testing.assert_close(listed[row, : len(legal)], full[row, legal])
        assert (listed[row, len(legal) :] == -torch.inf).all()
    torch.testing.assert_close(masked.entropy(listed, pairs), masked.entropy(full, mask))
    divergence = masked.kl_divergence(listed, listed_other, pairs)
    torch.testing.assert_close(divergence, masked.kl_divergence(full, full_other, mask))
    uniform = masked.uniform_log_probs(pairs)
    assert (masked.kl_divergence(listed, uniform, pairs) - divergence).abs().max() > 0
    torch.testing.assert_close(uniform.exp().sum(dim=1), torch.ones(len(pairs)))
    sharp = masked.masked_log_softmax(one, pairs, temperature=0.5)
    torch.testing.assert_close(
        masked.entropy(sharp, pairs), masked.entropy(masked.masked_log_softmax(dense(one) * 2, mask), mask)
    )


def test_gradients_are_those_of_a_dense_softmax() -> None:
    decisions, observations, pairs = rows()
    places = torch.from_numpy(decisions.legal.counts // 2)
    actions = pairs.gather(1, places[:, None]).long()
    found = []
    for legal, index, score in (
        (pairs, places[:, None], lambda s: s),
        (torch.from_numpy(decisions.mask), actions, dense),
    ):
        network = pairs_network()
        log_probs = masked.masked_log_softmax(score(network.logits(observations)), legal)
        (log_probs.gather(1, index).sum() + masked.entropy(log_probs, legal).sum()).backward()
        found.append([parameter.grad for parameter in network.parameters() if parameter.grad is not None])
    assert len(found[0]) > 3
    for listed, full in zip(*found, strict=True):
        torch.testing.assert_close(listed, full, rtol=1e-4, atol=1e-4)


def test_acting_and_training_agree() -> None:
    """|Δ log π| < 1e-4 between what a collector records and what a trainer computes."""
    network, (decisions, observations, pairs) = pairs_network(), rows(300, 3)
    answers = NetworkPolicy(PolicyId("p1"), network).act(decisions, np.random.default_rng(0).random(300))
    places = decisions.legal.places_of(answers.action)
    assert (places >= 0).all(), "each action is legal"
    with torch.no_grad():
        log_probs = masked.masked_log_softmax(network.logits(observations, network.fuse()), pairs)
    expected = log_probs.gather(1, torch.from_numpy(places)[:, None]).squeeze(1).numpy()
    assert np.abs(answers.log_prob - expected).max() < 1e-4
    scores = network.for_acting().logits(Observed(decisions.observation))
    trained = pair_logits(torch.from_numpy(scores), pairs).numpy()
    np.testing.assert_allclose(acting_logits(scores, decisions.legal), trained, atol=1e-5)


def test_draws_follow_the_distribution() -> None:
    one = joint_decisions(50, 4).take(np.array([np.argmax(joint_decisions(50, 4).legal.counts)]))
    many = one.take(np.zeros(4000, np.int64))
    network = pairs_network()
    answers = NetworkPolicy(PolicyId("p1"), network).act(many, (np.arange(4000) + 0.5) / 4000)
    with torch.no_grad():
        log_probs = masked.masked_log_softmax(
            network.logits(torch.from_numpy(one.observation)), torch.from_numpy(padded(one.legal))
        )
    shares = np.bincount(many.legal.places_of(answers.action), minlength=len(one.legal[0])) / 4000
    np.testing.assert_allclose(shares, log_probs[0].exp().numpy(), atol=1e-3)
    greedy = NetworkPolicy(PolicyId("p1@greedy"), network).act(one, np.array([0.9]))
    assert one.legal.places_of(greedy.action)[0] == log_probs[0].argmax().item()


def test_a_first_policy_is_close_to_uniform() -> None:
    _, observations, pairs = rows()
    log_probs = masked.masked_log_softmax(pairs_network(is_trained=False).logits(observations), pairs)
    assert masked.kl_divergence(log_probs, masked.uniform_log_probs(pairs), pairs).max() < 0.01


def test_a_network_for_another_number_of_slots_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"'slots' chooses for 1 slots, and tiny doubles has 2"):
        make_network(joint_space(), SlotsSettings())
    with pytest.raises(
        ConfigurationError, match=r"'pointer-pairs' chooses for 2 slots, and tiny has 1: expected slots"
    ):
        make_network(tiny_space(), PointerPairsSettings())


def test_actions_beyond_the_slots_of_a_space_are_refused() -> None:
    assert joint_space().num_actions == ACTIONS_EACH**2
    with pytest.raises(ValueError, match="9 action names and 1 slots for 81 actions"):
        joint_space().model_validate(joint_space().model_dump() | {"num_slots": 1})
