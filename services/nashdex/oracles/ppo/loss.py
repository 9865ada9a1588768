"""What PPO computes: its targets, its loss and its measurements. N decisions, A actions."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nashdex.core.errors import DataError
from nashdex.learning import batching, statistics
from nashdex.learning.advantages import generalised_advantages
from nashdex.learning.batching import Batch
from nashdex.learning.damping.interface import Coefficients
from nashdex.learning.experience import Experience
from nashdex.learning.references import Distribution, Reference
from nashdex.oracles.ppo.settings import PpoSettings
from nashdex.policies import masked
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.telemetry import metrics

_MAX_DISAGREEMENT_NATS = 1e-4
"""Between log π as recorded and as computed here: more than rounding."""


@dataclass(frozen=True)
class Targets:
    """What PPO adds to the decisions of a round, one a row. Fixed during the round, in the host's memory."""

    advantages: Tensor
    """(N,), normalised over the batch, then clipped."""
    returns: Tensor
    """(N,), what the critic learns."""
    behaviour: Tensor
    """(N, A), log-probabilities of the policy that played."""

    def rows(self, index: Tensor | slice, device: torch.device) -> "Targets":
        """Return the rows that ``index`` names, on ``device``."""
        return Targets(
            self.advantages[index].to(device), self.returns[index].to(device), self.behaviour[index].to(device)
        )


def make_targets(network: ActorCritic, experience: Experience, settings: PpoSettings, discount: float) -> Targets:
    """Return advantages and returns by GAE under ``network``, the policy that played.

    Raises:
        DataError: the recorded log-probabilities are not those of ``network``.
    """
    batch = experience.batch
    log_probs, values = batching.evaluate(network, batch)
    disagreement = (log_probs.gather(1, batch.actions[:, None]).squeeze(1) - batch.log_probs).abs().max().item()
    if not disagreement <= _MAX_DISAGREEMENT_NATS:
        raise DataError(
            f"log-probabilities in the trajectories differ by up to {disagreement:.2g} from the learner's own, "
            f"expected at most {_MAX_DISAGREEMENT_NATS:g}: another policy collected them. Collect the iteration again"
        )
    by_episode = zip(experience.rewards, experience.split(values.numpy()), strict=True)
    estimates = [generalised_advantages(r, v, discount, settings.gae_lambda) for r, v in by_episode]
    unscaled = torch.from_numpy(np.concatenate(estimates))
    mean, deviation = unscaled.mean(), unscaled.std(correction=0)
    normalised = (unscaled - mean) / (deviation + 1e-8)
    metrics.ADVANTAGE_MEAN.set(mean.item())
    metrics.ADVANTAGE_DEVIATION.set(deviation.item())
    metrics.ADVANTAGE_CLIP.set((normalised.abs() > settings.advantage_clip).float().mean().item())
    return Targets(
        advantages=normalised.clamp(-settings.advantage_clip, settings.advantage_clip),
        returns=unscaled + values,
        behaviour=log_probs,
    )


def ppo_loss(
    network: ActorCritic,
    batch: Batch,
    targets: Targets,
    reference: Reference | None,
    coefficients: Coefficients,
    settings: PpoSettings,
    clip_range: float | None = None,
) -> tuple[Tensor, dict[str, float]]:
    """Return the loss of a minibatch and its parts. ``clip_range`` is that of the settings unless it is annealed.

    The policy's and the critic's losses are means over all decisions; entropy and the KLs over those with a choice.
    """
    epsilon = settings.clip_range if clip_range is None else clip_range
    logits, values, prediction = network.outputs(batch.observations)
    log_probs = masked.masked_log_softmax(logits, batch.masks)

    def over_choices(per_decision: Tensor) -> Tensor:
        return statistics.mean_over_choices(per_decision, batch.masks)

    ratio = (log_probs.gather(1, batch.actions[:, None]).squeeze(1) - batch.log_probs).exp()
    clipped = ratio.clamp(1 - epsilon, 1 + epsilon)
    policy_loss = -torch.minimum(ratio * targets.advantages, clipped * targets.advantages).mean()
    value_loss = (values - targets.returns).square().mean()
    entropy = over_choices(masked.entropy(log_probs, batch.masks))
    kl_behaviour = over_choices(masked.kl_divergence(log_probs, targets.behaviour, batch.masks))
    loss = policy_loss + value_loss - coefficients.entropy * entropy + coefficients.beta_behaviour * kl_behaviour
    measured = {
        "policy_loss": policy_loss.item(),
        "value_loss": value_loss.item(),
        "entropy": entropy.item(),
        "kl_behaviour": kl_behaviour.item(),
        "beta_reference": coefficients.beta_reference,
        "entropy_coefficient": coefficients.entropy,
        "clip_fraction": over_choices((ratio != clipped).float().detach()).item(),
        "explained_variance": statistics.explained_variance(values.detach(), targets.returns),
    }
    if reference is not None:
        kl_reference = over_choices(reference.kl(log_probs, batch.observations, batch.masks))
        loss = loss + coefficients.beta_reference * kl_reference
        measured["kl_reference"] = kl_reference.item()
    if prediction is not None and batch.opponent_choices is not None and settings.prediction_coefficient:
        prediction_loss = statistics.cross_entropy(prediction, batch.opponent_choices)
        loss = loss + settings.prediction_coefficient * prediction_loss
        measured["prediction_loss"] = prediction_loss.item()
    return loss, measured


def critic_loss(network: ActorCritic, batch: Batch, targets: Targets) -> tuple[Tensor, dict[str, float]]:
    """Return the loss of the critic alone, and its parts."""
    values = network.values(batch.observations)
    loss = (values - targets.returns).square().mean()
    explained = statistics.explained_variance(values.detach(), targets.returns)
    return loss, {"value_loss": loss.item(), "explained_variance": explained}


def measure(
    network: ActorCritic, start: Distribution, batch: Batch, targets: Targets, rows: slice, clip_range: float
) -> dict[str, float]:
    """Return how far the policy is, on ``rows``, from ``start``, where it began, and from the one that played them."""
    batch, targets = batch.rows(rows), targets.rows(rows, batch.device)
    log_probs, values = batching.evaluate(network, batch)
    start_log_probs = batching.log_probs(start, batch)

    def over_choices(per_decision: Tensor) -> float:
        return statistics.mean_over_choices(per_decision, batch.masks).item()

    ratio = (log_probs.gather(1, batch.actions[:, None]).squeeze(1) - batch.log_probs).exp()
    return {
        "entropy": over_choices(masked.entropy(log_probs, batch.masks)),
        "entropy_at_start": over_choices(masked.entropy(start_log_probs, batch.masks)),
        "kl_iteration_start": over_choices(masked.kl_divergence(log_probs, start_log_probs, batch.masks)),
        "clip_fraction": over_choices(((ratio - 1).abs() > clip_range).float()),
        "explained_variance": statistics.explained_variance(values, targets.returns),
    }
