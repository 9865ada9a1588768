"""The memory network as it acts: one step of the GRU for each seat, from the state that the seat's memory holds.

The logits equal ``MemoryNetwork.logits`` over the whole battle, up to rounding (|Δ log π| < 1e-4).
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from nashdex.policies.memory import Inputs, Memory
from nashdex.policies.networks.onednn import CHUNK_ROWS
from nashdex.policies.networks.pointer.inference import ActingScores

if TYPE_CHECKING:
    from nashdex.policies.networks.memory.network import MemoryNetwork

_STATE, _BEFORE = "state", "before"


class Remembering(ABC):
    """A GRU over the contexts of each seat's decisions, under fixed weights."""

    def __init__(self, gru: nn.GRU) -> None:
        self._size = gru.hidden_size
        with torch.inference_mode():
            self._weights = [weight.clone() for weight in gru.all_weights[0]]

    def memory_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of a seat's state of the GRU, now and before its last decision."""
        return {_STATE: (self._size,), _BEFORE: (self._size,)}

    def rewind(self, memory: Memory, slots: Tensor) -> None:
        """Forget the last decision of ``slots``."""
        memory[_STATE][slots] = memory[_BEFORE][slots]

    def step(self, inputs: Inputs, memory: Memory, slots: Tensor) -> Tensor:
        """Return the logits of one decision a row, (N, A), of ``observations`` (N, F), and update the memory."""
        chunks = zip(torch.split(inputs["observations"], CHUNK_ROWS), torch.split(slots, CHUNK_ROWS), strict=True)
        return torch.cat([self.chunk(observations, memory, slots) for observations, slots in chunks])

    def remember(self, context: Tensor, memory: Memory, slots: Tensor) -> Tensor:
        """Return the contexts (N, C) and the states after them, (N, C + H), and update the memory."""
        before = memory[_STATE][slots]
        state = torch.gru_cell(context, before, *self._weights)
        memory[_BEFORE][slots], memory[_STATE][slots] = before, state
        return torch.cat((context, state), dim=1)

    @abstractmethod
    def chunk(self, observations: Tensor, memory: Memory, slots: Tensor) -> Tensor:
        """Return the logits of at most ``CHUNK_ROWS`` decisions, and update the memory."""


class ActingMemoryNetwork(Remembering):
    """The actor of ``network`` under its current weights. Implements ``policies.memory.RememberingNetwork``."""

    def __init__(self, network: "MemoryNetwork") -> None:
        super().__init__(network.memory.gru)
        self._actor = ActingScores(network)

    def chunk(self, observations: Tensor, memory: Memory, slots: Tensor) -> Tensor:
        """Return the logits of at most ``CHUNK_ROWS`` decisions, and update the memory."""
        context, own_pokemon, own_moves = self._actor.encode(observations)
        return self._actor.scores(self.remember(context, memory, slots), own_pokemon, own_moves)
