"""The evaluate step: one shard's part of the tournament."""

from nashdex.core import keys
from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.settings import RunSettings
from nashdex.core.sharding import shard_range
from nashdex.core.steps import StepName
from nashdex.evaluator.tournament import play_shard
from nashdex.metagame.ledger import LEDGER, InteractionMatrix, PlannedBattle, battles_of, planned_battles
from nashdex.metagame.plan import IterationPlan
from nashdex.store.attempt import Attempt, find_manifest, read_manifest
from nashdex.store.documents import read_published, read_written
from nashdex.store.protocol import ObjectStore


def run(store: ObjectStore, settings: RunSettings, iteration: int, shard: int) -> Manifest:
    """Play one shard's part of the battles that the payoff ledger lacks.

    Raises:
        DataError: the plan, a training result or a policy is missing or altered.
        TryAgainError: a battle could not be finished, or the store or a gateway is not there.
        StoppedError: the process was asked to stop.
    """
    if done := find_manifest(store, iteration, StepName.EVALUATE, shard):
        return done
    attempt = Attempt(store, iteration, StepName.EVALUATE, shard)
    planned = missing_battles(store, settings, iteration)
    mine = [planned[i] for i in shard_range(len(planned), settings.evaluate.shards, shard)]
    ledger = play_shard(store, settings, mine, attempt, shard)
    attempt.write(LEDGER, ledger.to_json())
    return attempt.finish({"battles": len(ledger.battles), "decisions": ledger.decisions})


def missing_battles(store: ObjectStore, settings: RunSettings, iteration: int) -> list[PlannedBattle]:
    """Return every battle that the iteration's tournament must play, the same for all shards and retries."""
    plan = read_published(store, iteration, keys.PLAN, IterationPlan)
    results = [
        read_written(store, manifest, TRAINING_RESULT, TrainingResult)
        for manifest in (
            read_manifest(store, iteration, StepName.TRAIN, shard) for shard in range(settings.train.seeds)
        )
    ]
    population = plan.population.grown(results, iteration)
    matrix = None
    if iteration > 0:
        matrix = read_published(store, iteration - 1, keys.INTERACTION_MATRIX, InteractionMatrix)
    return battles_of(planned_battles(population, matrix, settings.evaluate.battles_per_pair))
