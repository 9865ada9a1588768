"""Publishes a stored network under a name for good: half precision, a card, and an entry in ``published.json``."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import torch
from torch import Tensor

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import ID_PATTERN, SAMPLED, BarePolicyId, PlayedPolicy, RunId
from nashdex.core.references import PolicyReference
from nashdex.evaluator.panel import Panel
from nashdex.games.registry import game_of_run
from nashdex.metagame.analysis.exploit import ExploitVerdict
from nashdex.policies.archive import load_network, tensors_bytes
from nashdex.policies.document import PolicyDocument, read_document
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.policies.references import Published, read_published_names, resolve
from nashdex.runs.creation import open_run
from nashdex.store.protocol import ObjectStore
from nashdex.zoo.card import PolicyCard, read_card
from nashdex.zoo.origin import training_of
from nashdex.zoo.parity import measure_parity

MAX_WEIGHTS_BYTES: Final = 2_500_000


@dataclass(frozen=True, slots=True)
class Said:
    """What the publisher adds to the card."""

    limits: Sequence[str] = ()
    hardware: str | None = None
    commit: str | None = None
    panel: Panel | None = None
    exploit: ExploitVerdict | None = None


def publish(zoo: ObjectStore, reference: PolicyReference, name: str, said: Said, *, battles: int) -> PolicyCard:
    """Publish the network that ``reference`` means in ``zoo`` as ``name``, and return its card.

    Publishing the same weights under the same name again renews the card. It keeps the panel and the exploiter that
    ``said`` leaves out. Everything is checked before anything is written; the name is written last.

    Raises:
        ConfigurationError: the policy is no network of a run, or too large; the name is wrong, or names other weights.
        DataError: the policy or its run is missing or altered.
    """
    if not re.fullmatch(ID_PATTERN, name):
        raise ConfigurationError(f"{name!r} is no name for a policy: expected lower-case letters, digits, '.' and '-'")
    store, document = _source(reference)
    run = open_run(reference.store)
    trained = load_network(store, document.id, document.space)
    halves = half_precision(trained)
    weights = tensors_bytes(halves)
    if len(weights) > MAX_WEIGHTS_BYTES:
        raise ConfigurationError(
            f"{document.id} takes {len(weights):,} bytes in half precision; a published policy takes at most "
            f"{MAX_WEIGHTS_BYTES:,}. Train a smaller network"
        )
    published = _published(document, name, weights)
    names = _with_name(read_published_names(zoo), name, published.id)
    rounded = make_network(document.space, trained.settings)
    rounded.load_state_dict({key: half.float() if half.is_floating_point() else half for key, half in halves.items()})
    game = game_of_run(store, run.settings)
    earlier = read_card(zoo, published.id)
    card = PolicyCard(
        name=name,
        policy=published.id,
        format=document.format,
        num_parameters=document.num_parameters,
        weights_bytes=len(weights),
        training=training_of(run, document, said.hardware, said.commit),
        parity=measure_parity(game, trained, rounded, battles=battles),
        limits=tuple(said.limits) or (earlier.limits if earlier else ()),
        panel=_without_folders(said.panel, run.id) if said.panel else (earlier.panel if earlier else None),
        exploit=said.exploit or (earlier.exploit if earlier else None),
    )
    zoo.put_if_absent(keys.policy_weights(published.id), weights)
    zoo.put_if_absent(keys.policy_document(published.id), published.to_json())
    zoo.put(keys.policy_card(published.id), card.to_json())
    zoo.put(keys.PUBLISHED, names.to_json())
    return card


def _without_folders(panel: Panel, run: RunId) -> Panel:
    """Return the panel with the policy as RUN#NAME: a card names no folder of the machine that measured it."""
    reference = PolicyReference.parse(panel.policy)
    policy = str(replace(reference, store=run)) if reference.store else panel.policy
    rows = tuple(row.model_copy(update={"result": row.result.model_copy(update={"p1": policy})}) for row in panel.rows)
    return panel.model_copy(update={"policy": policy, "rows": rows})


def half_precision(network: ActorCritic) -> dict[str, Tensor]:
    """Return the weights with float32 tensors as float16, on the CPU.

    Raises:
        ConfigurationError: one overflows.
    """
    halves = {
        name: tensor.detach().cpu().half() if tensor.dtype == torch.float32 else tensor.detach().cpu()
        for name, tensor in network.state_dict().items()
    }
    if over := [name for name, half in halves.items() if not torch.isfinite(half).all()]:
        raise ConfigurationError(
            f"{over[0]} has weights above {torch.finfo(torch.float16).max:.0f}, which half precision cannot hold: this "
            "policy cannot be published"
        )
    return halves


def _source(reference: PolicyReference) -> tuple[ObjectStore, PolicyDocument]:
    """Return the store and the description of the network to publish."""
    found = resolve(reference)
    if found.store is None or reference.searches or len(found.mixture) != 1 or reference.temperature != SAMPLED:
        raise ConfigurationError(f"{str(reference)!r} is not one stored network; name it as RUN#ID or RUN#newest")
    document = read_document(found.store, PlayedPolicy.of(next(iter(found.mixture))).policy)
    if document.kind != "network" or document.table_sha256 is not None:
        raise ConfigurationError(
            f"{str(reference)!r} plays {document.format}, whose payoffs are exact: only networks of played formats are "
            "published"
        )
    return found.store, document


def _published(document: PolicyDocument, name: str, weights: bytes) -> PolicyDocument:
    """Return the description of the policy in half precision: another policy, whose parent was trained."""
    renamed = document.model_copy(
        update={
            "name": name,
            "parent": document.id,
            "weights_sha256": hashlib.sha256(weights).hexdigest(),
            "weights_bytes": len(weights),
        }
    )
    return renamed.model_copy(update={"id": renamed.content_id()})


def _with_name(names: Published, name: str, policy: BarePolicyId) -> Published:
    """Return ``names`` with ``name``."""
    if names.policies.get(name, policy) != policy:
        raise ConfigurationError(
            f"{name!r} is {names.policies[name]}, and this policy is {policy}: a published name never changes its "
            f"weights. Choose another name, such as {name}-2"
        )
    if others := [other for other, known in names.policies.items() if known == policy and other != name]:
        raise ConfigurationError(f"{policy} is published as {others[0]!r}; expected that name")
    return Published(policies=dict(sorted({**names.policies, name: policy}.items())))
