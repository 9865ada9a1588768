"""One linear layer for the rows of several blocks, such as the Pokémon of both sides.

Shapes: B decisions, F observation values, R rows of all blocks together, E the size of a row's vector, V rows of the
table.

A field that several blocks have, by its name, has the same weights in each. Embeddings are given: other rows share
them. A category's part of the layer is a row of a table, made once for each set of weights. Blocks that lie one after
another with the same fields are one run; each run has its bias.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from nashdex.games.space import ObservationBlock
from nashdex.policies.networks.pointer.look_up import LookUp, combined, groups_of


class Run(NamedTuple):
    """Blocks that lie one after another and are multiplied as one."""

    offset: int
    rows: int
    stride: int
    block: int
    """The first of them; the others have the same fields."""

    def values(self, observations: Tensor) -> Tensor:
        """Return the run's part of ``observations`` (B, F), (B · rows, stride)."""
        return observations[:, self.offset : self.offset + self.rows * self.stride].reshape(-1, self.stride)


class FusedRows(NamedTuple):
    """The layer under some weights."""

    table: Tensor
    """(V, E)"""
    weights: tuple[Tensor, ...]
    """By run, (stride, E); zero in the columns of categories."""


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

    def _register_look_up(self) -> None:
        """Lay out the table: a part for each group but the last, and of the last, which has the bias, one a run."""
        columns: list[int] = []
        limits: list[int] = []
        strides: list[int] = []
        offsets: list[int] = []
        sizes = [group.num_combinations for group in self._groups]
        longest = max(1, *(len(group.categories) for group in self._groups))
        for number, run in enumerate(self.runs):
            places = [column for column, _ in _categories(self.blocks[run.block])]
            for row in range(run.rows):
                start = run.offset + row * run.stride
                for i, group in enumerate(self._groups):
                    is_last = i == len(self._groups) - 1
                    offsets.append(sum(sizes[:i]) + is_last * number * sizes[-1])
                    spare = longest - len(group.categories)
                    columns += [start + places[category] for category in group.categories] + [start] * spare
                    limits += [size - 1 for size in group.sizes] + [0] * spare
                    strides += [math.prod(group.sizes[k + 1 :]) for k in range(len(group.sizes))] + [0] * spare
        named = {"_columns": columns, "_limits": limits, "_strides": strides, "_offsets": offsets}
        for name, values in named.items():
            self.register_buffer(name, torch.tensor(values, dtype=torch.int32), persistent=False)

    @property
    def look_up(self) -> LookUp:
        """The columns of the categories, and the rows of the table that they name. G = R · ``groups_each``."""
        return LookUp(self._columns, self._limits, self._strides, self._offsets)

    @property
    def groups_each(self) -> int:
        """How many rows of the table are summed for one row."""
        return len(self._groups)

    @property
    def num_rows(self) -> int:
        """R."""
        return sum(run.rows for run in self.runs)

    def fuse(self, embeddings: nn.ParameterDict) -> FusedRows:
        """Return the layer under the present weights."""
        by_category = [
            embeddings[embedding_name(vocabulary)] @ weight
            for vocabulary, weight in zip(self._vocabularies, self.categories, strict=True)
        ]
        nothing = self.bias.new_zeros(1, self.size)
        *parts, last = [combined([nothing, *(by_category[c] for c in group.categories)]) for group in self._groups]
        parts += [last + bias for bias in self.bias]
        return FusedRows(torch.cat(parts), tuple(self._weights(self.blocks[run.block]) for run in self.runs))

    def _weights(self, block: ObservationBlock) -> Tensor:
        columns = torch.tensor([column for column, _ in _numbers(block)], device=self.numbers.device)
        names = torch.tensor([self._number_names.index(name) for _, name in _numbers(block)], device=columns.device)
        return self.numbers.new_zeros(block.stride, self.size).index_copy(0, columns, self.numbers[names])

    def forward(self, observations: Tensor, fused: FusedRows) -> Tensor:
        """Return the sums of all rows, decision by decision, (B · R, E)."""
        indices = self.look_up.indices(observations).view(-1, self.groups_each)
        sums: Tensor = _SumOfRows.apply(fused.table, indices)  # type: ignore[no-untyped-call]
        if len(self.runs) == 1:
            return sums.addmm_(self.runs[0].values(observations), fused.weights[0])
        numbers = [
            (run.values(observations) @ weights).view(len(observations), run.rows, -1)
            for run, weights in zip(self.runs, fused.weights, strict=True)
        ]
        return sums.add_(torch.cat(numbers, dim=1).view(-1, self.size))


class _SumOfRows(torch.autograd.Function):
    """The sum of the table rows (V, E) that each row of indices (N, k) names, (N, E).

    torch's own gradients of embeddings take two to four times as long.
    """

    @staticmethod
    def forward(ctx: Any, table: Tensor, indices: Tensor) -> Tensor:  # noqa: ANN401
        ctx.save_for_backward(indices)
        ctx.num_rows = len(table)
        if indices.shape[1] == 1:
            return table.index_select(0, indices.flatten())
        sums: Tensor = functional.embedding_bag(indices, table, mode="sum")
        return sums

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401
        (gradient,) = gradients
        (indices,) = ctx.saved_tensors
        result = gradient.new_zeros(ctx.num_rows, gradient.shape[1])
        for column in indices.long().unbind(dim=1):  # index_add_ is slower with 32 bits
            result.index_add_(0, column, gradient)
        return result, None


def embedding_name(vocabulary: str) -> str:
    """Return a name that no attribute of a torch module has: a vocabulary may be called ``type``."""
    return f"of_{vocabulary}"


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
