"""Scores of targets, target by target: what is computed for one stays in the processor's cache.

Shapes: B decisions, T targets of a decision, n kinds of action, D the size of a target's vector, S ``scorer_size``.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from nashdex.policies.networks.precision import in_float32


def score_targets(shared: Tensor, targets: Tensor, weight: Tensor, score: Tensor) -> Tensor:
    """Return score · relu(shared + weight · target) of each kind and target, (n, T, B).

    Args:
        shared: what all targets of a decision have in common, by kind, (n, B, S).
        targets: (T, B, D)
        weight: (S, D)
        score: (S,)
    """
    if torch.compiler.is_exporting():  # one plain formula: a graph of operations has no use for tiles
        return (shared.unsqueeze(1) + targets @ weight.t()).relu() @ score

    def compute(*tensors: Tensor) -> Tensor:
        scores: Tensor = _ScoreTargets.apply(torch.is_grad_enabled(), *tensors)  # type: ignore[no-untyped-call]
        return scores

    return in_float32(compute, (shared, targets, weight, score))


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
