"""Runs whose battles are drawn from known strengths: what collect, train and evaluate would write, without playing.

Iteration 0 begins with a population that is large already: its counts are drawn at once, as if it had played them. Each
later iteration trains policies, whose battles are in ledgers.
"""

import json
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from nashdex.core import keys
from nashdex.core.documents import Document
from nashdex.core.ids import PolicyId, RunId
from nashdex.core.results import (
    COLLECT_RESULT,
    TRAINING_RESULT,
    CollectResult,
    OpponentCount,
    TrainingPoint,
    TrainingResult,
)
from nashdex.core.steps import StepName, shard_range
from nashdex.metagame.analysis.documents import DominantPolicy, MetaGameAnalysis, MetaStrategy
from nashdex.metagame.analysis.exploitability import Exploitabilities
from nashdex.metagame.evidence.intervals import Estimate, Interval
from nashdex.metagame.evidence.ledger import LEDGER, BattleRecord, PlannedBattle, ShardLedger
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.evidence.tally import Tally
from nashdex.metagame.evidence.totals import BattleTotals, CellCounts
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import PolicyEntry, Population
from nashdex.metagame.ratings.ladder import LadderSums
from nashdex.metagame.ratings.table import Rating, RatingTable
from nashdex.metagame.tournament.schedule import demand_of
from nashdex.settings.run import CollectSettings, EvaluateSettings, RunSettings
from nashdex.settings.solve import SolveSettings
from nashdex.settings.train import TrainSettings
from nashdex.store.attempt import Attempt
from nashdex.store.documents import read_published
from nashdex.store.protocol import ObjectStore

_ELO_A_POLICY = 5.0
"""By how much each policy is stronger than the one before it."""
_DECISIONS = 50
_UPDATES = 300
_CURVES = ("loss", "entropy", "kl_behaviour", "value_loss", "clip_fraction", "gradient_norm")


def settings_of(*, iterations: int, shards: int, battles_per_pair: int, draws: int, seeds: int) -> RunSettings:
    """Return the settings of a synthetic run."""
    return RunSettings(
        run=RunId("scaling"),
        iterations=iterations,
        collect=CollectSettings(battles=10, shards=1),
        evaluate=EvaluateSettings(battles_per_pair=battles_per_pair, shards=shards, replays_per_pair=0),
        solve=SolveSettings(num_draws=draws),
        train=TrainSettings(seeds=seeds),
    )


def write_config(store: ObjectStore, settings: RunSettings) -> None:
    """Write what the exporter reads of a run's settings."""
    store.put(keys.CONFIG, json.dumps({"format": settings.format, "iterations": settings.iterations}).encode())


def grown_population(plan: IterationPlan, num_policies: int) -> Population:
    """Return the population of iteration 0: the plan's members, and networks up to ``num_policies``."""
    others = num_policies - len(plan.population.ids)
    networks = [_entry(number) for number in range(max(1, others))]
    return Population(policies=(*plan.population.policies, *networks))


def drawn_tally(num_policies: int, num_pairs: int, seed: int) -> Tally:
    """Return the counts of a whole tournament in side-swapped pairs, each policy a little stronger than the last."""
    tally = Tally.nothing(num_policies)
    rows, columns = np.triu_indices(num_policies, k=1)
    score = 1 / (1 + 10 ** (_ELO_A_POLICY * (columns - rows) / 400))
    chances = np.stack([score**2, 2 * score * (1 - score), (1 - score) ** 2], axis=1)
    won, split, lost = np.random.default_rng(seed).multinomial(num_pairs, chances).T
    tally.won_both[rows, columns], tally.won_both[columns, rows] = won, lost
    tally.split[rows, columns] = tally.split[columns, rows] = split
    tally.wins[rows, columns], tally.wins[columns, rows] = 2 * won + split, 2 * lost + split
    tally.games[rows, columns] = tally.games[columns, rows] = 2 * num_pairs
    return tally


def write_inputs(store: ObjectStore, settings: RunSettings, iteration: int) -> None:
    """Write what collect and train of ``iteration`` would."""
    plan = read_published(store, iteration, keys.PLAN, IterationPlan)
    collect = Attempt(store, iteration, StepName.COLLECT, 0)
    collect.write(COLLECT_RESULT, _collected(plan, settings.collect.battles).to_json())
    collect.finish({"battles": settings.collect.battles})
    for seed, result in enumerate(_trained(plan, settings)):
        train = Attempt(store, iteration, StepName.TRAIN, seed)
        train.write(TRAINING_RESULT, result.to_json())
        train.finish({"updates": _UPDATES})


def write_ledgers(store: ObjectStore, settings: RunSettings, iteration: int) -> None:
    """Write what evaluate of ``iteration`` would: every battle that the new policies lack; none in iteration 0."""
    battles: list[PlannedBattle] = []
    order: dict[PolicyId, int] = {}
    if iteration:
        plan = read_published(store, iteration, keys.PLAN, IterationPlan)
        population = plan.grown(_trained(plan, settings))
        order = {policy: place for place, policy in enumerate(population.ids)}
        matrix = read_published(store, iteration - 1, keys.INTERACTION_MATRIX, InteractionMatrix)
        planned = matrix.missing(population.ids, demand_of(plan, settings.evaluate))
        battles = [PlannedBattle(*each) for each in planned]
    for shard in range(settings.evaluate.shards):
        mine = [battles[place] for place in shard_range(len(battles), settings.evaluate.shards, shard)]
        records = tuple(_played(mine, order, seed=1000 * iteration + shard))
        attempt = Attempt(store, iteration, StepName.EVALUATE, shard)
        ledger = ShardLedger(
            battles=records,
            failures={},
            rejected_choices=0,
            decisions=_DECISIONS * len(records),
            seconds=1.0,
            cpu_seconds=1.0,
        )
        attempt.write(LEDGER, ledger.to_json())
        attempt.finish({"battles": len(records)})


def _entry(number: int) -> PolicyEntry:
    name = PolicyId(f"a{number:015x}")
    return PolicyEntry(id=name, kind="network", name=f"network {number}", iteration=0, parent=None)


def _played(battles: list[PlannedBattle], order: dict[PolicyId, int], seed: int) -> Iterator[BattleRecord]:
    generator = np.random.default_rng(seed)
    for battle, chance in zip(battles, generator.random(len(battles)), strict=True):
        first, second = (order[policy] for policy in battle.seats)
        expected = 1 / (1 + 10 ** (_ELO_A_POLICY * (second - first) / 400))
        yield BattleRecord(
            policies=battle.seats,
            pair=battle.pair,
            seed=int(generator.integers(2**62)),
            teams=("0", "1"),
            winner=0 if chance < expected else 1,
            turns=30,
            decisions=_DECISIONS,
        )


def _collected(plan: IterationPlan, battles: int) -> CollectResult:
    opponent = next(iter(plan.opponents))
    return CollectResult(
        learner=plan.learner,
        battles=battles,
        decisions=_DECISIONS * battles,
        recorded_decisions=_DECISIONS * battles // 2,
        opponents=(OpponentCount(opponent=opponent, wins=battles, draws=0, losses=0),),
        failures={},
        rejected_choices=0,
        seconds=1.0,
        cpu_seconds=1.0,
    )


def _trained(plan: IterationPlan, settings: RunSettings) -> list[TrainingResult]:
    points = [
        TrainingPoint(update=update, values=dict.fromkeys(_CURVES, 1 / (update + 1))) for update in range(_UPDATES)
    ]
    first = plan.iteration * settings.train.seeds
    return [
        TrainingResult(
            policy=PolicyId(f"b{number:015x}"),
            kind="network",
            name=f"best response {number}",
            parent=None if plan.iteration == 0 else plan.learner,
            oracle=plan.oracle,
            num_updates=_UPDATES,
            num_decisions=1000,
            num_parameters=1000,
            curve=tuple(points),
            summary={},
            seconds=1.0,
        )
        for number in range(first, first + settings.train.seeds)
    ]


_EVEN = Interval(low=0.0, high=1.0)
_NOTHING = Exploitabilities(restricted=None, best_response_gap=None, exact=None, legacy_dominance_gap=None)


def write_start(store: ObjectStore, settings: RunSettings, num_policies: int) -> None:
    """Publish a population of ``num_policies`` that has played its whole tournament; its newest policy is the mixture.

    Only what later steps read is drawn: the counts. Ratings and intervals are placeholders.
    """
    plan = read_published(store, 0, keys.PLAN, IterationPlan)
    population = grown_population(plan, num_policies)
    size, pairs = len(population.ids), settings.evaluate.battles_per_pair // 2
    selection = drawn_tally(size, pairs - pairs // 2, settings.seed)
    scoring = drawn_tally(size, pairs // 2, settings.seed + 1)
    tally = selection + scoring
    matrix = SampledCounts.of(population.ids, tally)
    totals = BattleTotals(
        policies=population.ids,
        battles=int(np.triu(tally.games).sum()),
        selection=CellCounts.of(selection),
        scoring=CellCounts.of(scoring),
        ladder={policy: LadderSums() for policy in population.ids},
    )
    attempt = Attempt(store, 0, StepName.SOLVE, 0)
    documents: dict[str, Document] = {
        keys.POPULATION: population,
        keys.INTERACTION_MATRIX: matrix,
        keys.BATTLE_TOTALS: totals,
        keys.META_STRATEGY: _strategy(population),
        keys.META_GAME_ANALYSIS: _analysis(population, matrix),
    }
    for name, document in documents.items():
        attempt.publish(name, document.to_json())
    attempt.finish({"policies": len(population.ids), "battles": 0})


def _strategy(population: Population) -> MetaStrategy:
    newest = population.ids[-1]
    return MetaStrategy(
        meta_strategy={policy: float(policy == newest) for policy in population.ids},
        meta_solver="nash",
        value=0.0,
        residual=0.0,
        status="optimal",
        unique=True,
        intervals=dict.fromkeys(population.ids, _EVEN),
        entropy=Estimate(value=0.0, low=0.0, high=1.0),
    )


def _analysis(population: Population, matrix: SampledCounts) -> MetaGameAnalysis:
    policies = population.ids
    ratings = RatingTable(
        ratings={policy: _rating(5.0 * place) for place, policy in enumerate(policies)},
        gap_standard_errors={one: dict.fromkeys(policies, 10.0) for one in policies},
        anchors={},
        intransitivity=0.0,
        intransitivity_interval=_EVEN,
        intransitivity_by_chance=1.0,
        largest_misfit=0.0,
        largest_misfit_cell=next(pairwise(policies), None),
        warnings=(),
    )
    newest = policies[-1]
    return MetaGameAnalysis(
        **dict(ratings),
        exploitability=_NOTHING,
        dominant_policies=(DominantPolicy(policy=newest, probability=1.0),),
        support=(newest,),
        support_probability={policy: float(policy == newest) for policy in policies},
        support_stability=1.0,
        coverage=matrix.coverage(),
        pairs=None,
        interval_widths=matrix.interval_widths(),
        imputed_cells=(),
        num_draws=1,
    )


def _rating(elo: float) -> Rating:
    return Rating(
        elo=elo,
        standard_error=10.0,
        low=elo - 20.0,
        high=elo + 20.0,
        sandwich_standard_error=10.0,
        bootstrap_standard_error=10.0,
        games=0,
        elo_without_penalty=elo,
    )
