"""PPO in a joint space: what is recorded is stored, read and learnt from; pairs that only work together are found."""

import numpy as np
import torch

from nashdex.core.ids import PolicyId
from nashdex.games.registry import showdown_game
from nashdex.learning.damping import Coefficients
from nashdex.learning.experience.batching import CPU
from nashdex.learning.experience.round import Experience, gather
from nashdex.learning.references import SnapshotReference, UniformReference
from nashdex.oracles.ppo.loss import make_targets, ppo_loss
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.settings.ppo import PpoSettings
from nashdex.trajectory.episode import Episode
from nashdex.trajectory.shard import decode, encode
from support.joint_space import joint_decisions, joint_space
from support.pairs_network import PairsNetwork, PairsSettings

LEARNER, OPPONENT = PolicyId("p1"), PolicyId("random")
EACH = 4
SPACE = joint_space(EACH)
SETTINGS = PpoSettings.model_validate({"damping": {"preset": "none"}})
DAMPED = Coefficients(beta_reference=0.1, entropy=0.01)
PLAIN = Coefficients(beta_reference=0.0, entropy=0.0)


def network(seed: int = 0) -> ActorCritic:
    torch.manual_seed(seed)
    return PairsNetwork(
        SPACE, PairsSettings(embedding_size=4, entity_size=16, hidden_size=32, num_hidden_layers=1, critic_size=4)
    )


def played(net: ActorCritic, num: int, seed: int) -> list[Episode]:
    """Return battles of one decision, won where both slots choose alike, read back from a part of a shard."""
    rows = joint_decisions(num, seed, EACH)
    answers = NetworkPolicy(LEARNER, net).act(rows, np.random.default_rng(seed).random(num))
    first, second = np.divmod(answers.action, EACH)
    episodes = [
        Episode(
            seed=seed * 10_000 + i,
            seat=0,
            policy=LEARNER,
            opponent=OPPONENT,
            score=float(first[i] == second[i]),
            observations=rows.observation[i : i + 1],
            legal=rows.legal.take(slice(i, i + 1)),
            actions=answers.action[i : i + 1],
            log_probs=answers.log_prob[i : i + 1],
        )
        for i in range(num)
    ]
    return decode(encode(episodes, SPACE), "a part")[1]


def experience(net: ActorCritic, num: int, seed: int) -> Experience:
    return gather(played(net, num, seed), LEARNER, showdown_game("gen1randombattle"), SPACE, "win-loss", 1.0, CPU)


def test_a_first_step_is_on_policy_and_exactly_measured() -> None:
    """Ratios are 1, the KL to the network itself is 0, and that to uniform is log|legal| − H(π)."""
    net = network()
    seen = experience(net, 200, 3)
    targets = make_targets(net, seen, SETTINGS, 1.0)
    _, measured = ppo_loss(net, seen.batch, targets, SnapshotReference(net, LEARNER), DAMPED, SETTINGS)
    assert (measured["clip_fraction"], measured["kl_round_start"], measured["kl_reference"]) == (0.0, 0.0, 0.0)
    _, uniform = ppo_loss(net, seen.batch, targets, UniformReference(), DAMPED, SETTINGS)
    num_legal = (seen.batch.masks >= 0).sum(dim=1).double()
    expected = num_legal.log()[num_legal > 1].mean().item() - uniform["entropy"]
    assert abs(uniform["kl_reference"] - expected) < 1e-5


def test_slots_learn_to_choose_alike() -> None:
    """Slots that choose by themselves cannot: each of their actions is as good as every other."""
    net = network()
    optimiser = torch.optim.Adam(net.parameters(), lr=0.02)
    scores = []
    for round_number in range(12):
        seen = experience(net, 300, round_number)
        scores.append(np.mean([rewards.sum() > 0 for rewards in seen.rewards]))
        targets = make_targets(net, seen, SETTINGS, 1.0)
        for _ in range(4):
            loss, _ = ppo_loss(net, seen.batch, targets, None, PLAIN, SETTINGS)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    possible = np.mean([any(a // EACH == a % EACH for a in joint_decisions(300, 0, EACH).legal[i]) for i in range(300)])
    assert scores[0] < 0.35
    assert scores[-1] > 0.9 * possible
