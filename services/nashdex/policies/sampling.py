"""Drawing legal actions from logits. N rows, A actions."""

import numpy as np
from numpy.typing import NDArray

from nashdex.core.seeds import inverse_cdf
from nashdex.policies.interface import Actions

_NEVER = np.float64(-np.inf)
"""Of its type is what is computed with it: sums of probabilities need the digits."""


def sample_masked(logits: NDArray[np.float32], mask: NDArray[np.bool_], uniforms: NDArray[np.float64]) -> Actions:
    """Draw one action a row from the softmax of ``logits`` over the legal actions, by inverting its distribution.

    Illegal actions have a probability of exactly 0 and cumulative sums that do not grow over them, so that no draw
    in [0, 1] can fall on one. Log-probabilities agree with ``masked_log_softmax`` of the same logits.
    """
    shifted = np.where(mask, logits, _NEVER)
    shifted -= shifted.max(axis=1, keepdims=True)
    cumulative = np.exp(shifted).cumsum(axis=1)
    action = inverse_cdf(cumulative, uniforms)
    log_prob = shifted[np.arange(len(action)), action] - np.log(cumulative[:, -1])
    return Actions(action, log_prob.astype(np.float32))
