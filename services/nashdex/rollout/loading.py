"""What both battle steps need before they play: the game with the run's teams, and the policies."""

from collections.abc import Iterable

from nashdex.core import keys
from nashdex.core.ids import PolicyId
from nashdex.core.settings import RunSettings
from nashdex.games.interface import Game
from nashdex.games.registry import game_for
from nashdex.games.space import Space
from nashdex.policies.archive import load_policy
from nashdex.policies.interface import Policy
from nashdex.store.protocol import ObjectStore


def game_of_run(store: ObjectStore, settings: RunSettings) -> Game:
    """Return the run's game; its teams are those stored with it, or else the format's own."""
    teams_text = store.get(keys.TEAMS).decode() if settings.teams is not None else None
    return game_for(settings.format, teams_text)


def load_policies(store: ObjectStore, ids: Iterable[PolicyId], space: Space) -> dict[PolicyId, Policy]:
    """Return the policies called ``ids``, each once.

    Raises:
        DataError: one is missing, altered, or was trained for another space.
    """
    return {policy_id: load_policy(store, policy_id, space) for policy_id in sorted(set(ids))}
