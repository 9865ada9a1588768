"""From an observation to vectors of its Pokémon and moves, and to the parts of a context.

Shapes: B decisions, F observation values, P Pokémon of both sides, K moves of each, M ``move_size``, E
``pokemon_size``.

A move is one layer over its fields. A Pokémon is two layers over its fields and the sum of its moves. The moves of the
active Pokémon have a second layer. A side is a pool over its Pokémon, its active Pokémon, and the sum over that one's
moves; every other row of the observation is one layer over its fields. An actor pools by the maximum: a choice turns on
the one Pokémon that matters. A critic pools by the mean: a side is worth what its Pokémon are worth together.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from nashdex.games.space import ObservationBlock, Space
from nashdex.policies.networks.layers import is_plain, linear
from nashdex.policies.networks.layout import Layout
from nashdex.policies.networks.pointer.parts import BlockValues
from nashdex.policies.networks.pointer.rows import FusedRows, Rows, embeddings
from nashdex.policies.networks.pointer.sides import SideValues, SideVectors, SideWeights, encode_sides

_HASH_SLOTS_LOG2 = 18
_HASH_MULTIPLIER = -7046029254386353131
"""2⁶⁴ divided by the golden ratio, odd, as a signed number (Knuth, The Art of Computer Programming 3, 6.4)."""

Pool = Literal["maximum", "mean"]
"""What a side's Pokémon give together, value by value."""


class FusedEncoder(NamedTuple):
    """The first layers under some weights."""

    moves: FusedRows
    pokemon: FusedRows
    others: tuple[FusedRows, ...]


class EncoderInputs(NamedTuple):
    """Observations as encoders read them. Encoders of one space share them, whatever their sizes and weights."""

    sides: tuple[SideValues, SideValues]
    others: tuple[BlockValues, ...]


class Encoded(NamedTuple):
    """An observation, encoded."""

    context: Tensor
    """(B, ``context_width``)"""
    own_pokemon: Tensor
    """(P / 2, B, E)"""
    own_moves: Tensor
    """Moves of the own active Pokémon, (K, B, M)."""


class Entities(NamedTuple):
    """The vectors of an observation, before they are joined to a context."""

    sides: tuple[SideVectors, SideVectors]
    """The own one and the opponent's."""
    active_moves: tuple[Tensor, Tensor]
    """The moves of each side's active Pokémon after their second layer, (K, B, M)."""
    others: tuple[Tensor, ...]
    """The other rows, block by block, (R of the block, B, M)."""


class Encoder(nn.Module):
    """The encoder. Actor and critic have one each."""

    def __init__(
        self,
        space: Space,
        layout: Layout,
        *,
        embedding_size: int,
        move_size: int,
        pokemon_size: int,
        pool: Pool = "maximum",
    ) -> None:
        super().__init__()
        sides = layout.sides
        self.pool = pool
        self.layout = layout
        self.sees = layout.sees
        self.move_size, self.pokemon_size = move_size, pokemon_size
        vocabularies = space.vocabularies

        def rows(blocks: Sequence[ObservationBlock], size: int) -> Rows:
            return Rows(blocks, vocabularies, embedding_size, size)

        self.moves = rows([side.moves for side in sides], move_size)
        self.pokemon = rows([side.pokemon for side in sides], pokemon_size)
        self.other_rows = [rows([block], move_size) for block in layout.others]
        self.others = nn.ModuleList(self.other_rows)
        self.pokemon_moves = nn.Parameter(torch.empty(move_size, pokemon_size).uniform_(-1, 1) * move_size**-0.5)
        self.pokemon_second = linear(pokemon_size, pokemon_size, gain=2**0.5)
        self.active_moves = linear(move_size, move_size, gain=2**0.5)
        self.embeddings = embeddings(space, embedding_size)
        num_others = sum(other.num_rows for other in self.other_rows)
        self.context_width = 2 * (2 * pokemon_size + move_size) + num_others * move_size

    def fuse(self) -> FusedEncoder:
        """Return the first layers under the current weights."""
        return FusedEncoder(
            self.moves.fuse(self.embeddings),
            self.pokemon.fuse(self.embeddings),
            tuple(other.fuse(self.embeddings) for other in self.other_rows),
        )

    def read(self, observations: Tensor) -> EncoderInputs:
        """Return what depends on ``observations`` (B, F) alone."""
        observations = self.sees(observations)
        own, opponent = (self._read_side(observations, number) for number in range(len(self.layout.sides)))
        return EncoderInputs((own, opponent), tuple(other.read(observations, 0) for other in self.other_rows))

    def _read_side(self, observations: Tensor, number: int) -> SideValues:
        side = self.layout.sides[number]
        num, num_pokemon, moves_each = len(observations), side.pokemon.rows, side.moves_each
        active = observations[:, side.active].contiguous().argmax(dim=1)
        decisions = torch.arange(num, device=active.device)
        places = torch.arange(num_pokemon, device=active.device).unsqueeze(1)
        moves = self.moves.columns(observations, number)
        move_rows: Tensor | None = None
        if is_plain(observations):
            values = moves.transpose(0, 1).reshape(-1, moves.shape[2])
            picked_rows = (active * moves_each + torch.arange(moves_each, device=active.device).unsqueeze(1)) * num
            picked_rows = picked_rows + decisions
        else:
            values = moves.reshape(-1, moves.shape[2])
            kept, rows = distinct(values)
            values, rows = values.index_select(0, kept), rows.view(num, num_pokemon, moves_each)
            move_rows, picked_rows = rows.transpose(0, 1).contiguous(), rows[decisions, active].t()
        return SideValues(
            self.pokemon.read(observations, number),
            self.moves.looked_up(values, number),
            move_rows,
            picked_rows,
            active * num + decisions,
            (places == active).to(observations.dtype).unsqueeze(2),
        )

    def entities(self, inputs: EncoderInputs, fused: FusedEncoder) -> Entities:
        """Return the vectors of the observations of ``inputs``."""
        own, opponent = encode_sides(
            inputs.sides,
            SideWeights(
                fused.moves.table,
                fused.pokemon.table,
                self.pokemon_moves,
                self.pokemon_second.weight,
                self.pokemon_second.bias,
                *self.moves.by_block(fused.moves.weights),
                *self.pokemon.by_block(fused.pokemon.weights),
            ),
        )
        own_moves, opponent_moves = (
            self._active_moves(side.moves, values) for side, values in zip((own, opponent), inputs.sides, strict=True)
        )
        others = tuple(
            other(values, fused_other).relu_().view(*values.values.shape[:2], -1)
            for other, fused_other, values in zip(self.other_rows, fused.others, inputs.others, strict=True)
        )
        return Entities((own, opponent), (own_moves, opponent_moves), others)

    def _active_moves(self, moves: Tensor, values: SideValues) -> Tensor:
        """Return the active Pokémon's moves after their second layer, (K, B, M), from a side's ``moves`` (U, M)."""
        second: Tensor
        if values.move_rows is None:
            second = self.active_moves(functional.embedding(values.picked_rows, moves)).relu_()
            return second
        second = self.active_moves(moves).relu_()
        return second.index_select(0, values.picked_rows.flatten()).view(*values.picked_rows.shape, -1)

    def forward(self, inputs: EncoderInputs, fused: FusedEncoder) -> Encoded:
        """Return the observations of ``inputs``, encoded."""
        (own, opponent), (own_moves, opponent_moves), others = self.entities(inputs, fused)
        pools = [side.largest if self.pool == "maximum" else side.pokemon.mean(0) for side in (own, opponent)]
        parts = [*pools, own.active, opponent.active, own_moves.sum(0), opponent_moves.sum(0)]
        parts += [vectors.transpose(0, 1).flatten(1) for vectors in others]
        return Encoded(torch.cat(parts, dim=1), own.pokemon, own_moves)


def distinct(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return the numbers of some ``rows`` (N, W), (U,), and which of those each row equals, (N,), on a CPU.

    So what follows from a row is computed once for all equal rows of a minibatch.

    A hash table without chains: each row is compared with the first one in its slot, and is kept for itself if it
    differs. So a few equal rows may be kept twice, and never are two different ones taken for equal.
    """
    numbers = torch.arange(len(rows))
    weights = torch.arange(1, rows.shape[1] + 1, dtype=rows.dtype).sqrt_()
    slots = (rows @ weights).float().view(torch.int32).long().mul_(_HASH_MULTIPLIER)
    slots = slots.bitwise_right_shift_(64 - _HASH_SLOTS_LOG2).bitwise_and_((1 << _HASH_SLOTS_LOG2) - 1)
    table = numbers.new_empty(1 << _HASH_SLOTS_LOG2)
    first = table.scatter_reduce_(0, slots, numbers, "amin", include_self=False).index_select(0, slots)
    first = torch.where((rows.index_select(0, first) == rows).all(dim=1), first, numbers)
    is_kept = first == numbers
    return is_kept.nonzero().flatten(), (is_kept.cumsum(0) - 1).index_select(0, first)
