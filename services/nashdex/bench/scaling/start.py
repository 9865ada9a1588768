"""What solve would publish in iteration 0 of a synthetic run, with a large population at once and without solving."""

from itertools import pairwise

import numpy as np

from nashdex.bench.scaling.synthetic import drawn_tally, grown_population
from nashdex.core import keys
from nashdex.core.documents import Document
from nashdex.core.steps import StepName
from nashdex.metagame.analysis.documents import DominantPolicy, MetaGameAnalysis, MetaStrategy
from nashdex.metagame.analysis.exploitability import Exploitabilities
from nashdex.metagame.evidence.intervals import Estimate, Interval
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.evidence.totals import BattleTotals, CellCounts
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import Population
from nashdex.metagame.ratings.ladder import LadderSums
from nashdex.metagame.ratings.table import Rating, RatingTable
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import Attempt
from nashdex.store.documents import read_published
from nashdex.store.protocol import ObjectStore

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
