"""Proximal policy optimisation (Schulman et al. 2017) under damping.

L = L_policy + c_v L_value − c_H H(π) + β_ref KL(π‖ρ) + β_old KL(π‖π_old), every KL exact over the legal actions.
N decisions, T of one episode, A actions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nashdex.core.errors import DataError
from nashdex.core.seeds import derive_seed
from nashdex.policies.masked import entropy, kl_divergence, masked_log_softmax
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.telemetry import metrics
from nashdex.telemetry.progress import Progress
from nashdex.trainer.batch import (
    Batch,
    evaluate,
    explained_variance,
    generalised_advantages,
    mean_over_choices,
    minibatches,
    num_minibatches,
    split_rows,
)
from nashdex.trainer.damping import Coefficients, Controller, ControllerState, Damping
from nashdex.trainer.loop import TrainingLoop
from nashdex.trainer.references import Distribution, Reference
from nashdex.trainer.settings import TrainSettings
from nashdex.trajectory.episode import Episode

_BETA = "beta_reference"
_RATE = "learning_rate"
_MAX_DISAGREEMENT_NATS = 1e-3
"""Between log π as recorded and as computed here. Rounding stays below a tenth of it."""


@dataclass(frozen=True)
class Targets:
    """What PPO adds to the decisions, one a row. Fixed while it trains."""

    advantages: Tensor
    """(N,), normalised over the batch, then clipped."""
    returns: Tensor
    """(N,), what the critic is to say."""
    behaviour: Tensor
    """(N, A), log-probabilities of the policy that acted."""
    start: Tensor
    """(N, A), log-probabilities of the policy that this iteration's training began with."""

    def rows(self, index: Tensor) -> "Targets":
        """Return the rows that ``index`` names."""
        return Targets(self.advantages[index], self.returns[index], self.behaviour[index], self.start[index])


def make_targets(
    network: ActorCritic,
    batch: Batch,
    episodes: Sequence[Episode],
    rewards: Sequence[NDArray[np.float32]],
    settings: TrainSettings,
    start: Distribution | None = None,
) -> Targets:
    """Return advantages and returns by GAE under ``network``, which is the policy that acted.

    ``start`` is the policy that this iteration's training began with, where that is another.

    Raises:
        DataError: the recorded log-probabilities are not those of ``network``.
    """
    log_probs, values = evaluate(network, batch)
    disagreement = (log_probs.gather(1, batch.actions[:, None]).squeeze(1) - batch.log_probs).abs().max().item()
    if not disagreement <= _MAX_DISAGREEMENT_NATS:
        raise DataError(
            f"log-probabilities in the trajectories differ by up to {disagreement:.2g} from the learner's own, "
            f"expected at most {_MAX_DISAGREEMENT_NATS:g}: another policy collected them. Collect the iteration again"
        )
    by_episode = zip(rewards, split_rows(values.cpu().numpy(), episodes), strict=True)
    advantages = torch.from_numpy(
        np.concatenate([generalised_advantages(r, v, settings.discount, settings.gae_lambda) for r, v in by_episode])
    ).to(values.device)
    mean, deviation = advantages.mean(), advantages.std(correction=0)
    normalised = (advantages - mean) / (deviation + 1e-8)
    metrics.ADVANTAGE_MEAN.set(mean.item())
    metrics.ADVANTAGE_DEVIATION.set(deviation.item())
    metrics.ADVANTAGE_CLIP.set((normalised.abs() > settings.advantage_clip).float().mean().item())
    return Targets(
        advantages=normalised.clamp(-settings.advantage_clip, settings.advantage_clip),
        returns=advantages + values,
        behaviour=log_probs,
        start=log_probs if start is None else start.log_probs(batch.observations, batch.masks),
    )


def ppo_loss(
    network: ActorCritic,
    batch: Batch,
    targets: Targets,
    reference: Reference | None,
    coefficients: Coefficients,
    settings: TrainSettings,
) -> tuple[Tensor, dict[str, float]]:
    """Return the loss of a minibatch and what it is made of.

    The policy's and the critic's losses are means over all decisions; entropy and the KLs over those with a choice.
    """
    logits, values = network(batch.observations)
    log_probs = masked_log_softmax(logits, batch.masks)

    ratio = (log_probs.gather(1, batch.actions[:, None]).squeeze(1) - batch.log_probs).exp()
    clipped = ratio.clamp(1 - settings.clip_range, 1 + settings.clip_range)
    policy_loss = -torch.minimum(ratio * targets.advantages, clipped * targets.advantages).mean()
    value_loss = (values - targets.returns).square().mean()

    mean_entropy = mean_over_choices(entropy(log_probs, batch.masks), batch.masks)
    kl_behaviour = mean_over_choices(kl_divergence(log_probs, targets.behaviour, batch.masks), batch.masks)
    kl_start = mean_over_choices(kl_divergence(log_probs.detach(), targets.start, batch.masks), batch.masks)
    loss = (
        policy_loss
        + settings.value_coefficient * value_loss
        - coefficients.entropy * mean_entropy
        + coefficients.beta_old * kl_behaviour
    )
    measured = {
        "policy_loss": policy_loss.item(),
        "value_loss": value_loss.item(),
        "entropy": mean_entropy.item(),
        "kl_behaviour": kl_behaviour.item(),
        "kl_iteration_start": kl_start.item(),
        "beta_reference": coefficients.beta_reference,
        "entropy_coefficient": coefficients.entropy,
        "clip_fraction": mean_over_choices((ratio != clipped).float().detach(), batch.masks).item(),
        "explained_variance": explained_variance(values.detach(), targets.returns),
    }
    if reference is not None:
        kl_reference = mean_over_choices(reference.kl(log_probs, batch.observations, batch.masks), batch.masks)
        loss = loss + coefficients.beta_reference * kl_reference
        measured["kl_reference"] = kl_reference.item()
    return loss, measured


def improve(
    loop: TrainingLoop,
    batch: Batch,
    targets: Targets,
    reference: Reference | None,
    damping: Damping,
    settings: TrainSettings,
    seed: int,
    progress: Progress,
) -> None:
    """Train for ``num_epochs`` over the batch of the loop's round, from wherever in it the loop stands."""
    per_epoch = num_minibatches(len(batch), settings.minibatch_decisions)
    order: tuple[Tensor, ...] = ()
    while loop.round_update < settings.num_epochs * per_epoch:
        epoch, position = divmod(loop.round_update, per_epoch)
        if position == 0 or not order:
            order = minibatches(
                len(batch),
                settings.minibatch_decisions,
                derive_seed(seed, "round", loop.round, "epoch", epoch),
                batch.actions.device,
            )
        rows = order[position]
        multiplier = _multiplier(loop, _BETA)
        coefficients = Coefficients.at(damping, loop.schedule_update, multiplier)
        loss, measured = ppo_loss(loop.network, batch.rows(rows), targets.rows(rows), reference, coefficients, settings)
        if damping.beta_controller is not None:
            measured["beta_multiplier"] = multiplier
        if damping.is_warm(loop.schedule_update):
            _observe(loop, _BETA, damping.beta_controller, measured.get("kl_reference"))
            _observe(loop, _RATE, damping.rate_controller, measured["kl_behaviour"])
        metrics.STALENESS.set(loop.round_update)
        if reference is not None:
            metrics.KL_REFERENCE.set(measured["kl_reference"], reference=reference.kind)
        loop.step(loss, measured, progress, rate_multiplier=_multiplier(loop, _RATE))


def _multiplier(loop: TrainingLoop, name: str) -> float:
    return loop.controllers.get(name, ControllerState()).multiplier


def _observe(loop: TrainingLoop, name: str, controller: Controller | None, kl_nats: float | None) -> None:
    """Tell the controller of ``name`` what was measured, where there is one."""
    if controller is not None and kl_nats is not None:
        loop.controllers[name] = controller.observe(loop.controllers.get(name, ControllerState()), kl_nats)


def measure(network: ActorCritic, batch: Batch, targets: Targets, clip_range: float) -> dict[str, float]:
    """Return how far the trained policy is from where it began, over the whole batch."""
    log_probs, values = evaluate(network, batch)
    ratio = (log_probs.gather(1, batch.actions[:, None]).squeeze(1) - batch.log_probs).exp()
    clipped = ((ratio - 1).abs() > clip_range).float()
    return {
        "entropy": mean_over_choices(entropy(log_probs, batch.masks), batch.masks).item(),
        "entropy_at_start": mean_over_choices(entropy(targets.start, batch.masks), batch.masks).item(),
        "kl_iteration_start": mean_over_choices(
            kl_divergence(log_probs, targets.start, batch.masks), batch.masks
        ).item(),
        "clip_fraction": mean_over_choices(clipped, batch.masks).item(),
        "explained_variance": explained_variance(values, targets.returns),
    }
