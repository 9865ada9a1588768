"""The plan step: decide who trains against whom, from what the iteration before has published."""

from collections.abc import Mapping

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.core.manifest import Manifest
from nashdex.core.settings import RunSettings
from nashdex.core.steps import StepName
from nashdex.metagame.analysis import MetaGameAnalysis, MetaStrategy
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import PolicyEntry, Population
from nashdex.store.attempt import Attempt, find_manifest, read_manifest
from nashdex.store.documents import read_written
from nashdex.store.protocol import ObjectStore


def run(store: ObjectStore, settings: RunSettings, iteration: int, shard: int) -> Manifest:
    """Publish the iteration's ``plan.json``.

    Raises:
        DataError: the iteration before is not solved, or what it published was altered.
    """
    if done := find_manifest(store, iteration, StepName.PLAN, shard):
        return done
    attempt = Attempt(store, iteration, StepName.PLAN, shard)
    if iteration == 0:
        plan = first_plan(settings)
    else:
        population, meta_strategy, analysis = _solved(store, iteration - 1)
        ratings = {policy: rating.elo for policy, rating in analysis.ratings.items()}
        plan = next_plan(settings, iteration, population, meta_strategy.meta_strategy, ratings)
    store.put(keys.published(iteration, keys.PLAN), plan.to_json())
    return attempt.finish({"policies": len(plan.population.policies), "opponents": len(plan.opponents)})


def _solved(store: ObjectStore, iteration: int) -> tuple[Population, MetaStrategy, MetaGameAnalysis]:
    """Return what ``iteration`` published, read through its manifest, which says that all of it is there."""
    manifest = read_manifest(store, iteration, StepName.SOLVE, 0)
    return (
        read_written(store, manifest, keys.POPULATION, Population),
        read_written(store, manifest, keys.META_STRATEGY, MetaStrategy),
        read_written(store, manifest, keys.META_GAME_ANALYSIS, MetaGameAnalysis),
    )


def first_plan(settings: RunSettings) -> IterationPlan:
    """Return the plan of iteration 0: clone the teacher, who plays the scripted policies uniformly."""
    names = settings.population.initial
    population = Population(
        policies=tuple(
            PolicyEntry(id=PolicyId(name), kind="scripted", name=name, iteration=None, parent=None) for name in names
        )
    )
    return IterationPlan(
        iteration=0,
        oracle="clone",
        population=population,
        opponents={policy: 1 / len(names) for policy in population.ids},
        learner=PolicyId(settings.collect.teacher),
    )


def next_plan(
    settings: RunSettings,
    iteration: int,
    population: Population,
    meta_strategy: Mapping[PolicyId, float],
    ratings: Mapping[str, float],
) -> IterationPlan:
    """Return the plan of a later iteration: improve the newest network against the meta-strategy.

    Where several oracles were trained in one iteration, the learner is the one that the ratings put highest; a
    policy without a rating comes last.

    Args:
        settings: the run's settings.
        iteration: the one to plan, at least 1.
        population: everybody so far.
        meta_strategy: probability of each opponent, by policy.
        ratings: Elo by policy.

    Raises:
        DataError: no network is in the population, or the meta-strategy is not over it.
    """
    networks = [entry for entry in population.policies if entry.kind == "network" and entry.iteration is not None]
    if not networks:
        raise DataError(f"iteration {iteration} has no network to improve: iteration 0 registered none")
    strangers = sorted(meta_strategy.keys() - set(population.ids))
    if strangers:
        raise DataError(f"the meta-strategy of iteration {iteration - 1} names {', '.join(strangers)}: not members")
    learner = max(networks, key=lambda entry: (entry.iteration, ratings.get(entry.id, float("-inf")), entry.id))
    return IterationPlan(
        iteration=iteration,
        oracle=settings.train.oracle,
        population=population,
        opponents={policy: share for policy, share in meta_strategy.items() if share > 0},
        learner=learner.id,
    )
