"""The pointer network: the score of an action follows from the vector of what it names. It fits Showdown's spaces.

Shapes: B decisions, F observation values, A actions, S ``scorer_size``, C ``context_size``, E ``pokemon_size``, M
``move_size``, P Pokémon of a side, K moves of each.

The score of an action is w · relu(W_c context + W_t target + b), where the target is the vector of the Pokémon
to switch to or of the move to use. W_c context is computed once a decision and W_t target once a target, so that ten
actions cost little more than one. W_t is one for Pokémon and one for moves; b is one for each kind of action.

The critic is such a network with its own, smaller encoder, which pools by the mean, and ``value_bins`` outputs.

As it acts, layers are laid out once, without gradient. The logits equal ``PointerNetwork.logits`` up to rounding
(|Δ log π| < 1e-4; in practice 1e-6).
"""

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from nashdex.games.space import Space
from nashdex.policies.networks.actor_critic import ActingNetwork
from nashdex.policies.networks.layers import linear
from nashdex.policies.networks.layout import Layout, layout_of
from nashdex.policies.networks.observed import Observed
from nashdex.policies.networks.onednn import CHUNK_ROWS, HiddenLayer, padded
from nashdex.policies.networks.opponent_choices import num_choices
from nashdex.policies.networks.pointer.encoder import Encoder, EncoderInputs, FusedEncoder
from nashdex.policies.networks.pointer.entity_network import EntityNetwork, Read
from nashdex.policies.networks.pointer.parts import score_targets
from nashdex.policies.networks.pointer.rows import FusedRows, GroupLookUp, Rows
from nashdex.settings.networks import PointerSettings, PointerSizes

CRITIC_MOVE_SIZE = 32
"""Values that stand for one move, and for the embedding of one category, in the critic."""
CRITIC_POKEMON_SIZE = 64
"""Values that stand for one Pokémon in the critic."""
CRITIC_CONTEXT_SIZE = 128
"""Width of the critic's two layers over both sides."""


def context_layers(width: int, size: int) -> nn.Sequential:
    """Return the two layers over both sides."""
    return nn.Sequential(linear(width, size, gain=2**0.5), nn.ReLU(), linear(size, size, gain=2**0.5), nn.ReLU())


def prediction_layer(width: int, space: Space) -> nn.Linear:
    """Return the layer that predicts the opponent's choice from ``width`` values.

    It begins at zero, so a first prediction does not change the actor's input.
    """
    layer = nn.Linear(width, num_choices(space))
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def actor_encoder(space: Space, layout: Layout, settings: PointerSizes) -> Encoder:
    """Return the actor's encoder with its first weights."""
    return Encoder(
        space,
        layout,
        embedding_size=settings.embedding_size,
        move_size=settings.move_size,
        pokemon_size=settings.pokemon_size,
    )


def critic_encoder(space: Space, layout: Layout) -> Encoder:
    """Return the critic's encoder with its first weights."""
    return Encoder(
        space,
        layout,
        embedding_size=CRITIC_MOVE_SIZE,
        move_size=CRITIC_MOVE_SIZE,
        pokemon_size=CRITIC_POKEMON_SIZE,
        pool="mean",
    )


class Scorer(nn.Module):
    """Scores all actions of a decision."""

    order: Tensor | None
    """Which candidate each action is, (A,); None where they are in order."""
    pokemon_kinds: Tensor
    move_kinds: Tensor
    """Numbers of the kinds of action that name a Pokémon, and a move."""

    def __init__(self, layout: Layout, *, context: int, pokemon: int, move: int, size: int) -> None:
        super().__init__()
        targets, num_pokemon, moves_each = layout.targets, layout.own.pokemon.rows, layout.own.moves_each
        self.context = linear(context, size, gain=1.0)
        self.pokemon = nn.Linear(pokemon, size, bias=False)
        self.move = nn.Linear(move, size, bias=False)
        kinds = list(dict.fromkeys((target.kind, target.is_move) for target in targets))
        self.is_move = [is_move for _, is_move in kinds]
        self.kind = nn.Parameter(torch.zeros(len(kinds), size))
        # A first policy that is close to uniform (Andrychowicz et al. 2020).
        self.score = nn.Parameter(torch.randn(size) * 0.01 * size**-0.5)
        candidates = [(kind, row) for kind, is_move in kinds for row in range(moves_each if is_move else num_pokemon)]
        order = [candidates.index((target.kind, target.row)) for target in targets]
        # Index tensors lie where the network does: a GPU waits for each list of numbers that is copied to it.
        self.register_buffer(
            "order", None if order == list(range(len(candidates))) else torch.tensor(order), persistent=False
        )
        self.register_buffer(
            "pokemon_kinds", torch.tensor(self._kinds(is_move=False), dtype=torch.int64), persistent=False
        )
        self.register_buffer("move_kinds", torch.tensor(self._kinds(is_move=True), dtype=torch.int64), persistent=False)

    def _kinds(self, *, is_move: bool) -> list[int]:
        """Return the numbers of the kinds of action that name a move, or else a Pokémon."""
        return [kind for kind, names_move in enumerate(self.is_move) if names_move == is_move]

    def forward(self, context: Tensor, own_pokemon: Tensor, own_moves: Tensor) -> Tensor:
        """Return scores (B, A) from context (B, C) and the vectors (…, B, …) of own Pokémon and the active's moves."""
        shared = self.context(context)
        scores: dict[int, Tensor] = {}
        for is_move, numbers, vectors, layer in (
            (False, self.pokemon_kinds, own_pokemon, self.pokemon),
            (True, self.move_kinds, own_moves, self.move),
        ):
            if kinds := self._kinds(is_move=is_move):
                of_kinds = shared + self.kind.index_select(0, numbers).unsqueeze(1)
                scores |= zip(kinds, score_targets(of_kinds, vectors, layer.weight, self.score), strict=True)
        joined = torch.cat([scores[kind] for kind in sorted(scores)])
        return (joined if self.order is None else joined[self.order]).t()


class Critic(nn.Module):
    """The value of a decision."""

    def __init__(self, encoder: Encoder, context_size: int, num_outputs: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.context = context_layers(encoder.context_width, context_size)
        self.value = linear(context_size, num_outputs, gain=1.0)

    def forward(self, read: Read[EncoderInputs]) -> Tensor:
        """Return the outputs for what the actor's encoder read, (B, V)."""
        outputs: Tensor = self.value(self.context(self.encoder(read.inputs, self.encoder.fuse()).context))
        return outputs


class PointerNetwork(EntityNetwork[EncoderInputs, FusedEncoder]):
    """The network for Showdown's spaces.

    Raises:
        ConfigurationError: the space has no Pokémon and moves that its actions name.
    """

    settings: PointerSettings
    is_recordable = True

    def __init__(self, space: Space, settings: PointerSettings) -> None:
        super().__init__(space, settings)
        layout = layout_of(space, estimates_damage=settings.estimates_damage)
        self.encoder = actor_encoder(space, layout, settings)
        self.context = context_layers(self.encoder.context_width, settings.context_size)
        self.scorer = Scorer(
            layout,
            context=settings.context_size,
            pokemon=settings.pokemon_size,
            move=settings.move_size,
            size=settings.scorer_size,
        )
        own_encoder = critic_encoder(space, layout)
        self.opponent = prediction_layer(settings.context_size, space) if settings.predicts_opponent else None
        self.predicts_opponent = settings.predicts_opponent
        self.critic = Critic(own_encoder, CRITIC_CONTEXT_SIZE, settings.value_bins)

    @property
    def actor_encoder(self) -> Encoder:
        """The actor's encoder."""
        return self.encoder

    def scores(self, read: Read[EncoderInputs], fused: FusedEncoder) -> tuple[Tensor, Tensor]:
        """Return scores (B, A) and context (B, ``context_size``)."""
        encoded = self.encoder(read.inputs, fused)
        context = self.context(encoded.context)
        return self.scorer(context, encoded.own_pokemon, encoded.own_moves), context

    def for_acting(self) -> ActingNetwork:
        """Return the actor under its current weights."""
        return ActingPointerNetwork(self)


class _ActingRows:
    """``Rows`` under fixed weights, for blocks of equally many rows."""

    def __init__(self, rows: Rows, fused: FusedRows) -> None:
        self.num_indices = len(rows.look_up.offsets)
        self._num_blocks = len(rows.blocks)
        self._indices_each = rows.groups_each
        self._table = fused.table.clone()
        by_block = zip(rows.blocks, rows.by_block(fused.weights), strict=True)
        self._blocks, weights = zip(*by_block, strict=True)
        self._weights = [each.clone() for each in weights]
        # What embedding_bag would compute in each pass.
        num_sums = CHUNK_ROWS * rows.num_rows
        self._starts = torch.arange(0, num_sums * self._indices_each, self._indices_each, dtype=torch.int32)

    def read(self, observations: Tensor, indices: Tensor) -> "_RowsReading":
        """Return what follows from ``observations`` (B, F) and the ``indices`` (B, G) of their categories alone."""
        by_block = indices.view(len(indices), self._num_blocks, -1).transpose(0, 1).flatten()
        columns = (observations[:, each.offset : each.offset + each.rows * each.stride] for each in self._blocks)
        numbers = tuple(part.reshape(-1, block.stride) for block, part in zip(self._blocks, columns, strict=True))
        return _RowsReading(by_block, numbers)

    def sums(self, reading: "_RowsReading") -> Tensor:
        """Return the sums of all rows, block by block and then decision by decision, (B · R, E)."""
        by_block = reading.indices
        if self._indices_each == 1:
            sums = self._table.index_select(0, by_block)
        else:
            starts = self._starts[: len(by_block) // self._indices_each]
            sums = functional.embedding_bag(by_block, self._table, starts, mode="sum")
        for numbers, weights, part in zip(reading.numbers, self._weights, sums.chunk(self._num_blocks), strict=True):
            part.addmm_(numbers, weights)
        return sums


class _RowsReading(NamedTuple):
    """What acting networks of one space read of rows, block by block and then decision by decision."""

    indices: Tensor
    """The table's rows that the categories name, (B · R · indices of a row,)."""
    numbers: tuple[Tensor, ...]
    """The observed rows of each block, (B · R / blocks, stride)."""


class ActingReading(NamedTuple):
    """What acting networks of one space read of a chunk of B observations, whatever their weights and sizes."""

    num: int
    rows: tuple[_RowsReading, ...]
    """Readings of moves, of Pokémon, and of each other block."""
    active: Tensor
    """Numbers of the active Pokémon among all Pokémon, (2 · B,), the own ones first."""


class ActingScores:
    """An actor under its current weights: later changes of its layers have no effect on it."""

    def __init__(self, encoder: Encoder, context: nn.Sequential, scorer: Scorer) -> None:
        self._layout = encoder.layout
        self._sees = encoder.sees
        own = self._layout.own
        with torch.inference_mode():
            fused = encoder.fuse()
            rows = [
                (encoder.moves, fused.moves),
                (encoder.pokemon, fused.pokemon),
                *zip(encoder.other_rows, fused.others, strict=True),
            ]
            self._moves, self._pokemon, *self._others = [_ActingRows(*pair) for pair in rows]
            self._look_up = _joined([layer.look_up for layer, _ in rows])
            self._pokemon_moves = encoder.pokemon_moves.clone()
            self._pokemon_second = _transposed(encoder.pokemon_second)
            self._active_moves = _transposed(encoder.active_moves)
            self._context = [
                HiddenLayer.of(layer.weight, layer.bias) for layer in context if isinstance(layer, torch.nn.Linear)
            ]
            self._scorer_context = scorer.context.weight.T.clone()
            self._biases = [(scorer.context.bias + bias).clone() for bias in scorer.kind]
            self._targets = {True: scorer.move.weight.T.clone(), False: scorer.pokemon.weight.T.clone()}
            self._is_move, self._order = scorer.is_move, scorer.order
            self._score = scorer.score.clone()
            self._inputs = torch.zeros(CHUNK_ROWS, encoder.context_width)
        self._active_columns = torch.tensor(
            [range(side.active.start, side.active.stop, side.active.step) for side in self._layout.sides]
        ).flatten()
        self._first_rows = torch.arange(0, CHUNK_ROWS * 2 * own.pokemon.rows, own.pokemon.rows)

    @property
    def reads(self) -> Hashable:
        """A name of what ``read`` returns: actors of one space with equal names read the same."""
        return type(self), type(self._sees)

    def read(self, observations: Tensor) -> ActingReading:
        """Return what depends on a chunk of ``observations`` (B, F) alone.

        The own side's rows come first, then the opponent's, so that the own ones are one piece of memory.
        """
        observations = self._sees(observations)
        num, all_rows = len(observations), (self._moves, self._pokemon, *self._others)
        indices = torch.split(self._look_up.indices(observations), [rows.num_indices for rows in all_rows], dim=1)
        flags = observations.index_select(1, self._active_columns).view(num, 2, self._layout.own.pokemon.rows)
        active = flags.argmax(dim=2).t().flatten()
        active += self._first_rows[: len(active)]
        rows = (rows.read(observations, part) for rows, part in zip(all_rows, indices, strict=True))
        return ActingReading(num, tuple(rows), active)

    def encode(self, reading: ActingReading) -> tuple[Tensor, Tensor, Tensor]:
        """Return the context (B, C), own Pokémon (B · P, E) and the active one's moves (B · K, M) of a chunk."""
        num = reading.num
        own_pokemon, own_moves = self._encode(reading, self._inputs[:num])
        context = self._inputs[: padded(num)]
        for layer in self._context:
            context = layer(context)
        return context[:num], own_pokemon, own_moves

    def scores(self, context: Tensor, own_pokemon: Tensor, own_moves: Tensor) -> Tensor:
        """Return the actions' scores, (B, A)."""
        num = len(context)
        shared = context @ self._scorer_context
        candidates = {
            is_move: (vectors @ self._targets[is_move]).view(num, -1, shared.shape[1])
            for is_move, vectors in ((False, own_pokemon), (True, own_moves))
        }
        scores = []
        for is_move, bias in zip(self._is_move, self._biases, strict=True):
            hidden = torch.add(candidates[is_move], (shared + bias).unsqueeze(1)).relu_()
            scores.append((hidden.flatten(0, 1) @ self._score).view(num, -1))
        joined = torch.cat(scores, dim=1)
        return joined if self._order is None else joined[:, self._order]

    def _encode(self, reading: ActingReading, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Fill the context's ``inputs`` and return own Pokémon (B · P, E) and the active one's moves (B · K, M)."""
        (num, (move_rows, pokemon_rows, *other_rows), active), own = reading, self._layout.own
        num_pokemon, moves_each = own.pokemon.rows, own.moves_each

        moves = self._moves.sums(move_rows).relu_()
        size = moves.shape[1]
        picked = moves.view(-1, moves_each * size).index_select(0, active).view(-1, size)
        weight, bias = self._active_moves
        targets = torch.addmm(bias, picked, weight).relu_()

        pokemon = self._pokemon.sums(pokemon_rows)
        pokemon.addmm_(_sum_of_moves(moves, moves_each), self._pokemon_moves).relu_()
        weight, bias = self._pokemon_second
        pokemon = torch.addmm(bias, pokemon, weight).relu_()
        at = 0
        for vectors in (
            pokemon.view(2 * num, num_pokemon, -1).amax(dim=1),
            pokemon.index_select(0, active),
            _sum_of_moves(targets, moves_each),
        ):
            by_side = vectors.view(2, num, -1)
            width = 2 * by_side.shape[2]
            inputs[:, at : at + width].view(num, 2, -1).copy_(by_side.transpose(0, 1))
            at += width
        for rows, read in zip(self._others, other_rows, strict=True):
            vectors = rows.sums(read).relu_().view(num, -1)
            inputs[:, at : at + vectors.shape[1]] = vectors
            at += vectors.shape[1]
        return pokemon[: num * num_pokemon], targets[: num * moves_each]


class ActingPointerNetwork:
    """The pointer network's actor under its current weights. Implements ``ActingNetwork``."""

    def __init__(self, network: PointerNetwork) -> None:
        self._actor = ActingScores(network.encoder, network.context, network.scorer)

    def logits(self, observed: Observed) -> NDArray[np.float32]:
        """Return logits before masking, (B, A), of B observations."""
        actor = self._actor
        return observed.read_in_chunks(actor.reads, actor.read, lambda read: actor.scores(*actor.encode(read)))


def _sum_of_moves(moves: Tensor, moves_each: int) -> Tensor:
    """Return the sum of each ``moves_each`` neighbouring rows."""
    first, *others = moves.view(-1, moves_each, moves.shape[1]).unbind(dim=1)
    if not others:
        return first
    total = first + others[0]
    for other in others[1:]:
        total += other
    return total


def _transposed(layer: torch.nn.Linear) -> tuple[Tensor, Tensor]:
    """Return weight (inputs, outputs) and bias."""
    return layer.weight.T.contiguous(), layer.bias.clone()


def _joined(look_ups: list[GroupLookUp]) -> GroupLookUp:
    """Return one look-up for all: each operation costs microseconds however small it is."""
    longest = max(len(look_up.columns) // len(look_up.offsets) for look_up in look_ups)

    def filled(values: Tensor, look_up: GroupLookUp, *, with_first: bool) -> Tensor:
        by_group = values.view(len(look_up.offsets), -1)
        spare = longest - by_group.shape[1]
        fill = by_group[:, :1] if with_first else torch.zeros_like(by_group[:, :1])
        return torch.cat([by_group, fill.expand(-1, spare)], dim=1).flatten()

    return GroupLookUp(
        columns=torch.cat([filled(look_up.columns, look_up, with_first=True) for look_up in look_ups]),
        limits=torch.cat([filled(look_up.limits, look_up, with_first=False) for look_up in look_ups]),
        strides=torch.cat([filled(look_up.strides, look_up, with_first=False) for look_up in look_ups]),
        offsets=torch.cat([look_up.offsets for look_up in look_ups]),
    )
