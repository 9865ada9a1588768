"""Scripted policies by name: built in, or from installed packages."""

from collections.abc import Iterable

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PlayedPolicy, PolicyId
from nashdex.core.plugins import Registry
from nashdex.policies.scripted.declaration import ScriptedPolicy
from nashdex.settings.population import SCRIPTED_NAMES

SCRIPTED_POLICIES = Registry.of(
    SCRIPTED_NAMES,
    ScriptedPolicy,
    {
        "random": "nashdex.policies.scripted.baselines:RANDOM",
        "max-power": "nashdex.policies.scripted.max_power:MAX_POWER",
        "heuristic": "nashdex.policies.scripted.baselines:HEURISTIC",
        "search:matrix": "nashdex.policies.search.player:MATRIX",
        "search:matrix-small": "nashdex.policies.search.player:MATRIX_SMALL",
        "search:matrix-1s": "nashdex.policies.search.player:MATRIX_ONE_SECOND",
        "search:poke-engine": "nashdex.policies.search.engine:POKE_ENGINE",
        "first-action": "nashdex.policies.scripted.baselines:FIRST_ACTION",
    },
)


def is_scripted(policy: PolicyId) -> bool:
    """Say whether ``policy`` is a scripted policy; otherwise it is a stored one.

    Raises:
        ConfigurationError: it is a scripted one with a suffix, or no policy id.
    """
    played = PlayedPolicy.of(policy)
    scripted = played.policy in SCRIPTED_POLICIES
    if scripted and played.suffix:
        raise ConfigurationError(
            f"{policy!r}: a scripted policy plays in one way only; write {played.policy!r}. Suffixes such as "
            f"{played.suffix!r} are for stored policies"
        )
    return scripted


def max_concurrent_battles(names: Iterable[str], most: int) -> int:
    """Return how many battles to play at once with the scripted policies among ``names``, at most ``most``."""
    limits = (SCRIPTED_POLICIES[name].max_concurrent_battles for name in names if name in SCRIPTED_POLICIES)
    return min([most, *(limit for limit in limits if limit is not None)])


def scripted_policies_of(format_id: str, game: str, num_slots: int = 1) -> tuple[str, ...]:
    """Return the names of the scripted policies for which ``ScriptedPolicy.plays`` holds, sorted."""
    policies = SCRIPTED_POLICIES.all()
    return tuple(sorted(name for name, policy in policies.items() if policy.plays(format_id, game, num_slots)))
