"""How PPO learns from one round of battles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed
from nashdex.games.interface import Game, Reward
from nashdex.learning.advantages.registry import ADVANTAGES
from nashdex.learning.damping.controller import ControllerState
from nashdex.learning.damping.interface import Damping
from nashdex.learning.damping.schedule import Moment
from nashdex.learning.experience import batching
from nashdex.learning.experience.batching import CPU, Batch
from nashdex.learning.experience.round import Experience, gather
from nashdex.learning.hardware.memory import memory_limited_by
from nashdex.learning.references import Reference, SnapshotReference
from nashdex.learning.updates.clock import Clock
from nashdex.learning.updates.loop import TrainingLoop
from nashdex.learning.updates.optimiser import Rates
from nashdex.oracles.ppo.loss import Targets, make_targets, measure
from nashdex.oracles.ppo.settings import PpoSettings
from nashdex.oracles.ppo.steps import OWN_STEPS, Learner, StepLoss, Steps
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.telemetry import metrics
from nashdex.telemetry.progress import Progress
from nashdex.trajectory.episode import Episode

BETA: Final = "beta_reference"
STEP_SIZE: Final = "learning_rate"
"""Names of the controllers, after what they multiply."""
_SIZE_OF_A_ROUND = "train.oracle.round_battles, and collect.battles, which the first round learns from"
_PROBE_DECISIONS = 4096
"""Decisions on which a round that is not the last one is measured."""


@dataclass(frozen=True)
class RoundLearner:
    """Learns from one round of battles after another: batch, targets, epochs, and the measurements at its end."""

    training: TrainingLoop
    start: SnapshotReference
    """The policy as the training began."""
    reference: Reference | None
    settings: PpoSettings
    clock: Clock
    game: Game
    reward: Reward = "win-loss"
    discount: float = 1.0
    seed: int = 0
    device: torch.device = CPU
    steps: Steps = OWN_STEPS
    warmup_decisions: int = 0
    """Rounds that begin before this many decisions train the critic alone; the last round trains both."""

    @memory_limited_by(_SIZE_OF_A_ROUND)
    def experience(self, episodes: Sequence[Episode], policy: PolicyId) -> Experience:
        """Return what ``policy``, the name of the network in training, did in ``episodes``."""
        network, settings = self.training.network, self.settings
        return gather(
            episodes,
            policy,
            self.game,
            network.space,
            self.reward,
            self.discount,
            self.device,
            remembers=network.remembers,
            predicts_opponent=predicts_opponent(network, settings),
            with_circumstances=ADVANTAGES[settings.advantages.kind].uses_circumstances,
        )

    @memory_limited_by(_SIZE_OF_A_ROUND)
    def targets(self, seen: Experience, behaviour: ActorCritic, acting: ActorCritic | None = None) -> Targets:
        """Return the targets of a round that began with ``behaviour``, and that ``acting`` played.

        Raises:
            DataError: as ``make_targets``.
        """
        targets = make_targets(behaviour, seen, self.settings, self.discount, acting)
        self.training.latest |= targets.measured
        return targets

    def learn(self, seen: Experience, targets: Targets, progress: Progress, *, is_last: bool) -> dict[str, float]:
        """Learn from a round, and return what was measured at its end, on all decisions if it ``is_last``."""
        training = self.training
        improve(
            training,
            seen.batch,
            targets,
            self.reference,
            self.settings,
            self.clock,
            self.seed,
            progress,
            steps=self.steps,
            critic_alone=not is_last and training.num_decisions < self.warmup_decisions,
        )
        rows = slice(None if is_last else _PROBE_DECISIONS)
        summary = self.measure(seen, targets, rows)
        if training.check_round(summary):
            summary = self.measure(seen, targets, rows)
        training.latest["kl_iteration_start"] = summary["kl_iteration_start"]
        return summary

    @memory_limited_by(_SIZE_OF_A_ROUND)
    def measure(self, seen: Experience, targets: Targets, rows: slice) -> dict[str, float]:
        """Return how far the network is, on ``rows`` of the round, from ``start`` and from where the round began."""
        return measure(self.training.network, self.start, seen.batch, targets, rows, self.settings.clip_range)

    def expected_updates(self, batch: Batch) -> int:
        """Return the optimiser steps of the whole training, if all further rounds are like that of ``batch``."""
        training, settings = self.training, self.settings
        num_left = max(len(batch), settings.decisions - training.num_decisions)
        per_round = settings.num_epochs * batch.num_minibatches(settings.step_decisions)
        return training.update - training.round_update + round(per_round * num_left / len(batch))


def predicts_opponent(network: ActorCritic, settings: PpoSettings) -> bool:
    """Say whether the training also learns to predict the opponent's choice: its battles then record both seats."""
    return settings.prediction_coefficient > 0 and network.predicts_opponent


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
    critic_alone: bool = False,
) -> None:
    """Train for ``num_epochs`` over the batch of the loop's round, from wherever in it the loop is.

    With ``critic_alone``, the actor keeps its weights.
    """
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
        if critic_alone:
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
