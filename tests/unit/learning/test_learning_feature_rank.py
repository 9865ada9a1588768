"""The rank of a critic's features."""

import numpy as np
import torch
from torch import nn

from nashdex.learning.feature_rank import measured_rank, rank


def by_singular_values(features: torch.Tensor) -> int:
    """Return the least number of singular values that hold 99 % of their sum."""
    values = np.linalg.svd(features.double().numpy(), compute_uv=False)
    return next(k for k in range(1, len(values) + 1) if values[:k].sum() >= 0.99 * values.sum())


def test_the_rank_counts_the_singular_values_that_hold_99_percent() -> None:
    for values, expected in (([1.0, 0.0, 0.0], 1), ([1.0, 1.0, 0.0], 2), ([1.0, 0.5, 0.009], 2), ([1.0, 0.5, 0.03], 3)):
        assert rank(torch.diag(torch.tensor(values, dtype=torch.float64)).square()) == expected


def test_it_is_measured_over_all_chunks_that_a_layer_is_given() -> None:
    torch.manual_seed(0)
    features = torch.randn(300, 4) @ torch.randn(4, 32) + 0.02 * torch.randn(300, 32)
    layer = nn.Linear(32, 1)
    with measured_rank(layer) as found:
        for chunk in features.split(128):
            layer(chunk)
    layer(torch.randn(50, 32))  # after the block nothing counts
    assert found() == by_singular_values(features)
    assert 4 <= by_singular_values(features) < 32


def test_without_a_layer_or_a_pass_nothing_is_measured() -> None:
    with measured_rank(None) as without_layer, measured_rank(nn.Linear(2, 1)) as without_pass:
        pass
    assert (without_layer(), without_pass()) == (None, None)
