"""A critic's outputs as one value, or as probabilities of bins of returns."""

import numpy as np
import pytest
import torch
from scipy.stats import entropy, norm

from nashdex.core.errors import ConfigurationError
from nashdex.policies.networks.actor_critic import make_network
from nashdex.policies.networks.values import LARGEST_RETURN, expected, value_loss
from nashdex.runs.fit import check_fit
from nashdex.settings.networks import MemorySettings, NetworkSettings, PointerSettings
from nashdex.settings.run import RunSettings
from support.battle_spaces import Fields, random_observations, space_of

NUM_BINS = 51
EDGES = np.linspace(-LARGEST_RETURN, LARGEST_RETURN, NUM_BINS + 1)
_POKEMON: Fields = {"active": (1, None), "species": (1, "species"), "hp": (1, None)}
_MOVE: Fields = {"move": (1, "move")}
SPACE = space_of(
    [
        ("own", 2, _POKEMON),
        ("opponent", 2, _POKEMON),
        ("own_moves", 4, _MOVE),
        ("opponent_moves", 4, _MOVE),
        ("field", 1, {"force_switch": (1, None)}),
    ],
    ("move 1", "move 2", "switch 1", "switch 2"),
    {"species": 5, "move": 7},
)
SMALL = {"embedding_size": 3, "move_size": 5, "pokemon_size": 6, "context_size": 8, "scorer_size": 7}


def target(returned: float) -> np.ndarray:
    """Return the probabilities of the bins by scipy's normal distribution."""
    shares = np.diff(norm.cdf(EDGES, loc=returned, scale=0.75 * 2 * LARGEST_RETURN / NUM_BINS))
    normalised: np.ndarray = shares / shares.sum()
    return normalised


def test_one_output_is_the_value_and_its_loss_the_squared_error() -> None:
    outputs = torch.tensor([[0.5], [-1.0]])
    assert expected(outputs).tolist() == [0.5, -1.0]
    assert value_loss(outputs, torch.tensor([1.0, -1.0])).item() == pytest.approx(0.125)


@pytest.mark.parametrize("returned", [-1.3, -1.0, 0.0, 0.317, 1.0])
def test_the_loss_of_bins_is_least_at_the_normal_distribution_around_the_return(returned: float) -> None:
    best = torch.from_numpy(np.log(target(returned) + 1e-30)[None])
    returns = torch.tensor([returned], dtype=torch.float64)
    assert expected(best).item() == pytest.approx(returned, abs=1e-3)
    assert value_loss(best, returns).item() == pytest.approx(entropy(target(returned)), abs=1e-5)
    assert value_loss(best.roll(1, dims=1), returns) > value_loss(best, returns)


def test_returns_outside_the_bins_count_as_their_ends() -> None:
    outputs = torch.randn(1, NUM_BINS, generator=torch.Generator().manual_seed(0))
    far, end = (value_loss(outputs, torch.tensor([each])) for each in (100.0, LARGEST_RETURN))
    assert far == end


def test_bins_learn_the_mean_of_returns_that_differ() -> None:
    outputs = torch.zeros(1, NUM_BINS, requires_grad=True)
    with torch.inference_mode():
        assert expected(outputs).item() == pytest.approx(0.0, abs=1e-6)
    optimiser, returns = torch.optim.Adam([outputs], lr=0.1), torch.tensor([1.0, 1.0, 1.0, -1.0])
    for _ in range(400):
        optimiser.zero_grad()
        value_loss(outputs.expand(4, -1), returns).backward()
        optimiser.step()
    assert expected(outputs).item() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("settings", [PointerSettings(**SMALL), MemorySettings(**SMALL)])
def test_a_network_with_bins_has_one_value_a_decision(settings: NetworkSettings) -> None:
    network = make_network(SPACE, settings.model_copy(update={"value_bins": NUM_BINS}))
    observed = random_observations(SPACE, 6, np.random.default_rng(1), forced_switches=0.3)
    if network.remembers:
        observed = np.concatenate([observed, np.arange(6, dtype=np.float32)[:, None]], axis=1)
    outputs = network.outputs(torch.from_numpy(observed))
    assert outputs.value_outputs.shape == (6, NUM_BINS)
    torch.testing.assert_close(outputs.values, network.values(torch.from_numpy(observed)))
    assert outputs.values.abs().max() < LARGEST_RETURN


def test_policies_that_are_older_than_the_bins_keep_their_ids() -> None:
    assert "value_bins" not in PointerSettings().sizes()
    assert PointerSettings(value_bins=NUM_BINS).sizes()["value_bins"] == NUM_BINS


def test_bins_are_refused_with_a_reward_whose_returns_may_lie_outside() -> None:
    pytest.importorskip("nashdex_metamon")
    settings = {"format": "gen1ou", "run": "r", "network": {"kind": "pointer", "value_bins": NUM_BINS}}
    check_fit(RunSettings.model_validate(settings | {"train": {"reward": "shaped"}}))
    with pytest.raises(
        ConfigurationError, match=r"network.value_bins is 51, .* 'metamon-.* expected win-loss or shaped"
    ):
        check_fit(RunSettings.model_validate(settings | {"train": {"reward": "metamon-default"}}))
