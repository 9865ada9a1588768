"""Ensembles: members vote with their log-probabilities, and an id is what decides the play."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import BarePolicyId, PlayedPolicy, PolicyId
from nashdex.core.references import PolicyReference
from nashdex.games.interface import Decisions
from nashdex.games.space import Space
from nashdex.policies.archive import save_policy
from nashdex.policies.ensembles.document import EnsembleDocument, ensemble_objects, read_ensemble
from nashdex.policies.ensembles.making import make_ensemble
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.interface import Policy
from nashdex.policies.networks.actor_critic import make_network
from nashdex.policies.networks.observed import Observed
from nashdex.policies.sources import load_policies
from nashdex.settings.networks import SlotsSettings
from nashdex.store import open_store
from nashdex.store.protocol import ObjectStore
from nashdex_cli.cli import run_command_line
from nashdex_play.page.onnx import export_files
from support.bandit import bandit_space, decisions

SMALL = SlotsSettings(embedding_size=3, entity_size=5, hidden_size=16)
NUM_ROWS = 40


def stored(store: ObjectStore, seed: int, space: Space | None = None) -> BarePolicyId:
    """Store a network whose probabilities differ clearly from those of other seeds."""
    torch.manual_seed(seed)
    network = make_network(space or bandit_space(), SMALL)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if not name.startswith("critic"):
                parameter.mul_(6)
    return save_policy(
        store, network, name=f"seed {seed}", parent=None, iteration=0, oracle="ppo", reward="win-loss",
        reward_version="1",
    )  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return open_store(str(tmp_path / "run"))


def together(store: ObjectStore, *names: str, into: ObjectStore | None = None) -> EnsembleDocument:
    return make_ensemble(into or store, [PolicyReference.parse(f"{store.uri}#{name}") for name in names], "all seeds")


def playing(store: ObjectStore, policy: str, space: Space | None = None) -> Policy:
    return load_policies(store, [PolicyId(policy)], space or bandit_space())[PolicyId(policy)]


def probabilities(policy: Policy, temperature: float = 1.0) -> NDArray[np.float64]:
    """Return a member's probabilities in the rows of ``decisions``, (N, A)."""
    assert isinstance(policy, NetworkPolicy)
    logits = policy.legal_logits(decisions(NUM_ROWS, 1)[0]).astype(np.float64) / temperature
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    normalised: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return normalised


def test_an_ensemble_plays_by_the_geometric_mean_of_its_members(store: ObjectStore) -> None:
    members = [stored(store, seed) for seed in range(3)]
    rows, uniforms = decisions(NUM_ROWS, 1)
    answers = playing(store, together(store, *members).id).act(rows, uniforms)
    product = np.prod([probabilities(playing(store, member)) for member in members], axis=0)
    expected = product ** (1 / 3)
    expected /= expected.sum(axis=1, keepdims=True)
    at = np.arange(NUM_ROWS)
    np.testing.assert_allclose(np.exp(answers.log_prob), expected[at, answers.action], rtol=1e-4)
    assert rows.mask[at, answers.action].all()
    single = playing(store, members[0]).act(rows, uniforms)
    assert np.abs(single.log_prob - answers.log_prob).max() > 0.1, (
        "the members disagree, so that the mean says something"
    )


def test_a_member_votes_at_its_own_temperature_and_the_ensemble_plays_at_its_own(store: ObjectStore) -> None:
    first, second = stored(store, 1), stored(store, 2)
    ensemble = together(store, f"{first}@T0.5", second)
    rows, uniforms = decisions(NUM_ROWS, 1)
    product = probabilities(playing(store, first), 0.5) * probabilities(playing(store, second))
    greedy = playing(store, f"{ensemble.id}@greedy").act(rows, uniforms)
    np.testing.assert_array_equal(greedy.action, np.where(rows.mask, product, -1).argmax(axis=1))
    warm = playing(store, f"{ensemble.id}@T2").act(rows, uniforms)
    expected = product ** (1 / 4)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.exp(warm.log_prob), expected[np.arange(NUM_ROWS), warm.action], rtol=1e-4)


def test_a_network_that_votes_at_two_temperatures_is_asked_once(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = stored(store, 1), stored(store, 2)
    ensemble = playing(store, together(store, first, f"{first}@T0.5", second).id)
    rows, uniforms = decisions(NUM_ROWS, 1)
    of_first = playing(store, first)
    product = probabilities(of_first) * probabilities(of_first, 0.5) * probabilities(playing(store, second))
    expected = product ** (1 / 3)
    expected /= expected.sum(axis=1, keepdims=True)
    asked: list[PolicyId] = []
    legal_logits = NetworkPolicy.legal_logits

    def count(network: NetworkPolicy, rows: Decisions, observed: Observed) -> NDArray[np.float32]:
        asked.append(PlayedPolicy.of(network.id).policy)
        return legal_logits(network, rows, observed)

    monkeypatch.setattr(NetworkPolicy, "legal_logits", count)
    answers = ensemble.act(rows, uniforms)
    assert sorted(asked) == sorted([first, second])
    np.testing.assert_allclose(np.exp(answers.log_prob), expected[np.arange(NUM_ROWS), answers.action], rtol=1e-4)


def test_the_id_follows_from_the_members_and_not_from_their_order_or_the_name(store: ObjectStore) -> None:
    first, second, third = (stored(store, seed) for seed in range(3))
    ensemble = together(store, first, second)
    assert ensemble.id.startswith("e")
    assert together(store, second, first).id == ensemble.id
    others = [
        together(store, first, third),
        together(store, first, f"{second}@T0.5"),
        together(store, first, second, third),
    ]
    assert len({ensemble.id, *(other.id for other in others)}) == 4


def test_a_store_of_its_own_gets_everything_that_it_needs(store: ObjectStore, tmp_path: Path) -> None:
    members = [stored(store, seed) for seed in range(2)]
    apart = open_store(str(tmp_path / "apart"))
    ensemble = together(store, *members, into=apart)
    rows, uniforms = decisions(NUM_ROWS, 1)
    here = together(store, *members)
    np.testing.assert_array_equal(
        playing(apart, ensemble.id).act(rows, uniforms).log_prob, playing(store, here.id).act(rows, uniforms).log_prob
    )
    assert ensemble_objects(apart, ensemble.id).keys() == set(apart.list(""))


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (("{a}",), "2 to 16 members; got 1"),
        (("{a}", "{a}"), "named twice"),
        (("{a}", "{b}@greedy"), "without @greedy"),
        (("{a}", "nash"), "no run with a solved iteration"),
        (("{a}", "{elsewhere}"), "was trained for"),
    ],
)
def test_what_cannot_vote_is_refused_and_nothing_is_written(
    store: ObjectStore, tmp_path: Path, names: tuple[str, ...], problem: str
) -> None:
    other = bandit_space().model_copy(update={"version": "2"})
    known = {"a": stored(store, 0), "b": stored(store, 1), "elsewhere": stored(store, 2, other)}
    apart = open_store(str(tmp_path / "apart"))
    with pytest.raises((ConfigurationError, DataError), match=problem):
        together(store, *(name.format(**known) for name in names), into=apart)
    assert not list(apart.list(""))


def test_a_scripted_member_is_refused(store: ObjectStore) -> None:
    references = [PolicyReference("random"), PolicyReference("heuristic")]
    with pytest.raises(ConfigurationError, match="not one stored network"):
        make_ensemble(store, references, "scripted")


@pytest.mark.parametrize("name", ["random", "all seeds"])
def test_a_member_is_a_network(store: ObjectStore, name: str) -> None:
    members = [stored(store, seed) for seed in range(2)]
    together(store, *members)
    with pytest.raises(ConfigurationError, match=r"is of kind (scripted|ensemble); members of an ensemble"):
        together(store, name, members[0])


def test_what_needs_one_network_says_that_an_ensemble_is_none(store: ObjectStore, tmp_path: Path) -> None:
    ensemble = together(store, *(stored(store, seed) for seed in range(2)))
    with pytest.raises(DataError, match=f"{ensemble.id} is an ensemble; expected one that a train step stored"):
        export_files(f"{store.uri}#{ensemble.id}", tmp_path / "network.onnx")


def test_a_member_that_plays_greedily_cannot_vote(store: ObjectStore) -> None:
    document = together(store, *(stored(store, seed) for seed in range(2)))
    members = (PolicyId(f"{document.members[0]}@greedy"), document.members[1])
    altered = document.model_copy(update={"members": members})
    altered = altered.model_copy(update={"id": altered.content_id()})
    store.put(keys.ensemble_document(altered.id), altered.to_json())
    with pytest.raises(DataError, match="@greedy has no probabilities to vote with"):
        playing(store, altered.id)


@pytest.mark.parametrize("name", ["", " ", "x" * 201])
def test_a_name_that_nobody_can_read_is_refused(store: ObjectStore, name: str) -> None:
    references = [PolicyReference.parse(f"{store.uri}#{stored(store, seed)}") for seed in range(2)]
    with pytest.raises(ConfigurationError, match="expected 1 to 200 characters"):
        make_ensemble(store, references, name)


def test_an_ensemble_that_is_there_keeps_its_name(store: ObjectStore) -> None:
    references = [PolicyReference.parse(f"{store.uri}#{stored(store, seed)}") for seed in range(2)]
    first = make_ensemble(store, references, "first")
    assert make_ensemble(store, references, "second") == first == read_ensemble(store, first.id)


def test_an_altered_ensemble_or_a_missing_member_is_not_played(store: ObjectStore) -> None:
    members = [stored(store, seed) for seed in range(3)]
    ensemble = together(store, *members[:2])
    key = keys.ensemble_document(ensemble.id)
    altered = json.loads(store.get(key)) | {"members": sorted(members[1:])}
    store.put(key, json.dumps(altered).encode())
    with pytest.raises(DataError, match="was altered"):
        read_ensemble(store, ensemble.id)
    store.put(key, ensemble.to_json())
    store.delete(keys.policy_document(PlayedPolicy.of(members[0]).policy))
    with pytest.raises(DataError, match=f"has no policy '{members[0]}'"):
        playing(store, ensemble.id)


def test_the_command_prints_an_id_that_policy_list_prints_too(
    store: ObjectStore, capsys: pytest.CaptureFixture[str]
) -> None:
    members = [f"{store.uri}#{stored(store, seed)}" for seed in range(2)]
    assert run_command_line(["policy", "ensemble", store.uri, *members, "--name", "both seeds", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert run_command_line(["policy", "list", store.uri, "--json"]) == 0
    listed = {row["id"]: row for row in json.loads(capsys.readouterr().out)["policies"]}
    assert listed[made["id"]]["kind"] == "ensemble"
    assert listed[made["id"]]["name"] == "both seeds"
