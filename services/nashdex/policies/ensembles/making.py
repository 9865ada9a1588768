"""Makes an ensemble of policies that runs have stored."""

from collections.abc import Sequence

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import GREEDY, PlayedPolicy, PolicyId
from nashdex.core.references import PolicyReference
from nashdex.core.user_input import shorten
from nashdex.policies.document import PolicyDocument, policy_objects, read_document
from nashdex.policies.ensembles.document import (
    FEWEST_MEMBERS,
    MOST_MEMBERS,
    MOST_NAME_CHARACTERS,
    EnsembleDocument,
    read_ensemble,
)
from nashdex.policies.references import resolve
from nashdex.policies.sources import source_of
from nashdex.store.protocol import ObjectStore


def make_ensemble(store: ObjectStore, references: Sequence[PolicyReference], name: str) -> EnsembleDocument:
    """Store an ensemble of the policies that ``references`` mean, with copies of them, and return its description.

    Everything is checked before anything is written; the description is written last. An ensemble that the store has
    keeps its name.

    Raises:
        ConfigurationError: a member is no stored network or plays greedily; there are too few, too many or equal ones;
            the name is empty or too long.
        DataError: a member is missing or was altered, or plays in another space than the first one.
    """
    if not FEWEST_MEMBERS <= len(references) <= MOST_MEMBERS:
        raise ConfigurationError(f"an ensemble has {FEWEST_MEMBERS} to {MOST_MEMBERS} members; got {len(references)}")
    if not name.strip() or len(name) > MOST_NAME_CHARACTERS:
        raise ConfigurationError(
            f"{shorten(name)} is no name of an ensemble: expected 1 to {MOST_NAME_CHARACTERS} characters"
        )
    members: dict[PolicyId, PolicyDocument] = {}
    objects: dict[str, bytes] = {}
    for reference in references:
        policy, document, files = _read_member(reference)
        if policy in members:
            raise ConfigurationError(f"{policy} is named twice; name each member once")
        members[policy] = document
        objects |= files
    first = next(iter(members.values()))
    for document in members.values():
        document.require_space(first.space)
    unset = EnsembleDocument(
        name=name, format=first.format, space=first.space.fingerprint, members=tuple(sorted(members))
    )
    ensemble = unset.model_copy(update={"id": unset.content_id()})
    # Descriptions last: a policy is there when its description is.
    for key in sorted(objects, key=lambda key: key.endswith(keys.POLICY_DOCUMENT)):
        store.put_if_absent(key, objects[key])
    is_new = store.put_if_absent(keys.ensemble_document(ensemble.id), ensemble.to_json())
    return ensemble if is_new else read_ensemble(store, ensemble.id)


def _read_member(reference: PolicyReference) -> tuple[PolicyId, PolicyDocument, dict[str, bytes]]:
    """Return a member's id with its temperature, its description and its objects by key."""
    found = resolve(reference)
    if found.store is None or reference.searches or len(found.mixture) != 1:
        raise ConfigurationError(f"{str(reference)!r} is not one stored network; name members as RUN#ID or RUN#newest")
    played = PlayedPolicy.of(next(iter(found.mixture)))
    if played.temperature == GREEDY:
        raise ConfigurationError(
            f"{str(reference)!r}: a member votes with its probabilities; name it without @greedy, and let the ensemble "
            "play with @greedy"
        )
    kind, _ = source_of(played.policy).describe(found.store, played.policy)
    if kind != "network":
        raise ConfigurationError(f"{str(reference)!r} is of kind {kind}; members of an ensemble are networks")
    document = read_document(found.store, played.policy)
    return played.id, document, policy_objects(found.store, played.policy)
