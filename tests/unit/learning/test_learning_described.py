"""First embeddings from what the simulator's data says."""

import numpy as np
import pytest
import torch
from pydantic import TypeAdapter, ValidationError

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.games.facts import Facts
from nashdex.learning.described import describe_embeddings, described
from nashdex.learning.experience.data import fresh_network
from nashdex.runs.fit import check_fit
from nashdex.settings.networks import NetworkChoice, SlotsSettings
from nashdex.settings.run import RunSettings
from support.bandit import NUM_ACTIONS, bandit_space

SMALL = SlotsSettings(embedding_size=3, entity_size=5, hidden_size=16)
MOVES = [
    {},
    {"status brn": 1.0, "type Fire": 1.0},
    {"status brn": 0.3, "type Fire": 1.0, "power": 0.8},
    {"boosts.atk": 2.0, "target self": 1.0},
    {"boosts.atk": 1.0, "boosts.spe": 1.0, "target self": 1.0},
    {"boosts.spe": 2.0, "target self": 1.0, "power": 0.5},
]


def test_entries_with_the_same_facts_are_near_each_other() -> None:
    vectors = described(MOVES, 4).numpy()
    near = vectors @ vectors.T
    assert near[1, 2] > near[1, 3:].max()
    assert near[3, 4] > near[3, 1:3].max()
    assert np.allclose(vectors[0], 0, atol=1e-6)
    assert np.isclose((vectors[1:] ** 2).sum(axis=1).mean(), 1, atol=1e-5)


def test_the_signs_do_not_depend_on_the_library() -> None:
    vectors = described(MOVES, 4).numpy()
    largest = np.abs(vectors).argmax(axis=0)
    assert (vectors[largest, range(4)] >= 0).all()


@pytest.mark.parametrize(("entries", "size"), [([{}], 3), ([{}, {"alone": 1.0}], 3), (MOVES, 40)])
def test_few_facts_leave_zeros(entries: list[dict[str, float]], size: int) -> None:
    vectors = described(entries, size)
    assert vectors.shape == (len(entries), size)
    assert torch.isfinite(vectors).all()
    assert not vectors[:, 6:].any()


def test_a_network_begins_with_them_and_a_part_of_its_random_weights() -> None:
    network, random = (fresh_network(bandit_space(), SMALL, seed=1) for _ in range(2))
    facts = [{"even": 1.0}, {"odd": 1.0}] * (NUM_ACTIONS // 2)
    describe_embeddings(network, Facts(vocabularies={"target": tuple(facts)}))
    changed = {name for name, tensor in network.state_dict().items() if not tensor.equal(random.state_dict()[name])}
    assert changed == {name for name in random.state_dict() if name.endswith(".of_target")}
    for name in changed:
        size = random.state_dict()[name].shape[1]
        expected = described(facts, size) + 0.3 * random.state_dict()[name]
        assert torch.allclose(network.state_dict()[name], expected, atol=1e-6)


def test_facts_of_another_simulator_are_refused() -> None:
    network = fresh_network(bandit_space(), SMALL, seed=1)
    with pytest.raises(DataError, match="the run's facts are not of gen1randombattle version 1"):
        describe_embeddings(network, Facts(vocabularies={"target": ({},)}))


def test_a_copied_network_has_no_described_embeddings() -> None:
    choice = {"kind": "slots", "embeddings": "described", "init_from": {"policy": "runs/a#newest"}}
    with pytest.raises(ValidationError, match=r'embeddings = "described" has no effect with init_from\.policy'):
        TypeAdapter[NetworkChoice](NetworkChoice).validate_python(choice)


def test_a_game_without_a_simulator_is_refused() -> None:
    settings = RunSettings.model_validate(
        {
            "format": "kuhn_poker",
            "population": {"initial": ["random"]},
            "network": {"kind": "slots", "embeddings": "described"},
            "train": {"first": "fresh", "oracle": "ppo"},
        }
    )
    with pytest.raises(ConfigurationError, match=r"network\.embeddings 'described' does not fit kuhn_poker"):
        check_fit(settings)


def test_they_are_no_part_of_a_policys_identity() -> None:
    assert SlotsSettings(embeddings="described").sizes() == SlotsSettings().sizes()
