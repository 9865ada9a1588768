"""Sums over the rows of a block, and scores of targets, computed part by part so that they stay in a CPU's cache.

A block's sums add a table's rows that categories name, and numbers times weights. Shapes: N rows, W columns of one row,
k rows of the table for each row, V rows of the table, E the size of a sum.

Targets are scored one by one. Shapes: B decisions, T targets of a decision, n kinds of action, D the size of a target's
vector, S ``scorer_size``.
"""

from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from nashdex.policies.networks.layers import in_float32, is_plain


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


def plain_sums(block: BlockValues, table: Tensor, weights: Tensor) -> Tensor:
    """Return Σ table[indices] + values · weights, (N, E), for ``table`` (V, E) and ``weights`` (W, E)."""
    values, indices = block.by_row
    if torch.compiler.is_exporting():  # no format that torch exports to has bags
        return table[indices].sum(dim=1) + values @ weights
    # The gradient of a lookup would be added index by index, for the same bits each time; that of a bag is sorted.
    return functional.embedding_bag(indices, table, mode="sum") + values @ weights


def sums(block: BlockValues, table: Tensor, weights: Tensor) -> Tensor:
    """Return ``plain_sums`` on a CPU, without a gradient."""
    values, indices = block.by_row
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
    """Return ``plain_sums`` with gradients of table and weights."""
    if is_plain(table):
        return in_float32(partial(plain_sums, block), (table, weights))

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


def score_targets(shared: Tensor, targets: Tensor, weight: Tensor, score: Tensor) -> Tensor:
    """Return score · relu(shared + weight · target) of each kind and target, (n, T, B).

    ``shared`` (n, B, S) is what all targets of a decision have in common, by kind. ``targets`` are (T, B, D),
    ``weight`` (S, D) and ``score`` (S,).
    """
    if is_plain(shared):
        return in_float32(_score_plainly, (shared, targets, weight, score))

    def compute(*tensors: Tensor) -> Tensor:
        scores: Tensor = _ScoreTargets.apply(torch.is_grad_enabled(), *tensors)  # type: ignore[no-untyped-call]
        return scores

    return in_float32(compute, (shared, targets, weight, score))


def _score_plainly(shared: Tensor, targets: Tensor, weight: Tensor, score: Tensor) -> Tensor:
    return (shared.unsqueeze(1) + targets @ weight.t()).relu() @ score


class _ScoreTargets(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        keeps: bool,  # noqa: FBT001 - an autograd function takes no keywords
        shared: Tensor,
        targets: Tensor,
        weight: Tensor,
        score: Tensor,
    ) -> Tensor:
        scores = shared.new_empty(len(shared), *targets.shape[:2])
        ctx.hidden = []
        for t, target in enumerate(targets):
            candidate = target @ weight.t()
            hidden = [(of_kind + candidate).relu_() for of_kind in shared]
            for kind, layer in enumerate(hidden):
                torch.mv(layer, score, out=scores[kind, t])
            if keeps:
                ctx.hidden.append(hidden)
        if keeps:
            ctx.save_for_backward(shared, targets, weight, score)
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        shared, targets, weight, score = ctx.saved_tensors
        of_scores = gradients[0].contiguous()
        of_shared, of_weight, of_score = (torch.zeros_like(tensor) for tensor in (shared, weight, score))
        of_targets = torch.empty_like(targets)
        for t, (target, hidden) in enumerate(zip(targets, ctx.hidden, strict=True)):
            of_candidate = None
            for kind, layer in enumerate(hidden):
                of_score.addmv_(layer.t(), of_scores[kind, t])
                of_hidden = torch.ops.aten.threshold_backward(of_scores[kind, t].unsqueeze(1) * score, layer, 0)
                of_shared[kind] += of_hidden
                of_candidate = of_hidden if of_candidate is None else of_candidate.add_(of_hidden)
            assert of_candidate is not None
            of_weight.addmm_(of_candidate.t(), target)
            torch.mm(of_candidate, weight, out=of_targets[t])
        return None, of_shared, of_targets, of_weight, of_score
