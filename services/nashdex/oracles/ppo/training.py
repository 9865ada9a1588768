"""How PPO trains a best response: round after round of battles, until it has learned from enough decisions."""

from nashdex.core.steps import StepName
from nashdex.learning.evaluation.learning_curve import LearningCurve
from nashdex.learning.experience.data import collected_battles, prepare_torch
from nashdex.learning.hardware.machine import check_machine
from nashdex.learning.initial import freeze
from nashdex.learning.references import SnapshotReference, make_reference
from nashdex.learning.rounds.feed import Feed, PlayedRound
from nashdex.learning.rounds.players import Rounds, StalenessBounds
from nashdex.learning.rounds.snapshots import SnapshotPool
from nashdex.learning.trackers.tracking import Trackers
from nashdex.learning.updates.loop import LoopSettings, TrainingLoop
from nashdex.oracles.interface import Task, Trained
from nashdex.oracles.ppo.anchors import anchor_networks
from nashdex.oracles.ppo.before import Before
from nashdex.oracles.ppo.processes import steps_of
from nashdex.oracles.ppo.round_learner import RoundLearner, predicts_opponent
from nashdex.oracles.ppo.settings import PpoSettings
from nashdex.policies.archive import load_network
from nashdex.telemetry.progress import Progress


def train(task: Task, settings: PpoSettings) -> Trained:
    """Improve the plan's learner, in rounds, until it has learned from as many decisions as the settings say."""
    run, shared = task.settings, task.settings.train
    check_machine(shared.device, num_processes=shared.num_processes)
    device = prepare_torch(shared.device, shared.num_threads)
    collected = collected_battles(
        task.store, task.game, task.plan, num_shards=run.collect.shards, shard=task.shard, attempt=task.attempt
    )
    checkpoints, space = collected.checkpoints, collected.space
    network = load_network(task.store, task.plan.learner, space).to(device)
    freeze(network, run.network.freeze)
    # Both copy the loaded weights, before a checkpoint may replace them.
    start = SnapshotReference(network, task.plan.learner)
    reference = make_reference(task.store, task.plan, settings.damping, network, start)
    before = Before.of(task)
    training = TrainingLoop(
        network,
        LoopSettings(settings.max_gradient_norm, shared.checkpoint_every_updates, shared.precision),
        checkpoints,
        reference=reference,
        continuation=before.continuation,
    )
    pool = SnapshotPool(training, checkpoints, settings.pool)
    cpu_seconds_before = training.cpu_seconds
    with (
        Rounds(
            task.player(space),
            run,
            task.plan,
            task.shard,
            settings.round_battles,
            pool=settings.pool,
            records_opponents=predicts_opponent(network, settings),
        ) as battles,
        steps_of(task, network, reference, device) as steps,
        Progress(StepName.TRAIN, task.shard, 0, "updates", done=training.update) as progress,
        Trackers(shared.trackers, run=run.run or "run", iteration=task.plan.iteration, shard=task.shard) as trackers,
    ):
        learner = RoundLearner(
            training,
            start,
            reference,
            settings,
            before.clock(task, settings, collected.num_decisions),
            task.game,
            shared.reward,
            shared.discount,
            task.seed,
            device,
            steps,
            before.warmup_decisions(settings),
        )
        anchors = anchor_networks(task, settings.evaluation, start, space)
        curve = LearningCurve(
            training, battles, anchors, settings.evaluation, trackers, keeps_best=settings.keep == "best"
        )
        curve.begin()
        feed = Feed(
            training,
            battles,
            pool,
            PlayedRound(collected.episodes, task.plan.learner, start.network, None),
            task.seed,
            plays_ahead=settings.overlap_rounds > 0,
            stream=_stream_bounds(settings),
        )
        del collected
        while True:
            number, played = training.round, feed.play()
            seen = learner.experience(played.episodes, played.learner)
            num_decisions = training.num_decisions + len(seen.batch)
            is_last = num_decisions >= settings.decisions
            if not is_last:
                feed.ask_for_next(played.behaviour)
            targets = learner.targets(seen, played.behaviour, played.acting)
            progress.expect(learner.expected_updates(seen.batch))
            summary = learner.learn(seen, targets, progress, is_last=is_last)
            cpu_seconds = cpu_seconds_before + battles.cpu_seconds + steps.cpu_seconds
            trackers.record_round(num_decisions, {**training.curve.newest, **summary})
            curve.after_round(num_decisions, cpu_seconds, is_last=is_last)
            if is_last:
                break
            pool.record(played.episodes, played.learner)
            del played, seen, targets  # the host holds one round at a time
            feed.begin(number + 1, summary["entropy"], num_decisions, cpu_seconds)
            pool.add_when_due(number + 1, num_decisions)
        journal = battles.objects(number)
    kept = curve.restore_best()
    if kept is not None:
        summary = learner.measure(seen, targets, slice(None))
    return Trained(
        policy=network,
        summary=summary,
        curve=training.curve.with_newest(),
        evaluations=training.evaluations,
        scripted_opponents=settings.pool.anchors.shares(),
        kept=kept,
        objects={**training.continuation().objects(), **journal},
        num_updates=training.update,
        num_run_updates=before.updates + training.update,
        num_decisions=num_decisions,
        num_run_decisions=before.decisions + num_decisions,
        cpu_seconds=cpu_seconds,
        rollbacks=training.rollbacks,
        preset=settings.damping.preset,
        reference=reference.source if reference else "none",
        when_stored=checkpoints.clear,
    )


def _stream_bounds(settings: PpoSettings) -> StalenessBounds | None:
    """Return the bounds of a stream; None where rounds are played in turn or ahead."""
    streaming = settings.streaming
    if not streaming.max_staleness_versions:
        return None
    return StalenessBounds(streaming.max_staleness_versions, streaming.max_staleness_seconds)
