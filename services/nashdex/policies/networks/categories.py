"""Looking up categories: a linear layer over an embedding is one row of a table.

Shapes: B decisions, F observation values, R rows that stand for an entity, C categories of a decision.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional


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
