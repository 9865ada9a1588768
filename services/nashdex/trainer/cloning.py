"""Behaviour cloning: the first policy learns to act as the teacher did, and its critic what that is worth.

The loss is masked cross-entropy over the decisions with a choice. Battles, not decisions, are held out: decisions of
one battle are too alike. The epoch with the least validation loss is kept; then the critic alone learns, by squared
error, for a few epochs: it begins to know battles by heart long before the actor does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nashdex.core.errors import DataError
from nashdex.core.seeds import derive_seed
from nashdex.policies.masked import masked_log_softmax
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.telemetry.progress import Progress
from nashdex.trainer.batch import (
    Batch,
    discounted_returns,
    evaluate,
    explained_variance,
    make_batch,
    mean_over_choices,
    minibatches,
    num_minibatches,
)
from nashdex.trainer.loop import TrainingLoop
from nashdex.trainer.settings import TrainSettings
from nashdex.trajectory.episode import Episode

_BEST = "best"
_BEST_LOSS = "best_loss"


@dataclass(frozen=True)
class Lesson:
    """Decisions of the teacher and what they came to, (N,)."""

    batch: Batch
    returns: Tensor


def make_lessons(
    episodes: Sequence[Episode],
    rewards: Sequence[NDArray[np.float32]],
    settings: TrainSettings,
    seed: int,
    device: torch.device,
) -> tuple[Lesson, Lesson]:
    """Return what to learn from and what to judge by, split by battle.

    Raises:
        DataError: there are fewer than two battles.
    """
    battles = sorted({episode.seed for episode in episodes})
    if len(battles) < 2:  # noqa: PLR2004 - one for each side of the split
        raise DataError(f"cloning needs two battles to hold one out, and got {len(battles)}; collect more")
    num_held_out = min(max(1, round(settings.cloning.validation_share * len(battles))), len(battles) - 1)
    shuffled = np.random.default_rng(derive_seed(seed, "split")).permutation(len(battles))
    held_out = {battles[i] for i in shuffled[:num_held_out]}

    def lesson(*, validation: bool) -> Lesson:
        chosen = [i for i, episode in enumerate(episodes) if (episode.seed in held_out) == validation]
        returns = np.concatenate([discounted_returns(rewards[i], settings.discount) for i in chosen])
        return Lesson(make_batch([episodes[i] for i in chosen], device), torch.from_numpy(returns).to(device))

    return lesson(validation=False), lesson(validation=True)


def num_updates(lesson: Lesson, settings: TrainSettings) -> int:
    """Return how many optimiser steps cloning takes."""
    cloning = settings.cloning
    epochs = cloning.num_epochs + cloning.critic_warmup_epochs
    return epochs * num_minibatches(len(lesson.batch), cloning.minibatch_decisions)


def clone(
    loop: TrainingLoop,
    lesson: Lesson,
    validation: Lesson,
    settings: TrainSettings,
    seed: int,
    progress: Progress,
) -> dict[str, float]:
    """Train from wherever the loop stands and return the validation's final values."""
    cloning = settings.cloning
    per_epoch = num_minibatches(len(lesson.batch), cloning.minibatch_decisions)
    total = num_updates(lesson, settings)
    order: tuple[Tensor, ...] = ()
    while True:
        epoch, position = divmod(loop.update, per_epoch)
        if position == 0:
            if 0 < epoch <= cloning.num_epochs:
                _judge(loop, validation)
            if epoch == cloning.num_epochs:
                loop.restore(_BEST)
        if loop.update >= total:
            break
        if position == 0 or not order:
            order = minibatches(
                len(lesson.batch),
                cloning.minibatch_decisions,
                derive_seed(seed, "epoch", epoch),
                lesson.batch.actions.device,
            )
        rows = order[position]
        if epoch < cloning.num_epochs:
            loss, measured = _actor_loss(loop.network, lesson.batch.rows(rows))
        else:
            loss, measured = _critic_loss(loop.network, lesson.batch.observations[rows], lesson.returns[rows])
        loop.step(loss, measured, progress)
    return measure(loop.network, validation)


def _judge(loop: TrainingLoop, validation: Lesson) -> None:
    """Measure the epoch that just ended, and keep it if it is the best."""
    loop.latest.update(measure(loop.network, validation))
    if loop.latest["validation_loss"] < loop.marks.get(_BEST_LOSS, float("inf")):
        loop.marks[_BEST_LOSS] = loop.latest["validation_loss"]
        loop.keep(_BEST)


def _actor_loss(network: ActorCritic, batch: Batch) -> tuple[Tensor, dict[str, float]]:
    cross_entropy, accuracy = _imitation(masked_log_softmax(network.logits(batch.observations), batch.masks), batch)
    return cross_entropy, {"loss": cross_entropy.item(), "accuracy": accuracy.item()}


def _critic_loss(network: ActorCritic, observations: Tensor, returns: Tensor) -> tuple[Tensor, dict[str, float]]:
    values = network.values(observations)
    loss = (values - returns).square().mean()
    explained = explained_variance(values.detach(), returns)
    return loss, {"value_loss": loss.item(), "explained_variance": explained}


def _imitation(log_probs: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return cross-entropy to the teacher's actions and the share of them that is the likeliest."""
    surprise = -log_probs.gather(1, batch.actions[:, None]).squeeze(1)
    hit = (log_probs.argmax(dim=1) == batch.actions).float()
    return mean_over_choices(surprise, batch.masks), mean_over_choices(hit, batch.masks)


def measure(network: ActorCritic, validation: Lesson) -> dict[str, float]:
    """Return how well ``network`` foretells the teacher's held-out actions and results."""
    log_probs, values = evaluate(network, validation.batch)
    cross_entropy, accuracy = _imitation(log_probs, validation.batch)
    return {
        "validation_loss": cross_entropy.item(),
        "validation_accuracy": accuracy.item(),
        "validation_explained_variance": explained_variance(values, validation.returns),
    }
