"""The solve step: put the payoff evidence together, solve the game, publish population, payoffs and mixture."""

from collections.abc import Callable, Mapping

import numpy as np
import structlog

from nashdex.core import keys
from nashdex.core.documents import Document
from nashdex.core.ids import PolicyId
from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.core.stopping import check_stop
from nashdex.games.interface import Game
from nashdex.games.registry import game_of_run
from nashdex.games.tabular.values import nash_conv
from nashdex.metagame.analysis.exploitability import Answer
from nashdex.metagame.analysis.solving import EmpiricalGame, solve_game
from nashdex.metagame.evidence.battles import Battles
from nashdex.metagame.evidence.kinds import nothing_known
from nashdex.metagame.evidence.ledger import LEDGER, ShardLedger, counted, decode, findings_sha256
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.evidence.totals import BattleTotals
from nashdex.metagame.opponents.registry import OPPONENT_RULES
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import Population
from nashdex.metagame.ratings.table import BASE_ELO
from nashdex.metagame.solvers.registry import configured
from nashdex.metagame.tournament.gate import GATE_RESULT, GateResult, admitted
from nashdex.metagame.tournament.schedule import demand_of
from nashdex.oracles.registry import ORACLES
from nashdex.policies.tables import load_table
from nashdex.settings.run import EvaluateSettings, RunSettings
from nashdex.solver.matrix_answer import draws_of_run
from nashdex.store.attempt import Attempt, find_done, read_manifest
from nashdex.store.documents import decoded_from_shards, read_from_shards, read_published, read_written
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry.progress import Progress


def read_ledgers(store: ObjectStore, evaluate: EvaluateSettings, iteration: int) -> list[ShardLedger]:
    """Return what counts of an iteration's ledgers, in the order of shards.

    Raises:
        DataError: a shard is not done, or its ledger is missing or altered.
    """
    return counted(decoded_from_shards(store, iteration, StepName.EVALUATE, evaluate.shards, LEDGER, decode))


def _totals_before(store: ObjectStore, iteration: int) -> tuple[BattleTotals, str | None]:
    """Return the totals of the iteration before and their hash."""
    if iteration == 0:
        return BattleTotals.nothing(), None
    solved = read_manifest(store, iteration - 1, StepName.SOLVE, 0)
    totals = read_written(store, solved, keys.BATTLE_TOTALS, BattleTotals)
    return totals, solved.objects[keys.BATTLE_TOTALS].sha256


ANCHOR = "random"
"""The scripted policy that fixes the scale of the ratings, where it is a member: it never changes."""

_log = structlog.get_logger(__name__)


def run(store: ObjectStore, settings: RunSettings, iteration: int, shard: int) -> Manifest:
    """Publish what ``iteration`` found: population, interaction matrix, meta-strategy and analysis.

    Raises:
        DataError: an earlier step is not done, its objects were altered, or the ledgers do not hold exactly the
            planned battles.
        StoppedError: the process was asked to stop.
    """
    if done := find_done(store, iteration, StepName.SOLVE, shard):
        return done
    attempt = Attempt(store, iteration, StepName.SOLVE, shard)
    plan = read_published(store, iteration, keys.PLAN, IterationPlan)
    trained = read_from_shards(store, iteration, StepName.TRAIN, settings.train.seeds, TRAINING_RESULT, TrainingResult)
    gates = read_from_shards(store, iteration, StepName.GATE, settings.num_gates, GATE_RESULT, GateResult)
    population = plan.grown(admitted(trained, gates))
    game = game_of_run(store, settings)
    matrix = _evidence_before(store, game, iteration)
    totals, digest = _totals_before(store, iteration)
    ledgers = read_ledgers(store, settings.evaluate, iteration)
    battles = Battles.joined(ledger.battles for ledger in ledgers)
    matrix = matrix.with_results(population.ids, demand_of(plan, settings.evaluate), ledgers)
    totals = totals.with_battles(population.ids, battles, findings_sha256(ledgers), digest)
    if matrix.evidence.is_played:
        totals.require_counted(matrix.policies, matrix.battles_by_cell())
    empirical = EmpiricalGame(
        matrix,
        answer=_answer(plan, population, battles),
        anchors={entry.id: BASE_ELO for entry in population.policies if entry.id == ANCHOR},
        nash_conv=_nash_conv(store, game, population),
        history=population.history,
    )
    solver, draws = configured(settings.solve.meta_solver), draws_of_run(settings, iteration)
    with Progress(StepName.SOLVE, shard, draws.num, "draws") as progress:

        def tick() -> None:
            progress.advance()
            check_stop()

        meta_strategy, analysis = solve_game(
            empirical,
            solver,
            unplayed=settings.solve.unplayed,
            num_draws=draws.num,
            seed=draws.seed,
            tick=tick,
        )
    for warning in analysis.warnings:
        _log.warning("rating misleads", warning=warning)
    documents: dict[str, Document] = {
        keys.POPULATION: population,
        keys.INTERACTION_MATRIX: matrix,
        keys.BATTLE_TOTALS: totals,
        keys.META_STRATEGY: meta_strategy,
        keys.META_GAME_ANALYSIS: analysis,
    }
    for name, document in documents.items():
        attempt.publish(name, document.to_json())
    return attempt.finish({"policies": len(population.ids), "battles": len(battles)})


def _evidence_before(store: ObjectStore, game: Game, iteration: int) -> InteractionMatrix:
    if iteration == 0:
        return nothing_known(game.evidence, game.largest_payoff)
    return read_published(store, iteration - 1, keys.INTERACTION_MATRIX, InteractionMatrix)


def _nash_conv(
    store: ObjectStore, game: Game, population: Population
) -> Callable[[Mapping[PolicyId, float]], float] | None:
    """Return what takes a mixture to its NashConv over the whole game tree; None where there is no tree."""
    tree = game.tree
    if tree is None:
        return None
    tables = [load_table(store, policy, tree) for policy in population.ids]

    def nash_conv_of(mixture: Mapping[PolicyId, float]) -> float:
        return nash_conv(tree, tables, np.array([mixture.get(policy, 0.0) for policy in population.ids]))

    return nash_conv_of


def _answer(plan: IterationPlan, population: Population, fresh: Battles) -> Answer | None:
    """Return what the iteration's new policies answered.

    None where the oracle responds to no opponents, or the opponent rule's mixture is not the meta-strategy.
    """
    known = set(plan.population.ids)
    candidates = tuple(policy for policy in population.ids if policy not in known)
    among = {*candidates, *plan.answered}
    rule, oracle = OPPONENT_RULES[plan.rule], ORACLES[plan.oracle]
    if not (candidates and oracle.answers_opponents and (rule.answers_meta_strategy or plan.iteration == 0)):
        return None
    return Answer(plan.answered, candidates, fresh.among(among))
