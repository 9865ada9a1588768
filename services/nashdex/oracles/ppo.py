"""Proximal policy optimisation (Schulman et al. 2017) under damping.

L = L_policy + c_v L_value − c_H H(π) + β_ref KL(π‖ρ) + β_behaviour KL(π‖π_behaviour), every KL exact over the legal
actions. ρ is the reference of the damping preset; π_behaviour is the policy that played the round.
N decisions, T of one episode, A actions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from nashdex.core.errors import DataError
from nashdex.core.lazy import LazyModule
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.section import Choice
from nashdex.core.seeds import derive_seed
from nashdex.core.steps import StepName
from nashdex.learning.damping.controller import Controller, ControllerState
from nashdex.learning.damping.settings import DampingSettings
from nashdex.metagame.opponents.registry import OPPONENT_RULES
from nashdex.oracles.interface import Oracle, Task, Trained
from nashdex.store.attempt import find_manifest
from nashdex.store.documents import read_written
from nashdex.telemetry import metrics
from nashdex.telemetry.progress import Progress

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from nashdex.learning import advantages, batching, data, loop, references, rounds, statistics
    from nashdex.learning.batching import Batch
    from nashdex.learning.damping.interface import Coefficients
    from nashdex.learning.loop import TrainingLoop
    from nashdex.learning.references import Distribution, Reference
    from nashdex.policies import archive, masked
    from nashdex.policies.networks.actor_critic import ActorCritic
    from nashdex.settings.run import RunSettings
    from nashdex.trajectory.episode import Episode
else:  # imported when training begins
    torch = LazyModule("torch")
    advantages = LazyModule("nashdex.learning.advantages")
    batching = LazyModule("nashdex.learning.batching")
    data = LazyModule("nashdex.learning.data")
    loop = LazyModule("nashdex.learning.loop")
    references = LazyModule("nashdex.learning.references")
    rounds = LazyModule("nashdex.learning.rounds")
    statistics = LazyModule("nashdex.learning.statistics")
    archive = LazyModule("nashdex.policies.archive")
    masked = LazyModule("nashdex.policies.masked")


class PpoSettings(Choice):
    """Proximal policy optimisation of a network, under damping."""

    kind: Literal["ppo"] = "ppo"
    start: Literal["newest", "clone"] = Field(
        "newest",
        description="Whose weights an iteration starts from: the newest network, or always the first iteration's, "
        "which still tries every action. A nearly deterministic network may not find another response.",
    )
    rounds: int = Field(
        1,
        ge=1,
        le=10_000,
        description="Rounds an iteration. The first learns from the collected battles; each further one plays battles "
        "with the newest weights, in the training process.",
    )
    round_battles: int = Field(1000, ge=2, le=10_000_000, description="Battles of each further round.")
    num_epochs: int = Field(4, ge=1, le=1000, description="Passes over the decisions of a round.")
    minibatch_decisions: int = Field(512, ge=1, description="Decisions an optimiser step.")
    learning_rate: float = Field(1e-4, gt=0, le=1, description="Adam's step size.")
    clip_range: float = Field(0.2, gt=0, le=1, description="ε, by which a ratio may differ from 1.")
    gae_lambda: float = Field(0.95, ge=0, le=1, description="λ of generalised advantage estimation.")
    value_coefficient: float = Field(0.5, ge=0, description="Weight of the critic's loss.")
    advantage_clip: float = Field(5.0, gt=0, description="Bound of a normalised advantage.")
    max_gradient_norm: float = Field(
        0.5, gt=0, description="Global norm that the actor's and the critic's gradient are scaled down to."
    )
    damping: DampingSettings = Field(
        default_factory=DampingSettings, description="A damping preset, and overrides of its values."
    )


BETA: Final = "beta_reference"
STEP_SIZE: Final = "learning_rate"
"""Names of the controllers, after what they multiply."""
_MAX_DISAGREEMENT_NATS = 1e-3
"""Between log π as recorded and as computed here. Rounding stays below a tenth of it."""


@dataclass(frozen=True)
class Targets:
    """What PPO adds to the decisions of a round, one a row. Fixed during the round."""

    advantages: Tensor
    """(N,), normalised over the batch, then clipped."""
    returns: Tensor
    """(N,), what the critic learns."""
    behaviour: Tensor
    """(N, A), log-probabilities of the policy that played."""
    start: Tensor
    """(N, A), log-probabilities of the policy at the start of the iteration."""

    def rows(self, index: Tensor) -> Targets:
        """Return the rows that ``index`` names."""
        return Targets(self.advantages[index], self.returns[index], self.behaviour[index], self.start[index])


def make_targets(
    network: ActorCritic,
    batch: Batch,
    episodes: Sequence[Episode],
    rewards: Sequence[NDArray[np.float32]],
    settings: PpoSettings,
    discount: float,
    start: Distribution | None = None,
) -> Targets:
    """Return advantages and returns by GAE under ``network``, the policy that played.

    ``start`` is the policy at the start of the iteration, where that is another one.

    Raises:
        DataError: the recorded log-probabilities are not those of ``network``.
    """
    log_probs, values = batching.evaluate(network, batch)
    disagreement = (log_probs.gather(1, batch.actions[:, None]).squeeze(1) - batch.log_probs).abs().max().item()
    if not disagreement <= _MAX_DISAGREEMENT_NATS:
        raise DataError(
            f"log-probabilities in the trajectories differ by up to {disagreement:.2g} from the learner's own, "
            f"expected at most {_MAX_DISAGREEMENT_NATS:g}: another policy collected them. Collect the iteration again"
        )
    by_episode = zip(rewards, advantages.split_rows(values.cpu().numpy(), episodes), strict=True)
    estimates = [advantages.generalised_advantages(r, v, discount, settings.gae_lambda) for r, v in by_episode]
    unscaled = torch.from_numpy(np.concatenate(estimates)).to(values.device)
    mean, deviation = unscaled.mean(), unscaled.std(correction=0)
    normalised = (unscaled - mean) / (deviation + 1e-8)
    metrics.ADVANTAGE_MEAN.set(mean.item())
    metrics.ADVANTAGE_DEVIATION.set(deviation.item())
    metrics.ADVANTAGE_CLIP.set((normalised.abs() > settings.advantage_clip).float().mean().item())
    return Targets(
        advantages=normalised.clamp(-settings.advantage_clip, settings.advantage_clip),
        returns=unscaled + values,
        behaviour=log_probs,
        start=log_probs if start is None else start.log_probs(batch.observations, batch.masks),
    )


def ppo_loss(
    network: ActorCritic,
    batch: Batch,
    targets: Targets,
    reference: Reference | None,
    coefficients: Coefficients,
    settings: PpoSettings,
) -> tuple[Tensor, dict[str, float]]:
    """Return the loss of a minibatch and its parts.

    The policy's and the critic's losses are means over all decisions; entropy and the KLs over those with a choice.
    """
    logits, values = network(batch.observations)
    log_probs = masked.masked_log_softmax(logits, batch.masks)

    def over_choices(per_decision: Tensor) -> Tensor:
        return statistics.mean_over_choices(per_decision, batch.masks)

    ratio = (log_probs.gather(1, batch.actions[:, None]).squeeze(1) - batch.log_probs).exp()
    clipped = ratio.clamp(1 - settings.clip_range, 1 + settings.clip_range)
    policy_loss = -torch.minimum(ratio * targets.advantages, clipped * targets.advantages).mean()
    value_loss = (values - targets.returns).square().mean()
    entropy = over_choices(masked.entropy(log_probs, batch.masks))
    kl_behaviour = over_choices(masked.kl_divergence(log_probs, targets.behaviour, batch.masks))
    kl_start = over_choices(masked.kl_divergence(log_probs.detach(), targets.start, batch.masks))
    loss = (
        policy_loss
        + settings.value_coefficient * value_loss
        - coefficients.entropy * entropy
        + coefficients.beta_behaviour * kl_behaviour
    )
    measured = {
        "policy_loss": policy_loss.item(),
        "value_loss": value_loss.item(),
        "entropy": entropy.item(),
        "kl_behaviour": kl_behaviour.item(),
        "kl_iteration_start": kl_start.item(),
        "beta_reference": coefficients.beta_reference,
        "entropy_coefficient": coefficients.entropy,
        "clip_fraction": over_choices((ratio != clipped).float().detach()).item(),
        "explained_variance": statistics.explained_variance(values.detach(), targets.returns),
    }
    if reference is not None:
        kl_reference = over_choices(reference.kl(log_probs, batch.observations, batch.masks))
        loss = loss + coefficients.beta_reference * kl_reference
        measured["kl_reference"] = kl_reference.item()
    return loss, measured


def improve(
    training: TrainingLoop,
    batch: Batch,
    targets: Targets,
    reference: Reference | None,
    settings: PpoSettings,
    seed: int,
    progress: Progress,
) -> None:
    """Train for ``num_epochs`` over the batch of the loop's round, from wherever in it the loop is."""
    damping = settings.damping
    per_epoch = batching.num_minibatches(len(batch), settings.minibatch_decisions)
    order: tuple[Tensor, ...] = ()
    while training.round_update < settings.num_epochs * per_epoch:
        epoch, position = divmod(training.round_update, per_epoch)
        if position == 0 or not order:
            order_seed = derive_seed(seed, "round", training.round, "epoch", epoch)
            order = batching.minibatches(len(batch), settings.minibatch_decisions, order_seed, batch.actions.device)
        rows = order[position]
        multiplier = _multiplier(training, BETA)
        coefficients = damping.coefficients(training.schedule_update, multiplier)
        loss, measured = ppo_loss(
            training.network, batch.rows(rows), targets.rows(rows), reference, coefficients, settings
        )
        if damping.beta.controller.is_on:
            measured["beta_multiplier"] = multiplier
        if damping.is_warm(training.schedule_update):
            _observe(training, BETA, damping.beta.controller, measured.get("kl_reference"))
            _observe(training, STEP_SIZE, damping.step_size.controller, measured["kl_behaviour"])
        metrics.STALENESS.set(training.round_update)
        if reference is not None:
            metrics.KL_REFERENCE.set(measured["kl_reference"], reference=reference.kind)
        training.step(loss, measured, progress, rate_multiplier=_multiplier(training, STEP_SIZE))


def _multiplier(training: TrainingLoop, name: str) -> float:
    return training.controllers.get(name, ControllerState()).multiplier


def _observe(training: TrainingLoop, name: str, controller: Controller, kl_nats: float | None) -> None:
    """Give the controller of ``name``, if it is on, a measured KL."""
    if controller.is_on and kl_nats is not None:
        training.controllers[name] = controller.observe(training.controllers.get(name, ControllerState()), kl_nats)


def measure(network: ActorCritic, batch: Batch, targets: Targets, clip_range: float) -> dict[str, float]:
    """Return how far the trained policy is from where it began, over the whole batch."""
    log_probs, values = batching.evaluate(network, batch)

    def over_choices(per_decision: Tensor) -> float:
        return statistics.mean_over_choices(per_decision, batch.masks).item()

    ratio = (log_probs.gather(1, batch.actions[:, None]).squeeze(1) - batch.log_probs).exp()
    return {
        "entropy": over_choices(masked.entropy(log_probs, batch.masks)),
        "entropy_at_start": over_choices(masked.entropy(targets.start, batch.masks)),
        "kl_iteration_start": over_choices(masked.kl_divergence(log_probs, targets.start, batch.masks)),
        "clip_fraction": over_choices(((ratio - 1).abs() > clip_range).float()),
        "explained_variance": statistics.explained_variance(values, targets.returns),
    }


def train(task: Task, settings: PpoSettings) -> Trained:
    """Improve the plan's learner, in as many rounds as the settings say."""
    run, shared = task.settings, task.settings.train
    device = data.prepare_torch(shared.device, shared.num_threads)
    collected = data.collected(
        task.store,
        task.game,
        task.plan,
        num_shards=run.collect.shards,
        shard=task.shard,
        attempt=task.attempt,
    )
    network = archive.load_network(task.store, task.plan.learner, collected.space).to(device)
    # Both copy the loaded weights, before a checkpoint may replace them.
    start = references.SnapshotReference(network, task.plan.learner)
    reference = references.make_reference(task.store, task.plan, settings.damping, network, start)
    before = _updates_before(task)
    training = loop.TrainingLoop(
        network,
        loop.LoopSettings(
            settings.damping.learning_rate(settings.learning_rate),
            settings.max_gradient_norm,
            shared.checkpoint_every_updates,
            before if settings.damping.clock == "run" else 0,
        ),
        collected.checkpoints,
        reference=reference,
    )
    num_decisions, summary = collected.num_decisions, dict[str, float]()
    total = settings.rounds * _updates_of_round(num_decisions, settings)
    with (
        rounds.Rounds(task.store, run, task.game, task.plan, task.shard, settings.round_battles) as further,
        Progress(StepName.TRAIN, task.shard, total, "updates", done=training.update) as progress,
    ):
        for number in range(training.round, settings.rounds):
            if number > training.round:
                training.begin_round(number, summary["entropy"], num_decisions)
            behaviour = training.network_of_round() if number else start.network
            episodes = further.play(number, behaviour) if number else collected.episodes
            batch = batching.make_batch(episodes, device)
            rewards = collected.rewards(episodes, shared.reward, shared.discount)
            targets = make_targets(
                behaviour, batch, episodes, rewards, settings, shared.discount, start if number else None
            )
            num_left = (settings.rounds - number) * _updates_of_round(len(batch), settings)
            progress.expect(training.update - training.round_update + num_left)
            improve(training, batch, targets, reference, settings, task.seed, progress)
            summary = measure(network, batch, targets, settings.clip_range)
            if training.check_final(summary):
                summary = measure(network, batch, targets, settings.clip_range)
            num_decisions = training.num_decisions + len(batch)
    return Trained(
        policy=network,
        summary=summary,
        curve=training.curve.with_newest(),
        num_updates=training.update,
        num_run_updates=before + training.update,
        num_decisions=num_decisions,
        rollbacks=training.rollbacks,
        preset=settings.damping.preset,
        reference=reference.source if reference else "none",
        when_stored=collected.checkpoints.clear,
    )


def _updates_of_round(num_decisions: int, settings: PpoSettings) -> int:
    return settings.num_epochs * batching.num_minibatches(num_decisions, settings.minibatch_decisions)


def _updates_before(task: Task) -> int:
    """Return the number of optimiser steps that the run took before this iteration, along this shard."""
    if task.plan.iteration == 0:
        return 0
    manifest = find_manifest(task.store, task.plan.iteration - 1, StepName.TRAIN, task.shard)
    if manifest is None:
        return 0
    return read_written(task.store, manifest, TRAINING_RESULT, TrainingResult).num_run_updates


def problems(settings: PpoSettings, run: RunSettings) -> Iterator[str]:
    """Yield settings that have no effect together."""
    if settings.rounds == 1 and settings.round_battles != PpoSettings.model_fields["round_battles"].default:
        yield "train.oracle.round_battles has no effect with train.oracle.rounds = 1: leave it out"
    if settings.start == "clone" and OPPONENT_RULES[run.opponents.kind].needs_newest:
        yield (
            f"train.oracle.start 'clone' makes opponents {run.opponents.kind!r} start over in each iteration; expected "
            "'newest', or other opponents"
        )


PPO = Oracle(
    settings=PpoSettings,
    summary="improves a network against the opponents by PPO; the first iteration trains it by `train.first`",
    train=train,
    makes="network",
    plays="learner",
    improves=True,
    problems=problems,
    learner=lambda settings: "newest" if settings.start == "newest" else "first",
    metrics={
        "policy_loss": "clipped surrogate loss of the actor",
        "value_loss": "mean squared error of the critic",
        "entropy": "entropy of the policy over decisions with a choice, nats",
        "entropy_at_start": "the same at the start of the iteration, nats",
        "kl_behaviour": "KL from the policy that played the round, nats",
        "kl_reference": "KL from the reference, nats",
        "kl_iteration_start": "KL from the policy at the start of the iteration, nats",
        "beta_reference": "coefficient of the reference KL",
        "beta_multiplier": "the part of it that the controller sets",
        "entropy_coefficient": "coefficient of the entropy bonus",
        "clip_fraction": "share of decisions whose ratio is clipped",
        "explained_variance": "share of the variance of returns that the critic explains",
        "gradient_norm": "global norm of the gradient before it is scaled down",
        "learning_rate": "step size of the optimiser",
    },
)
