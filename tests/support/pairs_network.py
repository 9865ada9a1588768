"""The plainest network of a joint space: the slots network whose head scores the actions of two slots and their pairs.

Shapes: B decisions, F observation values, E ``entity_size``, M actions of one slot, Z ``interaction_size``.

The score of the pair (a, b) is f(a) + g(b) + h(a)·k(b): 2·M·(1 + Z) outputs instead of M². ``policies.masked`` scores
the pairs that are legal; nothing ever holds all M² of them.
"""

import math
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nashdex.policies.networks.layers import linear
from nashdex.policies.networks.observed import Observed
from nashdex.policies.networks.slots import ACTOR_GAIN, ActingSlotsNetwork, Fused, SlotsNetwork
from nashdex.settings.networks import RowSettings

_INTERACTION_GAIN = 0.1
"""Small, so that a first policy is close to uniform; not tiny, because each factor's gradient is the other one."""


class PairsSettings(RowSettings):
    """Sizes of the network, which no registry holds."""

    kind: Literal["pairs"] = "pairs"
    interaction_size: int = 8
    """Rank of the interaction of two slots' actions."""


class PairsNetwork(SlotsNetwork):
    """The network for a space of two slots."""

    settings: PairsSettings

    @property
    def head_shape(self) -> tuple[int, int, int]:
        """The shape of one decision's outputs, (2, M, 1 + Z)."""
        return (self.space.num_slots, len(self.space.actions), 1 + self.settings.interaction_size)

    def make_actor(self, width: int) -> nn.Linear:
        """Return the head: for each slot and action its score, then its factors of the interaction."""
        actor = linear(width, math.prod(self.head_shape), gain=ACTOR_GAIN)
        gains = torch.full(self.head_shape, _INTERACTION_GAIN / ACTOR_GAIN)
        gains[..., 0] = 1.0
        with torch.no_grad():
            actor.weight *= gains.flatten().unsqueeze(1)
        return actor

    def logits(self, observations: Tensor, fused: Fused | None = None) -> Tensor:
        """Return the scores of each slot's actions and their factors, (B, 2, M, 1 + Z)."""
        return super().logits(observations, fused).reshape(-1, *self.head_shape)

    def for_acting(self) -> "ActingPairsNetwork":  # type: ignore[override]
        """Return the actor under its current weights."""
        return ActingPairsNetwork(self)


class ActingPairsNetwork:
    """The actor of ``network`` under its current weights."""

    def __init__(self, network: PairsNetwork) -> None:
        self._slots = ActingSlotsNetwork(network)
        self._head_shape = network.head_shape

    def logits(self, observed: Observed) -> NDArray[np.float32]:
        """Return the scores of each slot's actions and their factors, (B, 2, M, 1 + Z), of B observations."""
        return self._slots.logits(observed).reshape(-1, *self._head_shape)
