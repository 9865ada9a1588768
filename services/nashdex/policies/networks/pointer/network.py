"""The pointer network: an action's score follows from its Pokémon or move, wherever this is in the team.

Shapes: B decisions, F observation values, A actions, S ``scorer_size``, C ``context_size``.

The score of an action is w · relu(W_c context + W_t target + b), where the target is the vector of the Pokémon
to switch to or of the move to use. W_c context is computed once a decision and W_t target once a target, so that ten
actions cost little more than one. W_t is one for Pokémon and one for moves; b is one for each kind of action.

The critic is such a network with its own, smaller encoder, which pools by the mean, and one output.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from nashdex.games.space import Space
from nashdex.policies.networks.actor_critic import ActingNetwork
from nashdex.policies.networks.layout import Layout, layout_of
from nashdex.policies.networks.linear import linear
from nashdex.policies.networks.opponent_choices import num_choices
from nashdex.policies.networks.pointer.encoder import Encoder, EncoderInputs, FusedEncoder
from nashdex.policies.networks.pointer.entity_network import EntityNetwork, Read
from nashdex.policies.networks.pointer.inference import ActingPointerNetwork
from nashdex.policies.networks.precision import in_float32
from nashdex.settings.networks import PointerSettings, PointerSizes


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
        self.order = None if order == list(range(len(candidates))) else order

    def forward(self, context: Tensor, own_pokemon: Tensor, own_moves: Tensor) -> Tensor:
        """Return scores (B, A) from context (B, C) and the vectors (…, B, …) of own Pokémon and the active's moves."""
        shared = self.context(context)
        scores: dict[int, Tensor] = {}
        for is_move, vectors, layer in ((False, own_pokemon, self.pokemon), (True, own_moves, self.move)):
            kinds = [kind for kind, names_move in enumerate(self.is_move) if names_move == is_move]
            if kinds:
                of_kinds = shared + self.kind[kinds].unsqueeze(1)
                scores |= zip(kinds, score_targets(of_kinds, vectors, layer.weight, self.score), strict=True)
        joined = torch.cat([scores[kind] for kind in sorted(scores)])
        return (joined if self.order is None else joined[self.order]).t()


class Critic(nn.Module):
    """The value of a decision."""

    def __init__(self, encoder: Encoder, context_size: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.context = context_layers(encoder.context_width, context_size)
        self.value = linear(context_size, 1, gain=1.0)

    def forward(self, read: Read[EncoderInputs]) -> Tensor:
        """Return the values of what the actor's encoder read, (B,)."""
        values: Tensor = self.value(self.context(self.encoder(read.inputs, self.encoder.fuse()).context)).squeeze(1)
        return values


class PointerNetwork(EntityNetwork[EncoderInputs, FusedEncoder]):
    """The network for Showdown's spaces.

    Raises:
        ConfigurationError: the space has no Pokémon and moves that its actions name.
    """

    settings: PointerSettings

    def __init__(self, space: Space, settings: PointerSettings) -> None:
        super().__init__(space, settings)
        layout = layout_of(space)
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
        self.critic = Critic(own_encoder, CRITIC_CONTEXT_SIZE)

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
