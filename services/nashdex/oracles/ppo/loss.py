"""What PPO computes: its targets, its loss and its measurements. N decisions, A actions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, TypeAlias

import torch
from torch import Tensor

from nashdex.learning.advantages import ADVANTAGES, Trajectory
from nashdex.learning.damping import Coefficients
from nashdex.learning.experience import batching
from nashdex.learning.experience.batching import WHOLE, Batch, Shares
from nashdex.learning.experience.round import Experience
from nashdex.learning.feature_rank import measured_rank
from nashdex.learning.hardware import Forward
from nashdex.learning.references import Distribution, Reference
from nashdex.policies import masked
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.policies.networks.values import expected, value_loss
from nashdex.settings.ppo import PpoSettings
from nashdex.telemetry import metrics

ADVANTAGE_CLIP: Final = 5.0
"""Bound of a normalised advantage. Less than one in a million exceeds it if advantages are normally distributed."""

PREDICTION_COEFFICIENT: Final = 0.1
"""Weight of predicting the opponent's choice: large enough to shape the encoders, too small to dominate them."""

Evaluate: TypeAlias = Callable[[ActorCritic, Batch], tuple[Tensor, Tensor]]
"""Returns log-probabilities and values, as ``batching.evaluate`` does."""

_MEASURED: Final = "measured/"


@dataclass(frozen=True)
class Targets:
    """Advantages and other targets of a round's decisions, one row each. Fixed for the round, in the host's memory."""

    advantages: Tensor
    """(N,), normalised over the decisions that have one, then clipped."""
    returns: Tensor | None
    """(N,), the critic's targets; None if no critic learns."""
    log_probs_at_start: Tensor
    """(N, A), log-probabilities of the policy that the round began with."""
    measured: Mapping[str, float] = field(default_factory=dict)
    """Measurements of the advantage estimator, by name."""

    def rows(self, index: Tensor | slice, device: torch.device) -> "Targets":
        """Return the rows that ``index`` names, on ``device``."""
        rows: dict[str, Any] = {name: tensor[index].to(device) for name, tensor in self._by_decision().items()}
        return replace(self, **rows)

    def tensors(self) -> dict[str, Tensor]:
        """Return tensors by name, from which ``of_tensors`` restores the targets."""
        measured = {
            f"{_MEASURED}{name}": torch.tensor(value, dtype=torch.float64) for name, value in self.measured.items()
        }
        return self._by_decision() | measured

    def _by_decision(self) -> dict[str, Tensor]:
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in named.items() if isinstance(value, Tensor)}

    @classmethod
    def of_tensors(cls, tensors: Mapping[str, Tensor]) -> "Targets":
        """Restore targets from their ``tensors``; other entries are ignored."""
        measured = {k.removeprefix(_MEASURED): v.item() for k, v in tensors.items() if k.startswith(_MEASURED)}
        named: dict[str, Any] = {each.name: tensors.get(each.name) for each in fields(cls)}
        return cls(**named | {"measured": measured})

    def ratios(self, log_probs: Tensor, batch: Batch) -> Tensor:
        """Return each executed action's probability divided by its probability when the round began, (N,).

        The recorded probability would not do: its rounding depends on the other decisions in an actor's batch.
        """
        return (_of_actions(log_probs, batch) - _of_actions(self.log_probs_at_start, batch)).exp()


def _of_actions(log_probs: Tensor, batch: Batch) -> Tensor:
    """Return log π (N,) of the executed actions, for log π (N, A)."""
    return log_probs.gather(1, batch.actions[:, None]).squeeze(1)


def make_targets(
    network: ActorCritic,
    experience: Experience,
    settings: PpoSettings,
    discount: float,
    acting: ActorCritic | None = None,
    evaluate: Evaluate = batching.evaluate,
) -> Targets:
    """Return advantages and returns by the settings' estimator, under ``network``, the learner as the round begins.

    Importance ratios are computed from the probabilities of ``acting``, the network that played: the recorded ones
    differ in the last digits with the inference batches of whoever played. Where several versions played, ``acting`` is
    None, and the recorded ones count.
    """
    batch, estimator = experience.batch, ADVANTAGES[settings.advantages.kind]
    log_probs, values = evaluate(network, batch)
    acted = batch.log_probs
    if acting is not None:
        acted = _of_actions(log_probs if acting is network else evaluate(acting, batch)[0], batch)
    log_ratios = _of_actions(log_probs, batch) - acted
    circumstances = experience.circumstances or (None,) * len(experience.rewards)
    by_episode = zip(
        experience.rewards,
        experience.split(values.numpy()),
        experience.split(log_ratios.numpy()),
        circumstances,
        strict=True,
    )
    estimates = estimator.estimate([Trajectory(*one) for one in by_episode], discount, settings.advantages)
    unscaled = torch.from_numpy(estimates.advantages)
    counted = unscaled if estimates.counts is None else unscaled[torch.from_numpy(estimates.counts)]
    mean, deviation = _moments(counted)
    normalised = (unscaled - mean) / (deviation + 1e-8)
    if estimates.counts is not None:
        normalised = normalised * torch.from_numpy(estimates.counts)
    metrics.ADVANTAGE_MEAN.set(mean.item())
    metrics.ADVANTAGE_DEVIATION.set(deviation.item())
    metrics.ADVANTAGE_CLIP.set((normalised.abs() > ADVANTAGE_CLIP).float().mean().item())
    return Targets(
        advantages=normalised.clamp(-ADVANTAGE_CLIP, ADVANTAGE_CLIP),
        returns=None if estimates.returns is None else torch.from_numpy(estimates.returns),
        log_probs_at_start=log_probs,
        measured=estimates.measured,
    )


def _moments(advantages: Tensor) -> tuple[Tensor, Tensor]:
    """Return mean and standard deviation; 0 and 1 if there are no advantages."""
    if not len(advantages):
        return torch.tensor(0.0), torch.tensor(1.0)
    return advantages.mean(), advantages.std(correction=0)


def ppo_loss(
    network: Forward,
    batch: Batch,
    targets: Targets,
    reference: Reference | None,
    coefficients: Coefficients,
    settings: PpoSettings,
    shares: Shares = WHOLE,
) -> tuple[Tensor, dict[str, float]]:
    """Return the loss of a minibatch and its parts, which make the training's curve; ``measure`` makes its summary.

    The policy's and the critic's losses are means over all decisions; entropy and the KLs over those with a choice.
    With ``shares``, the result is the minibatch's part of the means over a whole optimiser step.
    """
    measured_critic: dict[str, float] = {}
    if targets.returns is None:
        logits, prediction = network.logits_and_prediction(batch.observations)
        critic = logits.new_zeros(())
    else:
        logits, value_outputs, prediction = network.outputs(batch.observations)
        critic, measured_critic = _critic_loss(value_outputs, targets.returns, shares)
    log_probs = masked.masked_log_softmax(logits, batch.masks)

    def over_choices(per_decision: Tensor) -> Tensor:
        return shares.choices * batching.mean_over_choices(per_decision, batch.masks)

    ratio = targets.ratios(log_probs, batch)
    clipped = ratio.clamp(1 - settings.clip_range, 1 + settings.clip_range)
    surrogate = torch.minimum(ratio * targets.advantages, clipped * targets.advantages)
    policy_loss = -shares.decisions * surrogate.mean()
    entropy = over_choices(masked.entropy(log_probs, batch.masks))
    kl_round_start = over_choices(masked.kl_divergence(log_probs, targets.log_probs_at_start, batch.masks))
    loss = policy_loss + critic - coefficients.entropy * entropy
    measured = {
        "policy_loss": policy_loss.item(),
        "entropy": entropy.item(),
        "kl_round_start": kl_round_start.item(),
        "beta_reference": shares.decisions * coefficients.beta_reference,
        "entropy_coefficient": shares.decisions * coefficients.entropy,
        "clip_fraction": over_choices((ratio != clipped).float().detach()).item(),
        **measured_critic,
    }
    if reference is not None:
        kl_reference = over_choices(reference.kl(log_probs, batch.observations, batch.masks))
        loss = loss + coefficients.beta_reference * kl_reference
        measured["kl_reference"] = kl_reference.item()
    if prediction is not None and batch.opponent_choices is not None:
        prediction_loss = shares.labels * batching.cross_entropy(prediction, batch.opponent_choices)
        loss = loss + PREDICTION_COEFFICIENT * prediction_loss
        measured["prediction_loss"] = prediction_loss.item()
    return loss, measured


def critic_loss(
    network: Forward, batch: Batch, targets: Targets, shares: Shares = WHOLE
) -> tuple[Tensor, dict[str, float]]:
    """Return the loss of the critic alone, and its parts; with ``shares``, as ``ppo_loss``."""
    assert targets.returns is not None, "settings refuse a critic's warm-up where no critic learns"
    return _critic_loss(network.value_outputs(batch.observations), targets.returns, shares)


def _critic_loss(outputs: Tensor, returns: Tensor, shares: Shares) -> tuple[Tensor, dict[str, float]]:
    loss = shares.decisions * value_loss(outputs, returns)
    explained = shares.decisions * batching.explained_variance(expected(outputs.detach()), returns)
    return loss, {"value_loss": loss.item(), "explained_variance": explained}


def measure(
    network: ActorCritic, start: Distribution, batch: Batch, targets: Targets, rows: slice, clip_range: float
) -> dict[str, float]:
    """Return how far the policy is, on ``rows``, from ``start`` and from the policy that the round began with.

    The networks compute on the batch's device, a chunk at a time; results are compared in the host's memory.
    """
    batch, targets = batch.part(rows), targets.rows(rows, batching.CPU)
    with measured_rank(network.value_layer) as rank:
        log_probs, values = batching.evaluate(network, batch)
    start_log_probs = batching.log_probs(start, batch)

    def over_choices(per_decision: Tensor) -> float:
        return batching.mean_over_choices(per_decision, batch.masks).item()

    ratio = targets.ratios(log_probs, batch)
    measured = {
        "entropy": over_choices(masked.entropy(log_probs, batch.masks)),
        "entropy_at_start": over_choices(masked.entropy(start_log_probs, batch.masks)),
        "kl_iteration_start": over_choices(masked.kl_divergence(log_probs, start_log_probs, batch.masks)),
        "kl_round_start": over_choices(masked.kl_divergence(log_probs, targets.log_probs_at_start, batch.masks)),
        "clip_fraction": over_choices(((ratio - 1).abs() > clip_range).float()),
        **targets.measured,
    }
    if targets.returns is not None:
        measured["explained_variance"] = batching.explained_variance(values, targets.returns)
        if (found := rank()) is not None:
            measured["critic_rank"] = found
    return measured
