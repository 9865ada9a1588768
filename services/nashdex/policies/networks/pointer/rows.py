"""One linear layer for the rows of several blocks, such as the Pokémon of both sides.

Shapes: B decisions, F observation values, R rows of all blocks together, E the size of a row's vector, V rows of the
table.

A field that several blocks have, by its name, has the same weights in each. Embeddings are passed in, because other
rows share them. A category's part of the layer is a row of a table, made once for each set of weights. Blocks that lie
one after another with the same fields are one run; each run has its bias.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nashdex.games.space import ObservationBlock, Space
from nashdex.policies.networks.damage import ESTIMATES
from nashdex.policies.networks.entities import embedding_name
from nashdex.policies.networks.pointer.parts import BlockValues, trained_sums

MAX_COMBINATIONS = 16_384
"""Rows of one table of combinations, at most."""


class GroupLookUp(NamedTuple):
    """The columns of groups of categories, and how they name rows. Integers."""

    columns: Tensor
    """The categories' columns in the observation, (G · k,)."""
    limits: Tensor
    """The largest index of each one's vocabulary, (G · k,); 0 for those that fill up a small group."""
    strides: Tensor
    """Factor of each category's index, (G · k,)."""
    offsets: Tensor
    """First row of each group's part of the table, (G,)."""

    def indices(self, observations: Tensor) -> Tensor:
        """Return the rows that ``observations`` (B, F) name, (B, G)."""
        # Integers first: whatever a float was, the index is then within its vocabulary.
        indices = observations.index_select(1, self.columns).int().clamp_(min=0)
        indices = torch.minimum(indices, self.limits).mul_(self.strides)
        first, *others = indices.view(len(observations), len(self.offsets), -1).unbind(dim=2)
        total = first + self.offsets
        for other in others:
            total += other
        return total


class Group(NamedTuple):
    """Categories of one row that are looked up together, by their number in the row."""

    categories: tuple[int, ...]
    sizes: tuple[int, ...]
    """Sizes of their vocabularies."""

    @property
    def num_combinations(self) -> int:
        """How many rows its table has."""
        return math.prod(self.sizes)


def groups_of(sizes: Sequence[int]) -> list[Group]:
    """Return the categories of a row, whose vocabularies have ``sizes``, in groups; of none, one empty group."""
    if not sizes:
        return [Group((), ())]
    groups: list[Group] = []
    for category, size in enumerate(sizes):
        if groups and groups[-1].num_combinations * size <= MAX_COMBINATIONS:
            last = groups.pop()
            groups.append(Group((*last.categories, category), (*last.sizes, size)))
        else:
            groups.append(Group((category,), (size,)))
    return groups


def combined(tables: Sequence[Tensor]) -> Tensor:
    """Return the sums of one row of each table, (product of their rows, E); the last one's rows vary fastest."""
    first, *others = tables
    for other in others:
        first = (first.unsqueeze(1) + other).flatten(0, 1)
    return first


class Run(NamedTuple):
    """Blocks that lie one after another and are multiplied as one."""

    offset: int
    rows: int
    stride: int
    block: int
    """The first of them; the others have the same fields."""


class FusedRows(NamedTuple):
    """The layer under some weights."""

    table: Tensor
    """(V, E)"""
    weights: tuple[Tensor, ...]
    """Weights by run, (stride, E); zero in the columns of categories."""


class Rows(nn.Module):
    """The layer. ``forward`` returns its sums, before any ReLU."""

    _columns: Tensor
    _limits: Tensor
    _strides: Tensor
    _offsets: Tensor

    def __init__(
        self, blocks: Sequence[ObservationBlock], vocabularies: Mapping[str, int], embedding_size: int, size: int
    ) -> None:
        super().__init__()
        self.blocks = tuple(blocks)
        self.runs = tuple(_runs(self.blocks))
        self.size = size
        self._vocabularies = [vocabulary for _, vocabulary in _categories(self.blocks[0])]
        assert all([v for _, v in _categories(block)] == self._vocabularies for block in blocks)
        self._number_names = list(dict.fromkeys(name for block in blocks for _, name in _numbers(block)))
        bound = (len(self._number_names) + len(self._vocabularies) * embedding_size) ** -0.5
        self.numbers = nn.Parameter(torch.empty(len(self._number_names), size).uniform_(-bound, bound))
        self.categories = nn.Parameter(
            torch.empty(len(self._vocabularies), embedding_size, size).uniform_(-bound, bound)
        )
        self.bias = nn.Parameter(torch.zeros(len(self.runs), size))
        self._groups = groups_of([vocabularies[vocabulary] for vocabulary in self._vocabularies])
        self._register_look_up()
        for number, run in enumerate(self.runs):
            numbers = list(_numbers(self.blocks[run.block]))
            columns = torch.tensor([column for column, _ in numbers], dtype=torch.int64)
            names = torch.tensor([self._number_names.index(name) for _, name in numbers], dtype=torch.int64)
            self.register_buffer(f"_columns_of_{number}", columns, persistent=False)
            self.register_buffer(f"_names_of_{number}", names, persistent=False)

    def _register_look_up(self) -> None:
        """Lay out the table: a part for each group but the last, and of the last, which has the bias, one a run."""
        columns: list[int] = []
        limits: list[int] = []
        strides: list[int] = []
        offsets: list[int] = []
        longest = max(1, *(len(group.categories) for group in self._groups))
        for number, run in enumerate(self.runs):
            places = [column for column, _ in _categories(self.blocks[run.block])]
            for row in range(run.rows):
                start = run.offset + row * run.stride
                offsets += self._first_rows(number)
                for group in self._groups:
                    spare = longest - len(group.categories)
                    columns += [start + places[category] for category in group.categories] + [start] * spare
                    limits += [size - 1 for size in group.sizes] + [0] * spare
                    strides += [math.prod(group.sizes[k + 1 :]) for k in range(len(group.sizes))] + [0] * spare
        named = {"_columns": columns, "_limits": limits, "_strides": strides, "_offsets": offsets}
        for name, values in named.items():
            self.register_buffer(name, torch.tensor(values, dtype=torch.int32), persistent=False)

    def _first_rows(self, run: int) -> list[int]:
        """Return where each group's part of the table begins for a run."""
        sizes = [group.num_combinations for group in self._groups]
        starts = [sum(sizes[:i]) for i in range(len(sizes))]
        return [*starts[:-1], starts[-1] + run * sizes[-1]]

    @property
    def look_up(self) -> GroupLookUp:
        """The columns of the categories, and the rows of the table that they name. G = R · ``groups_each``."""
        return GroupLookUp(self._columns, self._limits, self._strides, self._offsets)

    @property
    def groups_each(self) -> int:
        """How many rows of the table are summed for one row."""
        return len(self._groups)

    @property
    def num_rows(self) -> int:
        """R."""
        return sum(run.rows for run in self.runs)

    def by_block(self, of_runs: Sequence[Tensor]) -> list[Tensor]:
        """Return what belongs to each block's run."""
        return [of_runs[self._run_of(number)] for number in range(len(self.blocks))]

    def _run_of(self, number: int) -> int:
        return max(i for i, run in enumerate(self.runs) if run.block <= number)

    def with_estimates(self, numbers: Tensor) -> Tensor:
        """Return ``numbers`` (N, E) with zeros for the estimates of damage, if these are all that is missing."""
        others = [i for i, name in enumerate(self._number_names) if name.rpartition(" ")[0] not in ESTIMATES]
        if len(numbers) != len(others) or len(others) == len(self._number_names):
            return numbers
        zeros = numbers.new_zeros(len(self._number_names), numbers.shape[1])
        return zeros.index_copy(0, torch.tensor(others), numbers)

    def fuse(self, embeddings: nn.ParameterDict) -> FusedRows:
        """Return the layer under the current weights."""
        by_category = [
            embeddings[embedding_name(vocabulary)] @ weight
            for vocabulary, weight in zip(self._vocabularies, self.categories, strict=True)
        ]
        *others, last = [[by_category[c] for c in group.categories] for group in self._groups]
        parts = [combined(tables) for tables in others] + [combined([bias, *last]) for bias in self.bias.unsqueeze(1)]
        table = parts[0] if len(parts) == 1 else torch.cat(parts)
        return FusedRows(table, tuple(self._weights(number) for number in range(len(self.runs))))

    def _weights(self, run: int) -> Tensor:
        columns, names = self.get_buffer(f"_columns_of_{run}"), self.get_buffer(f"_names_of_{run}")
        # By its type and device: `new_zeros` is no constant in an exported graph.
        stride = self.runs[run].stride
        zeros = torch.zeros(stride, self.size, dtype=self.numbers.dtype, device=self.numbers.device)
        return zeros.index_copy(0, columns, self.numbers[names])

    def read(self, observations: Tensor, number: int) -> BlockValues:
        """Return block ``number`` of ``observations`` (B, F) row by row, (R of the block, B, …)."""
        return self.looked_up(self.columns(observations, number).transpose(0, 1).contiguous(), number)

    def columns(self, observations: Tensor, number: int) -> Tensor:
        """Return the columns of block ``number`` in ``observations`` (B, F), (B, R of the block, W)."""
        block = self.blocks[number]
        columns = observations[:, block.offset : block.offset + block.rows * block.stride]
        return columns.view(-1, block.rows, block.stride)

    def looked_up(self, values: Tensor, number: int) -> BlockValues:
        """Return ``values`` (…, W) of rows of block ``number`` with the rows of the table that they name."""
        places = [column for column, _ in _categories(self.blocks[number])]
        indices = torch.empty(*values.shape[:-1], len(self._groups), dtype=torch.int64, device=values.device)
        for i, (group, first) in enumerate(zip(self._groups, self._first_rows(self._run_of(number)), strict=True)):
            combination = indices[..., i].fill_(0)
            for category, size in zip(group.categories, group.sizes, strict=True):
                # Integers first: whatever a float was, the index is then within its vocabulary.
                combination.mul_(size).add_(values[..., places[category]].int().clamp_(0, size - 1))
            combination.add_(first)
        return BlockValues(values, indices)

    def forward(self, block: BlockValues, fused: FusedRows) -> Tensor:
        """Return the sums of the rows of the first run's ``block``, (N, E)."""
        return trained_sums(block, fused.table, fused.weights[0])


def embeddings(space: Space, size: int) -> nn.ParameterDict:
    """Return an embedding for each vocabulary of ``space``, with its first weights."""
    used = {field.vocabulary for block in space.blocks for field in block.fields if field.vocabulary}
    return nn.ParameterDict(
        # Rows of about unit length, so that categories and scaled numbers weigh alike.
        {embedding_name(v): torch.randn(space.vocabularies[v], size) * size**-0.5 for v in sorted(used)}
    )


def _numbers(block: ObservationBlock) -> Iterator[tuple[int, str]]:
    """Yield column and name of each number of a row."""
    for field in block.fields:
        if field.kind == "number":
            for i in range(field.size):
                yield field.offset + i, f"{field.name} {i}"


def _categories(block: ObservationBlock) -> Iterator[tuple[int, str]]:
    """Yield column and vocabulary of each category of a row."""
    for field in block.fields:
        if field.kind == "category":
            for i in range(field.size):
                yield field.offset + i, str(field.vocabulary)


def _shape(block: ObservationBlock) -> list[object]:
    return [(field.name, field.size, field.kind, field.vocabulary) for field in block.fields]


def _runs(blocks: Sequence[ObservationBlock]) -> Iterator[Run]:
    """Join blocks of the same fields that follow one another in the observation."""
    current: Run | None = None
    for i, block in enumerate(blocks):
        if (
            current is not None
            and _shape(block) == _shape(blocks[current.block])
            and block.offset == current.offset + current.rows * current.stride
        ):
            current = current._replace(rows=current.rows + block.rows)
            continue
        if current is not None:
            yield current
        current = Run(block.offset, block.rows, block.stride, i)
    if current is not None:
        yield current
