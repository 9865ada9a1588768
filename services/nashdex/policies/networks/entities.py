"""Entities of a space: the rows that a network encodes one by one, the columns of their values, and their categories.

Shapes: B decisions, F observation values, R rows that stand for an entity, C categories of a decision.

Rows of a block ``X_…`` that has k rows for each row of block ``X`` (a Pokémon's moves) are inputs of that row. A linear
layer over an embedding is one row of a table, so categories are looked up.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from nashdex.games.space import ObservationBlock, Space

_ACTIVE = ("active", "active_a", "active_b")


@dataclass(frozen=True)
class Part:
    """What one block gives to each row of an entity: ``width`` neighbouring values."""

    offset: int
    width: int
    numbers: tuple[int, ...]
    """Columns of the numbers."""
    categories: tuple[tuple[int, str], ...]
    """Column and vocabulary of each category."""


@dataclass(frozen=True)
class Entity:
    """One block and what is folded into it."""

    rows: int
    parts: tuple[Part, ...]
    active: tuple[slice, ...]
    """Columns of the observation for each slot on the field: the flags, row by row, whether the row is in the slot."""

    @property
    def num_vectors(self) -> int:
        """How many vectors the trunk sees of it."""
        return self.rows + len(self.active)

    @property
    def layout(self) -> tuple[object, ...]:
        """Equal for entities that can share an encoder."""
        return tuple((part.width, part.numbers, part.categories) for part in self.parts)

    @property
    def num_numbers(self) -> int:
        """How many numbers a row has."""
        return sum(len(part.numbers) for part in self.parts)

    @property
    def vocabularies(self) -> tuple[str, ...]:
        """The vocabulary of each category of a row, in order."""
        return tuple(vocabulary for part in self.parts for _, vocabulary in part.categories)

    def number_columns(self) -> Iterator[int]:
        """Yield the observation's columns of all numbers, row by row."""
        for row in range(self.rows):
            for part in self.parts:
                for column in part.numbers:
                    yield part.offset + row * part.width + column

    def category_columns(self) -> Iterator[int]:
        """Yield the observation's columns of all categories, row by row."""
        for row in range(self.rows):
            for part in self.parts:
                for column, _ in part.categories:
                    yield part.offset + row * part.width + column


def entities_of(space: Space) -> list[Entity]:
    """Return the space's entities in the order of their blocks."""
    blocks = {block.name: block for block in space.blocks}
    owners: dict[str, list[ObservationBlock]] = {}
    for block in space.blocks:
        stem, _, _ = block.name.rpartition("_")
        folds = stem in blocks and block.rows % blocks[stem].rows == 0
        owners.setdefault(stem if folds else block.name, []).append(block)
    return [
        Entity(
            blocks[name].rows,
            tuple(_part(block, block.rows // blocks[name].rows) for block in parts),
            active_columns(blocks[name]),
        )
        for name, parts in owners.items()
    ]


def active_columns(block: ObservationBlock) -> tuple[slice, ...]:
    """Return for each slot the observation's columns that say, row by row, whether a row is in it."""
    return tuple(
        slice(block.offset + field.offset, block.offset + block.rows * block.stride, block.stride)
        for field in block.fields
        if field.name in _ACTIVE and field.kind == "number" and field.size == 1
    )


def _part(block: ObservationBlock, rows_each: int) -> Part:
    numbers: list[int] = []
    categories: list[tuple[int, str]] = []
    for row in range(rows_each):
        for field in block.fields:
            start = row * block.stride + field.offset
            columns = range(start, start + field.size)
            if field.kind == "number":
                numbers.extend(columns)
            else:
                categories.extend((column, str(field.vocabulary)) for column in columns)
    return Part(block.offset, rows_each * block.stride, tuple(numbers), tuple(categories))


class LookUp(NamedTuple):
    """How the categories of an observation name rows of ``Fused.table``. C categories of R rows; int32."""

    columns: Tensor
    """Their columns in the observation, (C,)."""
    limits: Tensor
    """The largest index of each one's vocabulary, (C,)."""
    offsets: Tensor
    """The first row of each one's part of the table, (C,)."""
    row_starts: Tensor
    """Position of each row's first category, (R,)."""

    def indices(self, observations: Tensor) -> Tensor:
        """Return the rows that ``observations`` (B, F) name, (B, C), int32."""
        # Integers first: whatever a float was, the index is then within its vocabulary.
        indices = observations.index_select(1, self.columns).int().clamp_(min=0)
        return torch.minimum(indices, self.limits).add_(self.offsets)

    def bags(self, num_observations: int) -> Tensor:
        """Return where each row's categories begin among all of B observations, (B, R)."""
        batch = torch.arange(num_observations, dtype=torch.int32, device=self.columns.device).unsqueeze(1)
        return batch * len(self.columns) + self.row_starts

    def sums(self, observations: Tensor, table: Tensor, bags: Tensor) -> Tensor:
        """Return what the categories of ``observations`` add to each row, (B, R, E); ``bags`` are theirs."""
        if torch.compiler.is_exporting():  # a sum of rows by a matrix of ones: other stacks have no bags
            return self._membership(table.dtype) @ table[self.indices(observations).long()]
        sums: Tensor = functional.embedding_bag(self.indices(observations).flatten(), table, bags.flatten(), mode="sum")
        return sums.view(*bags.shape, -1)

    def _membership(self, dtype: torch.dtype) -> Tensor:
        """Return 1 where a category belongs to a row, (R, C)."""
        places = torch.arange(len(self.columns), device=self.columns.device)
        ends = torch.cat((self.row_starts[1:], self.row_starts.new_tensor([len(self.columns)])))
        return ((places >= self.row_starts.unsqueeze(1)) & (places < ends.unsqueeze(1))).to(dtype)


def embedding_name(vocabulary: str) -> str:
    """Return a name that no attribute of a torch module has: a vocabulary may be called ``type``."""
    return f"of_{vocabulary}"
