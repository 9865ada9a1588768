"""The categorical distribution over legal actions: of one slot, and of pairs in a joint space. Every row has one.

Shapes: N rows, A actions; of pairs, B decisions, M actions of one slot, Z factors of the interaction, K the most legal
pairs of a decision, L the legal pairs of all.

``legal`` is a boolean mask (N, A), true where legal; in a joint space, rows of the legal action numbers (N, K), padded
with ``NOTHING``, and K takes the part of A: a row's position replaces the action number of a small space, so every
formula over masks holds unchanged. Legality is applied before the softmax, here and nowhere else, so that collection
and training normalise alike.

A joint network gives each slot's actions a score and Z factors, (B, 2, M, 1 + Z). The pair (a, b), whose number is
M·a + b, has the logit f(a) + g(b) + h(a)·k(b).
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nashdex.games.legal import LegalActions

NOTHING = -1
"""Pads rows of legal pairs to equal length."""


def padded(legal: LegalActions) -> NDArray[np.int32]:
    """Return lists of legal actions as rows of equal length, (N, K)."""
    rows = np.full((len(legal), int(legal.counts.max(initial=1))), NOTHING, dtype=np.int32)
    rows[legal.rows, legal.places] = legal.actions
    return rows


def pair_logits(scores: Tensor, pairs: Tensor) -> Tensor:
    """Return the logits (B, K) of ``pairs`` (B, K) by ``scores`` (B, 2, M, 1 + Z); −∞ for padding.

    Only legal pairs are computed: memory is L · (1 + Z) numbers.
    """
    size = scores.shape[2]
    row, place = (pairs >= 0).nonzero(as_tuple=True)
    first, second = pairs[row, place].long().div(size, rounding_mode="floor"), pairs[row, place].long() % size
    by_action = scores.flatten(0, 2)
    chosen_a = by_action.index_select(0, row * (2 * size) + first)
    chosen_b = by_action.index_select(0, row * (2 * size) + size + second)
    logits = chosen_a[:, 0] + chosen_b[:, 0] + (chosen_a[:, 1:] * chosen_b[:, 1:]).sum(dim=1)
    return scores.new_full(pairs.shape, -torch.inf).index_put((row, place), logits)


def acting_logits(scores: NDArray[np.float32], legal: LegalActions) -> NDArray[np.float32]:
    """Return the logits (B, K) of each decision's list, padded with −∞, by ``scores`` (B, 2, M, 1 + Z)."""
    size = scores.shape[2]
    first, second = np.divmod(legal.actions, size)
    chosen_a, chosen_b = scores[legal.rows, 0, first], scores[legal.rows, 1, second]
    logits = np.full((len(legal), int(legal.counts.max(initial=1))), -np.inf, dtype=np.float32)
    logits[legal.rows, legal.places] = (
        chosen_a[:, 0] + chosen_b[:, 0] + np.einsum("lz,lz->l", chosen_a[:, 1:], chosen_b[:, 1:])
    )
    return logits


def mask_of(legal: Tensor) -> Tensor:
    """Return the boolean mask, (N, A)."""
    return legal if legal.dtype == torch.bool else legal >= 0


def masked_logits(logits: Tensor, legal: Tensor) -> Tensor:
    """Return logits of shape (N, A): −inf where illegal. ``logits`` are a network's for the kind of ``legal``."""
    if legal.dtype != torch.bool:
        logits = pair_logits(logits, legal)
    return logits.masked_fill(~mask_of(legal), -torch.inf)


def masked_log_softmax(logits: Tensor, legal: Tensor, temperature: float = 1.0) -> Tensor:
    """Return log π of shape (N, A): −inf where illegal. ``logits`` are a network's for the kind of ``legal``."""
    legal_logits = masked_logits(logits, legal)
    return (legal_logits if temperature == 1.0 else legal_logits / temperature).log_softmax(dim=-1)


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
