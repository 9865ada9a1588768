"""PPO under each advantage estimator: it learns, and battles of older weights are corrected for or refused."""

from pathlib import Path

import numpy as np
import pytest
import torch

from nashdex.core.ids import AttemptId, PolicyId
from nashdex.core.steps import StepName
from nashdex.games.registry import showdown_game
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.games.tabular.values import expected_payoffs
from nashdex.learning.advantages import ADVANTAGES, Circumstances
from nashdex.learning.damping import Coefficients
from nashdex.learning.experience.batching import CPU
from nashdex.learning.experience.round import Experience, gather
from nashdex.learning.updates.checkpoint import Checkpoints
from nashdex.learning.updates.training import StepSettings, Training
from nashdex.oracles.ppo.loss import make_targets, ppo_loss
from nashdex.oracles.ppo.oracle import problems
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.masked import masked_log_softmax
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.policies.tables import load_table
from nashdex.settings.networks import SlotsSettings
from nashdex.settings.ppo import PpoSettings
from nashdex.store import open_store
from nashdex.telemetry.progress import Progress
from support.bandit import bandit_space, decisions, play
from support.kuhn import FIRST_ACTION, RANDOM, kuhn_settings, trained
from support.ppo import learn

KUHN = openspiel_tree("kuhn_poker")
LEARNER = PolicyId("p1")
NO_DAMPING = Coefficients(beta_reference=0.0, entropy=0.0)


@pytest.mark.parametrize("estimator", ADVANTAGES.names)
def test_each_estimator_finds_most_of_a_best_response(tmp_path: Path, estimator: str) -> None:
    """A learning run: the best response to uniform gets 0.458, the clone 0."""
    store = open_store(str(tmp_path))
    ppo = {
        "decisions": 3000,
        "learning_rate": 1e-2,
        "num_epochs": 4,
        "annealing": {"learning_rate": 1.0},
        "damping": {"preset": "none"},
    }
    settings = kuhn_settings(battles=400, oracle={**ppo, "advantages": estimator})
    clone = trained(store, settings, 0, "clone", RANDOM, {RANDOM: 0.5, FIRST_ACTION: 0.5}, "initial").policy
    result = trained(store, settings, 1, "ppo", clone, {RANDOM: 1.0})
    tables = [load_table(store, policy, KUHN) for policy in (result.policy, RANDOM)]
    assert expected_payoffs(KUHN, tables)[0, 1] > 0.4
    uses_critic = ADVANTAGES[estimator].uses_critic
    assert ("explained_variance" in result.summary) == uses_critic
    assert ("value_loss" in result.curve[-1].values) == uses_critic


def network(seed: int) -> ActorCritic:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = make_network(
            bandit_space(), SlotsSettings(embedding_size=4, entity_size=16, hidden_size=16, num_hidden_layers=1)
        )
        with torch.no_grad():
            net.get_parameter("actor.weight").mul_(100)
        return net


def all_won(seen: Experience) -> Experience:
    """Return the experience as if every battle had been won against one opponent."""
    alike = Circumstances(LEARNER, RANDOM, ("", ""), np.zeros(1, np.int64), np.zeros(1, np.int64))
    return Experience(seen.batch, tuple(np.ones_like(r) for r in seen.rewards), (alike,) * len(seen.rewards))


def played_by(net: ActorCritic, num: int = 300) -> Experience:
    episodes = play(NetworkPolicy(LEARNER, net), num, seed=3)
    return gather(episodes, LEARNER, showdown_game("gen1randombattle"), bandit_space(), "win-loss", 1.0, CPU)


def with_estimator(kind: str, **changes: object) -> PpoSettings:
    return PpoSettings.model_validate({"advantages": kind, "damping": {"preset": "none"}, **changes})


def test_v_trace_accepts_battles_of_older_weights_and_measures_how_old_they_are() -> None:
    fresh = make_targets(network(0), played_by(network(0)), with_estimator("v-trace"), 1.0).measured
    stale = make_targets(network(0), played_by(network(5)), with_estimator("v-trace"), 1.0).measured
    assert fresh["effective_sample_share"] == pytest.approx(1.0)
    assert fresh["importance_ratio_max"] == pytest.approx(1.0, abs=1e-4)
    assert stale["effective_sample_share"] < 0.95
    assert stale["importance_ratio_max"] > 1.5


def test_ratios_of_stale_battles_refer_to_the_learner_as_the_round_begins() -> None:
    """Clipping bounds the step from the learner; the advantages hold the truncated weight from the old policy."""
    net, settings = network(0), with_estimator("v-trace")
    stale = played_by(network(5))
    targets = make_targets(net, stale, settings, 1.0)
    _, measured = ppo_loss(net, stale.batch, targets, None, NO_DAMPING, settings)
    assert (measured["clip_fraction"], measured["kl_round_start"]) == (0.0, 0.0)
    assert measured["policy_loss"] == pytest.approx(-targets.advantages.mean().item(), abs=1e-6)


def test_on_policy_v_trace_trains_as_gae_does() -> None:
    net = network(0)
    seen = played_by(net)
    losses = []
    for kind in ("gae", "v-trace"):
        settings = with_estimator(kind)
        targets = make_targets(net, seen, settings, 1.0)
        moved = network(1)  # far from the policy that played, so that ratios differ from 1
        losses.append(ppo_loss(moved, seen.batch, targets, None, NO_DAMPING, settings)[0].item())
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)


def expected_score(net: ActorCritic) -> float:
    rows, _ = decisions(500, seed=9)
    log_probs = masked_log_softmax(net.logits(torch.from_numpy(rows.observation)), torch.from_numpy(rows.mask))
    return log_probs.exp()[torch.arange(500), torch.from_numpy(rows.observation[:, 0]).long()].mean().item()


def test_stale_battles_alone_teach_what_they_hold(tmp_path: Path) -> None:
    """Battles of one old policy, learned from again and again while the learner moves away from it."""
    net, settings = (
        network(0),
        with_estimator(
            "v-trace", num_epochs=2, minibatch_decisions=100, learning_rate=2e-3, annealing={"learning_rate": 1.0}
        ),
    )
    stale = played_by(network(5), 1000)
    before = expected_score(net)
    checkpoints = Checkpoints(open_store(str(tmp_path)), 1, 0, AttemptId("attempt"), "fingerprint")
    loop = Training(net, StepSettings(0.5, checkpoint_every_updates=1000), checkpoints)
    with Progress(StepName.TRAIN, 0, 0, "updates") as progress:
        for number in range(4):
            targets = make_targets(net, stale, settings, 1.0)
            learn(loop, stale.batch, targets, settings, progress, seed=number, length=4000)
            loop.begin_round(1.0, 1000 * (number + 1))
    assert expected_score(net) > max(before, expected_score(network(5))) + 0.15
    assert targets.measured["effective_sample_share"] < 0.9


def test_decisions_without_a_group_move_nothing() -> None:
    """Battles that were all won have no variance: the policy's loss is 0, and finite."""
    net, settings = network(0), with_estimator("group-relative")
    seen = played_by(net)
    targets = make_targets(net, all_won(seen), settings, 1.0)
    loss, measured = ppo_loss(net, seen.batch, targets, None, NO_DAMPING, settings)
    assert (loss.item(), measured["policy_loss"]) == (0.0, 0.0)
    assert targets.measured == {"grouped_share": 0.0}


def test_settings_of_a_critic_without_a_critic_are_named() -> None:
    oracle = {"advantages": "group-relative", "decisions": 5000, "critic_learning_rate": 1e-3}
    settings = kuhn_settings(oracle={**oracle, "critic_warmup_decisions": 100})
    found = list(problems(settings.train.oracle, settings))  # type: ignore[arg-type]
    assert [problem.partition(" has no effect")[0] for problem in found] == [
        "train.oracle.critic_learning_rate",
        "train.oracle.critic_warmup_decisions",
    ]
    assert all("'group-relative', which needs no critic" in problem for problem in found)
