"""How PPO trains a best response: ``one_round`` has a round from top to bottom, and ``Ppo.learn`` its optimiser steps.

Several processes may train one policy. All of them learn from every round, each from its share of every optimiser step;
process 0 alone plays, measures, stores and reports.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final

from torch import Tensor

from nashdex.core.errors import TryAgainError
from nashdex.core.seeds import derive_seed
from nashdex.core.steps import StepName
from nashdex.games.interface import Game
from nashdex.games.space import Space
from nashdex.learning.advantages import ADVANTAGES
from nashdex.learning.damping import (
    OF_STEP_SIZE,
    Coefficients,
    ControllerState,
    Moment,
    annealed,
    coefficients,
    is_warm,
    observe_reference,
)
from nashdex.learning.devices import check_machine
from nashdex.learning.evaluation.learning_curve import EvaluationPlan, LearningCurve, anchor_networks
from nashdex.learning.experience import batching
from nashdex.learning.experience.batching import Batch
from nashdex.learning.experience.data import checkpoints_of, prepare_torch
from nashdex.learning.experience.round import Experience, gather
from nashdex.learning.hardware import memory_limited_by
from nashdex.learning.initial import freeze
from nashdex.learning.references import SnapshotReference, make_reference
from nashdex.learning.rounds.planned import NEWEST
from nashdex.learning.rounds.players import Player, StreamPosition
from nashdex.learning.rounds.rounds import Rounds, RoundsSettings, SnapshotPool
from nashdex.learning.trackers import Trackers
from nashdex.learning.updates.checkpoint import Before
from nashdex.learning.updates.optimiser import Rates
from nashdex.learning.updates.training import StepSettings, Training
from nashdex.oracles.interface import Task, Trained
from nashdex.oracles.ppo.loss import Targets, critic_loss, make_targets, measure, ppo_loss
from nashdex.oracles.ppo.processes import ALONE, Processes, main, started
from nashdex.oracles.registry import ORACLES
from nashdex.oracles.rounds import round_player
from nashdex.policies.archive import load_network
from nashdex.policies.document import read_document
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.settings.ppo import PpoSettings
from nashdex.telemetry import metrics
from nashdex.telemetry.progress import Progress
from nashdex.trajectory.episode import Episode

BETA: Final = "beta_reference"
STEP_SIZE: Final = "learning_rate"
"""Names of the controllers: each is called after the value that it multiplies."""
_PROBE_DECISIONS = 4096
"""Decisions on which every round but the last is measured."""
_ONCE_A_ROUND: Final = ("kl_iteration_start", "critic_rank")
"""Values of a round's end that the steps of the next round repeat, for the live metrics and the report's curves."""
_MEMORY_OF_ROUND = "train.oracle.round_battles"
_MEMORY_OF_STEP = "train.oracle.minibatch_decisions, and raise train.oracle.accumulate to learn from as many a step"
"""Settings that limit the memory of a round and of an optimiser step."""


def train(task: Task, settings: PpoSettings, player_of: Callable[[Task, Space, int], Player] = round_player) -> Trained:
    """Improve the plan's learner, round after round, until it has learned from enough decisions.

    ``player_of`` returns what plays the rounds, for the task, its space and the number of a round's battles.
    """
    run, plan, shared = task.settings, task.plan, task.settings.train
    check_machine(shared.device, num_processes=shared.num_processes)
    with started(task) as processes:
        ppo = Ppo.of(task, settings, processes)
        training, state, network = ppo.training, ppo.training.state, ppo.training.network
        player = player_of(task, network.space, settings.round_battles)
        training.cpu_seconds_of_attempt = lambda: player.cpu_seconds + processes.cpu_seconds
        with (
            closing(player),
            Progress(StepName.TRAIN, task.shard, 0, "updates", done=state.update) as progress,
            Trackers(shared.trackers, run=run.run or "run", iteration=plan.iteration, shard=task.shard) as trackers,
        ):
            rounds = _rounds(task, settings, training, player)
            curve = _curve(task, settings, ppo, player, trackers)
            curve.begin()
            while (last := one_round(ppo, rounds, curve, trackers, progress)) is None:
                pass
            kept, cpu_seconds, journal = curve.restore_best(), training.cpu_seconds, player.objects()
        return Trained(
            policy=network,
            summary=last.summary if kept is None else ppo.measure(last.batch, last.targets, slice(None)),
            magnet=training.reference.magnet if training.reference else None,
            curve=state.curve.with_newest(),
            evaluations=state.evaluations,
            scripted_opponents=settings.pool.anchors.shares(),
            kept=kept,
            objects={**training.continuation().objects(), **curve.objects(), **journal},
            num_updates=state.update,
            num_run_updates=ppo.before.updates + state.update,
            num_decisions=last.num_decisions,
            num_run_decisions=ppo.before.decisions + last.num_decisions,
            cpu_seconds=cpu_seconds,
            rollbacks=state.rollbacks,
            preset=settings.damping.preset,
            reference=training.reference.source if training.reference else "none",
        )


@dataclass(frozen=True)
class LastRound:
    """The round after which a training has learned from enough decisions."""

    batch: Batch
    targets: Targets
    summary: Mapping[str, float]
    """Measured at its end, on all its decisions."""
    num_decisions: int
    """Decisions of the whole training."""


def one_round(
    ppo: "Ppo", rounds: Rounds, curve: LearningCurve, trackers: Trackers, progress: Progress
) -> LastRound | None:
    """Play a round, estimate advantages, learn in epochs of minibatches, and measure; return a last round."""
    state = ppo.training.state

    # Play.
    played = rounds.play()
    experience = ppo.experience(played.episodes)
    batch = experience.batch
    num_decisions = state.decisions_before_round + len(batch)
    if not ppo.is_last(batch):
        rounds.ask_for_next(played.round_start)
    round_start, acting = played.round_start, played.acting
    del played  # The batch holds copies of its observations: keeping both would take twice the memory.

    # Advantages. The other processes need the batch, to evaluate their part of it.
    ppo.processes.broadcast(batch.tensors())
    targets = ppo.targets(round_start, experience, acting)

    # Epochs of minibatches, in all processes.
    progress.expect(ppo.expected_updates(batch))
    ppo.processes.broadcast(targets.tensors())
    ppo.learn(batch, targets, progress)

    # Measure. The guard may roll back.
    summary = ppo.judged(batch, targets)
    trackers.record_round(num_decisions, {**state.curve.newest, **summary})
    curve.after_round(num_decisions, is_last=ppo.is_last(batch))
    if ppo.is_last(batch):
        return LastRound(batch, targets, summary, num_decisions)
    ppo.begin_round(summary, num_decisions)
    rounds.after()
    return None


def learn_along(task: Task, settings: PpoSettings, processes: Processes) -> None:
    """Learn from the rounds of process 0, in another process, until the last one."""
    ppo = Ppo.of(task, settings, processes)
    state, network = ppo.training.state, ppo.training.network
    with Progress(StepName.TRAIN, task.shard, 0, "updates") as progress:
        while True:
            batch = Batch.of_tensors(processes.broadcast(), ppo.training.device, remembers=network.remembers)
            for policy in ppo.policies_of_round():  # this process's part of what `targets` evaluates in process 0
                processes.evaluate(policy, batch)
            targets = Targets.of_tensors(processes.broadcast())
            ppo.learn(batch, targets, progress)
            summary = ppo.judged(batch, targets)
            if ppo.is_last(batch):
                return
            ppo.begin_round(summary, state.decisions_before_round + len(batch))


@dataclass(frozen=True)
class Ppo:
    """A training by PPO, in one of its processes."""

    training: Training
    settings: PpoSettings
    start: SnapshotReference
    """The policy as the training began."""
    game: Game
    reward: str = "win-loss"
    discount: float = 1.0
    seed: int = 0
    before: Before = field(default_factory=Before)
    num_trainings: int = 1
    """Trainings that schedules and annealing refer to: this one alone, or all of the run."""
    processes: Processes = ALONE

    @classmethod
    def of(cls, task: Task, settings: PpoSettings, processes: Processes) -> "Ppo":
        """Load the learner, and resume from a checkpoint if there is one.

        Raises:
            DataError: the learner, a reference's policy or a checkpoint is missing or altered.
            TryAgainError: another attempt at the shard, which still runs, saved a checkpoint between two processes'
                reads of it.
        """
        run, plan, shared = task.settings, task.plan, task.settings.train
        device = prepare_torch(shared.device, shared.num_threads, processes.rank)
        network = load_network(task.store, plan.learner, read_document(task.store, plan.learner).space).to(device)
        freeze(network, run.network.freeze)
        # Both copy the loaded weights, before a checkpoint may replace them.
        start = SnapshotReference(network, plan.learner)
        reference = make_reference(task.store, plan, settings.damping, network, start)
        before = Before.read(task.store, plan, task.shard)
        is_of_run = settings.damping.clock == "run"
        num_first = 1 if shared.first.kind != settings.kind else 0
        training = Training(
            network,
            StepSettings(
                settings.max_gradient_norm,
                shared.checkpoint_every_updates,
                shared.precision,
                graphed_rows=settings.lone_minibatch_decisions(shared.num_processes),
            ),
            checkpoints_of(task.store, plan, task.shard, task.attempt, saves=processes.is_first),
            reference=reference,
            continuation=before.continuation,
        )
        update = training.state.update
        if update != (first := processes.broadcast_values({"update": update})["update"]):
            raise TryAgainError(
                f"the checkpoint of process 0 has {first:.0f} updates and that of process {processes.rank} {update}: "
                "another attempt at the shard saved one meanwhile. Run the step again"
            )
        return cls(
            training,
            settings,
            start,
            task.game,
            shared.reward,
            shared.discount,
            task.seed,
            before,
            max(1, run.iterations - num_first) if is_of_run else 1,
            processes,
        )

    @memory_limited_by(_MEMORY_OF_ROUND)
    def experience(self, episodes: Sequence[Episode]) -> Experience:
        """Return the decisions of the network in training, which ``episodes`` call ``NEWEST``."""
        network, settings = self.training.network, self.settings
        return gather(
            episodes,
            NEWEST,
            self.game,
            network.space,
            self.reward,
            self.discount,
            self.training.device,
            remembers=network.remembers,
            predicts_opponent=network.predicts_opponent,
            with_circumstances=ADVANTAGES[settings.advantages.kind].uses_circumstances,
        )

    @memory_limited_by(_MEMORY_OF_ROUND)
    def targets(self, round_start: ActorCritic, experience: Experience, acting: ActorCritic | None = None) -> Targets:
        """Return the targets of a round that began with ``round_start`` and was played by ``acting``."""
        return make_targets(
            round_start, experience, self.settings, self.discount, acting, evaluate=self.processes.evaluate
        )

    def policies_of_round(self) -> Iterator[ActorCritic]:
        """Yield the networks that ``targets`` evaluates in process 0, in its order."""
        yield self.training.network_of_round()
        if self.settings.overlap_rounds and not self.settings.max_staleness_versions:
            yield self.training.network_that_acted()

    @memory_limited_by(_MEMORY_OF_STEP)
    def learn(self, batch: Batch, targets: Targets, progress: Progress) -> None:
        """Train for ``num_epochs`` over a round, from the step on at which an earlier attempt stopped."""
        training, state, settings, processes = self.training, self.training.state, self.settings, self.processes
        forward, reference = training.forward, training.reference
        critic_alone = self._warms_up_critic(batch)
        state.latest |= targets.measured
        for rows in self._rows_of_steps(batch):
            moment = self._moment(batch)
            rates, weights = self._rates(moment), self._weights(moment)
            step = training.begin_step()
            # A step is `accumulate` minibatches. Each process backpropagates its own; then gradients are summed.
            parts = batching.parts(batch, rows, settings.accumulate)
            for part, shares in parts[processes.rank :: processes.size]:
                minibatch, of_minibatch = batch.rows(part), targets.rows(part, training.device)
                if critic_alone:
                    step.backward(*critic_loss(forward, minibatch, of_minibatch, shares))
                else:
                    step.backward(*ppo_loss(forward, minibatch, of_minibatch, reference, weights, settings, shares))
            processes.add_up(step, training.network, ORACLES[self.settings.kind].metrics)
            if not critic_alone:
                self._control(step.measured, moment)
            metrics.STALENESS.set(state.update - state.acting_update)
            training.take(step, rates, progress)  # clips, lets the guard judge, steps Adam, and saves when due

    def _rows_of_steps(self, batch: Batch) -> Iterator[Tensor]:
        """Yield the rows of each optimiser step that is left in the round, epoch after epoch in a random order."""
        state, size = self.training.state, self.settings.step_decisions
        first_epoch, num_done = divmod(state.round_update, batch.num_minibatches(size))
        for epoch in range(first_epoch, self.settings.num_epochs):
            order = batch.minibatches(size, derive_seed(self.seed, "round", state.round, "epoch", epoch))
            yield from order[num_done:]
            num_done = 0

    def _rates(self, moment: Moment) -> Rates:
        """Return the step sizes of actor and critic. Every factor of a learning rate is here."""
        settings, state = self.settings, self.training.state
        shared = annealed(settings.annealing.learning_rate, moment) * state.guard_factor
        critic_rate = settings.critic_learning_rate or settings.learning_rate
        return Rates(settings.learning_rate * shared * state.multiplier(STEP_SIZE), critic_rate * shared)

    def _weights(self, moment: Moment) -> Coefficients:
        """Return the coefficients that damping and annealing change."""
        settings, state = self.settings, self.training.state
        entropy_share = annealed(settings.annealing.entropy, moment)
        return coefficients(settings.damping, moment, state.multiplier(BETA), entropy_share)

    def _moment(self, batch: Batch) -> Moment:
        """Return the progress before the next optimiser step. A round's steps share its decisions equally."""
        state, settings = self.training.state, self.settings
        is_of_run = settings.damping.clock == "run"
        num_steps = settings.num_epochs * batch.num_minibatches(settings.step_decisions)
        decisions = state.decisions_before_round + state.round_update / num_steps * len(batch)
        decisions += self.before.decisions if is_of_run else 0
        # A training has one round at least, however few decisions the settings ask for.
        length = self.num_trainings * max(settings.decisions, len(batch))
        return Moment(
            update=state.update + (self.before.updates if is_of_run else 0),
            decisions=decisions,
            share=min(1.0, decisions / length),
        )

    def _control(self, measured: dict[str, float], moment: Moment) -> None:
        """Give the active controllers the measured KLs, and record the values that a step does not measure."""
        damping, state, reference = self.settings.damping, self.training.state, self.training.reference
        if state.round == 0:
            measured["kl_iteration_start"] = measured["kl_round_start"]
        if damping.beta.target_nats > 0:
            measured["beta_multiplier"] = state.multiplier(BETA)
        if reference is not None:
            metrics.KL_REFERENCE.set(measured["kl_reference"], reference=reference.kind)
        if not is_warm(damping, moment):
            return
        if damping.beta.target_nats > 0 and "kl_reference" in measured:
            before = state.controllers.get(BETA, ControllerState())
            state.controllers[BETA] = observe_reference(damping.beta, before, measured["kl_reference"], moment)
        if (target_nats := damping.step_target_nats) > 0:
            before = state.controllers.get(STEP_SIZE, ControllerState())
            state.controllers[STEP_SIZE] = OF_STEP_SIZE.observe(before, measured["kl_round_start"], target_nats)

    def is_last(self, batch: Batch) -> bool:
        """Say whether the training has learned from enough decisions after the round of ``batch``."""
        return self.training.state.decisions_before_round + len(batch) >= self.settings.decisions

    def _warms_up_critic(self, batch: Batch) -> bool:
        """Say whether the critic alone learns from the round."""
        if self.before.continuation is not None or self.is_last(batch):
            return False
        return self.training.state.decisions_before_round < self.settings.critic_warmup_decisions

    def judged(self, batch: Batch, targets: Targets) -> Mapping[str, float]:
        """Return the values at a round's end; the guard restores the last good state if they are unstable.

        Process 0 measures for all, so that the guard decides the same in each. The last round is measured on all its
        decisions.
        """
        rows = slice(None if self.is_last(batch) else _PROBE_DECISIONS)

        def measured() -> Mapping[str, float]:
            return self.processes.broadcast_values(
                self.measure(batch, targets, rows) if self.processes.is_first else {}
            )

        summary = measured()
        if self.training.check_round(summary):
            summary = measured()
        self.training.state.latest |= {name: summary[name] for name in _ONCE_A_ROUND if name in summary}
        return summary

    @memory_limited_by(_MEMORY_OF_ROUND)
    def measure(self, batch: Batch, targets: Targets, rows: slice) -> Mapping[str, float]:
        """Return how far the network is, on ``rows`` of the round, from ``start`` and from where the round began."""
        return measure(self.training.network, self.start, batch, targets, rows, self.settings.clip_range)

    def begin_round(self, summary: Mapping[str, float], num_decisions: int) -> None:
        """Begin the next round with the weights that this one left, after ``num_decisions`` of the training."""
        self.training.begin_round(summary["entropy"], num_decisions, played_ahead=self.settings.overlap_rounds > 0)

    def expected_updates(self, batch: Batch) -> int:
        """Return the optimiser steps of the whole training, if all further rounds are like the round of ``batch``."""
        state, settings = self.training.state, self.settings
        num_left = max(len(batch), settings.decisions - state.decisions_before_round)
        per_round = settings.num_epochs * batch.num_minibatches(settings.step_decisions)
        return state.updates_before_round + round(per_round * num_left / len(batch))


def _rounds(task: Task, settings: PpoSettings, training: Training, player: Player) -> Rounds:
    """Return the training's rounds: in turn, ahead or in a stream, as the settings say."""
    run, plan, versions = task.settings, task.plan, settings.max_staleness_versions
    stream = StreamPosition(versions) if versions else None
    rounds = RoundsSettings(
        seed=derive_seed(run.seed, "round", plan.iteration, task.shard),
        num_battles=settings.round_battles,
        deadline_seconds=run.arena.deadline_seconds,
        pool=settings.pool,
        records_opponents=training.network.predicts_opponent,
        plays_ahead=settings.overlap_rounds > 0,
        stream=stream,
    )
    return Rounds(training, player, SnapshotPool(training, settings.pool), rounds, plan)


def _curve(task: Task, settings: PpoSettings, ppo: Ppo, player: Player, trackers: Trackers) -> LearningCurve:
    """Return the learning curve, which evaluates the network as the settings say."""
    run, evaluation = task.settings, settings.evaluation
    plan = EvaluationPlan(
        evaluation,
        seed=derive_seed(run.seed, "evaluation"),
        deadline_seconds=run.arena.deadline_seconds,
        opponents=task.plan.answered,
        keeps_best=settings.keep == "best",
    )
    anchors = anchor_networks(task.store, task.plan, task.shard, evaluation, ppo.start.network)
    return LearningCurve(ppo.training, player, anchors, plan, trackers)


if __name__ == "__main__":  # another process of a training: see ``processes``
    sys.exit(main(learn_along))
