"""The archive: an id is its content, and nothing altered is loaded."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import torch as safetensors

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.games.space import Space
from nashdex.policies.archive import load_network, load_network_policy, read_weights, save_policy
from nashdex.policies.document import read_document
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.settings.networks import SlotsSettings
from nashdex.store import open_store
from nashdex.store.directory import DirectoryStore
from nashdex.store.protocol import ObjectStore
from support.bandit import bandit_space
from support.spaces import tiny_space

SMALL = SlotsSettings(embedding_size=3, entity_size=5, hidden_size=16)


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return open_store(str(tmp_path))


def network(seed: int = 0, settings: SlotsSettings = SMALL, space: Space | None = None) -> ActorCritic:
    torch.manual_seed(seed)
    return make_network(space or tiny_space(), settings)


def save(store: ObjectStore, net: ActorCritic, **changes: object) -> BarePolicyId:
    facts: dict[str, Any] = {
        "name": "clone",
        "parent": None,
        "iteration": 0,
        "oracle": "clone",
        "reward": "win-loss",
        "reward_version": "1",
    }
    return save_policy(store, net, **(facts | changes))


def test_a_stored_policy_comes_back_as_it_was(store: ObjectStore) -> None:
    net = network()
    policy_id = save(store, net)
    loaded = load_network(store, policy_id, tiny_space())
    observations = torch.randn(4, 7, generator=torch.Generator().manual_seed(1))
    assert torch.equal(net(observations)[0], loaded(observations)[0])
    assert load_network_policy(store, policy_id, tiny_space()).id == policy_id


def test_the_id_follows_from_what_decides_the_play_and_from_nothing_else(store: ObjectStore) -> None:
    policy_id = save(store, network())
    assert policy_id.startswith("p")
    assert len(policy_id) == 17
    assert save(store, network(), name="another name", iteration=3, parent=PolicyId("p0")) == policy_id
    different = [
        save(store, network(seed=1)),
        save(store, network(), reward="shaped"),
        save(store, network(), reward_version="2"),
        save(store, network(settings=SMALL.model_copy(update={"num_hidden_layers": 1}))),
        save(store, network(space=tiny_space().model_copy(update={"version": "2"}))),
    ]
    assert len({policy_id, *different}) == 6


def test_the_first_description_of_a_policy_stays(store: ObjectStore) -> None:
    policy_id = save(store, network(), name="first")
    save(store, network(), name="second")
    assert read_document(store, policy_id).name == "first"


def test_another_space_is_refused_by_both_versions(store: ObjectStore) -> None:
    policy_id = save(store, network())
    other = tiny_space().model_copy(update={"version": "2"})
    with pytest.raises(DataError, match=r"trained for tiny version 1 .* this is tiny version 2 .*Use a policy of this"):
        load_network_policy(store, policy_id, other)
    with pytest.raises(DataError, match=rf"this is {bandit_space().format} version 1"):
        load_network_policy(store, policy_id, bandit_space())


@pytest.mark.parametrize("change", [lambda w: w[:-1], lambda w: w[:-1] + bytes([w[-1] ^ 1]), lambda _: b""])
def test_altered_weights_are_refused(store: ObjectStore, change: Callable[[bytes], bytes]) -> None:
    policy_id = save(store, network())
    key = keys.policy_weights(policy_id)
    store.put(key, change(store.get(key)))
    with pytest.raises(DataError, match=r"weights.safetensors has sha256 .*altered or truncated"):
        load_network_policy(store, policy_id, tiny_space())


@pytest.mark.parametrize("field", ["weights_sha256", "reward", "reward_version", "architecture"])
def test_an_altered_document_is_refused(store: ObjectStore, field: str) -> None:
    policy_id = save(store, network())
    key = keys.policy_document(policy_id)
    document = json.loads(store.get(key))
    document[field] = {"weights_sha256": "0" * 64, "reward": "shaped"}.get(field, "other")
    store.put(key, json.dumps(document).encode())
    with pytest.raises(DataError, match=r"policy.json was altered: its content has id"):
        load_network_policy(store, policy_id, tiny_space())


def test_a_policy_under_another_id_is_refused(store: ObjectStore) -> None:
    policy_id = save(store, network())
    store.put(keys.policy_document(BarePolicyId(PolicyId("p123"))), store.get(keys.policy_document(policy_id)))
    with pytest.raises(DataError, match="is stored under p123"):
        load_network_policy(store, PolicyId("p123"), tiny_space())


def test_an_unknown_policy_is_named_with_the_command_that_lists_them(store: ObjectStore) -> None:
    with pytest.raises(DataError, match=r"no policy 'p404': expected the id of a policy .* `nashdex policy list .*`"):
        load_network_policy(store, PolicyId("p404"), tiny_space())


def test_tensors_that_do_not_fit_are_named() -> None:
    net = network()
    state = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    del state["critic.2.bias"]
    state["extra"] = torch.zeros(1)
    state["actor.weight"] = torch.zeros(3, 16)
    state["trunk.0.bias"][0] = float("nan")
    with pytest.raises(DataError) as caught:
        read_weights(net.space, net.settings, safetensors.save(state), "here")
    for problem in (
        "critic.2.bias is missing",
        "extra is not part of the network",
        r"actor.weight is torch.float32 (3, 16), expected torch.float32 (2, 16)",
        "trunk.0.bias holds a number that is not finite",
    ):
        assert problem in str(caught.value)


def test_a_policy_that_is_whole_has_its_weights_first(tmp_path: Path) -> None:
    """A process that dies between the two writes leaves no document, so nobody finds half a policy."""

    class Dying(DirectoryStore):
        def put_if_absent(self, key: str, data: bytes) -> bool:
            if key.endswith("policy.json"):
                raise SystemExit
            return super().put_if_absent(key, data)

    with pytest.raises(SystemExit):
        save(Dying(tmp_path), network())
    written = list(open_store(str(tmp_path)).list("policies/"))
    assert [Path(key).name for key in written] == ["weights.safetensors"]


def test_weights_are_the_same_bytes_each_time(store: ObjectStore) -> None:
    policy_id = save(store, network())
    weights = store.get(keys.policy_weights(policy_id))
    again = load_network(store, policy_id, tiny_space())
    assert save(store, again) == policy_id
    assert store.get(keys.policy_weights(policy_id)) == weights
    assert np.frombuffer(weights[:8], np.uint64)[0] < len(weights)
