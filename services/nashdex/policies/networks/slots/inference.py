"""The slots network as it acts: weights laid out once, buffers that are kept, no gradient.

Shapes: B decisions, F observation values, A actions, E ``entity_size``, V vectors as input of the trunk, W columns of a
block that stand for one row.

The logits equal ``SlotsNetwork.logits`` up to rounding (|Δ log π| < 1e-4; in practice 1e-6): only sums are taken
in another order. The trunk runs on oneDNN, and work that the rows of an observation share is done for all of them at
once, since each operation costs microseconds however small the batch is.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import Linear, functional

from nashdex.policies.networks.categories import LookUp
from nashdex.policies.networks.entities import Entity
from nashdex.policies.networks.onednn import CHUNK_ROWS, HiddenLayer, in_chunks, padded

if TYPE_CHECKING:
    from nashdex.policies.networks.slots.network import SlotsNetwork


@dataclass(frozen=True)
class _Part:
    """What one block's columns add to the rows of an entity."""

    offset: int
    weights: Tensor
    """(rows, W, E), the same for each row; zero in the columns of categories."""

    def columns(self, observations: Tensor) -> Tensor:
        """Return the block's columns, (rows, B, W): a view, so that they are multiplied where they are."""
        num_rows, width, _ = self.weights.shape
        size = observations.shape[1]
        return observations.as_strided((num_rows, len(observations), width), (width, size, 1), self.offset)


@dataclass(frozen=True)
class _RowEncoder:
    """What turns an entity's rows into vectors."""

    parts: tuple[_Part, ...]
    bias: Tensor
    """(E,)"""
    rows: slice
    """The places of its rows among the observation's, and of their vectors among the ones that the trunk sees."""

    def sums(self, observations: Tensor) -> Tensor:
        """Return the part of numbers and bias, (rows, B, E)."""
        first, *others = self.parts
        sums = torch.baddbmm(self.bias, first.columns(observations), first.weights)
        for part in others:
            sums.baddbmm_(part.columns(observations), part.weights)
        return sums


class _ActiveRows:
    """Picks the vectors of active rows by the columns with the active flags: one look-up for all entities."""

    def __init__(self, entities: list[Entity], size: int) -> None:
        """``size`` is F."""
        row = 0
        rows: list[int] = []
        columns: list[int] = []
        starts: list[int] = []
        for entity in entities:
            for active in entity.active:
                starts.append(len(rows))
                rows.extend(range(row, row + entity.rows))
                columns.extend(range(size)[active])
            row += entity.rows
        batch = torch.arange(CHUNK_ROWS, dtype=torch.int32).unsqueeze(1)
        self._columns = torch.tensor(columns, dtype=torch.int32)
        self._rows = batch * (row + len(starts)) + torch.tensor(rows, dtype=torch.int32)
        self._starts = batch * len(rows) + torch.tensor(starts, dtype=torch.int32)

    def fill(self, observations: Tensor, vectors: Tensor) -> None:
        """Fill the last of ``vectors`` (B, V, E), one for each entity that has active rows, from those before."""
        num_rows, num_active = len(vectors), self._starts.shape[1]
        if num_active:
            picked = functional.embedding_bag(
                self._rows[:num_rows].flatten(),
                vectors.flatten(0, 1),
                self._starts[:num_rows].flatten(),
                mode="sum",
                per_sample_weights=observations.index_select(1, self._columns).flatten(),
            )
            vectors[:, -num_active:] = picked.view(num_rows, num_active, -1)


class ActingSlotsNetwork:
    """The actor of ``network`` under its current weights: later changes of the network have no effect on it."""

    def __init__(self, network: "SlotsNetwork") -> None:
        self._look_up = LookUp(*(tensor.clone() for tensor in network.look_up))
        with torch.inference_mode():
            fused = network.fuse()
            self._table = fused.table
            self._encoders: list[_RowEncoder] = []
            row, vector = 0, 0
            of_rows: list[int] = []
            of_active: list[int] = []
            for entity, index in zip(network.entities, network.encoder_of, strict=True):
                parts = tuple(
                    _Part(part.offset, weights.expand(entity.rows, -1, -1))
                    for part, weights in zip(entity.parts, fused.number_weights[index], strict=True)
                )
                self._encoders.append(_RowEncoder(parts, fused.biases[index].clone(), slice(row, row + entity.rows)))
                of_rows.extend(range(vector, vector + entity.rows))
                of_active.extend(range(vector + entity.rows, vector + entity.num_vectors))
                row, vector = row + entity.rows, vector + entity.num_vectors
            self._num_rows = row
            self._active = _ActiveRows(network.entities, network.space.observation_size)
            self._bags = self._look_up.bags(CHUNK_ROWS)
            self._vectors = torch.zeros(CHUNK_ROWS, vector, network.settings.entity_size)
            first, *others = [layer for layer in network.trunk if isinstance(layer, Linear)]
            # All rows' vectors come first here, so each operation on rows handles all of them at once.
            by_vector = first.weight.view(-1, *self._vectors.shape[1:])
            ordered = by_vector[:, of_rows + of_active].flatten(1)
            self._hidden = [HiddenLayer.of(ordered, first.bias)]
            self._hidden += [HiddenLayer.of(layer.weight, layer.bias) for layer in others]
            self._actor = network.actor.weight.clone(), network.actor.bias.clone()

    def logits(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return logits before masking, (B, A), of ``observations`` (B, F)."""
        return in_chunks(self._chunk, observations)

    def _chunk(self, observations: Tensor) -> Tensor:
        num_rows = len(observations)
        self._encode(observations, self._vectors[:num_rows])
        hidden = self._vectors[: padded(num_rows)].flatten(1)
        for layer in self._hidden:
            hidden = layer(hidden)
        return functional.linear(hidden, *self._actor)[:num_rows]

    def _encode(self, observations: Tensor, vectors: Tensor) -> None:
        """Fill ``vectors`` (B, V, E)."""
        sums = self._look_up.sums(observations, self._table, self._bags[: len(vectors)])
        for encoder in self._encoders:
            numbers = encoder.sums(observations).transpose(0, 1)
            torch.add(sums[:, encoder.rows], numbers, out=vectors[:, encoder.rows])
        vectors[:, : self._num_rows].relu_()
        self._active.fill(observations, vectors)
