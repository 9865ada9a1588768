"""Predicting the opponent's choice: labels reach the loss, and its gradient reaches what the actor sees with."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from nashdex.core.ids import PolicyId
from nashdex.games.tabular.game import TabularGame
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.learning.damping import Coefficients
from nashdex.learning.experience.round import Experience, gather
from nashdex.oracles.ppo.loss import PREDICTION_COEFFICIENT, Targets, ppo_loss
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.policies.networks.opponent_choices import UNKNOWN, choices, num_choices
from nashdex.settings.networks import PointerSettings
from nashdex.settings.ppo import PpoSettings
from nashdex.trajectory.episode import Episode
from support.battle_spaces import battle, battle_space

LEARNER, OTHER = PolicyId("newest"), PolicyId("heuristic")
SMALL = PointerSettings(
    embedding_size=4,
    move_size=4,
    pokemon_size=4,
    context_size=8,
    scorer_size=4,
    predicts_opponent=True,
)
CHANCE = np.log(num_choices(battle_space()))
"""Cross-entropy of a head that begins at zero."""


def network() -> ActorCritic:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return make_network(battle_space(), SMALL)


def seen(episodes: list[Episode]) -> Experience:
    game = TabularGame(openspiel_tree("kuhn_poker"))  # its rewards look at no observation
    space, cpu = battle_space(), torch.device("cpu")
    return gather(episodes, LEARNER, game, space, "win-loss", 1.0, cpu, predicts_opponent=True)


def loss_of(net: ActorCritic, experience: Experience) -> tuple[torch.Tensor, dict[str, float]]:
    """Return the loss where nothing but the prediction has a gradient."""
    batch = experience.batch
    with torch.no_grad():
        behaviour = net.logits(batch.observations).log_softmax(dim=1)
        values = net.values(batch.observations)
    played = replace(batch, log_probs=behaviour.gather(1, batch.actions[:, None]).squeeze(1))
    targets = Targets(torch.zeros(len(batch)), values, behaviour)
    return ppo_loss(net, played, targets, None, Coefficients(0.0, 0.0), PpoSettings())


def test_both_seats_are_labelled_with_what_the_other_chose() -> None:
    episodes = [episode for seed in range(3) for episode in battle(seed, (LEARNER, LEARNER))]
    experience = seen(episodes)
    labels = experience.batch.opponent_choices
    assert labels is not None
    expected = [
        choices(battle_space(), other.observations, other.actions)
        for first, second in zip(episodes[::2], episodes[1::2], strict=True)
        for other in (second, first)
    ]
    assert labels.tolist() == np.concatenate(expected).tolist()
    assert UNKNOWN not in labels


def test_a_recorded_opponent_of_another_name_is_a_label_and_no_sample() -> None:
    experience = seen([episode for seed in range(3) for episode in battle(seed, (LEARNER, OTHER))])
    assert len(experience.batch) == 3 * 4
    labels = experience.batch.opponent_choices
    assert labels is not None
    assert UNKNOWN not in labels


def test_without_the_other_seat_the_labels_are_unknown_and_the_loss_is_zero() -> None:
    experience = seen([battle(seed, (LEARNER, OTHER))[0] for seed in range(3)])
    assert experience.batch.opponent_choices is not None
    assert set(experience.batch.opponent_choices.tolist()) == {UNKNOWN}
    _, measured = loss_of(network(), experience)
    assert measured["prediction_loss"] == 0.0


def test_the_loss_is_weighed_and_its_gradient_reaches_the_encoder_but_not_the_critic() -> None:
    net = network()
    experience = seen([episode for seed in range(8) for episode in battle(seed, (LEARNER, LEARNER))])
    # The head begins at zero, which passes no gradient on: take a step on the head alone.
    loss, measured = loss_of(net, experience)
    assert measured["prediction_loss"] == pytest.approx(CHANCE, rel=1e-5)
    assert loss.item() - measured["policy_loss"] - measured["value_loss"] == pytest.approx(
        PREDICTION_COEFFICIENT * CHANCE, rel=1e-5
    )
    optimiser = torch.optim.SGD(net.parameters(), lr=1.0)
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    loss, after = loss_of(net, experience)
    assert after["prediction_loss"] < measured["prediction_loss"]
    loss.backward()
    received = {
        name: 0.0 if parameter.grad is None else parameter.grad.norm().item()
        for name, parameter in net.named_parameters()
    }
    assert sum(norm for name, norm in received.items() if name.startswith("encoder")) > 0
    assert sum(norm for name, norm in received.items() if name.startswith("critic")) < 1e-6
