"""The evaluate step: one shard's part of the tournament."""

import time
from collections.abc import Iterator, Sequence

from nashdex.core import keys
from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.seeds import derive_seed
from nashdex.core.settings import RunSettings
from nashdex.core.sharding import shard_range
from nashdex.core.steps import StepName
from nashdex.metagame.ledger import (
    LEDGER,
    BattleRecord,
    InteractionMatrix,
    PlannedBattle,
    SavedReplay,
    ShardLedger,
    battles_of,
    planned_battles,
)
from nashdex.metagame.plan import IterationPlan
from nashdex.rollout.loading import game_of_run, load_policies
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment, Rollout, require_finished
from nashdex.store.attempt import Attempt, find_manifest, read_manifest
from nashdex.store.documents import read_published, read_written
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry.progress import Progress


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
    started = time.monotonic()
    planned = missing_battles(store, settings, iteration)
    mine = [planned[i] for i in shard_range(len(planned), settings.evaluate.shards, shard)]
    ledger = _play(store, settings, mine, attempt, shard, started)
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


def _play(
    store: ObjectStore,
    settings: RunSettings,
    mine: Sequence[PlannedBattle],
    attempt: Attempt,
    shard: int,
    started: float,
) -> ShardLedger:
    game = game_of_run(store, settings)
    records: list[BattleRecord] = []
    replays: list[SavedReplay] = []
    arena = game.open_arena(num_gateways=settings.evaluate.gateways)
    try:
        policies = load_policies(store, [policy for battle in mine for policy in battle.seats], arena.space)
        rollout = Rollout(arena, policies, settings.evaluate.concurrent_battles)
        with Progress(StepName.EVALUATE, shard, len(mine), "battles") as progress:
            for finished in rollout.play(_assignments(mine, game.teams(), settings)):
                outcome = require_finished(finished)
                seats, seed = finished.assignment.seats, finished.assignment.spec.seed
                pair = finished.assignment.number // 2
                if outcome.log is not None:
                    name = f"replays/{seats[0]}-vs-{seats[1]}-{pair}-{finished.assignment.number % 2}.log"
                    attempt.write(name, outcome.log.encode())
                    replays.append(SavedReplay(policies=seats, pair=pair, object=name))
                records.append(
                    BattleRecord(
                        policies=seats,
                        pair=pair,
                        seed=seed,
                        teams=finished.assignment.team_names,
                        winner=outcome.winner,
                        turns=outcome.turns,
                        decisions=sum(outcome.decisions),
                    )
                )
                progress.advance(decisions=rollout.counts.decisions, failures=rollout.counts.failures.total())
        gateway_cpu_seconds = arena.cpu_seconds()
    finally:
        arena.close()
    return ShardLedger(
        battles=tuple(sorted(records, key=lambda record: record.planned)),
        failures=dict(rollout.counts.failures),
        rejected_choices=rollout.counts.rejected_choices,
        decisions=rollout.counts.decisions,
        seconds=time.monotonic() - started,
        cpu_seconds=time.process_time() + gateway_cpu_seconds,
        replays=tuple(sorted(replays, key=lambda replay: replay.object)),
    )


def _assignments(mine: Sequence[PlannedBattle], teams: Sequence[str], settings: RunSettings) -> Iterator[Assignment]:
    for battle in mine:
        root = derive_seed(settings.seed, "evaluate", battle.a, battle.b)
        paired = PairedBattles(root, teams, settings.evaluate.deadline_seconds)
        log = battle.number < settings.evaluate.replays_per_pair
        yield paired.assignment(battle.number, (battle.a, battle.b), log=log)
