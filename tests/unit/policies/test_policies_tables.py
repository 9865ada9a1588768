"""Tables in the store: written once, checked whenever they are read."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import numpy as safetensors

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.games.interface import Decisions
from nashdex.games.legal import LegalActions
from nashdex.games.tabular.game import observations_of, tabular_space
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.games.tabular.tree import GameTree, Table, uniform_table
from nashdex.policies.archive import load_network, save_policy
from nashdex.policies.document import PolicyDocument, read_document
from nashdex.policies.masked import masked_log_softmax
from nashdex.policies.networks.actor_critic import make_network
from nashdex.policies.sources import load_policies
from nashdex.policies.tables import load_table, load_table_policy, save_table_policy
from nashdex.settings.networks import SlotsSettings
from nashdex.store import open_store
from nashdex.store.protocol import ObjectStore
from support.tables import first_action_table

KUHN = openspiel_tree("kuhn_poker")
LEDUC = openspiel_tree("leduc_poker")


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return open_store(str(tmp_path))


def skewed_table() -> Table:
    return np.column_stack([np.linspace(0.1, 0.9, KUHN.num_states), 1 - np.linspace(0.1, 0.9, KUHN.num_states)])


def save(store: ObjectStore, table: Table, tree: GameTree = KUHN) -> BarePolicyId:
    return save_table_policy(store, tree, table, name="best response 3", parent=None, iteration=3, oracle="exact")


def rewrite(store: ObjectStore, policy: BarePolicyId, data: bytes) -> BarePolicyId:
    """Store ``data`` as the table of ``policy`` with a document that agrees with it; return the id it then has."""
    document = read_document(store, policy)
    changed = document.model_copy(update={"table_sha256": hashlib.sha256(data).hexdigest()})
    changed = changed.model_copy(update={"id": changed.content_id()})
    store.put(keys.policy_table(changed.id), data)
    store.put(keys.policy_document(changed.id), changed.to_json())
    return changed.id


def test_a_table_comes_back_as_it_was(store: ObjectStore) -> None:
    policy = save(store, skewed_table())
    np.testing.assert_array_equal(load_table(store, policy, KUHN), skewed_table())
    document = read_document(store, policy)
    assert (document.kind, document.oracle, document.iteration) == ("table", "exact", 3)
    assert document.num_parameters == 24
    assert load_table_policy(store, policy, tabular_space(KUHN)).id == policy


def test_the_id_follows_from_the_table_and_the_game(store: ObjectStore) -> None:
    assert save(store, skewed_table()) == save(store, skewed_table())
    assert save(store, skewed_table()) != save(store, skewed_table()[::-1])


def test_a_table_plays_greedily_or_at_a_temperature(store: ObjectStore) -> None:
    policy = save(store, skewed_table())
    greedy, tempered = PolicyId(f"{policy}@greedy"), PolicyId(f"{policy}@T0.5")
    likelier = skewed_table().argmax(axis=1)
    np.testing.assert_array_equal(load_table(store, greedy, KUHN), np.eye(2)[likelier])
    squares = skewed_table() ** 2
    np.testing.assert_allclose(load_table(store, tempered, KUHN), squares / squares.sum(axis=1, keepdims=True))
    even = save(store, uniform_table(KUHN))
    np.testing.assert_array_equal(load_table(store, PolicyId(f"{even}@greedy"), KUHN), first_action_table(KUHN))

    players = load_policies(store, [policy, greedy, tempered], tabular_space(KUHN))
    assert set(players) == {policy, greedy, tempered}
    states = np.arange(KUHN.num_states)
    decisions = Decisions(
        states,
        KUHN.state_player,
        np.zeros(len(states), np.bool_),
        observations_of(KUHN),
        LegalActions.of_mask(KUHN.legal),
    )
    answers = players[greedy].act(decisions, np.full(len(states), 0.999))
    np.testing.assert_array_equal(answers.action, likelier)
    assert not answers.log_prob.any()


def test_a_way_to_play_has_no_object_in_the_store(store: ObjectStore, tmp_path: Path) -> None:
    policy = save(store, skewed_table())
    load_table(store, PolicyId(f"{policy}@greedy"), KUHN)
    assert [folder.name for folder in (tmp_path / "policies").iterdir()] == [policy]
    with pytest.raises(DataError, match="has no policy 'p404'"):
        load_table(store, PolicyId("p404@greedy"), KUHN)


@pytest.mark.parametrize("policy", ["random@greedy", "first-action@T0.5"])
def test_a_scripted_policy_plays_in_one_way(store: ObjectStore, policy: str) -> None:
    bare, _, suffix = policy.partition("@")
    for load in (
        lambda: load_table(store, PolicyId(policy), KUHN),
        lambda: load_policies(store, [PolicyId(policy)], tabular_space(KUHN)),
    ):
        with pytest.raises(ConfigurationError, match=f"plays in one way only; write '{bare}'.*'@{suffix}'"):
            load()


def test_scripted_policies_have_tables_by_rule(store: ObjectStore) -> None:
    np.testing.assert_array_equal(load_table(store, PolicyId("random"), LEDUC), uniform_table(LEDUC))
    np.testing.assert_array_equal(load_table(store, PolicyId("first-action"), LEDUC), first_action_table(LEDUC))
    with pytest.raises(
        ConfigurationError, match="'heuristic' does not play leduc_poker; expected one of first-action, random"
    ):
        load_table(store, PolicyId("heuristic"), LEDUC)


def test_an_altered_table_is_wrong_data(store: ObjectStore) -> None:
    policy = save(store, skewed_table())
    store.put(keys.policy_table(policy), safetensors.save({"table": uniform_table(KUHN)}))
    with pytest.raises(DataError, match=r"table\.safetensors has sha256 .*, expected .*: it was altered or truncated"):
        load_table(store, policy, KUHN)
    with pytest.raises(DataError, match="altered"):
        load_table_policy(store, policy, tabular_space(KUHN))


def test_an_altered_document_is_wrong_data(store: ObjectStore) -> None:
    policy = save(store, skewed_table())
    key = keys.policy_document(policy)
    store.put(key, json.dumps({**json.loads(store.get(key)), "table_sha256": "0" * 64}).encode())
    with pytest.raises(DataError, match=r"policy\.json was altered"):
        load_table(store, policy, KUHN)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"no tensors", "is not a safetensors"),
        (safetensors.save({"weights": np.ones((12, 2))}), "has no float64 tensor 'table'"),
        (safetensors.save({"table": np.ones((12, 2), np.float32)}), "has no float64 tensor 'table'"),
        (safetensors.save({"table": np.full((11, 2), 0.5)}), r"of shape \(11, 2\); expected \(12, 2\)"),
        (safetensors.save({"table": np.full((12, 2), 0.6)}), "is not a policy: in state '0'"),
    ],
    ids=["bytes", "name", "type", "shape", "sums"],
)
def test_what_is_no_table_is_wrong_data(store: ObjectStore, data: bytes, says: str) -> None:
    policy = rewrite(store, save(store, skewed_table()), data)
    with pytest.raises(DataError, match=says):
        load_table(store, policy, KUHN)


def test_nothing_is_stored_of_what_is_no_policy(store: ObjectStore, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the table is not a policy"):
        save(store, np.full((12, 2), 0.4))
    assert list(tmp_path.iterdir()) == []


def test_a_policy_of_another_game_is_refused(store: ObjectStore) -> None:
    policy = save(store, skewed_table())
    with pytest.raises(DataError, match=r"was trained for kuhn_poker version .* this is leduc_poker"):
        load_table(store, policy, LEDUC)
    with pytest.raises(DataError, match="has no policy 'p404'"):
        load_table(store, PolicyId("p404"), KUHN)
    with pytest.raises(DataError, match="is a table, not a network"):
        load_network(store, policy, tabular_space(KUHN))


def save_network(store: ObjectStore, tree: GameTree | None) -> BarePolicyId:
    torch.manual_seed(3)
    network = make_network(tabular_space(KUHN), SlotsSettings(hidden_size=16))
    with torch.no_grad():
        network.get_parameter("actor.weight").mul_(1000)
    return save_policy(
        store,
        network,
        name="n",
        parent=None,
        iteration=0,
        oracle="ppo",
        reward="win-loss",
        reward_version="1",
        tree=tree,
    )


def test_a_network_is_stored_with_its_table_and_plays_by_it(store: ObjectStore) -> None:
    policy = save_network(store, KUHN)
    network, table = load_network(store, policy, tabular_space(KUHN)), load_table(store, policy, KUHN)
    with torch.inference_mode():
        log_probs = masked_log_softmax(
            network.logits(torch.from_numpy(observations_of(KUHN))), torch.from_numpy(KUHN.legal)
        )
    np.testing.assert_allclose(table, log_probs.exp().numpy(), atol=1e-6)
    assert np.ptp(table[:, 0]) > 0.1, "the network plays differently in different states"
    assert type(load_policies(store, [policy], tabular_space(KUHN))[policy]).__name__ == "TablePolicy"


def test_a_network_without_a_table_is_refused_where_one_is_needed(store: ObjectStore) -> None:
    policy = save_network(store, None)
    assert policy != save_network(store, KUHN)
    with pytest.raises(DataError, match="has no table; expected one"):
        load_table(store, policy, KUHN)


@pytest.mark.parametrize(("kind", "says"), [("table", "has a table"), ("network", "has an architecture")])
def test_a_document_without_what_its_kind_needs_is_wrong_data(store: ObjectStore, kind: str, says: str) -> None:
    document = json.loads(read_document(store, save(store, skewed_table())).to_json())
    with pytest.raises(DataError, match=says):
        PolicyDocument.from_json(json.dumps({**document, "kind": kind, "table_sha256": None}).encode(), "it")


def test_playing_a_tabular_game_needs_no_torch(store: ObjectStore, tmp_path: Path) -> None:
    policy = save(store, skewed_table())
    program = (
        "import sys\n"
        "from nashdex.games.registry import game_for\n"
        "from nashdex.policies.sources import load_policies\n"
        "from nashdex.store import open_store\n"
        "space = game_for('kuhn_poker').space\n"
        "found = load_policies(open_store(sys.argv[1]), [sys.argv[2], 'random', 'first-action'], space)\n"
        "print(len(found), 'torch' in sys.modules, 'scipy' in sys.modules)"
    )
    arguments = [sys.executable, "-c", program, str(tmp_path), policy]
    assert subprocess.run(arguments, check=True, capture_output=True, text=True).stdout.split() == [
        "3",
        "False",
        "False",
    ]
    assert set(load_policies(store, [policy, policy], tabular_space(KUHN))) == {policy}
