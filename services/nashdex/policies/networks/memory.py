"""The memory network: the pointer network, whose context goes through a GRU over the decisions of one battle.

Shapes: B decisions, F observation values, A actions, C ``context_size``, H ``memory_size``. Battles are rows one after
another; see ``policies.networks.actor_critic``.

A GRU (Cho et al. 2014) reads the context of each decision. The context and the GRU's state, concatenated to (B, C + H),
score the actions, so the network can compute every function of the pointer network, whatever its memory holds. The
critic has an encoder and a GRU of its own, since it shares no weights with the actor.

As it acts, a network makes one step of the GRU for each seat, from the state that the seat's memory holds. The logits
equal ``MemoryNetwork.logits`` over the whole battle, up to rounding (|Δ log π| < 1e-4).
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

from nashdex.games.space import Space
from nashdex.policies.memory import Inputs, Memory, RememberingNetwork
from nashdex.policies.networks.layers import in_float32, linear
from nashdex.policies.networks.layout import layout_of
from nashdex.policies.networks.onednn import CHUNK_ROWS
from nashdex.policies.networks.pointer.encoder import Encoder, EncoderInputs, FusedEncoder
from nashdex.policies.networks.pointer.entity_network import EntityNetwork, Read
from nashdex.policies.networks.pointer.network import (
    CRITIC_CONTEXT_SIZE,
    ActingScores,
    Scorer,
    actor_encoder,
    context_layers,
    critic_encoder,
    prediction_layer,
)
from nashdex.settings.networks import MemorySettings

CRITIC_MEMORY_SIZE = 64
"""Values that the critic remembers of a battle."""


class Recurrence(nn.Module):
    """A GRU over the decisions of each battle, beside what it reads."""

    def __init__(self, width: int, size: int) -> None:
        super().__init__()
        self.gru = nn.GRU(width, size)

    def forward(self, context: Tensor, lengths: list[int]) -> Tensor:
        """Return the context (B, C) and the state after it, (B, C + H)."""

        def remember(inputs: Tensor) -> Tensor:
            packed = pack_sequence(list(torch.split(inputs, lengths)), enforce_sorted=False)
            return torch.cat(unpack_sequence(self.gru(packed)[0]))

        return torch.cat((context, in_float32(remember, (context,)).to(context.dtype)), dim=1)


class MemoryCritic(nn.Module):
    """The value of a decision after those before it."""

    def __init__(self, encoder: Encoder, context_size: int, memory_size: int, num_outputs: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.context = context_layers(encoder.context_width, context_size)
        self.memory = Recurrence(context_size, memory_size)
        self.value = linear(context_size + memory_size, num_outputs, gain=1.0)

    def forward(self, read: Read[EncoderInputs]) -> Tensor:
        """Return the outputs for what the actor's encoder read, (B, V)."""
        context = self.context(self.encoder(read.inputs, self.encoder.fuse()).context)
        outputs: Tensor = self.value(self.memory(context, read.lengths))
        return outputs


class MemoryNetwork(EntityNetwork[EncoderInputs, FusedEncoder]):
    """The network for Showdown's spaces that remembers.

    Raises:
        ConfigurationError: the space has no Pokémon and moves that its actions name.
    """

    settings: MemorySettings
    remembers = True

    def __init__(self, space: Space, settings: MemorySettings) -> None:
        super().__init__(space, settings)
        layout = layout_of(space, estimates_damage=settings.estimates_damage)
        self.encoder = actor_encoder(space, layout, settings)
        self.context = context_layers(self.encoder.context_width, settings.context_size)
        self.memory = Recurrence(settings.context_size, settings.memory_size)
        remembered = settings.context_size + settings.memory_size
        self.scorer = Scorer(
            layout,
            context=remembered,
            pokemon=settings.pokemon_size,
            move=settings.move_size,
            size=settings.scorer_size,
        )
        self.opponent = prediction_layer(remembered, space) if settings.predicts_opponent else None
        self.predicts_opponent = settings.predicts_opponent
        own_encoder = critic_encoder(space, layout)
        self.critic = MemoryCritic(own_encoder, CRITIC_CONTEXT_SIZE, CRITIC_MEMORY_SIZE, settings.value_bins)

    @property
    def actor_encoder(self) -> Encoder:
        """The actor's encoder."""
        return self.encoder

    def scores(self, read: Read[EncoderInputs], fused: FusedEncoder) -> tuple[Tensor, Tensor]:
        """Return scores (B, A), and context and memory (B, C + H)."""
        encoded = self.encoder(read.inputs, fused)
        context = self.memory(self.context(encoded.context), read.lengths)
        return self.scorer(context, encoded.own_pokemon, encoded.own_moves), context

    def for_acting(self) -> RememberingNetwork:
        """Return the actor under its current weights."""
        return ActingMemoryNetwork(self)


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
        self._actor = ActingScores(network.encoder, network.context, network.scorer)

    def chunk(self, observations: Tensor, memory: Memory, slots: Tensor) -> Tensor:
        """Return the logits of at most ``CHUNK_ROWS`` decisions, and update the memory."""
        context, own_pokemon, own_moves = self._actor.encode(self._actor.read(observations))
        return self._actor.scores(self.remember(context, memory, slots), own_pokemon, own_moves)
