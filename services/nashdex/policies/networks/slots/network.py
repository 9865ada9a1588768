"""The slots network: a row of the observation becomes a vector, and each action has its own output.

Shapes: B decisions, F observation values, A actions, R rows that stand for an entity, E ``entity_size``, D
``embedding_size``.

Each row of a block (a Pokémon, the field) becomes one vector of E values by a linear layer over its numbers and the
embeddings of its categories; a ReLU; then a trunk over all rows' vectors, and the actor's head.
Rows of a block ``X_…`` that has k rows for each row of block ``X`` (a Pokémon's moves) are inputs of that row. Blocks
with the same fields share their encoder; embeddings are shared by vocabulary. Where a block has a field ``active``
(in doubles ``active_a`` and ``active_b``), the trunk also sees the vector of its active row: what a Pokémon does
on the field is learnt once instead of once for each place in the team.

The critic is a small network of its own over the numbers alone. Every decision of a battle has the same outcome, so
a critic on the actor's features would memorise battles and pull those features with it.

The linear layer over an embedding is a table look-up: ``fuse`` multiplies the embeddings by the layer once, so that
a row's categories cost one sum of table rows instead of a gather, a concatenation and a wide product.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from nashdex.games.space import Space
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.policies.networks.categories import LookUp, embedding_name
from nashdex.policies.networks.entities import Entity, entities_of
from nashdex.policies.networks.linear import linear
from nashdex.policies.networks.slots.inference import ActingSlotsNetwork
from nashdex.settings.networks import RowSettings

ACTOR_GAIN = 0.01
"""A first policy that is close to uniform (Andrychowicz et al. 2020)."""


class _RowEncoder(nn.Module):
    """A linear layer over a row's numbers and embedded categories, kept in pieces."""

    def __init__(self, entity: Entity, settings: RowSettings) -> None:
        super().__init__()
        self.entity = entity
        vocabularies = entity.vocabularies
        fan_in = entity.num_numbers + len(vocabularies) * settings.embedding_size
        bound = fan_in**-0.5
        size = settings.entity_size
        self.numbers = nn.Parameter(torch.empty(entity.num_numbers, size).uniform_(-bound, bound))
        self.categories = nn.Parameter(
            torch.empty(len(vocabularies), settings.embedding_size, size).uniform_(-bound, bound)
        )
        self.bias = nn.Parameter(torch.zeros(size))

    def number_weights(self) -> list[Tensor]:
        """Return for each part the weights of all its columns, (width, E); zero in the columns of categories."""
        weights, at = [], 0
        for part in self.entity.parts:
            columns = torch.tensor(part.numbers, dtype=torch.int64, device=self.numbers.device)
            full = self.numbers.new_zeros(part.width, self.numbers.shape[1])
            weights.append(full.index_copy(0, columns, self.numbers[at : at + len(part.numbers)]))
            at += len(part.numbers)
        return weights

    def category_tables(self, embeddings: nn.ParameterDict) -> list[Tensor]:
        """Return for each category what each of its values adds to the row, (vocabulary, E)."""
        return [
            embeddings[embedding_name(vocabulary)] @ weight
            for vocabulary, weight in zip(self.entity.vocabularies, self.categories, strict=True)
        ]


class Fused(NamedTuple):
    """The row encoders, ready to apply."""

    number_weights: list[list[Tensor]]
    """Weights of the numbers by encoder and part, (width, E)."""
    biases: list[Tensor]
    """Biases by encoder, (E,)."""
    table: Tensor
    """All encoders' category tables below one another, (V, E)."""


class SlotsNetwork(ActorCritic):
    """The network for any space."""

    settings: RowSettings

    _number_columns: Tensor
    _columns: Tensor
    _limits: Tensor
    _table_offsets: Tensor
    _row_starts: Tensor

    def __init__(self, space: Space, settings: RowSettings) -> None:
        super().__init__(space, settings)
        self.entities = entities_of(space)
        layouts = list(dict.fromkeys(entity.layout for entity in self.entities))
        self.encoder_of = [layouts.index(entity.layout) for entity in self.entities]
        self._row_encoders = [
            _RowEncoder(self.entities[self.encoder_of.index(i)], settings) for i in range(len(layouts))
        ]
        self.encoders = nn.ModuleList(self._row_encoders)
        used = sorted({vocabulary for entity in self.entities for vocabulary in entity.vocabularies})
        self.embeddings = nn.ParameterDict(
            # Rows of about unit length, so that categories and scaled numbers weigh alike.
            {
                embedding_name(v): torch.randn(space.vocabularies[v], settings.embedding_size)
                * settings.embedding_size**-0.5
                for v in used
            }
        )
        width = sum(entity.num_vectors for entity in self.entities) * settings.entity_size
        layers: list[nn.Module] = []
        for _ in range(settings.num_hidden_layers):
            layers += [linear(width, settings.hidden_size, gain=2**0.5), nn.ReLU()]
            width = settings.hidden_size
        self.trunk = nn.Sequential(*layers)
        self.actor = self.make_actor(width)
        number_columns = [column for entity in self.entities for column in entity.number_columns()]
        self._register("_number_columns", number_columns)
        self.critic = nn.Sequential(
            linear(len(number_columns), settings.critic_size, gain=2**0.5),
            nn.ReLU(),
            linear(settings.critic_size, 1, gain=1.0),
        )
        self._register_look_up()

    def make_actor(self, width: int) -> nn.Linear:
        """Return the head over the trunk's ``width`` values."""
        return linear(width, self.space.num_actions, gain=ACTOR_GAIN)

    def _register_look_up(self) -> None:
        """Prepare the columns of categories in an observation and the first row of each of their tables."""
        starts: list[list[int]] = []
        at = 0
        for encoder in self._row_encoders:
            sizes = [self.space.vocabularies[v] for v in encoder.entity.vocabularies]
            starts.append([at + sum(sizes[:i]) for i in range(len(sizes))])
            at += sum(sizes)
        columns: list[int] = []
        limits: list[int] = []
        offsets: list[int] = []
        row_starts: list[int] = []
        for entity, encoder_index in zip(self.entities, self.encoder_of, strict=True):
            num_categories = len(entity.vocabularies)
            row_starts.extend(len(columns) + row * num_categories for row in range(entity.rows))
            columns.extend(entity.category_columns())
            limits.extend([self.space.vocabularies[v] - 1 for v in entity.vocabularies] * entity.rows)
            offsets.extend(starts[encoder_index] * entity.rows)
        self._register("_columns", columns)
        self._register("_limits", limits)
        self._register("_table_offsets", offsets)
        self._register("_row_starts", row_starts)

    def _register(self, name: str, values: list[int]) -> None:
        """Keep indices that move with the weights and are no part of them."""
        self.register_buffer(name, torch.tensor(values, dtype=torch.int32), persistent=False)

    def fuse(self) -> Fused:
        """Return the row encoders under the current weights."""
        tables = [table for encoder in self._row_encoders for table in encoder.category_tables(self.embeddings)]
        return Fused(
            [encoder.number_weights() for encoder in self._row_encoders],
            [encoder.bias for encoder in self._row_encoders],
            torch.cat(tables) if tables else self.actor.weight.new_zeros(0, self.settings.entity_size),
        )

    def for_acting(self) -> ActingSlotsNetwork:
        """Return the actor under its current weights."""
        return ActingSlotsNetwork(self)

    def logits(self, observations: Tensor, fused: Fused | None = None) -> Tensor:
        """Return the actor's logits (B, A)."""
        logits: Tensor = self.actor(self.trunk(self._encode(observations, fused or self.fuse())))
        return logits

    def values(self, observations: Tensor) -> Tensor:
        """Return the critic's values (B,)."""
        values: Tensor = self.critic(observations.index_select(1, self._number_columns)).squeeze(-1)
        return values

    def _encode(self, observations: Tensor, fused: Fused) -> Tensor:
        """Return the vectors of all rows and of the active ones side by side, (B, vectors · E)."""
        sums = self._category_sums(observations, fused.table)
        encoded, at = [], 0
        for entity, encoder in zip(self.entities, self.encoder_of, strict=True):
            rows = fused.biases[encoder]
            if sums is not None:
                rows = rows + sums[:, at : at + entity.rows]
            at += entity.rows
            for part, weights in zip(entity.parts, fused.number_weights[encoder], strict=True):
                values = observations[:, part.offset : part.offset + entity.rows * part.width]
                # One plain product of matrices: with three dimensions torch would choose its kernel by whether
                # gradients are wanted, and the same weights would not give the same bits in training and acting.
                rows = rows + (values.reshape(-1, part.width) @ weights).view(-1, entity.rows, weights.shape[1])
            vectors = rows.relu()
            encoded.append(vectors)
            encoded.extend(observations[:, active].unsqueeze(1) @ vectors for active in entity.active)
        return torch.cat(encoded, dim=1).flatten(1)

    @property
    def look_up(self) -> LookUp:
        """The columns of an observation's categories, and the table rows that they name."""
        return LookUp(self._columns, self._limits, self._table_offsets, self._row_starts)

    def _category_sums(self, observations: Tensor, table: Tensor) -> Tensor | None:
        """Return what the categories add to each row, (B, R, E); None where the space has no categories."""
        if not len(self._columns):
            return None
        return self.look_up.sums(observations, table, self.look_up.bags(len(observations)))
