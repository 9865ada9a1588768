"""The pointer network as it acts: tables and weights laid out once, no gradient.

Shapes: B decisions, F observation values, E ``pokemon_size``, M ``move_size``, P Pokémon of a side, K moves of each.

The logits equal ``PointerNetwork.logits`` up to rounding (|Δ log π| < 1e-4; in practice 1e-6).
"""

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from nashdex.policies.networks.onednn import CHUNK_ROWS, HiddenLayer, in_chunks, padded
from nashdex.policies.networks.pointer.rows import FusedRows, GroupLookUp, Rows

if TYPE_CHECKING:
    from nashdex.policies.networks.memory import MemoryNetwork
    from nashdex.policies.networks.pointer.network import PointerNetwork


class _ActingRows:
    """``Rows`` under fixed weights, for blocks of equally many rows."""

    def __init__(self, rows: Rows, fused: FusedRows) -> None:
        self.num_indices = len(rows.look_up.offsets)
        self._num_blocks = len(rows.blocks)
        self._indices_each = rows.groups_each
        self._table = fused.table.clone()
        by_block = zip(rows.blocks, rows.by_block(fused.weights), strict=True)
        self._blocks = [(block, weights.clone()) for block, weights in by_block]
        # What embedding_bag would compute in each pass.
        num_sums = CHUNK_ROWS * rows.num_rows
        self._starts = torch.arange(0, num_sums * self._indices_each, self._indices_each, dtype=torch.int32)

    def sums(self, observations: Tensor, indices: Tensor) -> Tensor:
        """Return the sums of all rows, block by block and then decision by decision, (B · R, E).

        ``indices`` (B, G) are the table's rows that the categories name.
        """
        by_block = indices.view(len(indices), self._num_blocks, -1).transpose(0, 1).flatten()
        if self._indices_each == 1:
            sums = self._table.index_select(0, by_block)
        else:
            starts = self._starts[: len(by_block) // self._indices_each]
            sums = functional.embedding_bag(by_block, self._table, starts, mode="sum")
        for (block, weights), part in zip(self._blocks, sums.chunk(self._num_blocks), strict=True):
            columns = observations[:, block.offset : block.offset + block.rows * block.stride]
            part.addmm_(columns.reshape(-1, block.stride), weights)
        return sums


class ActingScores:
    """The actor of ``network`` under its current weights: later changes of the network have no effect on it."""

    def __init__(self, network: "PointerNetwork | MemoryNetwork") -> None:
        encoder, scorer = network.encoder, network.scorer
        self._layout = encoder.layout
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
                HiddenLayer.of(layer.weight, layer.bias)
                for layer in network.context
                if isinstance(layer, torch.nn.Linear)
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

    def encode(self, observations: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the context (B, C), own Pokémon (B · P, E) and the active one's moves (B · K, M) of a chunk."""
        num = len(observations)
        own_pokemon, own_moves = self._encode(observations, self._inputs[:num])
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

    def _encode(self, observations: Tensor, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Fill the context's ``inputs`` and return own Pokémon (B · P, E) and the active one's moves (B · K, M).

        The own side's rows come first, then the opponent's, so that the own ones are one piece of memory.
        """
        num, own = len(observations), self._layout.own
        num_pokemon, moves_each = own.pokemon.rows, own.moves_each
        all_rows = (self._moves, self._pokemon, *self._others)
        move_rows, pokemon_rows, *other_rows = torch.split(
            self._look_up.indices(observations), [rows.num_indices for rows in all_rows], dim=1
        )
        flags = observations.index_select(1, self._active_columns).view(num, 2, num_pokemon)
        active = flags.argmax(dim=2).t().flatten()
        active += self._first_rows[: len(active)]

        moves = self._moves.sums(observations, move_rows).relu_()
        size = moves.shape[1]
        picked = moves.view(-1, moves_each * size).index_select(0, active).view(-1, size)
        weight, bias = self._active_moves
        targets = torch.addmm(bias, picked, weight).relu_()

        pokemon = self._pokemon.sums(observations, pokemon_rows)
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
        for rows, indices in zip(self._others, other_rows, strict=True):
            vectors = rows.sums(observations, indices).relu_().view(num, -1)
            inputs[:, at : at + vectors.shape[1]] = vectors
            at += vectors.shape[1]
        return pokemon[: num * num_pokemon], targets[: num * moves_each]


class ActingPointerNetwork:
    """The pointer network's actor under its current weights. Implements ``ActingNetwork``."""

    def __init__(self, network: "PointerNetwork") -> None:
        self._actor = ActingScores(network)

    def logits(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return logits before masking, (B, A), of ``observations`` (B, F)."""
        return in_chunks(lambda chunk: self._actor.scores(*self._actor.encode(chunk)), observations)


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
