"""Statistics of a batch. N decisions, A actions."""

from torch import Tensor, nn

from nashdex.policies.masked import mask_of
from nashdex.policies.networks.opponent_choices import UNKNOWN


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
