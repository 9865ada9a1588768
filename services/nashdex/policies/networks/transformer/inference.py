"""The entity transformer as it acts: a copy of the network, whose first layers are laid out once, without gradient.

The logits equal ``TransformerNetwork.logits`` up to rounding (|Δ log π| < 1e-4).
"""

import copy
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nashdex.policies.memory import Memory
from nashdex.policies.networks.memory.inference import Remembering
from nashdex.policies.networks.onednn import in_chunks

if TYPE_CHECKING:
    from nashdex.policies.networks.transformer.network import Attended, TransformerNetwork


class _Actor:
    """The actor of ``network`` under its current weights: later changes of the network have no effect on it."""

    def __init__(self, network: "TransformerNetwork") -> None:
        self.network = copy.deepcopy(network).requires_grad_(requires_grad=False)
        with torch.inference_mode():
            self.fused = self.network.fuse()


class ActingTransformer:
    """The actor without memory. Implements ``ActingNetwork``."""

    def __init__(self, network: "TransformerNetwork") -> None:
        self._actor = _Actor(network)

    def logits(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return logits before masking, (B, A), of ``observations`` (B, F)."""
        return in_chunks(lambda chunk: self._actor.network.logits(chunk, self._actor.fused), observations)


class RememberingTransformer(Remembering):
    """The actor with a memory. Implements ``policies.memory.RememberingNetwork``."""

    def __init__(self, network: "TransformerNetwork") -> None:
        assert network.memory is not None, "it is for networks that remember"
        super().__init__(network.memory.gru)
        self._actor = _Actor(network)

    def chunk(self, observations: Tensor, memory: Memory, slots: Tensor) -> Tensor:
        """Return the logits of at most ``CHUNK_ROWS`` decisions, and update the memory."""
        network = self._actor.network
        attended: Attended = network.body(network.actor_encoder.read(observations), self._actor.fused)
        context = self.remember(attended.context, memory, slots)
        scores: Tensor = network.scorer(context, attended.own_pokemon, attended.own_moves)
        return scores
