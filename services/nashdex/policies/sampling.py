"""Choosing legal actions by their logits. N rows, A actions."""

import numpy as np
from numpy.typing import NDArray

from nashdex.core.ids import GREEDY, SAMPLED
from nashdex.core.seeds import inverse_cdf
from nashdex.games.legal import LegalActions
from nashdex.policies.interface import Actions

_NEVER = np.float64(-np.inf)
"""float64: cumulative sums lose too many digits in float32."""


def sample_masked(
    logits: NDArray[np.float32],
    mask: NDArray[np.bool_],
    uniforms: NDArray[np.float64],
    temperature: float = SAMPLED,
) -> Actions:
    """Draw one action a row from the softmax of ``logits / temperature`` over the legal actions.

    It inverts the distribution. A temperature of ``GREEDY`` takes the largest logit, the lowest number of equals, and
    its log-probability is 0.

    Illegal actions have a probability of exactly 0, and the cumulative sums do not grow over them, so no draw in [0, 1]
    can fall on one. Log-probabilities agree with ``masked_log_softmax`` of the same logits.
    """
    shifted = np.where(mask, logits, _NEVER)
    if temperature == GREEDY:
        return Actions(shifted.argmax(axis=1), np.zeros(len(shifted), dtype=np.float32))
    shifted -= shifted.max(axis=1, keepdims=True)
    if temperature != SAMPLED:
        shifted /= temperature
    cumulative = np.exp(shifted).cumsum(axis=1)
    action = inverse_cdf(cumulative, uniforms)
    log_prob = shifted[np.arange(len(action)), action] - np.log(cumulative[:, -1])
    return Actions(action, log_prob.astype(np.float32))


def listed_log_probs(
    logits: NDArray[np.float32], columns: NDArray[np.integer], legal: LegalActions, temperature: float
) -> NDArray[np.float64]:
    """Return log π of each legal action at ``temperature``, shape (L,), which ``columns`` (L,) finds in its row.

    ``logits`` (N, A) are −∞ where illegal. At ``GREEDY`` one action of a row has 0 and the others −∞.
    """
    if temperature == GREEDY:
        return np.where(columns == logits.argmax(axis=1)[legal.rows], 0.0, -np.inf)
    listed: NDArray[np.float64] = log_probabilities(logits, temperature)[legal.rows, columns]
    return listed


def log_probabilities(logits: NDArray[np.float32], temperature: float = SAMPLED) -> NDArray[np.float64]:
    """Return log π of legal actions at ``temperature``, (N, A); −∞ stays."""
    scaled = logits.astype(np.float64) / temperature
    scaled -= scaled.max(axis=1, keepdims=True)
    normalised: NDArray[np.float64] = scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True))
    return normalised
