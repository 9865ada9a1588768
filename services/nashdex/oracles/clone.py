"""Behaviour cloning: a fresh network learns to act like the teacher, and its critic to predict the teacher's results.

With `train.first.replays`, it also learns from raw replays: each epoch draws their share of its decisions from them and
the rest from the teacher's. The loss is masked cross-entropy over the decisions with a choice. Where a log shows only a
part of a joint action, such as one slot's, it is −log of the probability of all legal actions that agree. Battles, not
decisions, are held out: decisions of one battle are too alike. Training keeps the epoch with the least validation loss;
then the critic alone learns, by squared error, for a few epochs: it memorises battles long before the actor does. N
decisions, A actions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import PolicyId, is_replayed
from nashdex.core.seeds import derive_seed
from nashdex.core.steps import StepName
from nashdex.learning import advantages, devices, hardware, initial
from nashdex.learning.experience import batching, data
from nashdex.learning.experience.batching import Batch
from nashdex.learning.hardware import Forward
from nashdex.learning.updates import optimiser
from nashdex.learning.updates import training as updates
from nashdex.learning.updates.training import Training
from nashdex.oracles.interface import Task, Trained
from nashdex.policies import masked
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.policies.networks.values import expected, value_loss
from nashdex.settings.oracles import CloneSettings
from nashdex.settings.train import TrainSettings
from nashdex.telemetry.progress import Progress
from nashdex.trajectory.episode import Episode

_VALIDATION_SHARE = 0.1
"""Share of the battles that are held out."""
MAX_GRADIENT_NORM = 0.5
"""Global norm that the actor's and the critic's gradient are scaled down to: half of PPO's, for larger steps."""
_BEST = "best"
_CRITICS_VALIDATION = "validation_explained_variance"


@dataclass(frozen=True)
class Lesson:
    """Decisions to imitate and their discounted returns, (N,), in the host's memory."""

    batch: Batch
    returns: Tensor
    actors: Tensor
    """(N,), who acted: an index into ``names``."""
    names: tuple[PolicyId, ...]

    def rows_of(self, *, replayed: bool) -> Tensor:
        """Return the row numbers of replays, or of the teacher."""
        chosen = [index for index, name in enumerate(self.names) if is_replayed(name) == replayed]
        return torch.isin(self.actors, torch.tensor(chosen, dtype=torch.int64)).nonzero().squeeze(1)


def make_lessons(
    episodes: Sequence[Episode],
    rewards: Sequence[NDArray[np.float32]],
    discount: float,
    seed: int,
    device: torch.device,
    *,
    num_slots: int = 1,
    remembers: bool = False,
) -> tuple[Lesson, Lesson]:
    """Return the training lesson and the validation lesson, split by battle within each source.

    ``num_slots`` is the space's; the network ``remembers`` or not.

    Raises:
        DataError: there are fewer than two battles.
        ConfigurationError: both sources have battles, and the network remembers.
    """
    held_out = held_out_battles(episodes, seed)
    if remembers and len({is_replayed(episode.policy) for episode in episodes}) > 1:
        raise ConfigurationError(
            "train.first.replays mixes decisions of replays and of the teacher, and this network learns from whole "
            "battles; clone from one of them (leave train.first.replays out), or use a network without memory"
        )
    names = tuple(sorted({episode.policy for episode in episodes}))

    def lesson(*, validation: bool) -> Lesson:
        chosen = [i for i, episode in enumerate(episodes) if (episode.seed in held_out) == validation]
        returns = np.concatenate([advantages.discounted_returns(rewards[i], discount) for i in chosen])
        actors = np.repeat([names.index(episodes[i].policy) for i in chosen], [len(episodes[i]) for i in chosen])
        chosen_episodes = [episodes[i] for i in chosen]
        batch = batching.make_batch(chosen_episodes, device, num_slots=num_slots, remembers=remembers)
        return Lesson(batch, torch.from_numpy(returns), torch.from_numpy(actors), names)

    return lesson(validation=False), lesson(validation=True)


def held_out_battles(episodes: Sequence[Episode], seed: int) -> set[int]:
    """Return the seeds of the battles that are held out, of replays and of the teacher.

    Raises:
        DataError: there are fewer than two battles.
    """
    battles = {replayed: _battles(episodes, replayed=replayed) for replayed in (False, True)}
    held_out = {
        *_held_out(battles[False], derive_seed(seed, "split")),
        *_held_out(battles[True], derive_seed(seed, "split", "replays")),
    }
    if not held_out:
        num = sum(map(len, battles.values()))
        raise DataError(f"cloning needs two battles to hold one out, and got {num}; collect more")
    return held_out


def _battles(episodes: Sequence[Episode], *, replayed: bool) -> list[int]:
    """Return the seeds of the battles that were replayed, or of the teacher's."""
    return sorted({episode.seed for episode in episodes if is_replayed(episode.policy) == replayed})


def _held_out(battles: Sequence[int], seed: int) -> set[int]:
    """Return the battles of one source that are held out; none if there is but one."""
    num_held_out = min(max(1, round(_VALIDATION_SHARE * len(battles))), max(len(battles) - 1, 0))
    shuffled = np.random.default_rng(seed).permutation(len(battles))
    return {battles[i] for i in shuffled[:num_held_out]}


def num_updates(lesson: Lesson, settings: CloneSettings) -> int:
    """Return the number of optimiser steps of cloning."""
    epochs = settings.num_epochs + settings.critic_warmup_epochs
    return epochs * lesson.batch.num_minibatches(settings.minibatch_decisions)


def clone(
    training: Training,
    lesson: Lesson,
    validation: Lesson,
    settings: CloneSettings,
    seed: int,
    progress: Progress,
) -> dict[str, float]:
    """Train from the loop's present step on, and return the final values of the validation."""
    per_epoch = lesson.batch.num_minibatches(settings.minibatch_decisions)
    total = num_updates(lesson, settings)
    order: tuple[Tensor, ...] = ()
    while True:
        epoch, position = divmod(training.state.update, per_epoch)
        if position == 0:
            if 0 < epoch <= settings.num_epochs:
                _judge(training, validation)
            if epoch == settings.num_epochs:
                training.go_on_from(_BEST)
        if training.state.update >= total:
            break
        if position == 0 or not order:
            order_seed = derive_seed(seed, "epoch", epoch)
            order = epoch_order(lesson, settings, order_seed)
        rows = order[position]
        batch = lesson.batch.rows(rows)
        if epoch < settings.num_epochs:
            loss, measured = _actor_loss(training.forward, batch)
        else:
            returns = lesson.returns[rows].to(batch.device)
            loss, measured = _critic_loss(training.forward, batch.observations, returns)
        step = training.begin_step()
        step.backward(loss, measured)
        rate = settings.learning_rate * training.state.guard_factor
        training.take(step, optimiser.Rates.both(rate), progress)
    return measure(training.network, validation)


def epoch_order(lesson: Lesson, settings: CloneSettings, seed: int) -> tuple[Tensor, ...]:
    """Return the row numbers of an epoch in minibatches: of both sources, as many as their shares say."""
    num_rows, size = len(lesson.batch), settings.minibatch_decisions
    sources = (lesson.rows_of(replayed=True), lesson.rows_of(replayed=False))
    if not all(map(len, sources)):
        return lesson.batch.minibatches(size, seed)
    generator = torch.Generator().manual_seed(seed % 2**63)
    num_replayed = round(settings.replays.share * num_rows)
    drawn = [
        _draw(rows, count, generator)
        for rows, count in zip(sources, (num_replayed, num_rows - num_replayed), strict=True)
    ]
    mixed = torch.cat(drawn)[torch.randperm(num_rows, generator=generator)]
    return mixed.tensor_split(batching.num_minibatches(num_rows, size))


def _draw(rows: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Return ``count`` of ``rows`` in random order; none occurs once more than another before all have."""
    rounds = [rows[torch.randperm(len(rows), generator=generator)] for _ in range(-(-count // len(rows)))]
    return torch.cat(rounds)[:count] if rounds else rows[:0]


def _judge(training: Training, validation: Lesson) -> None:
    """Validate the epoch that just ended, and keep it if it is the best."""
    state, measured = training.state, measure(training.network, validation)
    # The critic learns after these epochs: of it, only the final value means something.
    state.latest |= {name: value for name, value in measured.items() if name != _CRITICS_VALIDATION}
    if state.best_loss is None or measured["validation_loss"] < state.best_loss:
        state.best_loss = measured["validation_loss"]
        training.keep(_BEST)


def _actor_loss(network: Forward, batch: Batch) -> tuple[Tensor, dict[str, float]]:
    cross_entropy, accuracy = _imitation(
        masked.masked_log_softmax(network.logits(batch.observations), batch.masks), batch
    )
    return cross_entropy, {"loss": cross_entropy.item(), "accuracy": accuracy.item()}


def _critic_loss(network: Forward, observations: Tensor, returns: Tensor) -> tuple[Tensor, dict[str, float]]:
    outputs = network.value_outputs(observations)
    loss = value_loss(outputs, returns)
    explained = batching.explained_variance(expected(outputs.detach()), returns)
    return loss, {"value_loss": loss.item(), "explained_variance": explained}


def _imitation(log_probs: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return the cross-entropy to the teacher's actions, and the share of them that are the most likely ones.

    For a partly known action, the cross-entropy sums the probabilities of all agreeing actions; the share leaves the
    decision out.
    """
    hit = (log_probs.argmax(dim=1) == batch.actions).float()
    if batch.agreeing is None:
        surprise = -log_probs.gather(1, batch.actions[:, None]).squeeze(1)
        return batching.mean_over_choices(surprise, batch.masks), batching.mean_over_choices(hit, batch.masks)
    surprise = -log_probs.masked_fill(~batch.agreeing, -torch.inf).logsumexp(dim=1)
    counts = wholly_known(batch)
    accuracy = (hit * counts).sum() / counts.sum().clamp(min=1)
    return batching.mean_over_choices(surprise, batch.masks), accuracy


def wholly_known(batch: Batch) -> Tensor:
    """Return 1 for each decision with a choice whose action is wholly known, else 0, (N,)."""
    has_choice = masked.mask_of(batch.masks).sum(dim=-1) > 1
    return (has_choice if batch.agreeing is None else has_choice & (batch.agreeing.sum(dim=-1) == 1)).float()


def most_frequent_accuracy(lesson: Batch, validation: Batch) -> float:
    """Return the accuracy of always predicting the legal action that is most frequent in ``lesson``."""
    counts = wholly_known(validation)
    return float((frequent_hits(lesson, validation) * counts).sum() / counts.sum().clamp(min=1))


def frequent_hits(lesson: Batch, validation: Batch) -> Tensor:
    """Return 1 where the legal action that is most frequent in ``lesson`` is the chosen one, else 0, (N,)."""
    seen = _numbers(lesson)[wholly_known(lesson) > 0]
    if validation.masks.dtype == torch.bool:
        frequency = torch.bincount(seen, minlength=validation.masks.shape[1])
        scores = frequency.expand(validation.masks.shape).masked_fill(~validation.masks, -1)
    else:
        largest = int(max(lesson.masks.max(), validation.masks.max())) + 1
        frequency = torch.bincount(seen, minlength=largest)
        scores = frequency[validation.masks.clamp(min=0).long()].masked_fill(validation.masks < 0, -1)
    return (scores.argmax(dim=1) == validation.actions).float()


def _numbers(batch: Batch) -> Tensor:
    """Return the numbers of the actions, (N,)."""
    if batch.masks.dtype == torch.bool:
        return batch.actions
    return batch.masks.gather(1, batch.actions[:, None]).squeeze(1).long()


def measure(network: ActorCritic, validation: Lesson) -> dict[str, float]:
    """Return how well ``network`` predicts the teacher's held-out actions and results."""
    log_probs, values = batching.evaluate(network, validation.batch)
    cross_entropy, accuracy = _imitation(log_probs, validation.batch)
    by_actor: dict[str, float] = {}
    if any(map(is_replayed, validation.names)):
        for index, name in enumerate(validation.names):
            rows = (validation.actors == index).nonzero().squeeze(1)
            if len(rows):
                loss, share = _imitation(log_probs[rows], replace(validation.batch, device=batching.CPU).rows(rows))
                has_choice = masked.mask_of(validation.batch.masks[rows]).sum(dim=-1) > 1
                group = name.replace(":", "_").replace("-", "_")
                by_actor |= {
                    f"validation_loss_{group}": loss.item(),
                    f"validation_accuracy_{group}": share.item(),
                    f"validation_decisions_{group}": float(has_choice.sum()),
                }
    return by_actor | {
        "validation_loss": cross_entropy.item(),
        "validation_accuracy": accuracy.item(),
        _CRITICS_VALIDATION: batching.explained_variance(values, validation.returns),
    }


@dataclass(frozen=True)
class Pupil:
    """A first network, and the battles that its teacher played."""

    network: ActorCritic
    collected: data.Data
    device: torch.device

    @classmethod
    def of(cls, task: Task) -> "Pupil":
        """Return the network of ``task`` before it learns.

        Raises:
            ConfigurationError: this machine cannot train it, or the network does not fit the game.
            DataError: a collect shard is missing or altered.
        """
        run, shared = task.settings, task.settings.train
        devices.check_machine(shared.device)
        device = data.prepare_torch(shared.device, shared.num_threads)
        collected = data.collected_battles(
            task.store,
            task.game,
            task.plan,
            num_shards=run.collect.shards,
            shard=task.shard,
            attempt=task.attempt,
        )
        network = initial.first_network(task.store, collected.space, run.network, task.seed).to(device)
        return cls(network, collected, device)

    def training(self, shared: TrainSettings) -> Training:
        """Return its training, from the shard's checkpoint if there is one."""
        steps = updates.StepSettings(MAX_GRADIENT_NORM, shared.checkpoint_every_updates, shared.precision)
        return updates.Training(self.network, steps, self.collected.checkpoints)

    def trained(self, training: Training, summary: dict[str, float]) -> Trained:
        """Return the result of ``training``."""
        return Trained(
            policy=self.network,
            summary=summary,
            curve=training.state.curve.with_newest(),
            num_updates=training.state.update,
            num_decisions=self.collected.num_decisions,
            rollbacks=training.state.rollbacks,
        )


def train(task: Task, settings: CloneSettings) -> Trained:
    """Clone the teacher, whose battles the iteration collected."""
    shared, pupil = task.settings.train, Pupil.of(task)
    network, collected = pupil.network, pupil.collected
    rewards = collected.rewards(collected.episodes, shared.reward, shared.discount)
    lesson, validation = make_lessons(
        collected.episodes,
        rewards,
        shared.discount,
        task.seed,
        pupil.device,
        num_slots=network.space.num_slots,
        remembers=network.remembers,
    )
    training = pupil.training(shared)
    total = num_updates(lesson, settings)
    baseline = most_frequent_accuracy(lesson.batch, validation.batch)
    with (
        Progress(StepName.TRAIN, task.shard, total, "updates", done=training.state.update) as progress,
        hardware.memory_limited_by("train.first.minibatch_decisions"),
    ):
        summary = clone(training, lesson, validation, settings, task.seed, progress)
    return pupil.trained(training, summary | {"validation_most_frequent_accuracy": baseline})
