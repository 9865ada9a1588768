"""The categorical distribution over legal actions. N rows, A actions; every row has a legal action.

``legal`` is a boolean mask (N, A), true where legal; in a joint space, rows of the legal action numbers (N, K), padded
(``policies.joint``), and K takes the part of A. Legality is applied before the softmax, here and nowhere else, so that
collection and training normalise alike.
"""

import torch
from torch import Tensor

from nashdex.policies.joint import pair_logits


def mask_of(legal: Tensor) -> Tensor:
    """Return the boolean mask, (N, A)."""
    return legal if legal.dtype == torch.bool else legal >= 0


def masked_log_softmax(logits: Tensor, legal: Tensor, temperature: float = 1.0) -> Tensor:
    """Return log π of shape (N, A): −inf where illegal. ``logits`` are a network's for the kind of ``legal``."""
    if legal.dtype != torch.bool:
        logits = pair_logits(logits, legal)
    if temperature != 1.0:
        logits = logits / temperature
    return logits.masked_fill(~mask_of(legal), -torch.inf).log_softmax(dim=-1)


def entropy(log_probs: Tensor, legal: Tensor) -> Tensor:
    """Return H(π) = −Σ π log π over the legal actions, shape (N,)."""
    finite = log_probs.masked_fill(~mask_of(legal), 0.0)
    return -(log_probs.exp() * finite).sum(dim=-1)


def kl_divergence(log_probs: Tensor, reference: Tensor, legal: Tensor) -> Tensor:
    """Return the exact KL(π ‖ ρ) = Σ π (log π − log ρ) over the legal actions, shape (N,).

    Both arguments are normalised over the same legal actions. A row with one legal action is 0.
    """
    illegal = ~mask_of(legal)
    ratio = log_probs.masked_fill(illegal, 0.0) - reference.masked_fill(illegal, 0.0)
    return (log_probs.exp() * ratio).sum(dim=-1)


def uniform_log_probs(legal: Tensor) -> Tensor:
    """Return the uniform distribution over the legal actions as log-probabilities, shape (N, A)."""
    mask = mask_of(legal)
    return masked_log_softmax(torch.zeros(mask.shape, device=mask.device), mask)
