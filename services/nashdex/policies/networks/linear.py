"""The linear layer of every network, with its first weights."""

from torch import nn


def linear(inputs: int, outputs: int, gain: float) -> nn.Linear:
    """Return a layer with orthogonal weights of this gain and a bias of 0."""
    layer = nn.Linear(inputs, outputs)
    if inputs:
        nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer
