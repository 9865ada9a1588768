"""Which rows of a table the categories of an observation mean, several categories at a time.

Shapes: B decisions, F observation values, G groups of categories of a decision, k categories in the largest group.

Categories of one row whose vocabularies have a small product share a table with one row for each combination: a sum
of table rows then has fewer terms, and a table costs little beside the rows that are looked up in it.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

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
