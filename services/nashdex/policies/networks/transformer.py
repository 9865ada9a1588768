"""The entity transformer: attention between the Pokémon, the moves of the active ones and the field.

Shapes: B decisions, F observation values, A actions, P Pokémon of a side, K moves of each, T tokens, D ``token_size``,
H ``memory_size``.

Tokens are the Pokémon of both sides, each with its moves summed in, the moves of both active Pokémon, every other row
of the observation, and one for the battle as a whole, whose vector after the last layer is the context. The first
layers are the pointer network's, and so is the scorer: an action's score follows from the token that it names.

With a memory, the context goes through a GRU over the decisions of the battle, as the memory network's does. The critic
is such a network with its own, smaller layers and one output.

Attention is Vaswani et al. 2017's, normalised before each part (Xiong et al. 2020).

The network acts with a copy, whose first layers are laid out once, without gradient. The logits equal
``TransformerNetwork.logits`` up to rounding (|Δ log π| < 1e-4).
"""

import copy
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nashdex.games.space import Space
from nashdex.policies.memory import Memory, RememberingNetwork
from nashdex.policies.networks.actor_critic import ActingNetwork
from nashdex.policies.networks.layers import linear
from nashdex.policies.networks.layout import layout_of
from nashdex.policies.networks.memory import CRITIC_MEMORY_SIZE, Recurrence, Remembering
from nashdex.policies.networks.pointer.encoder import Encoder, EncoderInputs, FusedEncoder
from nashdex.policies.networks.pointer.entity_network import ActingEntityNetwork, EntityNetwork, Read
from nashdex.policies.networks.pointer.network import CRITIC_MOVE_SIZE, CRITIC_POKEMON_SIZE, Scorer, prediction_layer
from nashdex.settings.networks import TransformerSettings


class AttentionLayer(nn.Module):
    """One layer: each token looks at all, and then goes through two layers by itself.

    The products are written out: with few tokens they cost little, and they give the same bits each time on every
    device, as a training that resumes needs.
    """

    def __init__(self, size: int, num_heads: int, feedforward_size: int, gain: float) -> None:
        super().__init__()
        self._num_heads = num_heads
        self.before_attention = nn.LayerNorm(size)
        # A bias of the keys would change nothing.
        self.looks = nn.Linear(size, 3 * size, bias=False)
        self.joined = linear(size, size, gain)
        self.before_layers = nn.LayerNorm(size)
        self.first = linear(size, feedforward_size, gain=2**0.5)
        self.second = linear(feedforward_size, size, gain)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the tokens (B, T, D) after the layer."""
        tokens = tokens + self._attention(self.before_attention(tokens))
        changed: Tensor = tokens + self.second(torch.relu(self.first(self.before_layers(tokens))))
        return changed

    def _attention(self, tokens: Tensor) -> Tensor:
        num, num_tokens, size = tokens.shape
        # As one matrix: the bits are then the same with and without gradients.
        looks = self.looks(tokens.reshape(-1, size)).view(num, num_tokens, 3, self._num_heads, -1)
        queries, keys, values = looks.permute(2, 0, 3, 1, 4).unbind()
        weights = (queries @ keys.transpose(2, 3) * queries.shape[-1] ** -0.5).softmax(dim=-1)
        mixed: Tensor = self.joined((weights @ values).transpose(1, 2).reshape(num, num_tokens, size))
        return mixed


_CRITIC_TOKEN_SIZE = 64
_CRITIC_NUM_HEADS = 4
_CRITIC_NUM_LAYERS = 2
_CRITIC_FEEDFORWARD_SIZE = 128


class Attended(NamedTuple):
    """An observation after the last layer of attention."""

    context: Tensor
    """(B, D)"""
    own_pokemon: Tensor
    """(P, B, D)"""
    own_moves: Tensor
    """Moves of the own active Pokémon, (K, B, D)."""


class Body(nn.Module):
    """From observations to tokens, and through the layers of attention. Actor and critic have one each."""

    _kinds: Tensor

    def __init__(
        self, encoder: Encoder, *, token_size: int, num_heads: int, num_layers: int, feedforward_size: int
    ) -> None:
        super().__init__()
        self.encoder = encoder
        own = encoder.layout.own
        self._num_pokemon, self._moves_each = own.pokemon.rows, own.moves_each
        self.of_pokemon = linear(encoder.pokemon_size, token_size, gain=1.0)
        self.of_moves = linear(encoder.move_size, token_size, gain=1.0)
        self.of_others = linear(encoder.move_size, token_size, gain=1.0)
        # What a token is. Pokémon of a side share it, and so do moves: their places mean nothing.
        kinds = (
            [0] + [1] * self._num_pokemon + [2] * self._num_pokemon + [3] * self._moves_each + [4] * self._moves_each
        )
        num_others = sum(block.rows for block in encoder.layout.others)
        kinds += range(5, 5 + num_others)
        self.register_buffer("_kinds", torch.tensor(kinds), persistent=False)
        self.kinds = nn.Parameter(torch.randn(5 + num_others, token_size) * token_size**-0.5)
        gain = (2 * num_layers) ** -0.5
        self.layers = nn.ModuleList(
            AttentionLayer(token_size, num_heads, feedforward_size, gain) for _ in range(num_layers)
        )
        self.last = nn.LayerNorm(token_size)

    def forward(self, inputs: EncoderInputs, fused: FusedEncoder) -> Attended:
        """Return the observations of ``inputs`` after the last layer."""
        sides, active_moves, others = self.encoder.entities(inputs, fused)
        vectors = [
            *(self.of_pokemon(side.pokemon) for side in sides),
            *(self.of_moves(moves) for moves in active_moves),
            *(self.of_others(rows) for rows in others),
        ]
        battle = vectors[0].new_zeros(1, *vectors[0].shape[1:])
        tokens = torch.cat([battle, *vectors]).transpose(0, 1).contiguous() + self.kinds[self._kinds]
        for layer in self.layers:
            tokens = layer(tokens)
        tokens = self.last(tokens).transpose(0, 1).contiguous()
        pokemon, moves = 1 + self._num_pokemon, 1 + 2 * self._num_pokemon
        return Attended(tokens[0], tokens[1:pokemon], tokens[moves : moves + self._moves_each])


class TransformerCritic(nn.Module):
    """The value of a decision."""

    def __init__(self, body: Body, token_size: int, memory_size: int, num_outputs: int) -> None:
        super().__init__()
        self.body = body
        self.memory = Recurrence(token_size, memory_size) if memory_size else None
        self.value = linear(token_size + memory_size, num_outputs, gain=1.0)

    def forward(self, read: Read[EncoderInputs]) -> Tensor:
        """Return the outputs for what the actor's encoder read, (B, V)."""
        context = self.body(read.inputs, self.body.encoder.fuse()).context
        if self.memory is not None:
            context = self.memory(context, read.lengths)
        outputs: Tensor = self.value(context)
        return outputs


class TransformerNetwork(EntityNetwork[EncoderInputs, FusedEncoder]):
    """The network for Showdown's spaces.

    Raises:
        ConfigurationError: the space has no Pokémon and moves that its actions name.
    """

    settings: TransformerSettings

    def __init__(self, space: Space, settings: TransformerSettings) -> None:
        super().__init__(space, settings)
        layout = layout_of(space, estimates_damage=settings.estimates_damage)
        self.remembers = settings.memory_size > 0
        self.is_recordable = not self.remembers
        self.predicts_opponent = settings.predicts_opponent
        self.body = Body(
            Encoder(
                space,
                layout,
                embedding_size=settings.embedding_size,
                move_size=settings.move_size,
                pokemon_size=settings.pokemon_size,
            ),
            token_size=settings.token_size,
            num_heads=settings.num_heads,
            num_layers=settings.num_layers,
            feedforward_size=settings.feedforward_size,
        )
        size = settings.token_size
        self.memory = Recurrence(size, settings.memory_size) if self.remembers else None
        context = size + settings.memory_size
        self.scorer = Scorer(layout, context=context, pokemon=size, move=size, size=settings.scorer_size)
        self.opponent = prediction_layer(context, space) if settings.predicts_opponent else None
        critic = Body(
            Encoder(
                space,
                layout,
                embedding_size=CRITIC_MOVE_SIZE,
                move_size=CRITIC_MOVE_SIZE,
                pokemon_size=CRITIC_POKEMON_SIZE,
            ),
            token_size=_CRITIC_TOKEN_SIZE,
            num_heads=_CRITIC_NUM_HEADS,
            num_layers=_CRITIC_NUM_LAYERS,
            feedforward_size=_CRITIC_FEEDFORWARD_SIZE,
        )
        critic_memory_size = CRITIC_MEMORY_SIZE if self.remembers else 0
        self.critic = TransformerCritic(critic, _CRITIC_TOKEN_SIZE, critic_memory_size, settings.value_bins)

    @property
    def actor_encoder(self) -> Encoder:
        """The actor's encoder."""
        return self.body.encoder

    def scores(self, read: Read[EncoderInputs], fused: FusedEncoder) -> tuple[Tensor, Tensor]:
        """Return scores (B, A), and context and memory (B, D + H)."""
        attended = self.body(read.inputs, fused)
        context = attended.context if self.memory is None else self.memory(attended.context, read.lengths)
        return self.scorer(context, attended.own_pokemon, attended.own_moves), context

    def for_acting(self) -> ActingNetwork | RememberingNetwork:
        """Return the actor under its current weights."""
        return RememberingTransformer(self) if self.remembers else ActingEntityNetwork(self)


class RememberingTransformer(Remembering):
    """The actor with a memory. Implements ``policies.memory.RememberingNetwork``."""

    def __init__(self, network: "TransformerNetwork") -> None:
        assert network.memory is not None, "it is for networks that remember"
        super().__init__(network.memory.gru)
        self._network = copy.deepcopy(network).requires_grad_(requires_grad=False)
        with torch.inference_mode():
            self._fused = self._network.fuse()

    def chunk(self, observations: Tensor, memory: Memory, slots: Tensor) -> Tensor:
        """Return the logits of at most ``CHUNK_ROWS`` decisions, and update the memory."""
        network = self._network
        attended: Attended = network.body(network.actor_encoder.read(observations), self._fused)
        context = self.remember(attended.context, memory, slots)
        scores: Tensor = network.scorer(context, attended.own_pokemon, attended.own_moves)
        return scores
