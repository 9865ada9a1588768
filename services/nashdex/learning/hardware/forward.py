"""The forward passes of optimiser steps, in the precision that the settings ask for. B decisions, F values, A actions.

What is compared with recorded log-probabilities (targets, measurements, references) always runs in float32.
"""

from typing import Literal, Protocol

import torch
from torch import Tensor

from nashdex.policies.networks.actor_critic import ActorCritic, Outputs

Precision = Literal["float32", "bfloat16"]


class Forward(Protocol):
    """The network as a loss needs it. ``ActorCritic`` has these methods."""

    def outputs(self, observations: Tensor) -> Outputs:
        """Return all that training learns from, for ``observations`` (B, F)."""

    def logits_and_prediction(self, observations: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return logits (B, A) and the prediction of the opponent's choice."""

    def logits(self, observations: Tensor) -> Tensor:
        """Return logits (B, A)."""

    def values(self, observations: Tensor) -> Tensor:
        """Return the critic's values, (B,)."""


def forward_passes(network: ActorCritic, precision: Precision) -> Forward:
    """Return the forward passes of ``network`` in ``precision``. Outputs are float32."""
    return network if precision == "float32" else _InBfloat16(network)


class _InBfloat16:
    """Layers compute in bfloat16 by autocast; weights, gradients of weights and losses stay float32."""

    def __init__(self, network: ActorCritic) -> None:
        self._network = network

    def outputs(self, observations: Tensor) -> Outputs:
        with _autocast(observations):
            logits, values, prediction = self._network.outputs(observations)
        return Outputs(logits.float(), values.float(), _float32(prediction))

    def logits_and_prediction(self, observations: Tensor) -> tuple[Tensor, Tensor | None]:
        with _autocast(observations):
            logits, prediction = self._network.logits_and_prediction(observations)
        return logits.float(), _float32(prediction)

    def logits(self, observations: Tensor) -> Tensor:
        with _autocast(observations):
            return self._network.logits(observations).float()

    def values(self, observations: Tensor) -> Tensor:
        with _autocast(observations):
            return self._network.values(observations).float()


def _autocast(observations: Tensor) -> torch.autocast:
    return torch.autocast(observations.device.type, torch.bfloat16)


def _float32(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.float()
