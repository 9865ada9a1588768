"""Scripted policies by name: the built-in ones, and those of installed packages."""

from nashdex.core.plugins import Registry
from nashdex.policies.scripted.declaration import ScriptedPolicy

SCRIPTED_POLICIES = Registry(
    "nashdex.scripted_policies",
    "scripted policy",
    ScriptedPolicy,
    {
        "random": "nashdex.policies.scripted.uniform:RANDOM",
        "max-power": "nashdex.policies.scripted.max_power:MAX_POWER",
        "heuristic": "nashdex.policies.scripted.heuristic:HEURISTIC",
        "first-action": "nashdex.policies.scripted.first_action:FIRST_ACTION",
    },
)


def scripted_policies_of(game: str) -> tuple[str, ...]:
    """Return the names of the scripted policies that play ``game``, a ``Space.game``, sorted."""
    return tuple(sorted(name for name, policy in SCRIPTED_POLICIES.all().items() if policy.plays(game)))
