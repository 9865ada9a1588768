"""The stored policies that a run begins with: named by id and copied, so that nothing reads their stores afterwards."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.core.references import PolicyReference
from nashdex.policies.references import find_policy
from nashdex.policies.scripted.registry import is_scripted
from nashdex.policies.search.able import check_can_search
from nashdex.policies.sources import policy_files, source_of
from nashdex.settings.networks import InitSettings
from nashdex.settings.population import PolicyName, stored_policy
from nashdex.settings.run import RunSettings
from nashdex.store import open_store


def with_policy_ids(settings: RunSettings) -> RunSettings:
    """Return settings that name stored policies by id, so a newer policy changes no run.

    They are in ``network.init_from``, ``population.initial`` and ``collect.teacher``.

    Raises:
        ConfigurationError: a stored policy plays another format, is named twice, is a scripted one, or cannot search.
        DataError: a store holds no such policy, or several.
    """
    initial = _by_id("population.initial", settings.population.initial, settings.format)
    (teacher,) = _by_id("collect.teacher", [settings.collect.teacher], settings.format)
    update = {
        "population": settings.population.model_copy(update={"initial": initial}),
        "collect": settings.collect.model_copy(update={"teacher": teacher}),
    }
    init = settings.network.init_from
    if init.policy_id is not None:
        policy = find_policy(open_store(init.store), init.policy_id)
        if is_scripted(policy):
            raise ConfigurationError(
                f"network.init_from: {policy!r} is scripted and has no weights; name a stored policy"
            )
        named = init.model_copy(update={"policy": str(PolicyReference(policy, init.store))})
        update["network"] = settings.network.model_copy(update={"init_from": named})
    return settings.model_copy(update=update)


def _by_id(key: str, names: Iterable[str], format_id: str) -> tuple[str, ...]:
    """Return ``names`` of the setting ``key`` with the ids of stored policies, each checked to play ``format_id``."""
    found = [_with_id(key, name, format_id) for name in names]
    if twice := [name for name in found if found.count(name) > 1]:
        raise ConfigurationError(f"{key} names {twice[0]!r} twice; name each policy once")
    return tuple(found)


def _with_id(key: str, name: str, format_id: str) -> str:
    stored = stored_policy(name)
    if stored is None:
        return name
    store = open_store(stored.store)
    policy = find_policy(store, stored.name)
    if is_scripted(policy):
        raise ConfigurationError(f"{key}: {name!r} is scripted; name it without its store, as {policy!r}")
    played = source_of(policy).format(store, policy)
    if played not in {None, format_id}:
        raise ConfigurationError(f"{key}: {name!r} plays {played}; name a policy of {format_id}, the run's format")
    if stored.searches:
        check_can_search(store, policy)
    return str(replace(stored, name=policy))


def member_policies(initial: Sequence[PolicyName], teacher: PolicyName) -> dict[str, bytes]:
    """Return the objects of the stored policies among a run's first ones and its teacher, by key.

    Raises:
        DataError: one is missing or was altered.
    """
    named = (stored_policy(name) for name in (*initial, teacher))
    return {
        key: data
        for stored in named
        if stored is not None
        for key, data in policy_files(open_store(stored.store), PolicyId(stored.name)).items()
    }


def initial_policy(init: InitSettings) -> dict[str, bytes]:
    """Return the objects of the policy that the first network begins from, by key; none without one.

    Raises:
        DataError: it is missing or was altered.
    """
    if init.policy_id is None:
        return {}
    return {f"{keys.INITIAL}/{key}": data for key, data in policy_files(open_store(init.store), init.policy_id).items()}
