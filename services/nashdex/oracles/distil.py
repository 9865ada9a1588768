"""Distillation: a fresh network learns the probabilities and values of a policy, in that policy's own battles.

The teacher, `collect.teacher`, is a stored network or an ensemble of such, whose values are the mean of its members'.
The loss of a decision is KL(teacher ‖ network), where there is a choice, plus the squared error to the teacher's value.
A clone sees the action that the teacher drew; this network sees how good the others are, too (Hinton et al.,
"Distilling the knowledge in a neural network", 2015, at temperature 1). Battles are held out, and training keeps the
epoch with the least loss on them. N decisions, A actions (K legal pairs in a joint space).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PlayedPolicy, PolicyId, is_ensemble, is_imported
from nashdex.core.seeds import derive_seed
from nashdex.core.steps import StepName
from nashdex.games.space import Space
from nashdex.learning import hardware
from nashdex.learning.experience.batching import Batch, evaluate, make_batch, mean_over_choices
from nashdex.learning.updates.optimiser import Rates
from nashdex.learning.updates.training import Training
from nashdex.oracles.clone import Pupil, held_out_battles
from nashdex.oracles.interface import Task, Trained
from nashdex.policies.archive import load_network
from nashdex.policies.document import read_document
from nashdex.policies.ensembles.document import read_ensemble
from nashdex.policies.masked import kl_divergence, masked_log_softmax
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.settings.oracles import DistilSettings
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry.progress import Progress
from nashdex.trajectory.episode import Episode

_BEST = "best"


@dataclass(frozen=True)
class Teacher:
    """The networks that decide together, each with the temperature at which it votes. None remembers."""

    members: tuple[tuple[ActorCritic, float], ...]
    rewards: frozenset[str]
    """What their values sum up."""

    def judge(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return log π (N, A) and values (N,) of a batch, in the host's memory."""
        votes, values = [], []
        for network, temperature in self.members:
            log_probs, value = evaluate(network, batch)
            votes.append((log_probs / temperature).log_softmax(dim=-1))
            values.append(value)
        return torch.stack(votes).mean(dim=0).log_softmax(dim=-1), torch.stack(values).mean(dim=0)


def load_teacher(store: ObjectStore, policy: PolicyId, space: Space, device: torch.device) -> Teacher:
    """Return a stored network or ensemble as a teacher.

    Raises:
        ConfigurationError: it is neither, or a member remembers the battle.
        DataError: it or a member is missing, altered, or was trained for another space.
    """
    played = PlayedPolicy.of(policy)
    if is_imported(played.policy):
        raise ConfigurationError(
            f"collect.teacher {policy!r} is another project's, and distillation needs values; expected a stored "
            "network or an ensemble, or `clone` as train.first"
        )
    members, rewards = [], set()
    for member in read_ensemble(store, played.policy).voters if is_ensemble(played.policy) else (played,):
        network = load_network(store, member.policy, space).to(device)
        if network.remembers:
            raise ConfigurationError(_remembers(f"collect.teacher's network {member.policy}"))
        members.append((network, member.temperature))
        rewards.add(read_document(store, member.policy).reward)
    return Teacher(tuple(members), frozenset(rewards))


def _remembers(who: str) -> str:
    return f"distillation learns from single decisions, and {who} remembers the battle; expected one without a memory"


@dataclass(frozen=True)
class Lesson:
    """Decisions with the teacher's probabilities and values, in the host's memory."""

    batch: Batch
    log_probs: Tensor
    """(N, A)"""
    values: Tensor
    """(N,)"""

    @classmethod
    def of(cls, teacher: Teacher, episodes: Sequence[Episode], device: torch.device) -> "Lesson":
        """Return the decisions of ``episodes`` with the probabilities and values of ``teacher``."""
        batch = make_batch(episodes, device, num_slots=teacher.members[0][0].space.num_slots)
        return cls(batch, *teacher.judge(batch))

    def losses(self, log_probs: Tensor, values: Tensor, rows: Tensor | slice = slice(None)) -> tuple[Tensor, Tensor]:
        """Return the mean KL(teacher ‖ network) and the mean squared error to the teacher's values, of ``rows``."""
        masks = self.batch.masks[rows].to(log_probs.device)
        divergence = kl_divergence(self.log_probs[rows].to(log_probs.device), log_probs, masks)
        return mean_over_choices(divergence, masks), (values - self.values[rows].to(values.device)).square().mean()


def distil(
    training: Training, lesson: Lesson, validation: Lesson, settings: DistilSettings, seed: int, progress: Progress
) -> dict[str, float]:
    """Train from the loop's present step on, and return the final values of the validation."""
    state, per_epoch = training.state, lesson.batch.num_minibatches(settings.minibatch_decisions)
    total = settings.num_epochs * per_epoch
    while True:
        epoch, position = divmod(state.update, per_epoch)
        if position == 0 and epoch:
            state.latest |= (measured := measure(training.network, validation))
            loss = measured["validation_kl_teacher"] + measured["validation_value_error"]
            if state.best_loss is None or loss < state.best_loss:
                state.best_loss = loss
                training.keep(_BEST)
        if state.update >= total:
            break
        rows = lesson.batch.minibatches(settings.minibatch_decisions, derive_seed(seed, "epoch", epoch))[position]
        part = lesson.batch.rows(rows)
        outputs = training.forward.outputs(part.observations)
        divergence, error = lesson.losses(masked_log_softmax(outputs.logits, part.masks), outputs.values, rows)
        step = training.begin_step()
        step.backward(divergence + error, {"kl_teacher": divergence.item(), "value_error": error.item()})
        rate = settings.learning_rate * (1 - state.update / total) * state.guard_factor
        training.take(step, Rates.both(rate), progress)
    training.restore(_BEST)
    return measure(training.network, validation)


def measure(network: ActorCritic, validation: Lesson) -> dict[str, float]:
    """Return how near ``network`` is to the teacher on held-out battles."""
    log_probs, values = evaluate(network, validation.batch)
    divergence, error = validation.losses(log_probs, values)
    agrees = (log_probs.argmax(dim=1) == validation.log_probs.argmax(dim=1)).float()
    return {
        "validation_kl_teacher": divergence.item(),
        "validation_value_error": error.item(),
        "validation_agreement": mean_over_choices(agrees, validation.batch.masks).item(),
    }


def train(task: Task, settings: DistilSettings) -> Trained:
    """Distil the teacher, whose battles the iteration collected."""
    shared, pupil = task.settings.train, Pupil.of(task)
    network, episodes, device = pupil.network, pupil.collected.episodes, pupil.device
    if network.remembers:
        raise ConfigurationError(_remembers(f"network {task.settings.network.kind!r}"))
    teacher = load_teacher(task.store, task.plan.learner, network.space, device)
    if teacher.rewards != {shared.reward}:
        raise ConfigurationError(
            f"train.reward is {shared.reward!r}, and collect.teacher's values are of "
            f"{' and '.join(sorted(teacher.rewards))}; expected the teacher's reward, whose values the network learns"
        )
    held_out = held_out_battles(episodes, task.seed)
    validation, lesson = (
        Lesson.of(teacher, [e for e in episodes if (e.seed in held_out) == is_held_out], device)
        for is_held_out in (True, False)
    )
    training = pupil.training(shared)
    total = settings.num_epochs * lesson.batch.num_minibatches(settings.minibatch_decisions)
    with (
        Progress(StepName.TRAIN, task.shard, total, "updates", done=training.state.update) as progress,
        hardware.memory_limited_by("train.first.minibatch_decisions"),
    ):
        summary = distil(training, lesson, validation, settings, task.seed, progress)
    return pupil.trained(training, summary)
