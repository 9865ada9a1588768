"""Policies in the store, under the hash of their content: written once, checked whenever they are read."""

import hashlib
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors import torch as safetensors
from torch import Tensor

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.games.interface import Reward
from nashdex.games.space import Space
from nashdex.policies.document import PolicyDocument
from nashdex.policies.interface import Policy
from nashdex.policies.network import ARCHITECTURE, ActorCritic, NetworkPolicy
from nashdex.policies.scripted import SCRIPTED
from nashdex.store.protocol import ObjectStore

_UNSET_ID = PolicyId("unset")


def save_policy(
    store: ObjectStore,
    network: ActorCritic,
    *,
    name: str,
    parent: PolicyId | None,
    iteration: int,
    oracle: str,
    reward: Reward,
    reward_version: str,
) -> PolicyId:
    """Store ``network`` and return its id. Weights come first, so that a policy with a document is whole."""
    weights = weights_bytes(network)
    bare = PolicyDocument(
        id=_UNSET_ID,
        name=name,
        format=network.space.format,
        space=network.space,
        architecture=ARCHITECTURE,
        network=network.settings,
        parent=parent,
        iteration=iteration,
        oracle=oracle,
        reward=reward,
        reward_version=reward_version,
        num_parameters=network.num_parameters,
        weights_sha256=hashlib.sha256(weights).hexdigest(),
        weights_bytes=len(weights),
    )
    document = bare.model_copy(update={"id": bare.content_id()})
    store.put_if_absent(keys.policy_weights(document.id), weights)
    store.put_if_absent(keys.policy_document(document.id), document.to_json())
    return document.id


def weights_bytes(network: ActorCritic) -> bytes:
    """Return the weights in their canonical form: safetensors orders tensors by itself, and there is no metadata."""
    state = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    return safetensors.save(state)


def load_policy(store: ObjectStore, policy_id: PolicyId, space: Space) -> Policy:
    """Return the policy called ``policy_id``, scripted or stored, ready to play in ``space``.

    Raises:
        DataError: it is missing, altered, or was trained for another space.
        ConfigurationError: it is scripted and cannot play in ``space``.
    """
    if policy_id in SCRIPTED:
        return SCRIPTED[policy_id](space)
    return NetworkPolicy(policy_id, load_network(store, policy_id, space))


def load_network(store: ObjectStore, policy_id: PolicyId, space: Space) -> ActorCritic:
    """Return the network of a stored policy, on the CPU.

    Raises:
        DataError: it is missing, altered, or was trained for another space.
    """
    document = read_document(store, policy_id)
    where = f"{store.uri}/{keys.policy_weights(policy_id)}"
    if document.space.fingerprint != space.fingerprint:
        raise DataError(
            f"policy {policy_id} was trained for {document.space.format} version {document.space.version} "
            f"({document.space.fingerprint}); this is {space.format} version {space.version} ({space.fingerprint}). "
            "Use a policy of this space, or the gateway and simulator that the policy's run was made with"
        )
    if document.architecture != ARCHITECTURE:
        raise DataError(
            f"policy {policy_id} is of architecture {document.architecture!r}; this nashdex has {ARCHITECTURE!r}. "
            "Train it again, or use the nashdex that made it"
        )
    weights = store.get(keys.policy_weights(policy_id))
    digest = hashlib.sha256(weights).hexdigest()
    if digest != document.weights_sha256:
        raise DataError(f"{where} has sha256 {digest}, expected {document.weights_sha256}: it was altered or cut off")
    network = ActorCritic(document.space, document.network)
    load_weights(network, weights, where)
    return network


def load_weights(network: ActorCritic, weights: bytes, source: str) -> None:
    """Set the network's parameters from safetensors; ``source`` names them in errors.

    Raises:
        DataError: the bytes are no safetensors, or a tensor is missing, superfluous, of another shape or not finite.
    """
    try:
        tensors: dict[str, Tensor] = safetensors.load(weights)
    except SafetensorError as error:
        raise DataError(f"{source} is no safetensors: {error}") from error
    expected: dict[str, Any] = network.state_dict()
    problems = [f"{name} is missing" for name in sorted(expected.keys() - tensors.keys())]
    problems += [f"{name} is not part of the network" for name in sorted(tensors.keys() - expected.keys())]
    for name in sorted(tensors.keys() & expected.keys()):
        if tensors[name].shape != expected[name].shape or tensors[name].dtype != expected[name].dtype:
            problems.append(
                f"{name} is {tensors[name].dtype} {tuple(tensors[name].shape)}, "
                f"expected {expected[name].dtype} {tuple(expected[name].shape)}"
            )
        elif not torch.isfinite(tensors[name]).all():
            problems.append(f"{name} holds a number that is not finite")
    if problems:
        raise DataError(f"{source} does not fit the network: {'; '.join(problems)}")
    network.load_state_dict(tensors)


def read_document(store: ObjectStore, policy_id: PolicyId) -> PolicyDocument:
    """Return a stored policy's description.

    Raises:
        DataError: there is none, or it is not what its id says.
    """
    key = keys.policy_document(policy_id)
    if not store.exists(key):
        raise DataError(
            f"{store.uri} has no policy {policy_id!r}: expected {', '.join(sorted(SCRIPTED))}, or the id of a policy "
            "that a train step stored there"
        )
    document = PolicyDocument.from_json(store.get(key), f"{store.uri}/{key}")
    if not document.content_id() == document.id == policy_id:
        raise DataError(
            f"{store.uri}/{key} was altered: its content has id {document.content_id()}, it says {document.id}, and it "
            f"lies under {policy_id}"
        )
    return document
