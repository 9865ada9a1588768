"""Episodes as batches of tensors, and batches as minibatches.

N decisions, F observation values, A actions, E episodes.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.games.legal import LegalActions
from nashdex.learning.references import Distribution
from nashdex.policies.masked import mask_of, masked_log_softmax, padded
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.policies.networks.opponent_choices import UNKNOWN
from nashdex.trajectory.episode import Episode

CPU: Final = torch.device("cpu")
_CHUNK_DECISIONS = 4096
_TENSORS: Final = ("observations", "masks", "actions", "log_probs", "opponent_choices", "agreeing")


@dataclass(frozen=True)
class Batch:
    """Decisions, one a row, episode after episode. They are in the host's memory; ``rows`` go to ``device``."""

    observations: Tensor
    """(N, F), float32; (N, F + 1) if ``remembers``."""
    masks: Tensor
    """(N, A), true where legal: as stored when the action was chosen. In a joint space, rows of legal pairs (N, K),
    padded as in ``policies.masked``: K takes the part of A in everything computed from the batch."""
    actions: Tensor
    """(N,), int64; in a joint space, their places in the rows of legal pairs."""
    log_probs: Tensor
    """(N,), log π(action) when it was chosen."""
    opponent_choices: Tensor | None = None
    """(N,), labels of ``policies.networks.opponent_choices``, where the network learns to predict them."""
    agreeing: Tensor | None = None
    """(N, A) like ``masks``, true where a legal action agrees with what is known of the decision's action; None where
    all actions are known."""
    device: torch.device = CPU
    """Device on which the rows are used."""
    remembers: bool = False
    """Whether the batch is for a network with memory: each observation ends with the decision's number in its episode,
    and minibatches are whole episodes."""

    def __len__(self) -> int:
        return len(self.actions)

    def tensors(self) -> dict[str, Tensor]:
        """Return tensors by name, from which ``of_tensors`` restores the batch."""
        named = {name: getattr(self, name) for name in _TENSORS}
        return {name: tensor for name, tensor in named.items() if tensor is not None}

    @classmethod
    def of_tensors(cls, tensors: Mapping[str, Tensor], device: torch.device, *, remembers: bool) -> "Batch":
        """Restore a batch from its ``tensors``; other entries are ignored."""
        named = {name: tensors[name] for name in _TENSORS if name in tensors}
        return cls(**named, device=device, remembers=remembers)

    @property
    def starts(self) -> Tensor:
        """The first row of each episode, (E,), of a batch for a network that remembers."""
        return (self.observations[:, -1] == 0).nonzero().flatten()

    def num_minibatches(self, size: int) -> int:
        """Return the number of minibatches of one epoch, whose mean size is at most ``size``."""
        number = num_minibatches(len(self), size)
        return min(number, len(self.starts)) if self.remembers else number

    def minibatches(self, size: int, seed: int) -> tuple[Tensor, ...]:
        """Return the row numbers of one epoch in random order, as ``minibatches`` does.

        For a network that remembers, the order follows whole episodes, and minibatches differ in size.
        """
        if not self.remembers:
            return minibatches(len(self), size, seed)
        rows = torch.arange(len(self)).tensor_split(self.starts[1:].tolist())
        (order,) = minibatches(len(rows), len(rows), seed)
        return _in_groups([rows[i] for i in order.tolist()], self.num_minibatches(size))

    def part(self, index: Tensor | slice) -> "Batch":
        """Return the rows that ``index`` names, in the host's memory like the whole batch."""
        rows: dict[str, Any] = {name: tensor[index] for name, tensor in self.tensors().items()}
        return replace(self, **rows)

    def rows(self, index: Tensor | slice) -> "Batch":
        """Return the rows that ``index`` names, on ``device``."""
        part = self.part(index)
        moved: dict[str, Any] = {name: self._moved(rows) for name, rows in part.tensors().items()}
        return replace(part, **moved)

    def _moved(self, rows: Tensor) -> Tensor:
        if self.device.type == "cpu":
            return rows
        return rows.pin_memory().to(self.device, non_blocking=True)


def make_batch(
    episodes: Sequence[Episode],
    device: torch.device,
    opponent_choices: Sequence[NDArray[np.int64]] | None = None,
    *,
    num_slots: int = 1,
    remembers: bool = False,
) -> Batch:
    """Return the decisions of ``episodes``, used on ``device`` by a network that ``remembers`` or not.

    ``num_slots`` is the space's.
    """
    legal = LegalActions.joined([e.legal for e in episodes], episodes[0].legal.num_actions)
    actions = np.concatenate([e.actions for e in episodes])
    is_joint = num_slots > 1
    observations = _tensor([e.observations for e in episodes])
    if remembers:
        numbers = np.concatenate([np.arange(len(e), dtype=np.float32) for e in episodes])
        observations = torch.cat((observations, torch.from_numpy(numbers)[:, None]), dim=1)
    return Batch(
        observations=observations,
        masks=torch.from_numpy(padded(legal) if is_joint else legal.mask),
        actions=torch.from_numpy(legal.places_of(actions) if is_joint else actions),
        log_probs=_tensor([e.log_probs for e in episodes]),
        opponent_choices=None if opponent_choices is None else _tensor(opponent_choices),
        agreeing=_agreeing(episodes, legal, is_joint=is_joint),
        device=device,
        remembers=remembers,
    )


def _agreeing(episodes: Sequence[Episode], legal: LegalActions, *, is_joint: bool) -> Tensor | None:
    """Return where legal actions agree with what is known, shaped like the masks; None if all actions are known."""
    if all(e.agreeing is None for e in episodes):
        return None
    known = LegalActions.joined([e.known_actions for e in episodes], legal.num_actions)
    if not is_joint:
        return torch.from_numpy(known.mask)
    agrees = np.zeros((len(legal), int(legal.counts.max(initial=1))), np.bool_)
    agrees[legal.rows, legal.places] = np.isin(legal.keys, known.keys)
    return torch.from_numpy(agrees)


def _tensor(arrays: Sequence[NDArray[np.generic]]) -> Tensor:
    return torch.from_numpy(np.concatenate(arrays))


def played_by(episodes: Sequence[Episode], policy: PolicyId) -> list[Episode]:
    """Return the episodes that hold decisions.

    Raises:
        DataError: another policy than ``policy`` acted in one, or there is no decision.
    """
    strangers = sorted({e.policy for e in episodes} - {policy})
    if strangers:
        raise DataError(
            f"the trajectories are by {', '.join(strangers)}, the plan's learner is {policy}; collect them again"
        )
    kept = [episode for episode in episodes if len(episode)]
    if not kept:
        raise DataError(f"the trajectories hold no decision of {policy}; collect more battles")
    return kept


def evaluate(network: ActorCritic, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return log π (N, A) and values (N,) of the whole batch, in the host's memory; a chunk at a time."""
    log_probs, values = zip(*evaluate_chunks(network, batch, chunks(batch)), strict=True)
    return torch.cat(log_probs), torch.cat(values)


@torch.no_grad()
def evaluate_chunks(network: ActorCritic, batch: Batch, rows: Iterable[slice]) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield log π (n, A) and values (n,) of each chunk of ``rows``, in the host's memory."""
    fused = network.fuse()
    for each in rows:
        chunk = batch.rows(each)
        logits, value = network(chunk.observations, fused)
        yield masked_log_softmax(logits, chunk.masks).cpu(), value.cpu()


def log_probs(policy: Distribution, batch: Batch) -> Tensor:
    """Return log π (N, A) of another policy for the whole batch, in the host's memory; a chunk at a time."""
    found = (policy.log_probs(chunk.observations, chunk.masks) for chunk in map(batch.rows, chunks(batch)))
    return torch.cat([each.cpu() for each in found])


def chunks(batch: Batch) -> list[slice]:
    """Return the rows that a pass over the whole batch computes at once, chunk by chunk."""
    if batch.remembers:
        rows = torch.arange(len(batch)).tensor_split(batch.starts[1:].tolist())
        groups = _in_groups(rows, batch.num_minibatches(_CHUNK_DECISIONS))
        return [slice(int(group[0]), int(group[-1]) + 1) for group in groups]
    starts = range(0, len(batch), _CHUNK_DECISIONS)
    return [slice(start, min(start + _CHUNK_DECISIONS, len(batch))) for start in starts]


def minibatches(num_rows: int, size: int, seed: int) -> tuple[Tensor, ...]:
    """Return the row numbers of one epoch in random order, in equal parts of at most ``size``.

    The order follows from ``seed`` alone, so that an interrupted epoch resumes in the same order.
    """
    order = torch.randperm(num_rows, generator=torch.Generator().manual_seed(seed % 2**63))
    return order.tensor_split(num_minibatches(num_rows, size))


@dataclass(frozen=True)
class Shares:
    """A minibatch's shares of its optimiser step's rows: the weights of its means in the means of the step."""

    decisions: float = 1.0
    choices: float = 1.0
    """Share of the decisions with more than one legal action."""
    labels: float = 1.0
    """Share of the decisions whose opponent's choice is known."""

    @classmethod
    def of(cls, part: Tensor, rows: Tensor, batch: Batch) -> "Shares":
        """Return the shares of the row numbers ``part`` among ``rows`` of ``batch``."""
        has_choice = mask_of(batch.masks[rows]).sum(dim=-1) > 1
        part_has_choice = mask_of(batch.masks[part]).sum(dim=-1) > 1
        labels = batch.opponent_choices
        return cls(
            decisions=len(part) / len(rows),
            choices=_share(part_has_choice, has_choice),
            labels=1.0 if labels is None else _share(labels[part] != UNKNOWN, labels[rows] != UNKNOWN),
        )


WHOLE: Final = Shares()
"""Shares of a minibatch that is a whole optimiser step."""


def parts(batch: Batch, rows: Tensor, num_parts: int) -> list[tuple[Tensor, Shares]]:
    """Return the row numbers of an optimiser step in ``num_parts`` equal minibatches or fewer, with their shares."""
    if num_parts == 1:
        return [(rows, WHOLE)]
    if batch.remembers:
        episodes = rows.tensor_split((batch.observations[rows, -1] == 0).nonzero().flatten()[1:].tolist())
        split = _in_groups(episodes, min(num_parts, len(episodes)))
    else:
        split = rows.tensor_split(num_parts)
    return [(part, Shares.of(part, rows, batch)) for part in split if len(part)]


def _in_groups(episodes: Sequence[Tensor], num_groups: int) -> tuple[Tensor, ...]:
    """Return the row numbers of ``episodes`` in groups of neighbours of about equal numbers of rows, none empty."""
    ends = np.cumsum([len(rows) for rows in episodes])
    limits = ends[-1] * np.arange(1, num_groups) / num_groups
    at = np.searchsorted(ends, limits) + 1
    # Each group has an episode, however long its neighbours are.
    places = np.arange(num_groups - 1)
    at = np.maximum.accumulate(at - places) + places
    at = np.minimum(at, len(episodes) - num_groups + 1 + places)
    bounds = [0, *at.tolist(), len(episodes)]
    return tuple(torch.cat(list(episodes[start:end])) for start, end in itertools.pairwise(bounds))


def _share(part: Tensor, whole: Tensor) -> float:
    return float(part.sum() / whole.sum().clamp(min=1))


def num_minibatches(num_rows: int, size: int) -> int:
    """Return the number of minibatches of one epoch."""
    return -(-num_rows // size)


def mean_over_choices(values: Tensor, masks: Tensor) -> Tensor:
    """Return the mean of ``values`` (N,) over the rows with more than one legal action; 0 where there is none.

    ``masks`` are as in ``policies.masked``.
    """
    has_choice = mask_of(masks).sum(dim=-1) > 1
    return (values * has_choice).sum() / has_choice.sum().clamp(min=1)


def explained_variance(values: Tensor, returns: Tensor) -> float:
    """Return 1 − Var(returns − values) / Var(returns); 0 where returns do not vary."""
    variance = returns.var(correction=0)
    if variance == 0:
        return 0.0
    return float(1 - (returns - values).var(correction=0) / variance)


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the mean cross-entropy of ``logits`` (N, C) to ``labels`` (N,) over the known ones; 0 without any."""
    total = nn.functional.cross_entropy(logits, labels, ignore_index=UNKNOWN, reduction="sum")
    return total / (labels != UNKNOWN).sum().clamp(min=1)
