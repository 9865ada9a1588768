"""From an observation to vectors of its Pokémon and moves, and to the parts of a context.

Shapes: B decisions, F observation values, P Pokémon of both sides, K moves of each, M ``move_size``, E
``pokemon_size``.

A move is one layer over its fields. A Pokémon is two layers over its fields and the sum of its moves. The moves of the
active Pokémon have a second layer. A side is the maximum over its Pokémon, its active Pokémon, and the sum over that
one's moves; every other row of the observation is one layer over its fields.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nashdex.games.space import ObservationBlock, Space
from nashdex.policies.networks.layout import Layout
from nashdex.policies.networks.pointer.pooling import pool_moves, pool_pokemon
from nashdex.policies.networks.pointer.rows import FusedRows, Rows, embedding_name


class FusedEncoder(NamedTuple):
    """The first layers under some weights."""

    moves: FusedRows
    pokemon: FusedRows
    others: tuple[FusedRows, ...]


class Encoded(NamedTuple):
    """An observation, encoded."""

    context: Tensor
    """(B, ``context_width``)"""
    own_pokemon: Tensor
    """(B, P / 2, E)"""
    own_moves: Tensor
    """Of the own active Pokémon, (B, K, M)."""


class Encoder(nn.Module):
    """The encoder. Actor and critic have one each."""

    def __init__(self, space: Space, layout: Layout, *, embedding_size: int, move_size: int, pokemon_size: int) -> None:
        super().__init__()
        sides = layout.sides
        self.layout = layout
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
        used = {field.vocabulary for block in space.blocks for field in block.fields if field.vocabulary}
        self.embeddings = nn.ParameterDict(
            # Rows of about unit length, so that categories and scaled numbers weigh alike.
            {
                embedding_name(v): torch.randn(vocabularies[v], embedding_size) * embedding_size**-0.5
                for v in sorted(used)
            }
        )
        num_others = sum(other.num_rows for other in self.other_rows)
        self.context_width = 2 * (2 * pokemon_size + move_size) + num_others * move_size

    def fuse(self) -> FusedEncoder:
        """Return the first layers under the present weights."""
        return FusedEncoder(
            self.moves.fuse(self.embeddings),
            self.pokemon.fuse(self.embeddings),
            tuple(other.fuse(self.embeddings) for other in self.other_rows),
        )

    def forward(self, observations: Tensor, fused: FusedEncoder) -> Encoded:
        """Return ``observations`` (B, F), encoded."""
        num = len(observations)
        own = self.layout.own
        active = self._active_rows(observations)
        moves = self.moves(observations, fused.moves)
        summed, picked = pool_moves(moves, active, own.moves_each)
        pokemon = self.pokemon(observations, fused.pokemon).addmm_(summed, self.pokemon_moves)
        largest, actives, own_pokemon = pool_pokemon(self.pokemon_second(pokemon.relu_()), active, own.pokemon.rows)
        targets = self.active_moves(picked).relu_().view(num, 2, own.moves_each, self.move_size)
        parts = [largest, actives, targets.sum(dim=2).flatten(1)]
        for other, fused_other in zip(self.other_rows, fused.others, strict=True):
            parts.append(other(observations, fused_other).relu_().view(num, -1))
        return Encoded(torch.cat(parts, dim=1), own_pokemon.view(num, own.pokemon.rows, -1), targets[:, 0].contiguous())

    def _active_rows(self, observations: Tensor) -> Tensor:
        """Return the row of each side's active Pokémon in the whole batch, (2 B,); its first one where none is."""
        num_pokemon = self.layout.own.pokemon.rows
        places = torch.stack([observations[:, side.active].argmax(dim=1) for side in self.layout.sides], dim=1)
        rows = torch.arange(0, places.numel() * num_pokemon, num_pokemon, device=places.device)
        return places.flatten().add_(rows)


def linear(inputs: int, outputs: int, gain: float) -> nn.Linear:
    """Return an orthogonal layer without bias at first."""
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer
