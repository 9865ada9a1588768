"""How PPO trains: rounds of battles, and epochs over each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from torch import Tensor

from nashdex.core.ids import PolicyId
from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.seeds import derive_seed
from nashdex.core.steps import StepName
from nashdex.learning.advantages.registry import ADVANTAGES
from nashdex.learning.damping.controller import ControllerState
from nashdex.learning.damping.interface import Damping
from nashdex.learning.damping.schedule import Moment
from nashdex.learning.evaluation.learning_curve import LearningCurve
from nashdex.learning.experience import batching
from nashdex.learning.experience.batching import Batch
from nashdex.learning.experience.data import collected_battles, prepare_torch
from nashdex.learning.experience.round import Experience, gather
from nashdex.learning.hardware.machine import check_machine
from nashdex.learning.hardware.memory import memory_limited_by
from nashdex.learning.initial import freeze
from nashdex.learning.references import Reference, SnapshotReference, make_reference
from nashdex.learning.rounds.feed import Feed, PlayedRound
from nashdex.learning.rounds.players import Rounds, StalenessBounds
from nashdex.learning.rounds.snapshots import SnapshotPool
from nashdex.learning.trackers.tracking import Trackers
from nashdex.learning.updates.clock import Clock
from nashdex.learning.updates.continuation import Continuation
from nashdex.learning.updates.loop import LoopSettings, TrainingLoop
from nashdex.learning.updates.optimiser import Rates
from nashdex.oracles.interface import Task, Trained
from nashdex.oracles.ppo.loss import Targets, make_targets, measure
from nashdex.oracles.ppo.processes import steps_of
from nashdex.oracles.ppo.settings import PpoSettings
from nashdex.oracles.ppo.steps import OWN_STEPS, Learner, StepLoss, Steps
from nashdex.policies.archive import load_network
from nashdex.store.attempt import find_manifest
from nashdex.store.documents import read_written
from nashdex.telemetry import metrics
from nashdex.telemetry.progress import Progress
from nashdex.trajectory.episode import Episode

BETA: Final = "beta_reference"
STEP_SIZE: Final = "learning_rate"
"""Names of the controllers, after what they multiply."""
PROBE_DECISIONS = 4096
"""Decisions on which a round that is not the last one is measured."""


@memory_limited_by("train.oracle.minibatch_decisions, and raise train.oracle.accumulate to learn from as many a step")
def improve(
    training: TrainingLoop,
    batch: Batch,
    targets: Targets,
    reference: Reference | None,
    settings: PpoSettings,
    clock: Clock,
    seed: int,
    progress: Progress,
    *,
    steps: Steps = OWN_STEPS,
) -> None:
    """Train for ``num_epochs`` over the batch of the loop's round, from wherever in it the loop is."""
    damping, annealing = settings.damping, settings.annealing
    actor_rate = damping.learning_rate(settings.learning_rate)
    critic_rate = damping.learning_rate(settings.critic_learning_rate or settings.learning_rate)
    per_epoch = batch.num_minibatches(settings.step_decisions)
    num_updates = settings.num_epochs * per_epoch
    order: tuple[Tensor, ...] = ()
    learner = Learner(training.forward, reference, settings)
    steps.begin_round(batch, targets)
    while training.round_update < num_updates and not _moved_enough(training, settings):
        epoch, position = divmod(training.round_update, per_epoch)
        if position == 0 or not order:
            order_seed = derive_seed(seed, "round", training.round, "epoch", epoch)
            order = batch.minibatches(settings.step_decisions, order_seed)
        parts = batching.parts(batch, order[position], settings.accumulate)
        moment = clock.moment(training.update, training.num_decisions, len(batch), training.round_update / num_updates)
        share = annealing.at(annealing.learning_rate, moment)
        rates = Rates(actor_rate.at(moment, share * _multiplier(training, STEP_SIZE)), critic_rate.at(moment, share))
        metrics.STALENESS.set(training.staleness_updates)
        clip_range = settings.clip_range * annealing.at(annealing.clip_range, moment)
        if training.num_decisions < settings.critic_warmup_decisions:
            loss = StepLoss(None, clip_range)
            measured = steps.compute(learner, training.gradients, batch, targets, parts, loss)
            training.apply(measured, progress, rates)
            continue
        multiplier = _multiplier(training, BETA)
        coefficients = damping.coefficients(moment, multiplier, annealing.at(annealing.entropy, moment))
        loss = StepLoss(coefficients, clip_range)
        measured = steps.compute(learner, training.gradients, batch, targets, parts, loss)
        if training.round == 0:
            measured["kl_iteration_start"] = measured["kl_behaviour"]
        if damping.beta.controller.is_on:
            measured["beta_multiplier"] = multiplier
        if damping.is_warm(moment):
            _observe(training, damping, measured, moment)
        if reference is not None:
            metrics.KL_REFERENCE.set(measured["kl_reference"], reference=reference.kind)
        training.apply(measured, progress, rates)


def _moved_enough(training: TrainingLoop, settings: PpoSettings) -> bool:
    """Say whether the round ends early, by the KL from the policy that played it."""
    return 0 < settings.target_kl_nats < training.mean("kl_behaviour")


def _multiplier(training: TrainingLoop, name: str) -> float:
    return training.controllers.get(name, ControllerState()).multiplier


def _observe(training: TrainingLoop, damping: Damping, measured: Mapping[str, float], moment: Moment) -> None:
    """Give the controllers that are on the measured KLs."""
    states = training.controllers
    if damping.beta.controller.is_on and (kl_nats := measured.get("kl_reference")) is not None:
        states[BETA] = damping.beta.observe(states.get(BETA, ControllerState()), kl_nats, moment)
    if (controller := damping.step_size.controller).is_on:
        states[STEP_SIZE] = controller.observe(states.get(STEP_SIZE, ControllerState()), measured["kl_behaviour"])


def train(task: Task, settings: PpoSettings) -> Trained:
    """Improve the plan's learner, in rounds, until it has learned from as many decisions as the settings say."""
    run, shared = task.settings, task.settings.train
    check_machine(shared.device, num_processes=shared.num_processes)
    device = prepare_torch(shared.device, shared.num_threads)
    collected = collected_battles(
        task.store, task.game, task.plan, num_shards=run.collect.shards, shard=task.shard, attempt=task.attempt
    )
    network = load_network(task.store, task.plan.learner, collected.space).to(device)
    freeze(network, run.network.freeze)
    # Both copy the loaded weights, before a checkpoint may replace them.
    start = SnapshotReference(network, task.plan.learner)
    reference = make_reference(task.store, task.plan, settings.damping, network, start)
    before = _before(task)
    training = TrainingLoop(
        network,
        LoopSettings(settings.max_gradient_norm, shared.checkpoint_every_updates, shared.precision),
        collected.checkpoints,
        reference=reference,
        continuation=before.continuation,
    )
    pool = SnapshotPool(training, collected.checkpoints, settings.pool)
    predicts_opponent = settings.prediction_coefficient > 0 and network.predicts_opponent

    def experience_of(episodes: Sequence[Episode], policy: PolicyId) -> Experience:
        return gather(
            episodes,
            policy,
            task.game,
            collected.space,
            shared.reward,
            shared.discount,
            device,
            remembers=network.remembers,
            predicts_opponent=predicts_opponent,
            with_circumstances=ADVANTAGES[settings.advantages.kind].uses_circumstances,
        )

    cpu_seconds_before = training.cpu_seconds
    clock = _clock(task, settings, before, collected.num_decisions)
    with (
        Rounds(
            task.player(collected.space),
            run,
            task.plan,
            task.shard,
            settings.round_battles,
            pool=settings.pool,
            records_opponents=predicts_opponent,
        ) as battles,
        steps_of(task, network, reference, device) as steps,
        Progress(StepName.TRAIN, task.shard, 0, "updates", done=training.update) as progress,
        Trackers(shared.trackers, run=run.run or "run", iteration=task.plan.iteration, shard=task.shard) as trackers,
    ):
        curve = LearningCurve(
            training, battles, start.network, settings.evaluation, trackers, keeps_best=settings.keep == "best"
        )
        curve.begin()
        first = PlayedRound(collected.episodes, task.plan.learner, start.network, None)
        feed = Feed(
            training,
            battles,
            pool,
            first,
            task.seed,
            plays_ahead=settings.overlap_rounds > 0,
            stream=_stream_bounds(settings),
        )
        while True:
            number, played = training.round, feed.play()
            seen = experience_of(played.episodes, played.learner)
            num_decisions = training.num_decisions + len(seen.batch)
            is_last = num_decisions >= settings.decisions
            if not is_last:
                feed.ask_for_next(played.behaviour)
            targets = make_targets(played.behaviour, seen, settings, shared.discount, played.acting)
            training.latest |= targets.measured
            progress.expect(_expected_updates(training, seen.batch, settings))
            improve(training, seen.batch, targets, reference, settings, clock, task.seed, progress, steps=steps)

            probe = slice(None if is_last else PROBE_DECISIONS)
            summary = measure(network, start, seen.batch, targets, probe, settings.clip_range)
            if training.check_round(summary):
                summary = measure(network, start, seen.batch, targets, probe, settings.clip_range)
            training.latest["kl_iteration_start"] = summary["kl_iteration_start"]
            cpu_seconds = cpu_seconds_before + battles.cpu_seconds
            trackers.record_round(num_decisions, {**training.curve.newest, **summary})
            curve.after_round(num_decisions, cpu_seconds, is_last=is_last)
            if is_last:
                break
            pool.record(played.episodes, played.learner)
            feed.begin(number + 1, summary["entropy"], num_decisions, cpu_seconds)
            pool.add_when_due(number + 1, num_decisions)
        journal = battles.objects(number)
    kept = curve.restore_best()
    if kept is not None:
        summary = measure(network, start, seen.batch, targets, slice(None), settings.clip_range)
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
        when_stored=collected.checkpoints.clear,
    )


def _stream_bounds(settings: PpoSettings) -> StalenessBounds | None:
    """Return the bounds of a stream; None where rounds are played in turn or ahead."""
    streaming = settings.streaming
    if not streaming.max_staleness_versions:
        return None
    return StalenessBounds(streaming.max_staleness_versions, streaming.max_staleness_seconds)


def _expected_updates(training: TrainingLoop, batch: Batch, settings: PpoSettings) -> int:
    """Return the optimiser steps of the whole training, if all further rounds are like that of ``batch``."""
    num_left = max(len(batch), settings.decisions - training.num_decisions)
    per_round = settings.num_epochs * batch.num_minibatches(settings.step_decisions)
    return training.update - training.round_update + round(per_round * num_left / len(batch))


@dataclass(frozen=True)
class _Before:
    """What the run did before this iteration, along this shard."""

    updates: int = 0
    decisions: int = 0
    continuation: Continuation | None = None


def _before(task: Task) -> _Before:
    """Return what the run did before, and the state of the training that gave the learner, if the same oracle did."""
    if task.plan.iteration == 0:
        return _Before()
    manifest = find_manifest(task.store, task.plan.iteration - 1, StepName.TRAIN, task.shard)
    if manifest is None:
        return _Before()
    result = read_written(task.store, manifest, TRAINING_RESULT, TrainingResult)
    return _Before(result.num_run_updates, result.num_run_decisions, _continuation(task, manifest, result))


def _continuation(task: Task, manifest: Manifest, result: TrainingResult) -> Continuation | None:
    """Return the state that this shard's training left with the learner's weights; None if another oracle or shard did.

    ``manifest`` and ``result`` are of the iteration before. In a league with roles, an earlier one trained the learner.
    """
    plan = task.plan
    if result.policy != plan.learner:
        trained_in = next((entry.iteration for entry in plan.population.policies if entry.id == plan.learner), None)
        found = None if trained_in is None else find_manifest(task.store, trained_in, StepName.TRAIN, task.shard)
        if found is None:
            return None
        manifest, result = found, read_written(task.store, found, TRAINING_RESULT, TrainingResult)
    goes_on = (result.policy, result.oracle) == (plan.learner, plan.oracle)
    return Continuation.read(task.store, manifest) if goes_on else None


def _clock(task: Task, settings: PpoSettings, before: _Before, num_collected: int) -> Clock:
    length = max(settings.decisions, num_collected)
    if settings.damping.clock == "iteration":
        return Clock(length)
    first = 1 if task.settings.train.first.kind != settings.kind else 0
    return Clock(length * max(1, task.settings.iterations - first), before.decisions, before.updates)
