"""``imported/{policy}/policy.json``: the description of an imported policy. Its id follows from its content."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, PositiveInt, field_validator

from nashdex.core import keys
from nashdex.core.documents import Document
from nashdex.core.errors import DataError
from nashdex.core.ids import BarePolicyId, BarePolicyIdField, PolicyId
from nashdex.metamon.actions import ACTION_SPACES
from nashdex.metamon.checkpoints.architecture import AmagoArchitecture, MiniRnnArchitecture
from nashdex.metamon.observations import OBSERVATION_SPACES
from nashdex.metamon.rewards import REWARDS
from nashdex.store.protocol import ObjectStore

MAX_DOCUMENT_BYTES = 1 << 20
_SHA256 = r"^[0-9a-f]{64}$"
_IMPORTED_ID = r"^i[0-9a-f]{16}(@|$)"
_UNSET = BarePolicyId(PolicyId("unset"))


class ImportedPolicy(Document):
    """A frozen policy from another project. It is never trained."""

    id: BarePolicyIdField = _UNSET
    kind: Literal["imported"] = "imported"
    name: str = Field(max_length=200, description="For people, such as 'SyntheticRLV2 epoch 48'.")
    architecture: Annotated[MiniRnnArchitecture | AmagoArchitecture, Field(discriminator="kind")]
    observation_space: str = Field(description="Metamon's name of what it reads.")
    action_space: str = Field(description="Metamon's name of what it answers.")
    reward: str = Field(description="Metamon's name of the reward that it was trained with, and may read.")
    strict_mask: bool = Field(
        description="False: as in metamon's own play, every illegal action keeps a probability of about 0.001, and a "
        "random legal action is played instead."
    )
    num_words: PositiveInt = Field(description="Of its vocabulary.")
    num_parameters: PositiveInt
    weights_sha256: str = Field(pattern=_SHA256)
    weights_bytes: PositiveInt
    vocabulary_sha256: str = Field(pattern=_SHA256)
    source_sha256: str = Field(pattern=_SHA256, description="Of the file that it was imported from.")

    @field_validator("observation_space")
    @classmethod
    def _space_is_known(cls, name: str) -> str:
        return _known(name, OBSERVATION_SPACES)

    @field_validator("action_space")
    @classmethod
    def _actions_are_known(cls, name: str) -> str:
        return _known(name, ACTION_SPACES)

    @field_validator("reward")
    @classmethod
    def _reward_is_known(cls, name: str) -> str:
        return _known(name, REWARDS)

    def content_id(self) -> BarePolicyId:
        """Return the id: equal for policies that agree in everything that decides their play."""
        content = self.model_dump(mode="json", exclude={"id", "name", "schema_version", "source_sha256"})
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        return BarePolicyId(PolicyId("i" + digest[:16]))


def is_imported(policy: PolicyId) -> bool:
    """Say whether an id is that of an imported policy, whatever its suffix."""
    return re.match(_IMPORTED_ID, policy) is not None


def read_imported(store: ObjectStore, policy: BarePolicyId) -> ImportedPolicy:
    """Return the description of an imported policy.

    Raises:
        DataError: it is missing or was altered.
    """
    key = keys.imported_document(policy)
    if not store.exists(key):
        raise DataError(f"{store.uri} has no imported policy {policy!r}; store it there with `nashdex policy import`")
    document = ImportedPolicy.from_json(store.get(key, MAX_DOCUMENT_BYTES), f"{store.uri}/{key}")
    if not document.content_id() == document.id == policy:
        raise DataError(
            f"{store.uri}/{key} was altered: its content has id {document.content_id()}, it says {document.id}, and it "
            f"is stored under {policy}"
        )
    return document


def _known(name: str, names: Mapping[str, object]) -> str:
    if name not in names:
        raise ValueError(f"unknown name {name!r}: expected one of {', '.join(names)}")
    return name
