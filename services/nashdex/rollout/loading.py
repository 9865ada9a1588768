"""Loads policies, scripted or stored, so that they are ready to play."""

from collections.abc import Iterable

from nashdex.core.ids import PolicyId, is_imported
from nashdex.games.space import Space
from nashdex.games.tabular.space import GAME as TABULAR
from nashdex.policies.interface import Policy
from nashdex.policies.scripted.playing import scripted_policy
from nashdex.policies.scripted.registry import is_scripted
from nashdex.policies.tables import load_table_policy
from nashdex.store.protocol import ObjectStore


def load_policies(
    store: ObjectStore, ids: Iterable[PolicyId], space: Space, device: str = "cpu"
) -> dict[PolicyId, Policy]:
    """Return the policies called ``ids``, each once, ready to play in ``space`` as their ids say.

    The networks of this run's kinds compute on ``device``; imported ones compute on the CPU.

    Raises:
        DataError: one is missing, altered, or was trained for another space.
        ConfigurationError: a scripted one cannot play in ``space``, or has a suffix; or a network cannot play on
            ``device``.
    """
    return {policy_id: _load(store, policy_id, space, device) for policy_id in sorted(set(ids))}


def _load(store: ObjectStore, policy_id: PolicyId, space: Space, device: str) -> Policy:
    if is_scripted(policy_id):
        return scripted_policy(policy_id, space)
    if space.game == TABULAR:
        return load_table_policy(store, policy_id, space)
    if is_imported(policy_id):
        # Late: as below.
        from nashdex.metamon.checkpoints.seats import load_imported_seats  # noqa: PLC0415

        return load_imported_seats(store, policy_id, space)
    # Late: torch takes seconds to import, and only networks need it.
    from nashdex.policies.archive import load_network_policy  # noqa: PLC0415

    return load_network_policy(store, policy_id, space, device)
