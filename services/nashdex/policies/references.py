"""Which policy a reference means: the one place that looks a name up in a run or a folder of policies."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import Field

from nashdex.core import keys
from nashdex.core.documents import Document
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import SAMPLED, BarePolicyId, BarePolicyIdField, PlayedPolicy, PolicyId, is_replayed, policy_id
from nashdex.core.references import FEWEST_CHARACTERS, NASH, NEWEST, SEARCH, PolicyReference, matches
from nashdex.core.steps import StepName
from nashdex.core.user_input import expected_instead
from nashdex.metagame.analysis.documents import MetaGameAnalysis, MetaStrategy
from nashdex.metagame.population import Kind, Population, display_names, newest, short_ids, shortened
from nashdex.policies.scripted.registry import SCRIPTED_POLICIES
from nashdex.policies.sources import searching, source_of
from nashdex.store import open_store
from nashdex.store.attempt import newest_manifest
from nashdex.store.checked import find_object
from nashdex.store.documents import read_published
from nashdex.store.nearby import runs_nearby
from nashdex.store.protocol import ObjectStore

_MAX_BYTES: Final = 1 << 20


class Published(Document):
    """The published policies of a store."""

    policies: dict[str, BarePolicyIdField] = Field(
        default_factory=dict, description="Ids by name. An id is the hash of weights, sizes and space."
    )


def read_published_names(store: ObjectStore) -> Published:
    """Return the names that ``store`` has published; none where it has no such document.

    Raises:
        DataError: the document is wrong.
    """
    data = find_object(store, keys.PUBLISHED, _MAX_BYTES)
    return Published() if data is None else Published.from_json(data, f"{store.uri}/{keys.PUBLISHED}")


_MOST_LISTED = 8


@dataclass(frozen=True, slots=True)
class KnownPolicy:
    """A policy that a store holds."""

    id: PolicyId
    short_id: str
    name: str
    """Name for people, as printed in the report."""
    kind: Kind
    iteration: int | None
    """Iteration that trained it, of a member; None for what the run began with."""
    elo: float | None
    """Rating after the newest solved iteration; None for a policy that is no member of the population."""
    is_member: bool


@dataclass(frozen=True, slots=True)
class Referred:
    """What a reference means: policies as they play, and the store that holds the stored ones."""

    store: ObjectStore | None
    """None: a scripted policy."""
    mixture: Mapping[PolicyId, float]
    """Above 0; sums to 1."""


def resolve(reference: PolicyReference) -> Referred:
    """Return the policies that ``reference`` means, without loading them.

    Raises:
        ConfigurationError: it names no scripted policy, or asks a meta-strategy to play in one way.
        DataError: the run is missing or has no meta-strategy, or holds no such policy.
    """
    if not reference.store:
        return Referred(None, {_scripted(reference.name): 1.0})
    store = open_store(reference.store)
    if reference.name != NASH:
        policy = PlayedPolicy(find_policy(store, reference.name), reference.temperature).id
        return Referred(store, {searching(reference.search, policy): 1.0})
    if reference.temperature != SAMPLED:
        raise ConfigurationError(
            f"{str(reference)!r}: a meta-strategy is over policies as they play, so it takes no suffix; write "
            f"{NASH!r}, or name one policy"
        )
    strategy = read_published(store, newest_solved_iteration(store), keys.META_STRATEGY, MetaStrategy)
    played = {policy: share for policy, share in strategy.meta_strategy.items() if share > 0}
    return Referred(store, {searching(reference.search, policy): share for policy, share in played.items()})


def find_policy(store: ObjectStore, name: str) -> BarePolicyId:
    """Return the policy of a run or folder that ``name`` means: ``newest``, or see ``core.references.matches``.

    Members of the run's population come before other stored policies.

    Raises:
        DataError: the store holds no such policy, or several; lists the nearest.
    """
    if name == NEWEST:
        return _newest_policy(store)
    if name == NASH:
        newest_solved_iteration(store)
        raise DataError(
            f"{_named(store, NASH)} is a mixture of policies; expected one, such as {_named(store, NEWEST)}"
        )
    if name in SCRIPTED_POLICIES:
        return BarePolicyId(PolicyId(name))
    published = read_published_names(store).policies
    if name in published:
        return published[name]
    members, others = _members(store), _others(store)
    found = (
        matches(name, members)
        or matches(name, dict.fromkeys(others, ()))
        or matches(name, {policy: (_name(store, policy),) for policy in others})
    )
    policies = sorted({PlayedPolicy.of(policy).policy for policy in found})
    if len(policies) == 1:
        return policies[0]
    if policies:
        named = ", ".join(f"{policy} ({_name(store, policy)})" for policy in policies[:_MOST_LISTED])
        raise DataError(f"{_named(store, name)} may be {named}: write more of the id, or the whole name")
    if not members and not others:
        raise _nothing_in(store)
    of_run = (NASH, NEWEST) if members else ()
    known = [*published, *(one for names in members.values() for one in names), *others, *of_run]
    expected = expected_instead(
        name, dict.fromkeys(known), f"an id, its beginning ({FEWEST_CHARACTERS} characters or more) or a name"
    )
    raise DataError(f"{store.uri} has no policy {name!r}: {expected}; `nashdex policy list {store.uri}` prints them")


def format_of_policy(reference: PolicyReference) -> str | None:
    """Return the format that a stored policy was trained for, by its own description; None where that is not said.

    Raises:
        DataError: its store has policies, and not this one; or it was altered, or has no newest policy.
    """
    store = open_store(reference.store)
    if reference.name in {NASH, NEWEST}:
        if store.exists(keys.PUBLISHED):
            newest_solved_iteration(store)
        return None
    if not (store.exists(keys.PUBLISHED) or _others(store)):
        return None
    policy = find_policy(store, reference.name)
    return source_of(policy).format(store, policy)


def known_policies(store: ObjectStore) -> tuple[KnownPolicy, ...]:
    """Return the policies of a run or folder: the population's members, oldest first, then the other stored ones.

    Raises:
        DataError: there is none, or one was altered.
    """
    iteration = _solved_iteration(store)
    found: list[KnownPolicy] = []
    if iteration is not None:
        entries = read_published(store, iteration, keys.POPULATION, Population).policies
        ratings = read_published(store, iteration, keys.META_GAME_ANALYSIS, MetaGameAnalysis).ratings
        short = short_ids(entries)
        names = display_names(entries, short)
        for entry in entries:
            elo = ratings[entry.id].elo if entry.id in ratings else None
            found.append(
                KnownPolicy(entry.id, short[entry.id], names[entry.id], entry.kind, entry.iteration, elo, True)
            )
    bare = {PlayedPolicy.of(one.id).policy for one in found}
    others = [policy for policy in _others(store) if policy not in bare]
    short_of = shortened([*(one.id for one in found if one.kind != "scripted"), *others])
    for policy in others:
        kind, name = source_of(policy).describe(store, policy)
        found.append(KnownPolicy(policy, short_of[policy], name, kind, None, None, False))
    if not found:
        raise _nothing_in(store)
    return tuple(found)


def newest_solved_iteration(store: ObjectStore) -> int:
    """Return the run's newest iteration that has a meta-strategy.

    Raises:
        DataError: none has, or there is no run.
    """
    iteration = _solved_iteration(store)
    if iteration is None:
        if published := read_published_names(store).policies:
            raise DataError(
                f"{store.uri} is no run, so it has no {NEWEST} and no {NASH}; expected a name: "
                f"{', '.join(_named(store, name) for name in list(published)[:_MOST_LISTED])}"
            )
        raise DataError(
            f"{store.uri} holds no run with a solved iteration: {runs_nearby(store.uri)}expected the URI of a run, as "
            "`nashdex run` prints it"
        )
    return iteration


def _named(store: ObjectStore, name: str) -> str:
    """Return the reference that names a policy of ``store``."""
    return str(PolicyReference(name, store.uri))


def _nothing_in(store: ObjectStore) -> DataError:
    if store.exists(keys.PUBLISHED):
        return DataError(f"{store.uri} has published no policy yet; expected one of `nashdex policy publish`")
    return DataError(
        f"{store.uri} holds no run and no policies; {runs_nearby(store.uri)}expected the URI of a run, as "
        "`nashdex run` prints it, or a folder that `nashdex policy import` wrote"
    )


def _scripted(name: str) -> PolicyId:
    if name in SCRIPTED_POLICIES:
        return PolicyId(name)
    if is_replayed(PolicyId(name)):
        raise ConfigurationError(f"{name!r} stands for the people in replays, who cannot play; name a policy")
    if "/" in name or (name and Path(name).is_dir()):
        raise ConfigurationError(f"{name!r} names a store and no policy in it; expected one such as {name}#{NEWEST}")
    raise ConfigurationError(
        f"{SCRIPTED_POLICIES.unknown(name)} (these take no suffix), RUN_URI#NAME, RUN_URI#NAME@greedy, "
        f"RUN_URI#NAME@T0.5, RUN_URI#{NEWEST}, RUN_URI#{NASH}, or one of these after '{SEARCH}'"
    )


def _solved_iteration(store: ObjectStore) -> int | None:
    solved = newest_manifest(store, StepName.SOLVE)
    return None if solved is None else solved.iteration


def _members(store: ObjectStore) -> dict[PolicyId, tuple[str, ...]]:
    """Return the names of each member of the newest population; nothing where none is solved."""
    iteration = _solved_iteration(store)
    if iteration is None:
        return {}
    entries = read_published(store, iteration, keys.POPULATION, Population).policies
    short = short_ids(entries)
    names = display_names(entries, short)
    return {entry.id: (names[entry.id], entry.name, short[entry.id]) for entry in entries}


def _others(store: ObjectStore) -> list[BarePolicyId]:
    found = (key.split("/") for folder in keys.POLICY_FOLDERS for key in store.list(f"{folder}/"))
    return sorted(BarePolicyId(policy_id(rest[0])) for _, *rest in found if rest[1:] == [keys.POLICY_DOCUMENT])


def _name(store: ObjectStore, policy: BarePolicyId) -> str:
    return source_of(policy).describe(store, policy)[1]


def _newest_policy(store: ObjectStore) -> BarePolicyId:
    """Return the newest policy that a run trained and solved with.

    Raises:
        DataError: there is none, or there is no run.
    """
    iteration = newest_solved_iteration(store)
    population = read_published(store, iteration, keys.POPULATION, Population)
    trained = [entry for entry in population.policies if entry.iteration is not None]
    if not trained:
        raise DataError(f"{store.uri} has no trained policy in iteration {iteration}: name a scripted one")
    analysis = read_published(store, iteration, keys.META_GAME_ANALYSIS, MetaGameAnalysis)
    ratings = {policy: rating.elo for policy, rating in analysis.ratings.items()}
    return PlayedPolicy.of(newest(trained, ratings).id).policy
