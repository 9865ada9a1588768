"""Linear layers on oneDNN, for acting.

oneDNN uses the processor's widest vectors whoever made it, where torch's own products may use half of them.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

CHUNK_ROWS = 128
"""Decisions in one pass. oneDNN compiles and keeps kernels (some 2 MB) for each number of rows that it meets."""
ROW_MULTIPLE = 8
"""A pass has a multiple of this many rows, so that oneDNN meets no more than 16 numbers."""
# What torch.compile makes of a linear layer: no conversion of its input and output, no pass of its own for the ReLU.
HAS_ONEDNN = hasattr(torch.ops.mkldnn, "_linear_pointwise") and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")


@dataclass(frozen=True)
class HiddenLayer:
    """A linear layer and its ReLU, on oneDNN where torch was built with it."""

    weight: Tensor
    """Laid out as oneDNN reads it fastest."""
    bias: Tensor
    is_reordered: bool

    @classmethod
    def of(cls, weight: Tensor, bias: Tensor, num_rows: int = CHUNK_ROWS) -> "HiddenLayer":
        """Return the layer under its current weights, laid out for ``num_rows`` inputs."""
        weight = weight.clone()
        if HAS_ONEDNN:
            weight = torch.ops.mkldnn._reorder_linear_weight(weight, num_rows)  # noqa: SLF001
        return cls(weight, bias.clone(), HAS_ONEDNN)

    def __call__(self, inputs: Tensor) -> Tensor:
        """Return max(0, inputs · weightᵀ + bias)."""
        if not self.is_reordered:
            return functional.linear(inputs, self.weight, self.bias).relu_()
        outputs: Tensor = torch.ops.mkldnn._linear_pointwise(inputs, self.weight, self.bias, "relu", [], "")  # noqa: SLF001
        return outputs


def padded(num_rows: int) -> int:
    """Return the number of rows that a pass over ``num_rows`` decisions has."""
    return -(-num_rows // ROW_MULTIPLE) * ROW_MULTIPLE
