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
from nashdex.core.settings import TrainSettings
from nashdex.policies.masked import entropy, kl_divergence, masked_log_softmax
from nashdex.policies.network import ActorCritic
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
from nashdex.trainer.damping import Damping, SnapshotReference
from nashdex.trainer.loop import TrainingLoop
from nashdex.trajectory.episode import Episode

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
) -> Targets:
    """Return advantages and returns by GAE under ``network``, which is both the start and the policy that acted.

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
    normalised = (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)
    return Targets(
        advantages=normalised.clamp(-settings.advantage_clip, settings.advantage_clip),
        returns=advantages + values,
        behaviour=log_probs,
        start=log_probs,
    )


@dataclass(frozen=True)
class Coefficients:
    """The weights of one update's losses."""

    beta_reference: float
    beta_old: float
    entropy: float

    @staticmethod
    def at(damping: Damping, update: int) -> "Coefficients":
        """Return the coefficients of optimiser step ``update``."""
        return Coefficients(damping.beta_reference.at(update), damping.beta_old.at(update), damping.entropy.at(update))


def ppo_loss(
    network: ActorCritic,
    batch: Batch,
    targets: Targets,
    reference: SnapshotReference | None,
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
        rho = reference.log_probs(batch.observations, batch.masks)
        kl_reference = mean_over_choices(kl_divergence(log_probs, rho, batch.masks), batch.masks)
        loss = loss + coefficients.beta_reference * kl_reference
        measured["kl_reference"] = kl_reference.item()
    return loss, measured


def improve(
    loop: TrainingLoop,
    batch: Batch,
    targets: Targets,
    reference: SnapshotReference | None,
    damping: Damping,
    settings: TrainSettings,
    seed: int,
    progress: Progress,
) -> None:
    """Train for ``num_epochs`` over the batch, from wherever the loop stands."""
    per_epoch = num_minibatches(len(batch), settings.minibatch_decisions)
    order: tuple[Tensor, ...] = ()
    while loop.update < settings.num_epochs * per_epoch:
        epoch, position = divmod(loop.update, per_epoch)
        if position == 0 or not order:
            order = minibatches(
                len(batch), settings.minibatch_decisions, derive_seed(seed, "epoch", epoch), batch.actions.device
            )
        rows = order[position]
        coefficients = Coefficients.at(damping, loop.update)
        loss, measured = ppo_loss(loop.network, batch.rows(rows), targets.rows(rows), reference, coefficients, settings)
        loop.step(loss, measured, progress)


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
