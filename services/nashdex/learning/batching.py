"""Episodes as batches of tensors, and batches as minibatches.

N decisions, F observation values, A actions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.policies.masked import masked_log_softmax
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.trajectory.episode import Episode

_CHUNK_DECISIONS = 4096


@dataclass(frozen=True)
class Batch:
    """Decisions, one a row, episode after episode."""

    observations: Tensor
    """(N, F), float32."""
    masks: Tensor
    """(N, A), true where legal: as stored when the action was chosen."""
    actions: Tensor
    """(N,), int64."""
    log_probs: Tensor
    """(N,), log π(action) when it was chosen."""

    def __len__(self) -> int:
        return len(self.actions)

    def rows(self, index: Tensor) -> "Batch":
        """Return the rows that ``index`` names."""
        return Batch(*(getattr(self, field.name)[index] for field in fields(Batch)))


def make_batch(episodes: Sequence[Episode], device: torch.device) -> Batch:
    """Return the decisions of ``episodes`` on ``device``."""
    return Batch(
        observations=_tensor([e.observations for e in episodes], device),
        masks=_tensor([e.masks for e in episodes], device),
        actions=_tensor([e.actions for e in episodes], device),
        log_probs=_tensor([e.log_probs for e in episodes], device),
    )


def _tensor(arrays: Sequence[NDArray[np.generic]], device: torch.device) -> Tensor:
    return torch.from_numpy(np.concatenate(arrays)).to(device)


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


@torch.no_grad()
def evaluate(network: ActorCritic, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return log π (N, A) and values (N,) of the whole batch, a chunk at a time."""
    fused = network.fuse()
    log_probs, values = [], []
    for start in range(0, len(batch), _CHUNK_DECISIONS):
        rows = slice(start, start + _CHUNK_DECISIONS)
        logits, value = network(batch.observations[rows], fused)
        log_probs.append(masked_log_softmax(logits, batch.masks[rows]))
        values.append(value)
    return torch.cat(log_probs), torch.cat(values)


def minibatches(num_rows: int, size: int, seed: int, device: torch.device) -> tuple[Tensor, ...]:
    """Return the row numbers of one epoch in random order, in equal parts of at most ``size``.

    The order follows from ``seed`` alone, so that an interrupted epoch resumes in the same order.
    """
    order = torch.randperm(num_rows, generator=torch.Generator().manual_seed(seed % 2**63))
    return order.to(device).tensor_split(num_minibatches(num_rows, size))


def num_minibatches(num_rows: int, size: int) -> int:
    """Return the number of minibatches of one epoch."""
    return -(-num_rows // size)
