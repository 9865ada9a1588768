"""Entities of a space: the rows that a network encodes one by one, and the columns of their values.

Rows of a block ``X_…`` that has k rows for each row of block ``X`` (a Pokémon's moves) are inputs of that row.
"""

from collections.abc import Iterator
from dataclasses import dataclass

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
