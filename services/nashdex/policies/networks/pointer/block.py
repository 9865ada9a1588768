"""Sums over the rows of a block: a table's rows that categories name, and numbers times weights.

Shapes: N rows, W columns of one row, k rows of the table for each row, V rows of the table, E the size of a sum.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from nashdex.policies.networks.precision import in_float32


class BlockValues(NamedTuple):
    """What observations say in a block. It depends on no weights, so that actor and critic share it."""

    values: Tensor
    """(…, W)"""
    indices: Tensor
    """Rows of the table, (…, k), int64."""

    def at(self, *place: int | slice) -> "BlockValues":
        """Return a part of it."""
        return BlockValues(self.values[place], self.indices[place])

    @property
    def by_row(self) -> tuple[Tensor, Tensor]:
        """Values (N, W) and indices (N, k)."""
        return self.values.reshape(-1, self.values.shape[-1]), self.indices.reshape(-1, self.indices.shape[-1])


def sums(block: BlockValues, table: Tensor, weights: Tensor) -> Tensor:
    """Return Σ table[indices] + values · weights, (N, E), for ``table`` (V, E) and ``weights`` (W, E). No gradient."""
    values, indices = block.by_row
    if torch.compiler.is_exporting():  # of all formats that torch exports to, none has this operation in place
        return table[indices].sum(dim=1) + values @ weights
    if indices.shape[1] == 1:
        rows = table.index_select(0, indices.flatten())
    else:
        rows = functional.embedding_bag(indices, table, mode="sum")
    return rows.addmm_(values, weights)


def add_gradients(block: BlockValues, gradient: Tensor, of_table: Tensor, of_weights: Tensor) -> None:
    """Add to the gradients of table and weights what follows from the ``gradient`` (N, E) of ``sums``."""
    values, indices = block.by_row
    of_weights.addmm_(values.t(), gradient)
    for column in indices.unbind(dim=1):  # torch's own gradients of embeddings take two to four times as long
        of_table.index_add_(0, column, gradient)


def trained_sums(block: BlockValues, table: Tensor, weights: Tensor) -> Tensor:
    """Return ``sums`` with gradients of table and weights."""
    if torch.compiler.is_exporting():
        return sums(block, table, weights)

    def compute(*tensors: Tensor) -> Tensor:
        result: Tensor = _Sums.apply(block, *tensors)  # type: ignore[no-untyped-call]
        return result

    return in_float32(compute, (table, weights))


class _Sums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, block: BlockValues, table: Tensor, weights: Tensor) -> Tensor:  # noqa: ANN401
        ctx.block = block
        ctx.save_for_backward(table, weights)
        return sums(block, table, weights)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor, Tensor]:  # noqa: ANN401
        of_table, of_weights = (torch.zeros_like(tensor) for tensor in ctx.saved_tensors)
        add_gradients(ctx.block, gradients[0], of_table, of_weights)
        return None, of_table, of_weights
