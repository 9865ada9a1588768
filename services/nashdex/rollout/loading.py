"""What every step that plays needs before it plays: the policies."""

from collections.abc import Iterable

from nashdex.core.ids import PolicyId
from nashdex.games.space import Space
from nashdex.games.tabular.space import GAME as TABULAR
from nashdex.policies.interface import Policy
from nashdex.policies.scripted import SCRIPTED
from nashdex.policies.tables import load_table_policy
from nashdex.store.protocol import ObjectStore


def load_policies(store: ObjectStore, ids: Iterable[PolicyId], space: Space) -> dict[PolicyId, Policy]:
    """Return the policies called ``ids``, each once, ready to play in ``space``.

    Raises:
        DataError: one is missing, altered, or was trained for another space.
        ConfigurationError: a scripted one cannot play in ``space``.
    """
    return {policy_id: _load(store, policy_id, space) for policy_id in sorted(set(ids))}


def _load(store: ObjectStore, policy_id: PolicyId, space: Space) -> Policy:
    if policy_id in SCRIPTED:
        return SCRIPTED[policy_id](space)
    if space.game == TABULAR:
        return load_table_policy(store, policy_id, space)
    # Late: torch takes seconds to import, and only networks need it.
    from nashdex.policies.archive import load_policy  # noqa: PLC0415

    return load_policy(store, policy_id, space)
