"""Scores of the legal pairs in a joint space, where two slots choose at once.

Shapes: B decisions, M actions of one slot, Z factors of the interaction, K the most legal pairs of a decision, L the
legal pairs of all.

A joint network gives each slot's actions a score and Z factors, (B, 2, M, 1 + Z). The pair (a, b) has the logit
f(a) + g(b) + h(a)·k(b). Legal pairs are rows of joint action numbers M·a + b, (B, K), padded with ``NOTHING``: a row's
position replaces the action number of a small space, so every formula over masks holds unchanged.
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
