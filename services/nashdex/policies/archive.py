"""Networks in the store, addressed by the hash of their content: written once, checked at every read."""

import hashlib
from collections.abc import Mapping
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors import torch as safetensors
from torch import Tensor

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import BarePolicyId, PlayedPolicy, PolicyId
from nashdex.games.space import Space
from nashdex.games.tabular.game import observations_of
from nashdex.games.tabular.tree import GameTree, Table
from nashdex.policies.document import UNSET_ID, PolicyDocument, read_document
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.masked import masked_log_softmax
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.policies.networks.kinds import NETWORKS
from nashdex.policies.tables import table_bytes
from nashdex.settings.networks import NetworkSettings
from nashdex.store.checked import read_hashed
from nashdex.store.protocol import ObjectStore

_MOST_PROBLEMS = 8


def save_policy(
    store: ObjectStore,
    network: ActorCritic,
    *,
    name: str,
    parent: BarePolicyId | None,
    iteration: int,
    oracle: str,
    reward: str,
    reward_version: str,
    tree: GameTree | None = None,
) -> BarePolicyId:
    """Store ``network`` and return its id. Weights are written first, so that a policy with a document is complete.

    In a tabular game, ``tree``, its action probabilities are stored too. Everything that plays or evaluates the policy
    afterwards reads those.
    """
    weights = weights_bytes(network)
    table = None if tree is None else table_bytes(tree, network_table(network, tree))
    bare = PolicyDocument(
        id=UNSET_ID,
        name=name,
        format=network.space.format,
        space=network.space,
        architecture=network.architecture,
        network=network.settings,
        parent=parent,
        iteration=iteration,
        oracle=oracle,
        reward=reward,
        reward_version=reward_version,
        num_parameters=network.num_parameters,
        weights_sha256=hashlib.sha256(weights).hexdigest(),
        weights_bytes=len(weights),
        table_sha256=None if table is None else hashlib.sha256(table).hexdigest(),
    )
    document = bare.model_copy(update={"id": bare.content_id()})
    store.put_if_absent(keys.policy_weights(document.id), weights)
    if table is not None:
        store.put_if_absent(keys.policy_table(document.id), table)
    store.put_if_absent(keys.policy_document(document.id), document.to_json())
    return document.id


def weights_bytes(network: ActorCritic) -> bytes:
    """Return the weights in canonical form: sorted tensors, no metadata."""
    return tensors_bytes(network.state_dict())


def tensors_bytes(tensors: Mapping[str, Tensor]) -> bytes:
    """Return tensors of any device as safetensors, which sorts them."""
    return safetensors.save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()})


def network_table(network: ActorCritic, tree: GameTree) -> Table:
    """Return the action probabilities of ``network`` in every information state of ``tree``, shape (S, A)."""
    device = next(network.parameters()).device
    with torch.inference_mode():
        logits = network.logits(torch.from_numpy(observations_of(tree)).to(device)).double()
        probabilities = masked_log_softmax(logits, torch.from_numpy(tree.legal).to(device)).exp()
    return probabilities.cpu().numpy()


def load_network_policy(store: ObjectStore, policy_id: PolicyId, space: Space, device: str = "cpu") -> NetworkPolicy:
    """Return a stored network, ready to play in ``space`` on ``device`` as the id says.

    Raises:
        ConfigurationError: it cannot play on the device.
        DataError: it is missing, altered, or was trained for another space.
    """
    return NetworkPolicy(policy_id, load_network(store, PlayedPolicy.of(policy_id).policy, space), device)


def load_network(store: ObjectStore, policy_id: BarePolicyId, space: Space) -> ActorCritic:
    """Return the network of a stored policy, on the CPU.

    Raises:
        DataError: it is missing, altered, or was trained for another space.
    """
    document = read_document(store, policy_id)
    document.require_space(space)
    tensors = stored_weights(store, document)
    assert document.network is not None, "weights were read"
    network = make_network(document.space, document.network)
    network.load_state_dict(tensors)
    return network


def load_weights(store: ObjectStore, policy_id: BarePolicyId) -> dict[str, Tensor]:
    """Return the tensors of the network of a policy of a run, on the CPU.

    Raises:
        DataError: they are missing, altered or of another architecture, or the policy is a table.
    """
    return stored_weights(store, read_document(store, policy_id))


def stored_weights(store: ObjectStore, document: PolicyDocument) -> dict[str, Tensor]:
    """Return the tensors of a stored policy's network, on the CPU.

    Raises:
        DataError: they are missing, altered or of another architecture, or the policy is a table.
    """
    policy_id = document.id
    if document.network is None or document.weights_sha256 is None:
        raise DataError(f"policy {policy_id} is a table, not a network: it has no weights to start from")
    architecture = NETWORKS[document.network.kind].architecture
    if document.architecture != architecture:
        raise DataError(
            f"policy {policy_id} is of architecture {document.architecture!r}; this nashdex has {architecture!r}. "
            "Train it again, or use the nashdex that made it"
        )
    key = keys.policy_weights(policy_id)
    weights = read_hashed(store, key, document.weights_sha256, document.weights_bytes)
    return read_weights(document.space, document.network, weights, f"{store.uri}/{key}")


def read_weights(space: Space, settings: NetworkSettings, weights: bytes, source: str) -> dict[str, Tensor]:
    """Return the tensors of a network from safetensors; ``source`` names them in errors.

    The stored shapes are compared with the settings' before any network takes memory. Tensors
    in half precision are returned in single precision.

    Raises:
        DataError: the bytes are not safetensors, or a tensor is missing, superfluous, of another shape or not finite.
    """
    try:
        tensors: dict[str, Tensor] = safetensors.load(weights)
    except SafetensorError as error:
        raise DataError(f"{source} is not a safetensors file: {error}") from error
    with torch.device("meta"):
        expected: dict[str, Any] = make_network(space, settings).state_dict()
    problems = [f"{name} is missing" for name in sorted(expected.keys() - tensors.keys())]
    problems += [f"{name} is not part of the network" for name in sorted(tensors.keys() - expected.keys())]
    for name in sorted(tensors.keys() & expected.keys()):
        if tensors[name].dtype == torch.float16 and expected[name].dtype == torch.float32:
            tensors[name] = tensors[name].float()  # how the zoo stores weights
        if tensors[name].shape != expected[name].shape or tensors[name].dtype != expected[name].dtype:
            problems.append(
                f"{name} is {tensors[name].dtype} {tuple(tensors[name].shape)}, "
                f"expected {expected[name].dtype} {tuple(expected[name].shape)}"
            )
        elif not torch.isfinite(tensors[name]).all():
            problems.append(f"{name} holds a number that is not finite")
    if problems:
        raise DataError(f"{source} does not fit the network: {'; '.join(problems[:_MOST_PROBLEMS])}")
    return tensors
