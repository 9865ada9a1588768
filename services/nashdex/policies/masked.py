"""The categorical distribution over legal actions. N rows, A actions; every mask row has a legal action.

The mask is applied before the softmax, here and nowhere else, so that collection and training normalise alike.
"""

import torch
from torch import Tensor


def masked_log_softmax(logits: Tensor, mask: Tensor) -> Tensor:
    """Return log π of shape (N, A): −inf where illegal; ``mask`` is boolean (N, A), true where legal."""
    return logits.masked_fill(~mask, -torch.inf).log_softmax(dim=-1)


def entropy(log_probs: Tensor, mask: Tensor) -> Tensor:
    """Return H(π) = −Σ π log π over the legal actions, shape (N,)."""
    finite = log_probs.masked_fill(~mask, 0.0)
    return -(log_probs.exp() * finite).sum(dim=-1)


def kl_divergence(log_probs: Tensor, reference: Tensor, mask: Tensor) -> Tensor:
    """Return the exact KL(π ‖ ρ) = Σ π (log π − log ρ) over the legal actions, shape (N,).

    Both arguments are normalised over the same legal actions. A row with one legal action is 0.
    """
    ratio = log_probs.masked_fill(~mask, 0.0) - reference.masked_fill(~mask, 0.0)
    return (log_probs.exp() * ratio).sum(dim=-1)


def uniform_log_probs(mask: Tensor) -> Tensor:
    """Return the uniform distribution over the legal actions as log-probabilities, shape (N, A)."""
    return masked_log_softmax(torch.zeros(mask.shape, device=mask.device), mask)
