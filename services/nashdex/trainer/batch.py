"""Episodes as tensors, and what learning needs of them.

N decisions, T of one episode, F observation values, A actions.
"""

from collections.abc import Iterator, Sequence
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

    The order follows from ``seed`` alone, so that an epoch that was interrupted goes on in the same order.
    """
    order = torch.randperm(num_rows, generator=torch.Generator().manual_seed(seed % 2**63))
    return order.to(device).tensor_split(num_minibatches(num_rows, size))


def num_minibatches(num_rows: int, size: int) -> int:
    """Return in how many parts an epoch goes."""
    return -(-num_rows // size)


def mean_over_choices(values: Tensor, masks: Tensor) -> Tensor:
    """Return the mean of ``values`` (N,) over the rows with more than one legal action; 0 where there is none."""
    has_choice = masks.sum(dim=-1) > 1
    return (values * has_choice).sum() / has_choice.sum().clamp(min=1)


def explained_variance(values: Tensor, returns: Tensor) -> float:
    """Return 1 − Var(returns − values) / Var(returns); 0 where returns do not vary."""
    variance = returns.var(correction=0)
    if variance == 0:
        return 0.0
    return float(1 - (returns - values).var(correction=0) / variance)


def generalised_advantages(
    rewards: NDArray[np.float32], values: NDArray[np.float32], discount: float, lam: float, bootstrap: float = 0.0
) -> NDArray[np.float32]:
    """Return generalised advantage estimates of one episode, shape (T,) (Schulman et al. 2016, equation 16).

    δ_t = r_t + γ V_{t+1} − V_t and Â_t = Σ (γλ)^l δ_{t+l}. ``bootstrap`` is the value after the last decision: 0 where
    the battle ended there, the critic's where it was merely cut off.
    """
    following = np.append(values[1:], np.float32(bootstrap)).astype(np.float64)
    deltas = rewards + discount * following - values
    advantages = np.empty(len(deltas))
    running = 0.0
    for t in range(len(deltas) - 1, -1, -1):
        running = deltas[t] + discount * lam * running
        advantages[t] = running
    return advantages.astype(np.float32)


def discounted_returns(rewards: NDArray[np.float32], discount: float) -> NDArray[np.float32]:
    """Return Σ γ^l r_{t+l} of one episode that ended, shape (T,)."""
    return generalised_advantages(rewards, np.zeros_like(rewards), discount, 1.0)


def split_rows(values: NDArray[np.float32], episodes: Sequence[Episode]) -> Iterator[NDArray[np.float32]]:
    """Yield the part of ``values`` (N,) that belongs to each episode."""
    yield from np.split(values, np.cumsum([len(e) for e in episodes])[:-1])
