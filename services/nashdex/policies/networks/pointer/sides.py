"""From both sides' Pokémon and moves to vectors, tile by tile.

Shapes: B decisions, P Pokémon of a side, K moves of each, U moves of a side that are encoded, M ``move_size``, E
``pokemon_size``, W columns of one row of a block.

One autograd function does all that is done to every Pokémon and every move. Separate operations would write and read
the vectors of all Pokémon, the largest tensors of a training step by far, a dozen times each. On a GPU they are
separate operations over all Pokémon at once, since there a tile's launches would cost more than its memory. A tile is
one Pokémon of a side in some hundred decisions: what is computed for it is small enough for the processor's cache. Rows
come first and decisions second, so that a tile is one piece of memory.

Of the moves in a minibatch few are different, so a CPU encodes each different one once, and a Pokémon adds up the
vectors of its moves after their product with ``pokemon_moves``.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from nashdex.policies.networks.layers import in_float32
from nashdex.policies.networks.pointer.parts import BlockValues, add_gradients, plain_sums, sums

TILE_DECISIONS = 1024
"""Decisions of one tile, at most."""


class SideValues(NamedTuple):
    """One side of the observations. It depends on no weights."""

    pokemon: BlockValues
    """(P, B, …)"""
    moves: BlockValues
    """Moves that include all different ones, (U, …)."""
    move_rows: Tensor | None
    """Each Pokémon's moves among them, (P, B, K); None where they are all moves in the order (P, K, B)."""
    picked_rows: Tensor
    """The active Pokémon's moves among them, (K, B)."""
    active_rows: Tensor
    """p · B + b of the active Pokémon p in decision b, (B,), int64; of the first one where none is."""
    is_active: Tensor
    """1 for that Pokémon, else 0, (P, B, 1)."""


class SideVectors(NamedTuple):
    """One side, encoded."""

    largest: Tensor
    """The maximum over its Pokémon, (B, E)."""
    active: Tensor
    """(B, E)"""
    pokemon: Tensor
    """(P, B, E)"""
    moves: Tensor
    """Moves, (U, M)."""


class SideWeights(NamedTuple):
    """The weights, or their gradients."""

    move_table: Tensor
    pokemon_table: Tensor
    pokemon_moves: Tensor
    """(M, E)"""
    second: Tensor
    """(E, E), outputs first."""
    second_bias: Tensor
    own_moves: Tensor
    """Weights of the numbers, (W, M)."""
    opponent_moves: Tensor
    own_pokemon: Tensor
    """Weights of the numbers, (W, E)."""
    opponent_pokemon: Tensor

    def of_moves(self, side: int) -> Tensor:
        """Return what a side's numbers of moves are multiplied by."""
        return (self.own_moves, self.opponent_moves)[side]

    def of_pokemon(self, side: int) -> Tensor:
        """Return what a side's numbers of Pokémon are multiplied by."""
        return (self.own_pokemon, self.opponent_pokemon)[side]


def encode_sides(sides: tuple[SideValues, SideValues], weights: SideWeights) -> tuple[SideVectors, SideVectors]:
    """Return the vectors of the own side and of the opponent's.

    A move's vector m is the ReLU of its row's sum. A Pokémon's is relu(W₂ relu(x + Σ m V) + b₂): x is its row's sum, Σ
    goes over its moves, V is ``pokemon_moves`` and W₂ is ``second``.
    """
    if sides[0].move_rows is None:
        return in_float32(lambda *tensors: _encode_plainly(sides, SideWeights(*tensors)), weights)

    def compute(*tensors: Tensor) -> tuple[Tensor, ...]:
        outputs: tuple[Tensor, ...] = _EncodeSides.apply(  # type: ignore[no-untyped-call]
            sides, torch.is_grad_enabled(), *tensors
        )
        return outputs

    outputs = in_float32(compute, weights)
    num_fields = len(SideVectors._fields)
    return SideVectors(*outputs[:num_fields]), SideVectors(*outputs[num_fields:])


def _encode_plainly(sides: tuple[SideValues, SideValues], weights: SideWeights) -> tuple[SideVectors, SideVectors]:
    own, opponent = (_side_plainly(values, side, weights) for side, values in enumerate(sides))
    return own, opponent


def _side_plainly(values: SideValues, side: int, weights: SideWeights) -> SideVectors:
    """Return one side's vectors by the formula of ``encode_sides``."""
    num_pokemon, num = values.is_active.shape[:2]
    size = len(weights.second)
    moves = plain_sums(values.moves, weights.move_table, weights.of_moves(side)).relu()
    summed = moves.view(num_pokemon, -1, num, moves.shape[1]).sum(dim=1)
    rows = plain_sums(values.pokemon, weights.pokemon_table, weights.of_pokemon(side)).view(num_pokemon, num, size)
    first = (rows + summed @ weights.pokemon_moves).relu()
    pokemon = (first @ weights.second.t() + weights.second_bias).relu()
    active = pokemon.reshape(-1, size).index_select(0, values.active_rows)
    return SideVectors(_largest(pokemon), active, pokemon, moves)


def _largest(pokemon: Tensor) -> Tensor:
    """Return the maximum over ``pokemon`` (P, B, E). Each of several equal vectors gets the whole gradient."""
    if torch.compiler.is_exporting() or not pokemon.requires_grad:
        return pokemon.amax(dim=0)
    largest = pokemon.detach().amax(dim=0)
    # What is added is 0 and has a gradient of 1 for each maximum.
    return largest + ((pokemon - pokemon.detach()) * (pokemon.detach() == largest)).sum(dim=0)


class _Tile(NamedTuple):
    """A Pokémon of a side in b decisions."""

    side: int
    place: int
    decisions: slice


def _tiles(sides: tuple[SideValues, SideValues]) -> Iterator[_Tile]:
    num_pokemon, num = sides[0].is_active.shape[:2]
    for start in range(0, num, TILE_DECISIONS):
        for side in range(len(sides)):
            for place in range(num_pokemon):
                yield _Tile(side, place, slice(start, min(start + TILE_DECISIONS, num)))


class _EncodeSides(torch.autograd.Function):
    """``encode_sides``: of the own side's vectors, then of the opponent's, the fields in order."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        sides: tuple[SideValues, SideValues],
        keeps: bool,  # noqa: FBT001 - an autograd function takes no keywords
        *tensors: Tensor,
    ) -> tuple[Tensor, ...]:
        weights = SideWeights(*tensors)
        num_pokemon, num = sides[0].is_active.shape[:2]
        size = len(weights.second)
        pokemon = [weights.second.new_empty(num_pokemon, num, size) for _ in sides]
        largest = [weights.second.new_empty(num, size) for _ in sides]
        moves = [
            sums(values.moves, weights.move_table, weights.of_moves(side)).relu_() for side, values in enumerate(sides)
        ]
        of_moves = [vectors @ weights.pokemon_moves for vectors in moves]
        ctx.first = []  # each tile's Pokémon after their first layer, (b, E)
        for side, place, decisions in _tiles(sides):
            values = sides[side]
            assert values.move_rows is not None, "a CPU encodes different moves"
            first = sums(values.pokemon.at(place, decisions), weights.pokemon_table, weights.of_pokemon(side))
            first += functional.embedding_bag(values.move_rows[place, decisions], of_moves[side], mode="sum")
            first.relu_()
            vectors = pokemon[side][place, decisions]
            torch.addmm(weights.second_bias, first, weights.second.t(), out=vectors).relu_()
            so_far = largest[side][decisions]
            if place == 0:
                so_far.copy_(vectors)
            else:
                torch.maximum(so_far, vectors, out=so_far)
            if keeps:
                ctx.first.append(first)
        outputs = []
        for side, values in enumerate(sides):
            active = pokemon[side].view(-1, size).index_select(0, values.active_rows)
            outputs += [largest[side], active, pokemon[side], moves[side]]
        if keeps:
            ctx.sides = sides
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(*weights, *outputs)
        return tuple(outputs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        sides, num_weights = ctx.sides, len(SideWeights._fields)
        weights, outputs = SideWeights(*ctx.saved_tensors[:num_weights]), ctx.saved_tensors[num_weights:]
        num_fields = len(SideVectors._fields)
        vectors = [SideVectors(*outputs[:num_fields]), SideVectors(*outputs[num_fields:])]
        of = [_Gradients.of(gradients[:num_fields], vectors[0]), _Gradients.of(gradients[num_fields:], vectors[1])]
        result = SideWeights(*(torch.zeros_like(weight) for weight in weights))
        of_sums = [weights.second.new_zeros(len(side.moves), len(weights.second)) for side in vectors]
        for tile, first in zip(_tiles(sides), ctx.first, strict=True):
            side, place, decisions = tile
            gradient = of[side].of_pokemon(tile, vectors[side], sides[side].is_active)
            result.second.addmm_(gradient.t(), first)
            result.second_bias.add_(gradient.sum(dim=0))
            gradient = _through_relu(gradient @ weights.second, first)
            add_gradients(
                sides[side].pokemon.at(place, decisions), gradient, result.pokemon_table, result.of_pokemon(side)
            )
            for rows in sides[side].move_rows[place, decisions].unbind(dim=1):
                of_sums[side].index_add_(0, rows, gradient)
        for side, values in enumerate(sides):
            moves = vectors[side].moves
            result.pokemon_moves.addmm_(moves.t(), of_sums[side])
            of_moves = torch.addmm(of[side].moves, of_sums[side], weights.pokemon_moves.t())
            add_gradients(values.moves, _through_relu(of_moves, moves), result.move_table, result.of_moves(side))
        return None, None, *result


class _Gradients(NamedTuple):
    """The gradients of one side's ``SideVectors``."""

    largest: Tensor | None
    """None where nothing depends on the maximum."""
    active: Tensor
    pokemon: Tensor | None
    """None where nothing depends on single Pokémon."""
    moves: Tensor

    @classmethod
    def of(cls, gradients: tuple[Tensor | None, ...], vectors: SideVectors) -> "_Gradients":
        largest, active, pokemon, moves = gradients
        return cls(
            None if largest is None else largest.contiguous(),
            _dense(active, vectors.active),
            pokemon,
            _dense(moves, vectors.moves),
        )

    def of_pokemon(self, tile: _Tile, vectors: SideVectors, is_active: Tensor) -> Tensor:
        """Return the gradient of the tile's Pokémon before their last ReLU, (b, E)."""
        _, place, decisions = tile
        own = vectors.pokemon[place, decisions]
        if self.largest is None:
            gradient = torch.zeros_like(own)
        else:
            # 0 where it is the maximum, else negative. Each of several equal vectors gets the whole gradient.
            behind = own - vectors.largest[decisions]
            gradient = _through_relu(self.largest[decisions], behind, -torch.finfo(behind.dtype).tiny)
        if self.pokemon is not None:
            gradient += self.pokemon[place, decisions]
        gradient.addcmul_(self.active[decisions], is_active[place, decisions])
        return _through_relu(gradient, own)


def _dense(gradient: Tensor | None, output: Tensor) -> Tensor:
    """Return ``gradient`` in one piece of memory; zeros if nothing depends on ``output``."""
    return torch.zeros_like(output) if gradient is None else gradient.contiguous()


def _through_relu(gradient: Tensor, outputs: Tensor, threshold: float = 0.0) -> Tensor:
    """Return ``gradient`` where ``outputs`` are above ``threshold``, and 0 elsewhere."""
    passed: Tensor = torch.ops.aten.threshold_backward(gradient, outputs, threshold)
    return passed
