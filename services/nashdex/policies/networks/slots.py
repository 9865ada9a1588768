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

As it acts (V vectors as input of the trunk, W columns of a block that stand for one row), weights are laid out once,
buffers are kept, and there is no gradient. The logits equal ``SlotsNetwork.logits`` up to rounding (|Δ log π| < 1e-4;
in practice 1e-6): only sums are taken in another order. The trunk runs on oneDNN, and work that the rows of an
observation share is done for all of them at once, since each operation costs microseconds however small the batch is.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import Linear, functional

from nashdex.games.space import Space
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.policies.networks.entities import Entity, LookUp, embedding_name, entities_of
from nashdex.policies.networks.layers import linear
from nashdex.policies.networks.observed import Observed
from nashdex.policies.networks.onednn import CHUNK_ROWS, HiddenLayer, padded
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
        self.row_encoders = [
            _RowEncoder(self.entities[self.encoder_of.index(i)], settings) for i in range(len(layouts))
        ]
        self.encoders = nn.ModuleList(self.row_encoders)
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
        for encoder in self.row_encoders:
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
        tables = [table for encoder in self.row_encoders for table in encoder.category_tables(self.embeddings)]
        return Fused(
            [encoder.number_weights() for encoder in self.row_encoders],
            [encoder.bias for encoder in self.row_encoders],
            torch.cat(tables) if tables else self.actor.weight.new_zeros(0, self.settings.entity_size),
        )

    def for_acting(self) -> "ActingSlotsNetwork":
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
class _ActingRowEncoder:
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
            self._encoders: list[_ActingRowEncoder] = []
            row, vector = 0, 0
            of_rows: list[int] = []
            of_active: list[int] = []
            for entity, index in zip(network.entities, network.encoder_of, strict=True):
                parts = tuple(
                    _Part(part.offset, weights.expand(entity.rows, -1, -1))
                    for part, weights in zip(entity.parts, fused.number_weights[index], strict=True)
                )
                self._encoders.append(
                    _ActingRowEncoder(parts, fused.biases[index].clone(), slice(row, row + entity.rows))
                )
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

    def logits(self, observed: Observed) -> NDArray[np.float32]:
        """Return logits before masking, (B, A), of B observations."""
        return observed.in_chunks(self._chunk)

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
