"""Views: a decision as a policy sees it that has observations and action numbers of another project.

The arena's actions stay the only ones in shards and on the wire: a view says which of them each of its own means. It
may remember what a seat saw earlier in its battle. N decisions, V actions of the view, A of the arena.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from nashdex.core.documents import Model

NO_ACTION: Final = -1
"""Marks an action of a view that means no action of the arena."""


class ViewIdentity(Model):
    """Names a view, in the documents of the policies that read it. Equal fingerprints see equal things."""

    name: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Viewed:
    """What a view shows of N decisions."""

    inputs: Mapping[str, NDArray[Any]]
    """Inputs by name, (N, …)."""
    actions: NDArray[np.int64]
    """The arena's legal action that each of the view's means, (N, V); ``NO_ACTION`` where it means none."""
    is_shown: NDArray[np.bool_]
    """(N,), false where the view does not show the decision: its rows then hold nothing."""
    is_first: NDArray[np.bool_]
    """(N,), true where it is the first decision that the view shows of the seat's battle."""

    def take(self, rows: NDArray[np.int64]) -> "Viewed":
        """Return the given rows."""
        inputs = {name: part[rows] for name, part in self.inputs.items()}
        return Viewed(inputs, self.actions[rows], self.is_shown[rows], self.is_first[rows])
