"""From rows to sides: ReLU, pooling and picking the active row in one step, each with its gradient in one pass.

Shapes: B decisions, two sides of P Pokémon with K moves each, E the size of a vector. Rows of both sides follow one
another: row (2 · b + side) · P + p is Pokémon p.

Written as autograd functions because the vectors of all moves are the largest tensor of a training step by far:
separate operations would read and write it a dozen times.
"""

from typing import Any

import torch
from torch import Tensor


def pool_moves(sums: Tensor, active: Tensor, moves_each: int) -> tuple[Tensor, Tensor]:
    """Return each Pokémon's sum (2 B P, E) and the active ones' moves (2 B K, E), after the ReLU.

    Args:
        sums: before the ReLU, (2 B P K, E); overwritten.
        active: row of each side's active Pokémon, (2 B,).
        moves_each: K.
    """
    summed, picked, _ = _MovePool.apply(sums, active, moves_each)  # type: ignore[no-untyped-call]
    return summed, picked


def pool_pokemon(sums: Tensor, active: Tensor, num_pokemon: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return each side's maximum (B, 2 E), its active Pokémon (B, 2 E) and all own ones (B P, E), after the ReLU.

    Args:
        sums: before the ReLU, (2 B P, E); overwritten.
        active: row of each side's active Pokémon, (2 B,).
        num_pokemon: P.
    """
    largest, actives, own, _ = _PokemonPool.apply(sums, active, num_pokemon)  # type: ignore[no-untyped-call]
    return largest, actives, own


class _MovePool(torch.autograd.Function):
    """``pool_moves``; the third output is the overwritten input."""

    @staticmethod
    def forward(ctx: Any, sums: Tensor, active: Tensor, moves_each: int) -> tuple[Tensor, Tensor, Tensor]:  # noqa: ANN401
        vectors = sums.relu_()
        ctx.mark_dirty(sums)
        ctx.set_materialize_grads(False)
        by_pokemon = vectors.view(-1, moves_each, vectors.shape[1])
        picked = by_pokemon.index_select(0, active)
        ctx.save_for_backward(vectors, active, picked)
        ctx.moves_each = moves_each
        return by_pokemon.sum(dim=1), picked.flatten(0, 1), vectors

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor, None, None]:  # noqa: ANN401
        of_sums, of_active, _ = gradients
        assert of_sums is not None
        assert of_active is not None
        vectors, active, picked = ctx.saved_tensors
        by_pokemon = vectors.view(-1, ctx.moves_each, vectors.shape[1])
        result = _through_relu(of_sums.unsqueeze(1).expand_as(by_pokemon), by_pokemon)
        result.index_add_(0, active, _through_relu(of_active.view_as(picked), picked))
        return result.flatten(0, 1), None, None


class _PokemonPool(torch.autograd.Function):
    """``pool_pokemon``; the fourth output is the overwritten input."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        sums: Tensor,
        active: Tensor,
        num_pokemon: int,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        vectors = sums.relu_()
        ctx.mark_dirty(sums)
        ctx.set_materialize_grads(False)
        size = vectors.shape[1]
        sides = vectors.view(-1, num_pokemon, size)
        largest = sides.amax(dim=1)
        ctx.save_for_backward(vectors, active, largest)
        ctx.num_pokemon = num_pokemon
        own = sides.view(-1, 2, num_pokemon, size)[:, 0].reshape(-1, size)
        return largest.view(-1, 2 * size), vectors.index_select(0, active).view(-1, 2 * size), own, vectors

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor, None, None]:  # noqa: ANN401
        of_largest, of_active, of_own, _ = gradients
        assert of_largest is not None
        assert of_active is not None
        vectors, active, largest = ctx.saved_tensors
        size = vectors.shape[1]
        sides = vectors.view(-1, ctx.num_pokemon, size)
        # Of equal vectors each gets the whole gradient; where the largest is 0, the ReLU lets none of it through.
        result = (sides == largest.unsqueeze(1)).to(vectors.dtype).mul_(of_largest.reshape(-1, 1, size))
        if of_own is not None:  # a critic has no use for single Pokémon
            result.view(-1, 2, ctx.num_pokemon, size)[:, 0] += of_own.view(-1, ctx.num_pokemon, size)
        result = result.view(-1, size).index_add_(0, active, of_active.reshape(-1, size))
        return _through_relu(result, vectors), None, None


def _through_relu(gradient: Tensor, outputs: Tensor) -> Tensor:
    """Return ``gradient`` where the ReLU's output is above 0, and 0 elsewhere."""
    passed: Tensor = torch.ops.aten.threshold_backward(gradient, outputs, 0)
    return passed
