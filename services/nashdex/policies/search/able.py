"""Which stored policies can have a search around them."""

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import BarePolicyId, PlayedPolicy, PolicyId, is_ensemble
from nashdex.core.references import SEARCH
from nashdex.games.showdown.formats import GAME
from nashdex.games.showdown.potential import POTENTIAL_SHARES
from nashdex.policies.document import PolicyDocument, read_document
from nashdex.policies.ensembles.document import read_ensemble
from nashdex.settings.networks import remembers
from nashdex.store.protocol import ObjectStore


def check_can_search(store: ObjectStore, policy: PolicyId) -> None:
    """Check that a stored policy plays singles of Showdown, and that its critic, or each member's, values the leaves.

    Raises:
        ConfigurationError: it cannot search.
        DataError: it or a member is missing, altered, or another project's.
    """
    bare = PlayedPolicy.of(policy).policy
    for member in _members(store, bare):
        if why := _cause(read_document(store, member)):
            raise ConfigurationError(
                f"{SEARCH}{policy} cannot search: {why}; expected a policy of singles without memory that was trained "
                f"with the reward {' or '.join(POTENTIAL_SHARES)}"
            )


def _members(store: ObjectStore, policy: BarePolicyId) -> list[BarePolicyId]:
    return [voter.policy for voter in read_ensemble(store, policy).voters] if is_ensemble(policy) else [policy]


def _cause(document: PolicyDocument) -> str | None:
    """Return why a policy cannot search; None if it can."""
    space = document.space
    if space.game != GAME:
        return f"it plays {space.format}, and the simulator searches Showdown's battles alone"
    if document.network is None:
        return f"it is a {document.kind}"
    if remembers(document.network):
        return "its critic needs the whole battle"
    if space.num_slots > 1:
        return f"it plays doubles, {space.format}"
    if document.reward not in POTENTIAL_SHARES:
        return f"its critic values the reward {document.reward!r}, not the chance to win"
    return None
