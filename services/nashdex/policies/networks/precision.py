"""Parts of a network that compute in float32 whatever autocast says: own autograd functions, which mix no types."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor

R = TypeVar("R")


def in_float32(compute: Callable[..., R], tensors: Sequence[Tensor]) -> R:
    """Return ``compute(*tensors)`` of float32 tensors, without autocast."""
    device = tensors[0].device.type
    if not torch.is_autocast_enabled(device):
        return compute(*tensors)
    with torch.autocast(device, enabled=False):
        return compute(*(tensor.float() for tensor in tensors))
