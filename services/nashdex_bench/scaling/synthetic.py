"""Runs whose battles are drawn from known strengths: what collect, train and evaluate would write, without playing.

Iteration 0 begins with a population that is large already: its counts are drawn at once, as if it had played them. Each
later iteration trains policies, whose battles are in ledgers.
"""

import hashlib
from collections.abc import Iterator, Sequence
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
from nashdex.games.space import ObservationBlock, ObservationField, Space
from nashdex.metagame.analysis.documents import DominantPolicy, MetaGameAnalysis, MetaStrategy
from nashdex.metagame.analysis.exploitability import Exploitabilities
from nashdex.metagame.evidence.battles import BattleRecord, Battles, PlannedBattle
from nashdex.metagame.evidence.intervals import Estimate, Interval
from nashdex.metagame.evidence.ledger import LEDGER, ShardLedger, encode, findings_sha256
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.evidence.tally import Tally
from nashdex.metagame.evidence.totals import BattleTotals, CellCounts
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import PolicyEntry, Population
from nashdex.metagame.ratings.ladder import LadderSums
from nashdex.metagame.ratings.table import Rating, RatingTable
from nashdex.metagame.tournament.schedule import demand_of
from nashdex.oracles.registry import battles_to_collect
from nashdex.policies.document import UNSET_ID, PolicyDocument
from nashdex.report.assembly.iterations import iteration_row
from nashdex.report.assembly.report import shortened
from nashdex.report.document import Report
from nashdex.report.sources import read_iteration, read_manifests
from nashdex.settings.networks import SlotsSettings
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
_SPACE = Space(
    game="showdown",
    format="synthetic",
    version="0",
    observation_size=1,
    num_actions=1,
    actions=("none",),
    vocabularies={},
    blocks=(
        ObservationBlock(
            name="all",
            offset=0,
            rows=1,
            stride=1,
            fields=(ObservationField(name="all", offset=0, size=1, kind="number"),),
        ),
    ),
)
_CURVES = ("loss", "entropy", "kl_round_start", "value_loss", "clip_fraction", "gradient_norm")


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
    battles = len(battles_to_collect(settings.collect, settings.train, plan, 0))
    collect = Attempt(store, iteration, StepName.COLLECT, 0)
    collect.write(COLLECT_RESULT, _collected(plan, battles).to_json())
    collect.finish({"battles": battles})
    for seed, result in enumerate(_trained(plan, settings)):
        policy = _policy(plan, settings, seed)
        store.put(keys.policy_weights(policy.id), _weights(plan, settings, seed))
        store.put(keys.policy_document(policy.id), policy.to_json())
        train = Attempt(store, iteration, StepName.TRAIN, seed)
        train.write(TRAINING_RESULT, result.to_json())
        train.finish({"updates": _UPDATES})


def write_ledgers(store: ObjectStore, settings: RunSettings, iteration: int) -> tuple[ShardLedger, ...]:
    """Write and return what evaluate of ``iteration`` would: every battle that the new policies lack.

    In iteration 0 there are none.
    """
    battles: list[PlannedBattle] = []
    order: dict[PolicyId, int] = {}
    if iteration:
        plan = read_published(store, iteration, keys.PLAN, IterationPlan)
        population = plan.grown(_trained(plan, settings))
        order = {policy: place for place, policy in enumerate(population.ids)}
        matrix = read_published(store, iteration - 1, keys.INTERACTION_MATRIX, InteractionMatrix)
        planned = matrix.missing(population.ids, demand_of(plan, settings.evaluate))
        battles = [PlannedBattle(*each) for each in planned]
    ledgers = []
    for shard in range(settings.evaluate.shards):
        mine = [battles[place] for place in shard_range(len(battles), settings.evaluate.shards, shard)]
        played = Battles.of(_played(mine, order, seed=1000 * iteration + shard))
        attempt = Attempt(store, iteration, StepName.EVALUATE, shard)
        ledger = ShardLedger(
            battles=played,
            failures={},
            rejected_choices=0,
            decisions=_DECISIONS * len(played),
            seconds=1.0,
            cpu_seconds=1.0,
        )
        attempt.write(LEDGER, encode(ledger))
        attempt.finish({"battles": len(played)})
        ledgers.append(ledger)
    return tuple(ledgers)


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
            teams=(0, 1),
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
    return [
        TrainingResult(
            policy=policy.id,
            kind=policy.kind,
            name=policy.name,
            parent=policy.parent,
            oracle=policy.oracle,
            num_updates=_UPDATES,
            num_decisions=1000,
            num_parameters=policy.num_parameters,
            curve=tuple(points),
            summary={},
            seconds=1.0,
        )
        for policy in (_policy(plan, settings, seed) for seed in range(settings.train.seeds))
    ]


def _weights(plan: IterationPlan, settings: RunSettings, seed: int) -> bytes:
    return f"synthetic weights {_number(plan, settings, seed)}".encode()


def _policy(plan: IterationPlan, settings: RunSettings, seed: int) -> PolicyDocument:
    weights = _weights(plan, settings, seed)
    policy = PolicyDocument(
        id=UNSET_ID,
        name=f"best response {_number(plan, settings, seed)}",
        format=settings.format,
        space=_SPACE,
        architecture="slots",
        network=SlotsSettings(),
        parent=None if plan.iteration == 0 else plan.learner,
        iteration=plan.iteration,
        oracle=plan.oracle,
        reward="win-loss",
        reward_version="0",
        num_parameters=1000,
        weights_sha256=hashlib.sha256(weights).hexdigest(),
        weights_bytes=len(weights),
    )
    return policy.model_copy(update={"id": policy.content_id()})


def _number(plan: IterationPlan, settings: RunSettings, seed: int) -> int:
    return plan.iteration * settings.train.seeds + seed


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
    _publish(Attempt(store, 0, StepName.SOLVE, 0), population, matrix, totals, compared=population.ids)


def write_counts(store: ObjectStore, settings: RunSettings, iteration: int, ledgers: Sequence[ShardLedger]) -> None:
    """Publish what solve and report would, without solving: its newest policy is the mixture.

    Counts, totals and the report's row are the real ones. Ratings and intervals are placeholders, and the rest of the
    report is iteration 0's.
    """
    plan = read_published(store, iteration, keys.PLAN, IterationPlan)
    population = plan.grown(_trained(plan, settings))
    before = read_published(store, iteration - 1, keys.INTERACTION_MATRIX, InteractionMatrix)
    matrix = before.with_results(population.ids, demand_of(plan, settings.evaluate), ledgers)
    assert isinstance(matrix, SampledCounts)
    data = store.get(keys.published(iteration - 1, keys.BATTLE_TOTALS))
    battles = Battles.joined(ledger.battles for ledger in ledgers)
    totals = BattleTotals.from_json(data, keys.BATTLE_TOTALS).with_battles(
        population.ids, battles, findings_sha256(ledgers), hashlib.sha256(data).hexdigest()
    )
    _publish(Attempt(store, iteration, StepName.SOLVE, 0), population, matrix, totals, compared=())
    row = iteration_row(read_iteration(store, read_manifests(store, settings, iteration)))
    report = read_published(store, iteration - 1, keys.REPORT, Report)
    attempt = Attempt(store, iteration, StepName.REPORT, 0)
    rows = tuple(shortened((*report.iterations, row)))
    attempt.publish(keys.REPORT, report.model_copy(update={"iterations": rows}).to_json())
    attempt.finish({"iterations": iteration + 1})


def _publish(
    attempt: Attempt,
    population: Population,
    matrix: SampledCounts,
    totals: BattleTotals,
    *,
    compared: Sequence[PolicyId],
) -> None:
    documents: dict[str, Document] = {
        keys.POPULATION: population,
        keys.INTERACTION_MATRIX: matrix,
        keys.BATTLE_TOTALS: totals,
        keys.META_STRATEGY: _strategy(population),
        keys.META_GAME_ANALYSIS: _analysis(population, matrix, compared),
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
        intervals={policy: Interval(low=0.0, high=float(policy == newest)) for policy in population.ids},
        entropy=Estimate(value=0.0, low=0.0, high=1.0),
    )


def _analysis(population: Population, matrix: SampledCounts, compared: Sequence[PolicyId]) -> MetaGameAnalysis:
    policies = population.ids
    ratings = RatingTable(
        ratings={policy: _rating(5.0 * place) for place, policy in enumerate(policies)},
        gap_standard_errors={one: dict.fromkeys(policies, 10.0) for one in compared},
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
