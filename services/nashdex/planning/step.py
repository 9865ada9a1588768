"""The plan step: choose the learner and its opponents from what the iteration before published."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import structlog

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import BarePolicyId, PlayedPolicy, PolicyId
from nashdex.core.manifest import Manifest
from nashdex.core.section import Choice
from nashdex.core.seeds import derive_seed
from nashdex.core.steps import StepName
from nashdex.core.stopping import check_stop
from nashdex.metagame.analysis.documents import SUPPORT_THRESHOLD, MetaGameAnalysis, MetaStrategy
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.opponents.interface import Situation
from nashdex.metagame.opponents.registry import INITIAL_RULE, OPPONENT_RULES
from nashdex.metagame.opponents.simple import shares
from nashdex.metagame.plan import FurtherBattles, IterationPlan
from nashdex.metagame.population import PolicyEntry, Population, newest
from nashdex.metagame.tournament.matchmaking import contested_unplayed_cells, deciding_opponents
from nashdex.oracles.registry import ORACLES
from nashdex.policies.sources import source_of
from nashdex.settings.external import is_external
from nashdex.settings.opponents import TargetSettings
from nashdex.settings.population import PopulationSettings, played_policy
from nashdex.settings.run import EvaluateSettings, RunSettings
from nashdex.settings.solve import SolveSettings
from nashdex.solver.adaptive import further_battles
from nashdex.store.attempt import Attempt, find_done, read_manifest
from nashdex.store.documents import read_written
from nashdex.store.protocol import ObjectStore

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Solved:
    """The result of the iteration before."""

    population: Population
    matrix: InteractionMatrix
    meta_strategy: Mapping[PolicyId, float]
    ratings: Mapping[str, float]
    """Elo by policy."""
    support: Mapping[PolicyId, float] = field(default_factory=dict)
    """Share of posterior draws whose mixture plays the policy."""

    def with_retirement(self, settings: PopulationSettings) -> "Solved":
        """Return the result with the members retired that the run's rule retires."""
        if not settings.retire_after_iterations:
            return self
        population = self.population.with_retirement(
            {policy for policy, share in self.meta_strategy.items() if share > SUPPORT_THRESHOLD},
            self.ratings,
            after_iterations=settings.retire_after_iterations,
        )
        return replace(self, population=population)


def run(store: ObjectStore, settings: RunSettings, iteration: int, shard: int) -> Manifest:
    """Publish the iteration's ``plan.json``.

    Raises:
        DataError: the iteration before is not solved, or what it published was altered.
    """
    if done := find_done(store, iteration, StepName.PLAN, shard):
        return done
    attempt = Attempt(store, iteration, StepName.PLAN, shard)
    if iteration == 0:
        plan = first_plan(settings, store)
    else:
        solved = _solved(store, iteration - 1).with_retirement(settings.population)
        plan = next_plan(settings, iteration, solved)
    attempt.publish(keys.PLAN, plan.to_json())
    return attempt.finish({"policies": len(plan.population.policies), "opponents": len(plan.opponents)})


def _solved(store: ObjectStore, iteration: int) -> Solved:
    """Return the published documents of ``iteration``, read through its manifest, so none is missing."""
    manifest = read_manifest(store, iteration, StepName.SOLVE, 0)
    analysis = read_written(store, manifest, keys.META_GAME_ANALYSIS, MetaGameAnalysis)
    return Solved(
        population=read_written(store, manifest, keys.POPULATION, Population),
        matrix=read_written(store, manifest, keys.INTERACTION_MATRIX, InteractionMatrix),
        meta_strategy=read_written(store, manifest, keys.META_STRATEGY, MetaStrategy).meta_strategy,
        ratings={policy: rating.elo for policy, rating in analysis.ratings.items()},
        support=analysis.support_probability,
    )


def first_plan(settings: RunSettings, store: ObjectStore) -> IterationPlan:
    """Return the plan of iteration 0, against the scripted policies uniformly, or against a fixed target.

    An oracle that improves networks has none yet: another one trains the first.

    Raises:
        DataError: a policy that the run begins with is not stored with it, or was altered.
    """
    train = settings.train
    section = train.first if ORACLES[train.oracle.kind].improves else train.oracle
    oracle = ORACLES[section.kind]
    rule_name = settings.opponents.kind if OPPONENT_RULES[settings.opponents.kind].is_fixed else INITIAL_RULE
    names = settings.population.ids
    if isinstance(settings.opponents, TargetSettings):
        names = tuple(shares(settings.opponents))
    population = Population(policies=tuple(_first_member(name, store) for name in names))
    last = PlayedPolicy.of(_of_this_project(population)[-1]).policy
    situation = Situation(
        population=population,
        learner=last,
        iteration=0,
        num_iterations=settings.iterations,
        matrix=SampledCounts.unplayed(population.ids),
        meta_strategy={},
        ratings={},
        seed=settings.seed,
    )
    rule = OPPONENT_RULES[rule_name]
    section = settings.opponents if rule.is_fixed else rule.settings()
    return IterationPlan(
        iteration=0,
        oracle=oracle.name,
        population=population,
        rule=rule_name,
        opponents=_to_train_against(rule.mixture(section, situation), population),
        learner=BarePolicyId(played_policy(settings.collect.teacher)) if oracle.collects == "teacher" else last,
        is_scored=oracle.answers_opponents or not rule.is_fixed,
    )


def _of_this_project(population: Population) -> tuple[PolicyId, ...]:
    """Return the active members that are no players of other programs, oldest first."""
    return tuple(entry.id for entry in population.active.policies if entry.kind != "external")


def _to_train_against(opponents: Mapping[PolicyId, float], population: Population) -> dict[PolicyId, float]:
    """Return the opponents without retired members and players of other programs, which may be away.

    If these were all, the other members take their place, uniformly.
    """
    allowed = _of_this_project(population)
    refused = set(population.ids) - set(allowed)
    kept = {policy: share for policy, share in opponents.items() if not (policy in refused or is_external(policy))}
    if not sum(kept.values()):
        kept = dict.fromkeys(allowed, 1.0)
    total = sum(kept.values())
    return dict(opponents) if len(kept) == len(opponents) else {p: share / total for p, share in kept.items()}


def _first_member(policy: PolicyId, store: ObjectStore) -> PolicyEntry:
    """Return the entry of a policy that the population begins with."""
    kind, name = source_of(policy).describe(store, PlayedPolicy.of(policy).policy)
    return PolicyEntry(id=policy, kind=kind, name=name, iteration=None, parent=None)


def next_plan(settings: RunSettings, iteration: int, solved: Solved) -> IterationPlan:
    """Return the plan of a later iteration: improve the newest policy against the opponents of the run's rule.

    ``solved`` is the result of the iteration before.

    Raises:
        DataError: no network is in the population, or the meta-strategy is not over it.
        ConfigurationError: the rule's settings leave the learner without an opponent.
        StoppedError: the process was asked to stop.
    """
    strangers = sorted(solved.meta_strategy.keys() - set(solved.population.ids))
    if strangers:
        raise DataError(
            f"the meta-strategy of iteration {iteration - 1} names {', '.join(strangers)}; expected members of the "
            "population only. Run the solve step of that iteration again"
        )
    rule = OPPONENT_RULES[settings.opponents.kind]
    roles = rule.roles(settings.opponents)
    role = roles[(iteration - 1) % len(roles)] if roles else None
    situation = Situation(
        population=solved.population,
        learner=_learner(solved, settings.train.oracle, iteration, role),
        iteration=iteration,
        num_iterations=settings.iterations,
        matrix=solved.matrix,
        meta_strategy=solved.meta_strategy,
        ratings=solved.ratings,
        seed=settings.seed,
        role=role,
    )
    reset = rule.reset(settings.opponents, situation)
    if reset is not None:
        _log.info("reset", role=role, **reset.model_dump())
        situation = replace(
            situation, learner=_learner(solved, settings.train.oracle, iteration, role, starts_again=True)
        )
    plan = IterationPlan(
        iteration=iteration,
        oracle=settings.train.oracle.kind,
        population=solved.population,
        rule=settings.opponents.kind,
        opponents=_to_train_against(rule.mixture(settings.opponents, situation), solved.population),
        learner=BarePolicyId(situation.learner),
        role=role,
        reset=reset,
        plays=settings.opponents.plays if isinstance(settings.opponents, TargetSettings) else "sampled",
    )
    met = _met(settings.evaluate.num_opponents, solved, plan)
    further = _further(
        settings.solve,
        settings.evaluate,
        solved,
        seed=derive_seed(settings.seed, "schedule", iteration),
        is_sparse=met is not None,
    )
    return plan.model_copy(update={"met": met, "further": further})


def _learner(
    solved: Solved, section: Choice, iteration: int, role: str | None, *, starts_again: bool = False
) -> BarePolicyId:
    """Return the policy that the oracle goes on from: the newest, or the oldest network if the oracle asks for it.

    Among one iteration's policies it is the one with the highest rating; a policy without a rating comes last. Members
    that play greedily or at another temperature do not count: nothing learns from what such a policy plays. A role goes
    on from its own networks, and begins with the first iteration's: one that the population began with, if that
    iteration trained no other, as when a training begins with the weights of the policy that it is to exploit.
    """
    history = solved.population.history
    members = tuple(entry for entry in solved.population.policies if not PlayedPolicy.of(entry.id).suffix)
    oracle = ORACLES[section.kind]
    if oracle.improves:
        oldest_only = starts_again or oracle.learner(section) == "first"
        members = tuple(
            entry
            for entry in members
            if entry.kind == oracle.makes
            and (
                entry.iteration == 0
                or (entry.iteration is None and history.count(entry.id) > 1)
                or (entry.iteration and not oldest_only and entry.role == role)
            )
        )
        if not members:
            raise DataError(
                f"iteration {iteration} has no {oracle.makes} to improve: iteration 0 registered none that plays at "
                "temperature 1"
            )
    return PlayedPolicy.of(newest(members, solved.ratings).id).policy


def _met(num_opponents: int, solved: Solved, plan: IterationPlan) -> tuple[PolicyId, ...] | None:
    """Return the members that the new policies meet; None where they meet all."""
    active = solved.population.active
    everyone = None if len(active.ids) == len(solved.population.ids) else tuple(sorted(active.ids))
    if not num_opponents:
        return everyone
    met = deciding_opponents(
        active,
        plan.answered,
        plan.learner,
        solved.support,
        solved.ratings,
        num_opponents=num_opponents,
    )
    return everyone if met is None else met


def _further(
    solve: SolveSettings, evaluate: EvaluateSettings, solved: Solved, *, seed: int, is_sparse: bool
) -> tuple[FurtherBattles, ...]:
    """Return the further battles of members: of the adaptive schedule, or of decisive cells that were left out.

    None if the schedule is uniform and a new policy meets all, or payoffs are exact.
    """
    active = set(solved.population.active.ids)
    if not solved.matrix.evidence.is_played:
        return ()
    if evaluate.adaptive_battles:
        return further_battles(solved.matrix, solve, evaluate, active=active, seed=seed, tick=check_stop)
    if not is_sparse:
        return ()
    places = [place for place, policy in enumerate(solved.matrix.policies) if policy in active]
    left_out = contested_unplayed_cells(
        [solved.matrix.policies[place] for place in places],
        solved.matrix.battles_by_cell()[places][:, places],
        solved.support,
        solved.ratings,
        num_cells=evaluate.num_opponents or len(active),
    )
    return tuple(FurtherBattles(a=a, b=b, battles=evaluate.battles_per_pair) for a, b in left_out)
