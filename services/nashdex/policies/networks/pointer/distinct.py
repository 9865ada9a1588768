"""Equal rows of a minibatch: what follows from a row is computed once for all of them.

Shapes: N rows, W columns of one row, U rows that are kept.
"""

import torch
from torch import Tensor

_SLOTS_LOG2 = 18
_MULTIPLIER = -7046029254386353131
"""2⁶⁴ divided by the golden ratio, odd, as a signed number (Knuth, The Art of Computer Programming 3, 6.4)."""


def distinct(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return the numbers of some ``rows`` (N, W), (U,), and which of those each row equals, (N,), on a CPU.

    A hash table without chains: each row is compared with the first one in its slot, and is kept for itself if it
    differs. So a few equal rows may be kept twice, and never are two different ones taken for equal.
    """
    numbers = torch.arange(len(rows))
    weights = torch.arange(1, rows.shape[1] + 1, dtype=rows.dtype).sqrt_()
    slots = (rows @ weights).float().view(torch.int32).long().mul_(_MULTIPLIER)
    slots = slots.bitwise_right_shift_(64 - _SLOTS_LOG2).bitwise_and_((1 << _SLOTS_LOG2) - 1)
    table = numbers.new_empty(1 << _SLOTS_LOG2)
    first = table.scatter_reduce_(0, slots, numbers, "amin", include_self=False).index_select(0, slots)
    first = torch.where((rows.index_select(0, first) == rows).all(dim=1), first, numbers)
    is_kept = first == numbers
    return is_kept.nonzero().flatten(), (is_kept.cumsum(0) - 1).index_select(0, first)
