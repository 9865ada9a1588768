"""The pieces of training: damping, loss, guard, curve. Known answers where there are any."""

import itertools
import math

import numpy as np
import pytest
import torch

from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.learning.damping import Coefficients
from nashdex.learning.experience.batching import (
    Batch,
    explained_variance,
    make_batch,
    mean_over_choices,
    minibatches,
    played_by,
)
from nashdex.learning.experience.round import Experience
from nashdex.learning.references import SnapshotReference
from nashdex.learning.updates.optimiser import Optimiser, Rates
from nashdex.learning.updates.state import MAX_POINTS, Curve
from nashdex.learning.updates.training import Guard
from nashdex.oracles.ppo import loss
from nashdex.oracles.ppo.loss import Targets, make_targets, ppo_loss
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.masked import masked_log_softmax
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.settings.networks import SlotsSettings
from nashdex.settings.ppo import PpoSettings
from support.bandit import bandit_space, decisions, play

LEARNER = PolicyId("p1")
SMALL = SlotsSettings(embedding_size=4, entity_size=16, hidden_size=16, num_hidden_layers=1)


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def network(seed: int = 0) -> ActorCritic:
    torch.manual_seed(seed)
    net = make_network(bandit_space(), SMALL)
    with torch.no_grad():
        net.get_parameter("actor.weight").mul_(50)
    return net


def collected(net: ActorCritic, num: int = 300, **changes: object) -> tuple[Batch, Targets, PpoSettings]:
    """Return a batch that ``net`` played, its targets and the settings."""
    settings = PpoSettings(**changes)
    episodes = play(NetworkPolicy(LEARNER, net), num, seed=3)
    batch = make_batch(episodes, torch.device("cpu"))
    rewards = tuple(floats(2 * e.score - 1) for e in episodes)
    return batch, make_targets(net, Experience(batch, rewards), settings, 1.0), settings


NO_DAMPING = Coefficients(beta_reference=0.0, entropy=0.0)


def test_kl_is_exactly_0_at_the_first_step_and_above_it_one_step_later() -> None:
    net = network()
    batch, targets, settings = collected(net)
    reference = SnapshotReference(net, LEARNER)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
    coefficients = Coefficients(beta_reference=0.02, entropy=0.01)
    gauges = ("kl_reference", "kl_round_start")
    loss, measured = ppo_loss(net, batch, targets, reference, coefficients, settings)
    assert [measured[name] for name in gauges] == [0.0, 0.0]
    assert measured["clip_fraction"] == 0.0
    loss.backward()
    optimiser.step()
    _, measured = ppo_loss(net, batch, targets, reference, coefficients, settings)
    assert all(measured[name] > 1e-6 for name in gauges)


def test_the_reference_is_a_whole_copy_of_the_weights_as_they_were() -> None:
    """Neither its head nor its trunk is the trained network's, whatever part of that changes."""
    rows, _ = decisions(50, 1)
    observations, masks = torch.from_numpy(rows.observation), torch.from_numpy(rows.mask)
    for name in dict(network().named_parameters()):
        net = network()
        before = masked_log_softmax(net(observations)[0], masks)
        reference = SnapshotReference(net, LEARNER)
        with torch.no_grad():
            dict(net.named_parameters())[name].add_(1.0)
        assert torch.equal(reference.log_probs(observations, masks), before), name
    assert reference.source == "snapshot:p1"
    assert not any(p.requires_grad for p in reference.network.parameters())
    assert all(p.requires_grad for p in net.parameters())


def test_each_coefficient_weighs_its_part_of_the_loss() -> None:
    """An entropy coefficient that is only logged, or a β that never meets the loss, would leave the loss alone."""
    net = network()
    batch, targets, settings = collected(net)
    reference = SnapshotReference(network(seed=1), LEARNER)
    with torch.no_grad():
        net.get_parameter("actor.weight").add_(
            torch.randn(net.get_parameter("actor.weight").shape, generator=torch.Generator().manual_seed(2))
        )

    def parts(coefficients: Coefficients) -> tuple[float, dict[str, float]]:
        loss, measured = ppo_loss(net, batch, targets, reference, coefficients, settings)
        return loss.item(), measured

    plain, measured = parts(NO_DAMPING)
    assert plain == pytest.approx(measured["policy_loss"] + measured["value_loss"], rel=1e-5)
    for coefficients, expected in [
        (Coefficients(0.7, 0.0), 0.7 * measured["kl_reference"]),
        (Coefficients(0.0, 0.7), -0.7 * measured["entropy"]),
    ]:
        assert abs(expected) > 1e-3
        assert parts(coefficients)[0] - plain == pytest.approx(expected, abs=1e-5)


def test_policy_loss_by_hand_with_ratios_inside_and_outside_the_clip() -> None:
    net = network()
    batch, targets, settings = collected(net, num=2)
    log_probs = masked_log_softmax(net(batch.observations)[0], batch.masks).detach()
    # Ratios 1.5 and 0.5 with advantages +1 and −1: the first is clipped at 1.2, the second at 0.8.
    behaviour = log_probs - torch.tensor([[1.5], [0.5]]).log()
    fixed = Targets(torch.tensor([1.0, -1.0]), targets.returns, behaviour)
    _, measured = ppo_loss(net, batch, fixed, None, NO_DAMPING, settings)
    assert measured["policy_loss"] == pytest.approx(-(1.2 - 0.8) / 2, abs=1e-5)
    assert "kl_reference" not in measured


def test_advantages_are_normalised_over_the_batch_and_then_clipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss, "ADVANTAGE_CLIP", 0.5)
    _, targets, _ = collected(network())
    assert targets.advantages.abs().max() == 0.5
    monkeypatch.setattr(loss, "ADVANTAGE_CLIP", 100.0)
    _, targets, _ = collected(network())
    assert targets.advantages.mean().item() == pytest.approx(0, abs=1e-5)
    assert targets.advantages.std(correction=0).item() == pytest.approx(1, abs=1e-4)


def test_trajectories_of_another_policy_are_refused_by_name() -> None:
    episodes = play(NetworkPolicy(PolicyId("p9"), network()), 5, seed=3)
    with pytest.raises(DataError, match="by p9, the plan's learner is p1"):
        played_by(episodes, LEARNER)
    with pytest.raises(DataError, match="no decision of p1"):
        played_by([], LEARNER)


def test_forced_rows_count_in_no_mean_over_choices() -> None:
    masks = torch.tensor([[True, True], [True, False], [True, True]])
    assert mean_over_choices(torch.tensor([1.0, 100.0, 3.0]), masks).item() == 2.0
    assert mean_over_choices(torch.tensor([100.0]), masks[1:2]).item() == 0.0


def test_explained_variance() -> None:
    returns = torch.tensor([1.0, -1.0, 1.0, -1.0])
    assert explained_variance(returns, returns) == 1.0
    assert explained_variance(torch.zeros(4), returns) == 0.0
    assert explained_variance(torch.ones(4), torch.ones(4)) == 0.0


def test_an_epoch_takes_every_row_once_in_an_order_of_its_seed() -> None:
    parts = minibatches(103, 25, seed=1)
    assert [len(p) for p in parts] == [21, 21, 21, 20, 20]
    assert sorted(torch.cat(parts).tolist()) == list(range(103))
    again = minibatches(103, 25, seed=1)
    assert torch.equal(torch.cat(parts), torch.cat(again))
    other = minibatches(103, 25, seed=2)
    assert not torch.equal(torch.cat(parts), torch.cat(other))


def test_actor_and_critic_have_their_own_step_sizes() -> None:
    """Adam's first step moves each parameter with a gradient by the step size."""
    net = network()
    before = {name: parameter.detach().clone() for name, parameter in net.named_parameters()}
    for parameter in net.parameters():
        parameter.grad = torch.ones_like(parameter)
    Optimiser(net).step(Rates(actor=0.125, critic=0.25))
    for name, parameter in net.named_parameters():
        step = 0.25 if name.startswith("critic") else 0.125
        assert torch.allclose(before[name] - parameter, torch.full_like(parameter, step), atol=1e-4)


@pytest.mark.parametrize(
    ("values", "good_entropy", "problem"),
    [
        ({"policy_loss": math.nan}, None, "policy_loss is nan"),
        ({"gradient_norm": math.inf}, None, "gradient_norm is inf"),
        ({"gradient_norm": 1010.0}, None, "the gradient's norm is 1.01e+03"),
        ({"clip_fraction": 0.61}, None, "61% of the ratios are clipped"),
        ({"kl_round_start": 1.1}, None, "the KL from the policy that the round began with is 1.1 nats, above 1"),
        ({"entropy": 0.4}, 1.0, "entropy fell to 0.4 nats from 1"),
        ({"entropy": 0.6}, 1.0, None),
        ({"entropy": 0.4}, None, None),
        ({"entropy": 0.001}, 0.01, None),
        ({"clip_fraction": 0.6, "gradient_norm": 100.0, "kl_round_start": 1.0, "entropy": 1.0}, 1.0, None),
    ],
)
def test_the_guard_names_what_is_unstable(
    values: dict[str, float], good_entropy: float | None, problem: str | None
) -> None:
    found = Guard().problem(values, good_entropy)
    assert found is None if problem is None else found is not None and problem in found


def test_a_curve_stays_short_even_and_ends_with_the_newest() -> None:
    curve = Curve()
    for update in range(2345):
        curve.add(update, {"loss": float(update)})
    points = curve.with_newest()
    assert len(points) <= MAX_POINTS
    assert [points[0].update, points[-1].update] == [0, 2344]
    gaps = {b.update - a.update for a, b in itertools.pairwise(curve.points)}
    assert gaps == {8}
    resumed = Curve(points=curve.points, stride=curve.stride)
    for c in (curve, resumed):
        for update in range(2345, 3000):
            c.add(update, {"loss": 0.0})
    assert resumed.with_newest() == curve.with_newest()
