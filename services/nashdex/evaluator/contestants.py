"""The contestants of a match: a scripted policy, ``RUN_URI#POLICY_ID``, ``RUN_URI#newest`` or ``RUN_URI#nash``.

A policy id may say how the policy plays: ``RUN_URI#p0123@greedy``, ``RUN_URI#newest@greedy``.
``search:RUN_URI#POLICY_ID`` is that policy with a search around it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import BarePolicyId, PlayedPolicy, PolicyId
from nashdex.core.steps import StepName
from nashdex.games.space import Space
from nashdex.metagame.analysis.documents import MetaGameAnalysis, MetaStrategy
from nashdex.metagame.population import Population, newest
from nashdex.policies.interface import Policy
from nashdex.policies.mixture import Mixture
from nashdex.policies.scripted.playing import scripted_policy
from nashdex.policies.scripted.registry import SCRIPTED_POLICIES, is_scripted, max_concurrent_battles
from nashdex.policies.search import PREFIX as SEARCH
from nashdex.rollout.loading import load_policies
from nashdex.store import open_store
from nashdex.store.attempt import newest_manifest
from nashdex.store.documents import read_published
from nashdex.store.protocol import ObjectStore

NASH = "nash"
"""Names the newest meta-strategy."""
NEWEST = "newest"
"""Names the newest policy that the run trained; of one iteration's, the one with the highest rating."""
_GUIDED_BATTLES = 8
"""Battles at once with a search around a stored policy, so that none passes its deadline."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """A policy or mixture; one of its policies is drawn for each pair of battles."""

    mixture: Mixture
    policies: Mapping[PolicyId, Policy]


@dataclass(frozen=True, slots=True)
class Named:
    """What a contestant's text names: policies as they play, and the store that holds the stored ones."""

    store: ObjectStore | None
    """Of the run. None: a scripted policy."""
    mixture: Mapping[PolicyId, float]
    """Above 0; sums to 1."""


def find_contestant(text: str) -> Named:
    """Return what ``text`` names, without loading it.

    Raises:
        ConfigurationError: it names no policy.
        DataError: the run is missing, or has no meta-strategy.
    """
    run_uri, hash_sign, name = text.rpartition("#")
    if not hash_sign:
        if text not in SCRIPTED_POLICIES:
            raise ConfigurationError(
                f"{SCRIPTED_POLICIES.unknown(text)} (these take no suffix), RUN_URI#POLICY_ID, "
                f"RUN_URI#POLICY_ID@greedy, RUN_URI#POLICY_ID@T0.5, RUN_URI#{NEWEST}, RUN_URI#{NASH}, or one of these "
                f"after {SEARCH!r}"
            )
        return Named(None, {PolicyId(text): 1.0})
    store = open_store(run_uri)
    played = PlayedPolicy.of(PolicyId(name))
    if played.policy == NEWEST:
        policy = _newest_policy(store)
        return Named(store, {PlayedPolicy(policy, played.temperature).id: 1.0})
    if played.policy != NASH:
        return Named(store, {played.id: 1.0})
    if played.suffix:
        raise ConfigurationError(
            f"{text!r}: a meta-strategy is over policies as they play, so it takes no suffix; write {NASH!r}, or "
            "name one policy"
        )
    strategy = read_published(store, newest_solved_iteration(store), keys.META_STRATEGY, MetaStrategy)
    return Named(store, {policy: share for policy, share in strategy.meta_strategy.items() if share > 0})


def load_contestant(text: str, space: Space) -> Contestant:
    """Return the contestant that ``text`` names.

    Raises:
        ConfigurationError: it names no policy, or one that cannot search.
        DataError: the run or policy is missing, altered, or of another space.
    """
    if is_guided(text):
        return _guided(find_contestant(text.removeprefix(SEARCH)), space)
    named = find_contestant(text)
    mixture = Mixture(named.mixture)
    return Contestant(mixture, load_policies(named.store or open_store("."), mixture.support, space))


def most_concurrent_battles(texts: Sequence[str], most: int) -> int:
    """Return how many battles to play at once with these contestants, at most ``most``."""
    found = max_concurrent_battles(texts, most)
    return min(found, _GUIDED_BATTLES) if any(is_guided(text) for text in texts) else found


def is_guided(text: str) -> bool:
    """Say whether ``text`` names stored policies with a search around them."""
    return text.startswith(SEARCH) and "#" in text


def _guided(named: Named, space: Space) -> Contestant:
    # Late: torch takes seconds to import.
    from nashdex.policies.search.guided import load_guided_search  # noqa: PLC0415

    assert named.store is not None, "a text with # names a store"
    # Scripted policies of a meta-strategy play as they do without search.
    policies: dict[PolicyId, Policy] = {
        policy: scripted_policy(policy, space)
        if is_scripted(policy)
        else load_guided_search(named.store, policy, space)
        for policy in named.mixture
    }
    mixture = Mixture({policies[policy].id: share for policy, share in named.mixture.items()})
    return Contestant(mixture, {policy.id: policy for policy in policies.values()})


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


def newest_solved_iteration(store: ObjectStore) -> int:
    """Return the run's newest iteration that has a meta-strategy.

    Raises:
        DataError: none has, or there is no run.
    """
    solved = newest_manifest(store, StepName.SOLVE)
    if solved is None:
        raise DataError(
            f"{store.uri} holds no run with a solved iteration: expected the URI of a run, as `nashdex run` prints"
        )
    return solved.iteration
