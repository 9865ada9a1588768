"""The act step: plays what the iteration's learners ask for, until they are all done."""

import time

import structlog

from nashdex.actor.playing import ChunkPlayer
from nashdex.core import keys
from nashdex.core.errors import DataError, TryAgainError
from nashdex.core.manifest import Manifest
from nashdex.core.steps import StepName
from nashdex.core.stopping import check_stop
from nashdex.games.registry import game_of_run
from nashdex.learning.actors import protocol
from nashdex.learning.actors.protocol import Chunk, Requests
from nashdex.learning.devices import check_player
from nashdex.metagame.plan import IterationPlan
from nashdex.oracles.registry import ORACLES
from nashdex.settings.run import RunSettings
from nashdex.settings.train import TrainSettings
from nashdex.store.attempt import Attempt, find_done, find_manifest
from nashdex.store.documents import read_published
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry import metrics
from nashdex.telemetry.progress import Progress, beat_without_advance

_log = structlog.get_logger()

_FIRST_WAIT_SECONDS = 0.05
LONGEST_WAIT_SECONDS = 2.0
"""Longest pause between two reads of a request that an actor waits for."""
LOOK_SECONDS = 5.0
"""Pause between two checks whether learners are done: a check costs one store request per learner."""


def run(store: ObjectStore, settings: RunSettings, iteration: int, shard: int) -> Manifest:
    """Play chunks of battles for every learner of an iteration, until each has stored its policy.

    Raises:
        ConfigurationError: the game cannot be played here, or not on ``collect.device``.
        DataError: a request or its weights are altered or of another space.
        TryAgainError: a battle could not be finished, or no learner asked for anything for a long time.
        StoppedError: the process was asked to stop.
    """
    if done := find_done(store, iteration, StepName.ACT, shard):
        return done
    plan = read_published(store, iteration, keys.PLAN, IterationPlan)
    attempt = Attempt(store, iteration, StepName.ACT, shard)
    counts = {"chunks": 0, "battles": 0, "decisions": 0}
    if not ORACLES[plan.oracle].plays_rounds:
        _log.info(f"{plan.oracle} plays no rounds in iteration {iteration}: there is nothing to do")
        return attempt.finish(counts)
    check_player(settings.collect.device)
    with (
        ChunkPlayer(store, settings, game_of_run(store, settings), iteration, shard, attempt.id) as player,
        Progress(StepName.ACT, shard, 0, "battles") as progress,
    ):
        wait_seconds, heard_seconds = _FIRST_WAIT_SECONDS, time.monotonic()
        requests = Requests(store, iteration)
        learners, looked_seconds = _learners_at_work(store, settings.train, iteration), time.monotonic()
        while learners:
            check_stop()
            if time.monotonic() - looked_seconds > LOOK_SECONDS:
                learners, looked_seconds = _learners_at_work(store, settings.train, iteration), time.monotonic()
                continue
            # Learners take turns, and actors do not all begin with the same one.
            played = [
                chunk
                for learner in learners[shard % len(learners) :] + learners[: shard % len(learners)]
                if (chunk := _play_next(player, requests, learner, len(learners)))
            ]
            for chunk in played:
                counts["chunks"] += 1
                counts["battles"] += chunk.battles
                counts["decisions"] += chunk.decisions
                metrics.CHUNKS.add()
                progress.advance(chunk.battles, decisions=counts["decisions"])
            if played:
                wait_seconds, heard_seconds = _FIRST_WAIT_SECONDS, time.monotonic()
                continue
            silent_seconds = time.monotonic() - heard_seconds
            if silent_seconds > settings.actors.patience_seconds:
                raise TryAgainError(
                    f"no learner asked for battles for {silent_seconds:.0f} s; look at the train step, or raise "
                    "actors.patience_seconds"
                )
            beat_without_advance()
            metrics.ACTOR_WAITING.add(wait_seconds)
            time.sleep(wait_seconds)
            wait_seconds = min(wait_seconds * 1.5, LONGEST_WAIT_SECONDS)
    for learner in range(0 if settings.actors.keep_chunks else settings.train.seeds):
        store.delete_folder(protocol.prefix(iteration, learner))
    return attempt.finish(counts, num_gpus=settings.collect.num_gpus)


def _play_next(player: ChunkPlayer, requests: Requests, learner: int, num_learners: int) -> Chunk | None:
    request = requests.of(learner)
    if request is None:
        return None
    try:
        return player.play_next(learner, request, num_learners=num_learners)
    except DataError:
        if requests.of(learner) == request:
            raise
        return None  # the learner has gone on meanwhile, and removed the weights


def _learners_at_work(store: ObjectStore, train: TrainSettings, iteration: int) -> list[int]:
    """Return the train shards that have not stored their policy yet."""
    return [k for k in range(train.seeds) if find_manifest(store, iteration, StepName.TRAIN, k) is None]
