"""Scripted policies by name: the built-in ones, and those of installed packages."""

from collections.abc import Iterable

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PlayedPolicy, PolicyId
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
        "search:matrix": "nashdex.policies.search.entries:MATRIX",
        "search:matrix-small": "nashdex.policies.search.entries:MATRIX_SMALL",
        "search:matrix-1s": "nashdex.policies.search.entries:MATRIX_ONE_SECOND",
        "search:poke-engine": "nashdex.policies.search.entries:POKE_ENGINE",
        "metamon:random-baseline": "nashdex.metamon.baselines.entries:RANDOM",
        "metamon:max-bp": "nashdex.metamon.baselines.entries:MAX_BP",
        "metamon:gen1-trainer": "nashdex.metamon.baselines.entries:GEN1_TRAINER",
        "metamon:gen1-trainer-good-switching": "nashdex.metamon.baselines.entries:GEN1_TRAINER_GOOD_SWITCHING",
        "metamon:gen1-boss-ai": "nashdex.metamon.baselines.entries:GEN1_BOSS_AI",
        "metamon:basic-switcher": "nashdex.metamon.baselines.entries:BASIC_SWITCHER",
        "metamon:grunt": "nashdex.metamon.baselines.entries:GRUNT",
        "metamon:bug-catcher": "nashdex.metamon.baselines.entries:BUG_CATCHER",
        "metamon:gym-leader": "nashdex.metamon.baselines.entries:GYM_LEADER",
        "metamon:emerald-kaizo": "nashdex.metamon.baselines.entries:EMERALD_KAIZO",
        "metamon:emerald-kaizo-risky": "nashdex.metamon.baselines.entries:EMERALD_KAIZO_RISKY",
        "metamon:emerald-kaizo-repaired": "nashdex.metamon.baselines.entries:EMERALD_KAIZO_REPAIRED",
        "metamon:poke-env-heuristic": "nashdex.metamon.baselines.entries:POKE_ENV_HEURISTIC",
        "metamon:easy-poke-env-heuristic": "nashdex.metamon.baselines.entries:EASY_POKE_ENV_HEURISTIC",
        "metamon:mini-rnn": "nashdex.metamon.checkpoints.shipped:MINI_RNN",
        "first-action": "nashdex.policies.scripted.first_action:FIRST_ACTION",
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


def scripted_policies_of(game: str, num_slots: int = 1) -> tuple[str, ...]:
    """Return the names of the scripted policies that play spaces of ``num_slots`` of a ``Space.game``, sorted."""
    return tuple(sorted(name for name, policy in SCRIPTED_POLICIES.all().items() if policy.plays(game, num_slots)))
