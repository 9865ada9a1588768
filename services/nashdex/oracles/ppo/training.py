"""How PPO trains a best response: round after round of battles, until it has learned from enough decisions."""

from dataclasses import dataclass

from nashdex.core.steps import StepName
from nashdex.learning.evaluation.learning_curve import LearningCurve
from nashdex.learning.experience.data import collected_battles, prepare_torch
from nashdex.learning.experience.round import Experience
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
from nashdex.oracles.ppo.loss import Targets
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
        training.cpu_seconds_of_attempt = lambda: battles.cpu_seconds + steps.cpu_seconds
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
        last = _RoundLoop(learner, feed, pool, curve, trackers, progress).run()
        journal, cpu_seconds = battles.objects(training.round), training.cpu_seconds
    kept = curve.restore_best()
    summary = last.summary if kept is None else learner.measure(last.seen, last.targets, slice(None))
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
        num_decisions=last.num_decisions,
        num_run_decisions=before.decisions + last.num_decisions,
        cpu_seconds=cpu_seconds,
        rollbacks=training.rollbacks,
        preset=settings.damping.preset,
        reference=reference.source if reference else "none",
        when_stored=checkpoints.clear,
    )


@dataclass(frozen=True)
class _LastRound:
    """The round after which a training has learned from enough decisions."""

    seen: Experience
    targets: Targets
    summary: dict[str, float]
    """What was measured at its end, on all its decisions."""
    num_decisions: int
    """Decisions of the whole training."""


@dataclass(frozen=True)
class _RoundLoop:
    """Takes a training through its rounds, from the loop's own on."""

    learner: RoundLearner
    feed: Feed
    pool: SnapshotPool
    curve: LearningCurve
    trackers: Trackers
    progress: Progress

    def run(self) -> _LastRound:
        """Play and learn until the last round is over; return it."""
        while (last := self._play_and_learn()) is None:
            pass
        return last

    def _play_and_learn(self) -> _LastRound | None:
        """Play one round, learn from it and begin the next one; return it if it was the last one."""
        learner, training = self.learner, self.learner.training
        number, played = training.round, self.feed.play()
        seen = learner.experience(played.episodes, played.learner)
        num_decisions = training.num_decisions + len(seen.batch)
        is_last = num_decisions >= learner.settings.decisions
        if not is_last:
            self.feed.ask_for_next(played.behaviour)
        targets = learner.targets(seen, played.behaviour, played.acting)
        self.progress.expect(learner.expected_updates(seen.batch))
        summary = learner.learn(seen, targets, self.progress, is_last=is_last)
        self.trackers.record_round(num_decisions, {**training.curve.newest, **summary})
        self.curve.after_round(num_decisions, is_last=is_last)
        if is_last:
            return _LastRound(seen, targets, summary, num_decisions)
        self.pool.record(played.episodes, played.learner)
        self.feed.begin(number + 1, summary["entropy"], num_decisions)
        self.pool.add_when_due(number + 1, num_decisions)
        return None


def _stream_bounds(settings: PpoSettings) -> StalenessBounds | None:
    """Return the bounds of a stream; None where rounds are played in turn or ahead."""
    streaming = settings.streaming
    if not streaming.max_staleness_versions:
        return None
    return StalenessBounds(streaming.max_staleness_versions, streaming.max_staleness_seconds)
