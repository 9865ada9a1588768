"""The evaluate step: one shard's part of the tournament."""

from collections.abc import Sequence
from typing import TypeVar

from nashdex.core import keys
from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.sharding import shard_range
from nashdex.core.steps import StepName
from nashdex.evaluator.exact import add_up_shard
from nashdex.games.registry import game_of_run
from nashdex.games.tabular.game import TabularGame
from nashdex.metagame.evidence.exact import Pair, missing_pairs
from nashdex.metagame.evidence.ledger import LEDGER, InteractionMatrix, PlannedBattle, battles_of
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import Population
from nashdex.metagame.tournament.gate import GATE_RESULT, GateResult, admitted
from nashdex.metagame.tournament.schedule import scheduled_battles
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import Attempt, find_manifest
from nashdex.store.documents import read_from_shards, read_published
from nashdex.store.protocol import ObjectStore

_Work = TypeVar("_Work")


def run(store: ObjectStore, settings: RunSettings, iteration: int, shard: int) -> Manifest:
    """Play, or in a tabular game add up, one shard's part of what the payoff ledger lacks.

    Raises:
        DataError: the plan, a training result or a policy is missing or altered.
        TryAgainError: a battle could not be finished, or the store or a gateway is not there.
        StoppedError: the process was asked to stop.
    """
    if done := find_manifest(store, iteration, StepName.EVALUATE, shard):
        return done
    attempt = Attempt(store, iteration, StepName.EVALUATE, shard)
    game = game_of_run(store, settings)
    if isinstance(game, TabularGame):
        ledger = add_up_shard(store, game, _share(_missing_pairs(store, settings, iteration), settings, shard), shard)
    else:
        # Late: only battles need torch.
        from nashdex.evaluator.tournament import play_shard  # noqa: PLC0415

        mine = _share(missing_battles(store, settings, iteration), settings, shard)
        ledger = play_shard(store, settings, game, mine, attempt, shard)
    attempt.write(LEDGER, ledger.to_json())
    return attempt.finish(
        {"battles": len(ledger.battles), "decisions": ledger.decisions, "exact_payoffs": len(ledger.exact)}
    )


def _share(work: Sequence[_Work], settings: RunSettings, shard: int) -> list[_Work]:
    return [work[i] for i in shard_range(len(work), settings.evaluate.shards, shard)]


def missing_battles(store: ObjectStore, settings: RunSettings, iteration: int) -> list[PlannedBattle]:
    """Return every battle that the iteration's tournament must play, the same for all shards and retries."""
    plan, population, matrix = _members(store, settings, iteration)
    return battles_of(scheduled_battles(plan, population, matrix, settings.evaluate))


def _missing_pairs(store: ObjectStore, settings: RunSettings, iteration: int) -> list[Pair]:
    """Return every pair whose exact payoff the matrix lacks, the same for all shards and retries."""
    _, population, matrix = _members(store, settings, iteration)
    return missing_pairs(population.ids, matrix)


def _members(
    store: ObjectStore, settings: RunSettings, iteration: int
) -> tuple[IterationPlan, Population, InteractionMatrix | None]:
    """Return the iteration's plan, its population with the new policies, and the matrix of the iteration before."""
    plan = read_published(store, iteration, keys.PLAN, IterationPlan)
    trained = read_from_shards(store, iteration, StepName.TRAIN, settings.train.seeds, TRAINING_RESULT, TrainingResult)
    gates = read_from_shards(store, iteration, StepName.GATE, settings.num_gates, GATE_RESULT, GateResult)
    matrix = None
    if iteration > 0:
        matrix = read_published(store, iteration - 1, keys.INTERACTION_MATRIX, InteractionMatrix)
    return plan, plan.population.grown(admitted(trained, gates), iteration), matrix
