"""What layers of all networks share: first weights of linear layers, and how and in which numbers parts compute."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn


def linear(inputs: int, outputs: int, gain: float) -> nn.Linear:
    """Return a layer with orthogonal weights of this gain and a bias of 0."""
    layer = nn.Linear(inputs, outputs)
    if inputs:
        nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def is_plain(tensor: Tensor) -> bool:
    """Say whether a part computes its formula in whole tensors, with torch's own gradients.

    A part that a CPU computes tile by tile, for its caches, does so on a GPU, where tiles only add launches, and in a
    graph that is exported.
    """
    return tensor.device.type != "cpu" or torch.compiler.is_exporting()


R = TypeVar("R")


def in_float32(compute: Callable[..., R], tensors: Sequence[Tensor]) -> R:
    """Return ``compute(*tensors)`` of float32 tensors, without autocast."""
    device = tensors[0].device.type
    if not torch.is_autocast_enabled(device):
        return compute(*tensors)
    with torch.autocast(device, enabled=False):
        return compute(*(tensor.float() for tensor in tensors))
