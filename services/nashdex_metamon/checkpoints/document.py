"""``imported/{policy}/policy.json``: the description of an imported policy. Its id follows from its content."""

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field, PositiveInt, field_validator

from nashdex.core import keys
from nashdex.core.documents import Document
from nashdex.core.errors import DataError
from nashdex.core.ids import BarePolicyId, BarePolicyIdField, PolicyId
from nashdex.games.interface import ViewIdentity
from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.policies.sources import PolicySource
from nashdex.store.checked import find_object, read_hashed
from nashdex.store.protocol import ObjectStore
from nashdex_metamon.actions import ACTION_SPACES
from nashdex_metamon.checkpoints.architecture import AmagoArchitecture, MiniRnnArchitecture
from nashdex_metamon.observations import OBSERVATION_SPACES
from nashdex_metamon.rewards import REWARDS
from nashdex_metamon.views.definition import view_definition

MAX_DOCUMENT_BYTES = 1 << 20
MAX_VOCABULARY_BYTES = 1 << 24
_SHA256 = r"^[0-9a-f]{64}$"
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
    view: ViewIdentity = Field(
        description="View of these names and the vocabulary, as the nashdex that imported it has them."
    )
    strict_mask: bool = Field(
        description="False: as in metamon's own play, every illegal action keeps a probability of about 0.001, and a "
        "random legal action is played instead."
    )
    num_words: PositiveInt = Field(description="Words of its vocabulary.")
    num_parameters: PositiveInt
    weights_sha256: str = Field(pattern=_SHA256)
    weights_bytes: PositiveInt
    vocabulary_sha256: str = Field(pattern=_SHA256)
    source_sha256: str = Field(pattern=_SHA256, description="Hash of the file that it was imported from.")

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
        """Return the id: equal for policies that agree in every part that decides their play."""
        content = self.model_dump(mode="json", exclude={"id", "name", "schema_version", "source_sha256"})
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        return BarePolicyId(PolicyId("i" + digest[:16]))

    def require_view(self) -> None:
        """Raise DataError unless this nashdex has the view that the policy reads."""
        here = self.own_view()
        if self.view != here:
            raise DataError(
                f"policy {self.id} reads the view {self.view.name} ({self.view.fingerprint}); this nashdex has "
                f"{here.name} ({here.fingerprint}). Import the policy again, or use the nashdex that imported it"
            )

    def own_view(self) -> ViewIdentity:
        """Return the view of its names and vocabulary as this nashdex has it."""
        return view_definition(self.observation_space, self.action_space, self.reward, self.vocabulary_sha256).identity


def read_imported(store: ObjectStore, policy: BarePolicyId) -> ImportedPolicy:
    """Return the description of an imported policy.

    Raises:
        DataError: it is missing or was altered, or this nashdex lacks its view.
    """
    key = keys.imported_document(policy)
    data = find_object(store, key, MAX_DOCUMENT_BYTES)
    if data is None:
        raise DataError(f"{store.uri} has no imported policy {policy!r}; store it there with `nashdex policy import`")
    document = ImportedPolicy.from_json(data, f"{store.uri}/{key}")
    if not document.content_id() == document.id == policy:
        raise DataError(
            f"{store.uri}/{key} was altered: its content has id {document.content_id()}, it says {document.id}, and it "
            f"is stored under {policy}"
        )
    document.require_view()
    return document


def imported_objects(store: ObjectStore, policy: BarePolicyId) -> dict[str, bytes]:
    """Return all that is stored of an imported policy, by key.

    Raises:
        DataError: it is missing or was altered, or this nashdex lacks its view.
    """
    document = read_imported(store, policy)
    weights, vocabulary = keys.imported_weights(policy), keys.imported_vocabulary(policy)
    return {
        keys.imported_document(policy): document.to_json(),
        weights: read_hashed(store, weights, document.weights_sha256, document.weights_bytes),
        vocabulary: read_hashed(store, vocabulary, document.vocabulary_sha256, MAX_VOCABULARY_BYTES),
    }


IMPORTED: Final = PolicySource(
    describe=lambda store, policy: ("imported", read_imported(store, policy).name),
    objects=imported_objects,
    player="nashdex_metamon.checkpoints.seats:load_imported_seats",
    weights="nashdex_metamon.checkpoints.archive:imported_weights",
    plays=lambda game, num_slots: game == SHOWDOWN and num_slots == 1,
)


def _known(name: str, names: Mapping[str, object]) -> str:
    if name not in names:
        raise ValueError(f"unknown name {name!r}: expected one of {', '.join(names)}")
    return name
