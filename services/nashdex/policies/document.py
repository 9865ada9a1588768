"""``policy.json``: the description of a stored policy, and how its id follows from its content."""

import hashlib
import json
from typing import Any, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, field_serializer, model_validator

from nashdex.core import keys
from nashdex.core.documents import Document
from nashdex.core.errors import DataError
from nashdex.core.ids import BarePolicyId, BarePolicyIdField, PolicyId, is_ensemble, is_imported
from nashdex.core.section import KIND
from nashdex.games.space import Space
from nashdex.settings.networks import NetworkChoice, NetworkSettings
from nashdex.store.checked import find_object, read_hashed
from nashdex.store.protocol import ObjectStore

_SHA256 = r"^[0-9a-f]{64}$"
MAX_DOCUMENT_BYTES = 1 << 24
"""Largest description. Its space takes about 100 KB in real games."""
UNSET_ID = BarePolicyId(PolicyId("unset"))
"""The id of a document until its content id is computed."""


class PolicyDocument(Document):
    """A stored policy. A network's weights, and in a tabular game its table, are stored beside it."""

    id: BarePolicyIdField
    kind: Literal["network", "table"] = "network"
    name: str = Field(description="For people, such as 'best response 3'.")
    format: str
    space: Space = Field(description="The space that it was trained for and plays in.")
    architecture: str | None = Field(None, description="Architecture of the network; null for a table.")
    network: NetworkChoice | None = Field(None, description="Its sizes; null for a table.")
    parent: BarePolicyIdField | None = Field(description="Whose weights its training began from.")
    iteration: NonNegativeInt
    oracle: str = Field(description="How it was trained, such as clone, ppo or exact.")
    reward: str = Field(description="The reward that its training maximised.")
    reward_version: str
    num_parameters: PositiveInt
    weights_sha256: str | None = Field(None, pattern=_SHA256)
    weights_bytes: PositiveInt | None = None
    table_sha256: str | None = Field(
        None, pattern=_SHA256, description="Hash of its action probabilities by information state, in a tabular game."
    )

    @model_validator(mode="after")
    def _its_kind_is_there(self) -> "PolicyDocument":
        has_network = None not in (self.architecture, self.network, self.weights_sha256, self.weights_bytes)
        if self.kind == "network" and not has_network:
            raise ValueError("a network policy has an architecture, sizes and weights; one of them is missing")
        if self.kind == "table" and self.table_sha256 is None:
            raise ValueError("a table policy has a table; table_sha256 is missing")
        return self

    @field_serializer("network")
    def _sizes(self, network: NetworkSettings | None) -> dict[str, Any] | None:
        return None if network is None else network.sizes()

    def content_id(self) -> BarePolicyId:
        """Return the id of the content: equal for policies that agree in every part that decides their play."""
        content = {
            "weights": self.weights_sha256,
            "architecture": self.architecture,
            "network": self.network and {k: size for k, size in self.network.sizes().items() if k != KIND},
            "space": self.space.fingerprint,
            "reward": [self.reward, self.reward_version],
            "format": self.format,
        }
        if self.table_sha256 is not None:
            content["table"] = self.table_sha256
        text = json.dumps(content, sort_keys=True)
        return BarePolicyId(PolicyId("p" + hashlib.sha256(text.encode()).hexdigest()[:16]))

    def require_space(self, space: Space) -> None:
        """Raise DataError unless the policy was trained for ``space``."""
        if self.space.fingerprint != space.fingerprint:
            raise DataError(
                f"policy {self.id} was trained for {self.space.format} version {self.space.version} "
                f"({self.space.fingerprint}); this is {space.format} version {space.version} ({space.fingerprint}). "
                "Use a policy of this space, or the simulator or payoffs that the policy's run was made with"
            )


def read_document(store: ObjectStore, policy_id: BarePolicyId) -> PolicyDocument:
    """Return a stored policy's description.

    Raises:
        DataError: there is none, or its content does not match its id.
    """
    key = keys.policy_document(policy_id)
    data = find_object(store, key, MAX_DOCUMENT_BYTES)
    if data is None and (is_ensemble(policy_id) or is_imported(policy_id)):
        kind = "an ensemble" if is_ensemble(policy_id) else "another project's"
        raise DataError(f"policy {policy_id} is {kind}; expected one that a train step stored, such as RUN#newest")
    if data is None:
        raise DataError(
            f"{store.uri} has no policy {policy_id!r}: expected the id of a policy that a train step stored there; "
            f"`nashdex policy list {store.uri}` prints them"
        )
    document = PolicyDocument.from_json(data, f"{store.uri}/{key}")
    if not document.content_id() == document.id == policy_id:
        raise DataError(
            f"{store.uri}/{key} was altered: its content has id {document.content_id()}, it says {document.id}, and it "
            f"is stored under {policy_id}"
        )
    return document


def policy_objects(store: ObjectStore, policy_id: BarePolicyId) -> dict[str, bytes]:
    """Return all that is stored of a policy, by key.

    Raises:
        DataError: it is missing or was altered.
    """
    document = read_document(store, policy_id)
    weights, table = keys.policy_weights(policy_id), keys.policy_table(policy_id)
    objects = {keys.policy_document(policy_id): document.to_json()}
    if document.weights_sha256 is not None:
        objects[weights] = read_hashed(store, weights, document.weights_sha256, document.weights_bytes)
    if document.table_sha256 is not None:  # a network of a tabular game has both
        objects[table] = read_hashed(store, table, document.table_sha256)
    return objects
