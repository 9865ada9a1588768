"""``WithDistribution``: the probabilities that a policy states are those that it draws from."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from nashdex.core.ids import PolicyId
from nashdex.games.interface import Decisions
from nashdex.games.legal import LegalActions
from nashdex.games.tabular.game import observations_of, tabular_space
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.policies.ensembles.playing import EnsemblePolicy
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.interface import WithDistribution
from nashdex.policies.networks.actor_critic import make_network
from nashdex.policies.tables import TablePolicy
from nashdex.settings.networks import SlotsSettings
from support.bandit import bandit_space, decisions
from support.joint_space import joint_decisions, joint_space
from support.pairs_network import PairsNetwork, PairsSettings

NUM_ROWS = 30
KUHN = openspiel_tree("kuhn_poker")
SMALL = {"embedding_size": 3, "entity_size": 5, "hidden_size": 16}


def network(policy: str, seed: int = 0) -> NetworkPolicy:
    torch.manual_seed(seed)
    net = make_network(bandit_space(), SlotsSettings(**SMALL))
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            if not name.startswith("critic"):
                parameter.mul_(6)
    return NetworkPolicy(PolicyId(policy), net)


def pairs(policy: str) -> NetworkPolicy:
    torch.manual_seed(0)
    net = PairsNetwork(joint_space(), PairsSettings(**SMALL, interaction_size=3))
    with torch.no_grad():
        net.get_parameter("actor.weight").normal_(0, 0.3)
    return NetworkPolicy(PolicyId(policy), net)


def ensemble(policy: str) -> EnsemblePolicy:
    members = [network("p1", 1), network("p2@T0.5", 2)]
    return EnsemblePolicy(PolicyId(policy), members, is_joint=False)


def table(policy: str) -> TablePolicy:
    passes = np.linspace(0.0, 1.0, KUHN.num_states)  # some rows are certain
    return TablePolicy(PolicyId(policy), np.column_stack([passes, 1 - passes]), tabular_space(KUHN))


def kuhn_decisions() -> Decisions:
    states = np.arange(KUHN.num_states)
    again = np.zeros(KUHN.num_states, np.bool_)
    return Decisions(states, KUHN.state_player, again, observations_of(KUHN), LegalActions.of_mask(KUHN.legal))


@pytest.mark.parametrize("suffix", ["", "@greedy", "@T0.5"])
@pytest.mark.parametrize(
    ("make", "rows"),
    [
        (network, decisions(NUM_ROWS, 1)[0]),
        (pairs, joint_decisions(NUM_ROWS, 1)),
        (ensemble, decisions(NUM_ROWS, 1)[0]),
        (table, kuhn_decisions()),
    ],
)
def test_what_is_drawn_has_the_stated_probability(
    make: Callable[[str], NetworkPolicy | EnsemblePolicy | TablePolicy], rows: Decisions, suffix: str
) -> None:
    policy = make(f"p0{suffix}")
    assert isinstance(policy, WithDistribution)
    stated = policy.log_probs(rows)
    sums = np.bincount(rows.legal.rows, weights=np.exp(stated))
    np.testing.assert_allclose(sums, 1.0, rtol=1e-6)
    drawn = set()
    for seed in range(5):
        answers = policy.act(rows, np.random.default_rng(seed).random(len(rows)))
        places = rows.legal.offsets[:-1] + rows.legal.places_of(answers.action)
        np.testing.assert_allclose(stated[places], answers.log_prob, atol=1e-5)
        drawn |= set(answers.action.tolist())
    assert len(drawn) > 1, "the rows differ, so that the test says something"
