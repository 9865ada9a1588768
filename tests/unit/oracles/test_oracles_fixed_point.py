"""The damped objective has the fixed point that theory gives it.

Self-play on a game whose regularised equilibrium is known, with the trainer's own loss, every expectation enumerated.
"""

import numpy as np
import pytest
import torch

from nashdex.games.tabular.game import observations_of, tabular_space
from nashdex.games.tabular.matrix import MatrixDocument, matrix_tree
from nashdex.learning.damping import Coefficients
from nashdex.learning.experience.batching import Batch
from nashdex.learning.references import UniformReference
from nashdex.oracles.ppo.loss import Targets, ppo_loss
from nashdex.policies.masked import masked_log_softmax
from nashdex.policies.networks.actor_critic import make_network
from nashdex.settings.networks import SlotsSettings
from nashdex.settings.ppo import PpoSettings

BIASED_RPS = ((0.0, -0.25, 0.5), (0.25, 0.0, -0.05), (-0.5, 0.05, 0.0))
NAMES = ("rock", "paper", "scissors")


def self_play(temperature: float, num_updates: int) -> np.ndarray:
    """Return the last iterate of a network that plays biased rock-paper-scissors against itself.

    The batch has one row an action. Each row's advantage is weighted by the probability of its action, so that the
    mean over the rows is the expectation under the policy that acted.
    """
    payoffs = torch.tensor(BIASED_RPS)
    tree = matrix_tree(MatrixDocument(row_policies=NAMES, column_policies=NAMES, payoffs=BIASED_RPS))
    torch.set_num_threads(1)
    torch.manual_seed(0)
    network = make_network(
        tabular_space(tree), SlotsSettings(embedding_size=4, entity_size=8, hidden_size=8, num_hidden_layers=1)
    )
    observations = torch.from_numpy(observations_of(tree)[[0, 0, 0]])
    masks = torch.ones(3, 3, dtype=torch.bool)
    settings = PpoSettings()
    coefficients = Coefficients(beta_reference=temperature, entropy=0.0)
    optimiser = torch.optim.SGD([p for n, p in network.named_parameters() if not n.startswith("critic")], lr=0.6)
    for _ in range(num_updates):
        with torch.no_grad():
            log_probs = masked_log_softmax(network.logits(observations), masks)
            policy = log_probs[0].exp()
            advantages = payoffs @ policy - policy @ payoffs @ policy
        batch = Batch(observations, masks, torch.arange(3), log_probs.diagonal())
        targets = Targets(3 * policy * advantages, torch.zeros(3), log_probs)
        loss, _ = ppo_loss(network, batch, targets, UniformReference(), coefficients, settings)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        found: np.ndarray = masked_log_softmax(network.logits(observations), masks)[0].exp().numpy()
    return found


@pytest.mark.parametrize(
    ("temperature", "equilibrium"),
    [(1.0, (0.35324, 0.36082, 0.28594)), (0.1, (0.21283, 0.60533, 0.18184))],
)
def test_the_magnet_reaches_the_regularised_equilibrium(
    temperature: float, equilibrium: tuple[float, float, float]
) -> None:
    """Known answers of magnetic mirror descent (Sokota et al. 2022, arXiv 2206.05825) with a uniform magnet."""
    np.testing.assert_allclose(self_play(temperature, 500), equilibrium, atol=1e-4)


def test_without_the_magnet_self_play_does_not_settle_there() -> None:
    """What the test above finds is the damping's doing."""
    assert np.abs(self_play(0.0, 200) - (0.21283, 0.60533, 0.18184)).max() > 0.05
