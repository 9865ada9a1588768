"""What a critic's outputs mean: one value, or the probabilities of bins of returns (HL-Gauss).

Farebrother et al., "Stop regressing: training value functions via classification for scalable deep RL", 2024, section
3.1: the target of a return is a normal distribution around it, cut to the bins, and the loss is the cross-entropy to
it. Shapes: B decisions, V outputs of the critic; V = 1 is one value, and its loss the squared error.
"""

from typing import Final

import torch
from torch import Tensor
from torch.nn import functional

LARGEST_RETURN: Final = 1.5
"""The bins reach from minus to plus this. Returns of the win/loss reward lie within 1, of the shaped one within 1.5."""
_DEVIATION_BINS: Final = 0.75
"""Standard deviation of a target in widths of a bin, as the paper recommends."""


def expected(outputs: Tensor) -> Tensor:
    """Return the values (B,) that ``outputs`` (B, V) mean."""
    if outputs.shape[1] == 1:
        return outputs.squeeze(1)
    edges = _edges(outputs.shape[1]).to(outputs)
    return outputs.softmax(dim=1) @ ((edges[1:] + edges[:-1]) / 2)


def value_loss(outputs: Tensor, returns: Tensor) -> Tensor:
    """Return the mean loss of ``outputs`` (B, V) for ``returns`` (B,): squared error, or cross-entropy in nats."""
    if outputs.shape[1] == 1:
        return (outputs.squeeze(1) - returns).square().mean()
    return functional.cross_entropy(outputs, _targets(returns, outputs.shape[1]))


def _targets(returns: Tensor, num_bins: int) -> Tensor:
    """Return the probabilities of ``num_bins`` bins around ``returns`` (B,), (B, V)."""
    edges = _edges(num_bins).to(returns)
    deviation = _DEVIATION_BINS * 2 * LARGEST_RETURN / num_bins
    within = returns.clamp(-LARGEST_RETURN, LARGEST_RETURN)
    below: Tensor = torch.special.ndtr((edges - within.unsqueeze(1)) / deviation)
    shares = below.diff(dim=1)
    return shares / shares.sum(dim=1, keepdim=True)


def _edges(num_bins: int) -> Tensor:
    return torch.linspace(-LARGEST_RETURN, LARGEST_RETURN, num_bins + 1)
