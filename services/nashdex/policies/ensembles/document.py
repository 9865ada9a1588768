"""``ensembles/{policy}/policy.json``: the members of an ensemble, and how its id follows from them."""

import hashlib
import json
from typing import Final, Literal

from pydantic import Field, field_validator

from nashdex.core import keys
from nashdex.core.documents import Document
from nashdex.core.errors import DataError
from nashdex.core.ids import GREEDY, BarePolicyId, BarePolicyIdField, PlayedPolicy, PolicyId, PolicyIdField
from nashdex.policies.document import policy_objects
from nashdex.store.checked import find_object
from nashdex.store.protocol import ObjectStore

MAX_DOCUMENT_BYTES: Final = 1 << 16
FEWEST_MEMBERS: Final = 2
MOST_MEMBERS: Final = 16
MOST_NAME_CHARACTERS: Final = 200
Rule = Literal["mean-log-probability"]
_UNSET: Final = BarePolicyId(PolicyId("unset"))


class EnsembleDocument(Document):
    """A stored ensemble. Its members are stored networks of the same store."""

    id: BarePolicyIdField = _UNSET
    kind: Literal["ensemble"] = "ensemble"
    name: str = Field(max_length=MOST_NAME_CHARACTERS, description="For people, such as 'four seeds'.")
    format: str
    space: str = Field(description="Fingerprint of the members' common space.")
    rule: Rule = Field("mean-log-probability", description="How the members decide together.")
    members: tuple[PolicyIdField, ...] = Field(
        min_length=FEWEST_MEMBERS,
        max_length=MOST_MEMBERS,
        description="Ids, sorted, each with the temperature at which it votes.",
    )

    @field_validator("members")
    @classmethod
    def _in_order(cls, members: tuple[PolicyId, ...]) -> tuple[PolicyId, ...]:
        if list(members) != sorted(set(members)):
            raise ValueError("members are sorted, each once")
        if greedy := [member for member in members if PlayedPolicy.of(member).temperature == GREEDY]:
            raise ValueError(f"{greedy[0]} has no probabilities to vote with; expected members without @greedy")
        return members

    @property
    def voters(self) -> tuple[PlayedPolicy, ...]:
        """The members and their temperatures."""
        return tuple(map(PlayedPolicy.of, self.members))

    def content_id(self) -> BarePolicyId:
        """Return the id: equal for ensembles that play equally."""
        content = {"rule": self.rule, "members": self.members, "space": self.space, "format": self.format}
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        return BarePolicyId(PolicyId("e" + digest[:16]))


def read_ensemble(store: ObjectStore, policy: BarePolicyId) -> EnsembleDocument:
    """Return the description of an ensemble.

    Raises:
        DataError: it is missing, or its content does not match its id.
    """
    key = keys.ensemble_document(policy)
    data = find_object(store, key, MAX_DOCUMENT_BYTES)
    if data is None:
        raise DataError(f"{store.uri} has no ensemble {policy!r}; `nashdex policy list {store.uri}` prints what it has")
    document = EnsembleDocument.from_json(data, f"{store.uri}/{key}")
    if not document.content_id() == document.id == policy:
        raise DataError(
            f"{store.uri}/{key} was altered: its content has id {document.content_id()}, it says {document.id}, and it "
            f"is stored under {policy}"
        )
    return document


def ensemble_objects(store: ObjectStore, policy: BarePolicyId) -> dict[str, bytes]:
    """Return all that is stored of an ensemble and of its members, by key.

    Raises:
        DataError: it or a member is missing or was altered.
    """
    document = read_ensemble(store, policy)
    objects = {keys.ensemble_document(policy): document.to_json()}
    for voter in document.voters:
        objects |= policy_objects(store, voter.policy)
    return objects
