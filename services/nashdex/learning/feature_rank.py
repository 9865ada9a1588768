"""The rank of the features that a critic computes: how many dimensions they use.

A critic whose features fall into a few dimensions can no longer tell positions apart. The rank is Kumar et al.,
"Implicit under-parameterization inhibits data-efficient deep reinforcement learning", 2021, section 3: the least number
of singular values that hold 1 − δ of their sum, δ = .01. N decisions, H features.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import torch
from torch import Tensor, nn

_SHARE: Final = 0.99


@contextmanager
def measured_rank(layer: nn.Module | None) -> Iterator[Callable[[], int | None]]:
    """Give a function that returns the rank of what ``layer`` was given inside the block; None without any."""
    squares: list[Tensor] = []  # features times features, (H, H): their memory does not grow with the decisions

    def add(_layer: nn.Module, inputs: tuple[Any, ...]) -> None:
        features = inputs[0].detach().double()
        product = features.t() @ features
        squares[:] = [squares[0] + product] if squares else [product]

    handle = None if layer is None else layer.register_forward_pre_hook(add)
    try:
        yield lambda: rank(squares[0]) if squares else None
    finally:
        if handle is not None:
            handle.remove()


def rank(squares: Tensor) -> int:
    """Return the rank of features F (N, H), given FᵀF (H, H)."""
    singular_values = torch.linalg.eigvalsh(squares).clamp(min=0).sqrt().flip(0)
    held = singular_values.cumsum(0)
    return int((held < _SHARE * held[-1]).sum()) + 1
