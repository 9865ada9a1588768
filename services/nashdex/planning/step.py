"""The plan step: decide who trains against whom, from what the iteration before has published."""

from collections.abc import Mapping
from dataclasses import dataclass

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.core.manifest import Manifest
from nashdex.core.seeds import derive_seed
from nashdex.core.steps import StepName
from nashdex.core.stopping import check_stop
from nashdex.games.registry import game_of_run
from nashdex.games.tabular.game import TabularGame
from nashdex.metagame.analysis.documents import MetaGameAnalysis, MetaStrategy
from nashdex.metagame.evidence.ledger import InteractionMatrix
from nashdex.metagame.opponents.league import league_mixture, shares_at, win_rates
from nashdex.metagame.plan import FurtherBattles, IterationPlan, OpponentRule
from nashdex.metagame.population import PolicyEntry, Population
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import Attempt, find_manifest, read_manifest
from nashdex.store.documents import read_written
from nashdex.store.protocol import ObjectStore


@dataclass(frozen=True, slots=True)
class Solved:
    """What the iteration before has found."""

    population: Population
    matrix: InteractionMatrix
    meta_strategy: Mapping[PolicyId, float]
    ratings: Mapping[str, float]
    """Elo by policy."""
    largest_payoff: float | None = None
    """Of a tabular game, whose matrix holds exact payoffs in its units. Only a league needs it."""


def run(store: ObjectStore, settings: RunSettings, iteration: int, shard: int) -> Manifest:
    """Publish the iteration's ``plan.json``.

    Raises:
        DataError: the iteration before is not solved, or what it published was altered.
    """
    if done := find_manifest(store, iteration, StepName.PLAN, shard):
        return done
    attempt = Attempt(store, iteration, StepName.PLAN, shard)
    plan = first_plan(settings)
    if iteration > 0:
        plan = next_plan(settings, iteration, _solved(store, settings, iteration - 1))
    store.put(keys.published(iteration, keys.PLAN), plan.to_json())
    return attempt.finish({"policies": len(plan.population.policies), "opponents": len(plan.opponents)})


def _solved(store: ObjectStore, settings: RunSettings, iteration: int) -> Solved:
    """Return what ``iteration`` published, read through its manifest, which says that all of it is there."""
    manifest = read_manifest(store, iteration, StepName.SOLVE, 0)
    analysis = read_written(store, manifest, keys.META_GAME_ANALYSIS, MetaGameAnalysis)
    return Solved(
        population=read_written(store, manifest, keys.POPULATION, Population),
        matrix=read_written(store, manifest, keys.INTERACTION_MATRIX, InteractionMatrix),
        meta_strategy=read_written(store, manifest, keys.META_STRATEGY, MetaStrategy).meta_strategy,
        ratings={policy: rating.elo for policy, rating in analysis.ratings.items()},
        largest_payoff=_largest_payoff(store, settings),
    )


def _largest_payoff(store: ObjectStore, settings: RunSettings) -> float | None:
    if settings.mode != "league":
        return None  # it takes the whole tree
    game = game_of_run(store, settings)
    return game.tree.max_payoff if isinstance(game, TabularGame) else None


def first_plan(settings: RunSettings) -> IterationPlan:
    """Return the plan of iteration 0, against the scripted policies uniformly.

    PPO begins with a clone of the teacher, who plays them. An oracle that answers a mixture from nothing does so.
    """
    names = settings.population.initial
    population = Population(
        policies=tuple(
            PolicyEntry(id=PolicyId(name), kind="scripted", name=name, iteration=None, parent=None) for name in names
        )
    )
    clones = settings.train.oracle == "ppo"
    return IterationPlan(
        iteration=0,
        oracle="clone" if clones else settings.train.oracle,
        population=population,
        rule="initial",
        opponents={policy: 1 / len(names) for policy in population.ids},
        learner=PolicyId(settings.collect.teacher) if clones else population.ids[-1],
    )


def next_plan(settings: RunSettings, iteration: int, solved: Solved) -> IterationPlan:
    """Return the plan of a later iteration: improve the newest policy against whom the run's mode says.

    Args:
        settings: the run's settings.
        iteration: the one to plan, at least 1.
        solved: what the iteration before has found.

    Raises:
        DataError: no network is in the population, or the meta-strategy is not over it.
        ConfigurationError: the league's settings leave nobody to meet.
        StoppedError: the process was asked to stop.
    """
    strangers = sorted(solved.meta_strategy.keys() - set(solved.population.ids))
    if strangers:
        raise DataError(f"the meta-strategy of iteration {iteration - 1} names {', '.join(strangers)}: not members")
    learner = _learner(solved, settings, iteration)
    rule, opponents = _opponents(settings, iteration, solved, learner)
    return IterationPlan(
        iteration=iteration,
        oracle=settings.train.oracle,
        population=solved.population,
        rule=rule,
        opponents=opponents,
        learner=learner,
        further=_further(settings, iteration, solved),
    )


def _learner(solved: Solved, settings: RunSettings, iteration: int) -> PolicyId:
    """Return the newest policy that the oracle can go on from, or the clone where training always starts there.

    Of one iteration's policies that is the one that is rated highest; a policy without a rating comes last.
    """
    members = solved.population.policies
    if settings.train.oracle == "ppo":
        oldest_only = settings.train.start == "clone"
        members = tuple(
            entry
            for entry in members
            if entry.kind == "network" and entry.iteration is not None and not (oldest_only and entry.iteration)
        )
        if not members:
            raise DataError(f"iteration {iteration} has no network to improve: iteration 0 registered none")

    def age(entry: PolicyEntry) -> tuple[int, float, PolicyId]:
        trained_in = -1 if entry.iteration is None else entry.iteration
        return trained_in, solved.ratings.get(entry.id, float("-inf")), entry.id

    return max(members, key=age).id


def _opponents(
    settings: RunSettings, iteration: int, solved: Solved, learner: PolicyId
) -> tuple[OpponentRule, dict[PolicyId, float]]:
    """Return the run's opponent rule and the mixture that it gives."""
    if settings.mode == "self-play":
        return "self-play", {learner: 1.0}
    if settings.mode == "league":
        return "league", league_mixture(
            solved.population,
            learner,
            win_rates(solved.matrix, learner, largest_payoff=solved.largest_payoff),
            solved.ratings,
            shares=shares_at(settings.league, iteration, settings.iterations),
            weighting=settings.league.weighting,
        )
    return "meta-strategy", {policy: share for policy, share in solved.meta_strategy.items() if share > 0}


def _further(settings: RunSettings, iteration: int, solved: Solved) -> tuple[FurtherBattles, ...]:
    """Return the further battles of the adaptive schedule: none where every cell gets as many, or none are needed."""
    if settings.evaluate.schedule == "uniform" or solved.matrix.payoffs is not None:
        return ()
    from nashdex.solver.adaptive import further_battles  # noqa: PLC0415 - scipy, which other plans do not need

    seed = derive_seed(settings.seed, "schedule", iteration)
    return further_battles(solved.matrix, settings, seed=seed, tick=check_stop)
