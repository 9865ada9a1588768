"""The pointer-pairs network: an action of a slot is scored by what it names, wherever that is in the team.

Shapes: B decisions, F observation values, P Pokémon of a side, K moves of each, A actions of one slot, M ``move_size``,
E ``pokemon_size``, S ``scorer_size``, Z ``interaction_size``, T ways to aim a move (``layout.TARGETS``).

The first layers are the pointer network's: one for all moves, two for all Pokémon, which see the sum of their moves.
A slot's vector combines its Pokémon with the boosts and effects that end when the Pokémon leaves. The context is two
layers over the maximum over each side's Pokémon, all four slots, and the field.

An action's vector is relu(context + own slot + other slot + what it names), by one layer for both slots. What it names
is the Pokémon to switch to, or a move and the slot it is aimed at; the move's layer has a part for each target, since
the same move does more to one foe than to the other. A last layer for each way to use a move reads a score f and Z
factors h from that vector. The pair (a, b) has the logit f(a) + f(b) + Σᵢ (−1)ⁱ hᵢ(a) hᵢ(b), see ``policies.masked``:
without signs, two actions with the same factors could never be worse together than apart. Factors are bounded, because
products of large ones would cost the digits in which acting and training agree.

The critic is such a context of its own, smaller, pooled by the mean, with ``value_bins`` outputs.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from nashdex.games.space import Space
from nashdex.policies.networks.actor_critic import ActingNetwork
from nashdex.policies.networks.layers import linear
from nashdex.policies.networks.pointer.encoder import Pool
from nashdex.policies.networks.pointer.entity_network import ActingEntityNetwork, EntityNetwork, Read
from nashdex.policies.networks.pointer.network import (
    CRITIC_CONTEXT_SIZE,
    CRITIC_MOVE_SIZE,
    CRITIC_POKEMON_SIZE,
    context_layers,
)
from nashdex.policies.networks.pointer.parts import BlockValues, trained_sums
from nashdex.policies.networks.pointer.rows import FusedRows, Rows, embeddings
from nashdex.policies.networks.pointer_pairs.layout import PASS, TARGETS, Layout, layout_of
from nashdex.settings.networks import PointerPairsSettings

_SCORE_GAIN = 0.01
"""A first policy that is close to uniform (Andrychowicz et al. 2020)."""
_INTERACTION_GAIN = 0.1
"""Not tiny, because each factor's gradient is the other one."""
_LARGEST_FACTOR = 2.0


class Fused(NamedTuple):
    """The first layers under some weights."""

    moves: FusedRows
    pokemon: FusedRows
    slots: FusedRows
    others: tuple[FusedRows, ...]


class SideInputs(NamedTuple):
    """One side of an observation, as it is read."""

    pokemon: BlockValues
    """(P, B, …)"""
    moves: BlockValues
    """(P · K, B, …)"""
    slots: BlockValues
    """(2, B, …)"""
    places: Tensor
    """The Pokémon in each slot, (2, B), int64."""
    is_filled: Tensor
    """1 where a slot has a Pokémon, otherwise 0, (2, B)."""


class Inputs(NamedTuple):
    """Observations as encoders read them. Encoders of one space share them, whatever their sizes and weights."""

    sides: tuple[SideInputs, SideInputs]
    others: tuple[BlockValues, ...]


class SideVectors(NamedTuple):
    """One side of an observation, encoded."""

    pokemon: Tensor
    """(P, B, E)"""
    slots: Tensor
    """(2, B, E)"""
    moves: Tensor
    """(P, K, B, M)"""


class Encoded(NamedTuple):
    """An observation, encoded."""

    context: Tensor
    """(B, C)"""
    own: SideVectors
    opponent: SideVectors


class Encoder(nn.Module):
    """From observations to Pokémon, slots and a context. Actor and critic have one each."""

    def __init__(
        self,
        space: Space,
        layout: Layout,
        *,
        embedding_size: int,
        move_size: int,
        pokemon_size: int,
        context_size: int,
        pool: Pool = "maximum",
    ) -> None:
        super().__init__()
        self.layout, self.pool = layout, pool
        self.sees = layout.sees
        sides, vocabularies = layout.sides, space.vocabularies
        self.moves = Rows([side.moves for side in sides], vocabularies, embedding_size, move_size)
        self.pokemon = Rows([side.pokemon for side in sides], vocabularies, embedding_size, pokemon_size)
        self.slots = Rows([side.slots for side in sides], vocabularies, embedding_size, move_size)
        self.other_rows = [Rows([block], vocabularies, embedding_size, move_size) for block in layout.others]
        self.others = nn.ModuleList(self.other_rows)
        self.pokemon_moves = nn.Parameter(torch.empty(move_size, pokemon_size).uniform_(-1, 1) * move_size**-0.5)
        self.pokemon_second = linear(pokemon_size, pokemon_size, gain=2**0.5)
        self.slot_second = linear(pokemon_size + move_size, pokemon_size, gain=2**0.5)
        self.embeddings = embeddings(space, embedding_size)
        num_others = sum(other.num_rows for other in self.other_rows)
        width = 2 * (1 + space.num_slots) * pokemon_size + num_others * move_size
        self.context = context_layers(width, context_size)

    def fuse(self) -> Fused:
        """Return the first layers under the current weights."""
        return Fused(
            self.moves.fuse(self.embeddings),
            self.pokemon.fuse(self.embeddings),
            self.slots.fuse(self.embeddings),
            tuple(other.fuse(self.embeddings) for other in self.other_rows),
        )

    def read(self, observations: Tensor) -> Inputs:
        """Return what depends on ``observations`` (B, F) alone."""
        observations = self.sees(observations)
        own, opponent = (self._read_side(observations, number) for number in range(len(self.layout.sides)))
        return Inputs((own, opponent), tuple(other.read(observations, 0) for other in self.other_rows))

    def _read_side(self, observations: Tensor, number: int) -> SideInputs:
        # (2, B, P): which Pokémon is in each slot.
        flags = torch.stack([observations[:, columns] for columns in self.layout.sides[number].active])
        return SideInputs(
            self.pokemon.read(observations, number),
            self.moves.read(observations, number),
            self.slots.read(observations, number),
            flags.argmax(dim=2),
            flags.amax(dim=2),
        )

    def forward(self, inputs: Inputs, fused: Fused) -> Encoded:
        """Return the observations of ``inputs``, encoded."""
        own, opponent = (self._side(side, fused, number) for number, side in enumerate(inputs.sides))
        parts = [side.pokemon.amax(0) if self.pool == "maximum" else side.pokemon.mean(0) for side in (own, opponent)]
        parts += [slot for side in (own, opponent) for slot in side.slots]
        for rows, values, fused_rows in zip(self.other_rows, inputs.others, fused.others, strict=True):
            parts += _vectors(rows, values, fused_rows, 0).relu_()
        context: Tensor = self.context(torch.cat(parts, dim=1))
        return Encoded(context, own, opponent)

    def _side(self, inputs: SideInputs, fused: Fused, number: int) -> SideVectors:
        side = self.layout.sides[number]
        moves = _vectors(self.moves, inputs.moves, fused.moves, number).relu_()
        moves = moves.view(side.pokemon.rows, side.moves_each, *moves.shape[1:])
        pokemon = _vectors(self.pokemon, inputs.pokemon, fused.pokemon, number)
        pokemon = (pokemon + moves.sum(dim=1) @ self.pokemon_moves).relu_()
        pokemon = self.pokemon_second(pokemon).relu_()
        states = _vectors(self.slots, inputs.slots, fused.slots, number).relu_()
        slots = torch.cat((in_slots(pokemon, inputs), states), dim=2)
        return SideVectors(pokemon, self.slot_second(slots).relu(), moves)


def in_slots(of_pokemon: Tensor, inputs: SideInputs) -> Tensor:
    """Return what ``of_pokemon`` (P, B, …) has for the Pokémon in each slot, zero where there is none, (2, B, …)."""
    found = of_pokemon[inputs.places, torch.arange(of_pokemon.shape[1], device=of_pokemon.device)]
    return (found.flatten(2) * inputs.is_filled.unsqueeze(2)).view_as(found)


def _vectors(rows: Rows, values: BlockValues, fused: FusedRows, number: int) -> Tensor:
    """Return the first layer over block ``number``, before its ReLU, (R, B, …)."""
    sums = trained_sums(values, fused.table, rows.by_block(fused.weights)[number])
    return sums.view(*values.values.shape[:2], -1)


class Scorer(nn.Module):
    """Scores and factors of both slots' actions."""

    _order: Tensor
    _signs: Tensor

    def __init__(
        self, layout: Layout, *, context: int, pokemon: int, move: int, size: int, interaction_size: int
    ) -> None:
        super().__init__()
        kinds = layout.move_kinds
        self._num_targets, self._num_kinds, self._num_outputs = len(TARGETS), len(kinds), 1 + interaction_size
        self.context = linear(context, size, gain=1.0)
        self.user = nn.Linear(pokemon, size, bias=False)
        self.partner = nn.Linear(pokemon, size, bias=False)
        self.move = nn.Linear(move, self._num_targets * size)
        self.own_target = nn.Linear(pokemon, size, bias=False)
        self.foe_target = nn.Linear(pokemon, size, bias=False)
        self.switch = nn.Linear(pokemon, size)
        self.of_move = _outputs(size, len(kinds), interaction_size)
        self.of_switch = _outputs(size, 1, interaction_size)
        self.of_pass = _outputs(size, 1, interaction_size)
        signs = torch.tensor([1.0, -1.0]).repeat(interaction_size)[:interaction_size]
        self.register_buffer("_signs", signs, persistent=False)
        num_pokemon, moves_each = layout.own.pokemon.rows, layout.own.moves_each

        def place(slot: int, action: int) -> int:
            candidate = layout.candidates[slot][action]
            if candidate.kind == PASS:
                return 0
            if candidate.kind == "switch":
                return 1 + candidate.row
            target = candidate.row * self._num_targets + TARGETS.index(candidate.target)
            return 1 + num_pokemon + target * len(kinds) + kinds.index(candidate.kind)

        num_actions = len(layout.candidates[0])
        num_candidates = 1 + num_pokemon + moves_each * self._num_targets * len(kinds)
        order = [slot * num_candidates + place(slot, action) for slot in (0, 1) for action in range(num_actions)]
        self.register_buffer("_order", torch.tensor(order), persistent=False)

    def forward(self, encoded: Encoded, own_moves: Tensor) -> Tensor:
        """Return scores and factors, (B, 2, A, 1 + Z); ``own_moves`` (2, K, B, M) are of the Pokémon in each slot."""
        own, opponent = encoded.own, encoded.opponent
        num = len(encoded.context)
        partners = own.slots.flip(0)
        shared = self.context(encoded.context) + self.user(own.slots) + self.partner(partners)
        # Moves are (2, K, B, T, S), and slots that they are aimed at (2, B, T, S).
        moves = self.move(own_moves).unflatten(-1, (self._num_targets, -1))
        of_own, of_foes = self.own_target(own.slots), self.foe_target(opponent.slots)
        nobody = torch.zeros_like(of_own)
        foes = [foe.expand_as(of_own) for foe in of_foes]
        targets = torch.stack([of_own.flip(0), of_own, nobody, *foes], dim=2) + shared.unsqueeze(2)
        aimed = (moves + targets.unsqueeze(1)).relu_()
        outputs = [
            self.of_pass(shared.relu()).unsqueeze(1),
            self.of_switch((self.switch(own.pokemon) + shared.unsqueeze(1)).relu_()),
            # From (2, K, B, T, kinds · (1 + Z)) to (2, K · T · kinds, B, 1 + Z).
            self.of_move(aimed)
            .unflatten(-1, (self._num_kinds, self._num_outputs))
            .permute(0, 1, 3, 4, 2, 5)
            .flatten(1, 3),
        ]
        scores = torch.cat(outputs, dim=1).flatten(0, 1).index_select(0, self._order)
        scores = scores.view(2, -1, num, self._num_outputs)
        factors = _LARGEST_FACTOR * (scores[..., 1:] / _LARGEST_FACTOR).tanh()
        factors = torch.stack((factors[0], factors[1] * self._signs))
        return torch.cat((scores[..., :1], factors), dim=-1).permute(2, 0, 1, 3)


def _outputs(size: int, kinds: int, interaction_size: int) -> nn.Linear:
    """Return the layer to ``kinds`` times a score and its factors."""
    layer = linear(size, kinds * (1 + interaction_size), gain=1.0)
    gains = torch.full((kinds, 1 + interaction_size), _INTERACTION_GAIN)
    gains[:, 0] = _SCORE_GAIN
    with torch.no_grad():
        layer.weight *= gains.flatten().unsqueeze(1)
    return layer


class Critic(nn.Module):
    """The value of a decision."""

    def __init__(self, encoder: Encoder, context_size: int, num_outputs: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.value = linear(context_size, num_outputs, gain=1.0)

    def forward(self, read: Read[Inputs]) -> Tensor:
        """Return the outputs for what the actor's encoder read, (B, V)."""
        outputs: Tensor = self.value(self.encoder(read.inputs, self.encoder.fuse()).context)
        return outputs


class PointerPairsNetwork(EntityNetwork[Inputs, Fused]):
    """The network for Showdown's spaces of two slots.

    Raises:
        ConfigurationError: the space has no Pokémon, moves and slots that its actions name.
    """

    settings: PointerPairsSettings
    opponent = None

    def __init__(self, space: Space, settings: PointerPairsSettings) -> None:
        super().__init__(space, settings)
        layout = layout_of(space, estimates_damage=settings.estimates_damage)
        self.encoder = Encoder(
            space,
            layout,
            embedding_size=settings.embedding_size,
            move_size=settings.move_size,
            pokemon_size=settings.pokemon_size,
            context_size=settings.context_size,
        )
        self.scorer = Scorer(
            layout,
            context=settings.context_size,
            pokemon=settings.pokemon_size,
            move=settings.move_size,
            size=settings.scorer_size,
            interaction_size=settings.interaction_size,
        )
        of_critic = Encoder(
            space,
            layout,
            embedding_size=CRITIC_MOVE_SIZE,
            move_size=CRITIC_MOVE_SIZE,
            pokemon_size=CRITIC_POKEMON_SIZE,
            context_size=CRITIC_CONTEXT_SIZE,
            pool="mean",
        )
        self.critic = Critic(of_critic, CRITIC_CONTEXT_SIZE, settings.value_bins)

    @property
    def actor_encoder(self) -> Encoder:
        """The actor's encoder."""
        return self.encoder

    def scores(self, read: Read[Inputs], fused: Fused) -> tuple[Tensor, Tensor]:
        """Return the scores of each slot's actions and their factors, (B, 2, A, 1 + Z), and the context (B, C)."""
        encoded = self.encoder(read.inputs, fused)
        moves = in_slots(encoded.own.moves.transpose(1, 2), read.inputs.sides[0]).transpose(1, 2)
        return self.scorer(encoded, moves), encoded.context

    def for_acting(self) -> ActingNetwork:
        """Return the actor under its current weights."""
        return ActingEntityNetwork(self)
