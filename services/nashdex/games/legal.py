"""The legal actions of a batch of decisions, as ragged lists: a joint space has thousands of actions and few are legal.

N decisions, L legal actions of all of them together, A actions of the space.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


class LegalActions:
    """The legal actions of N decisions, each one's in ascending order and at least one."""

    def __init__(self, offsets: NDArray[np.int64], actions: NDArray[np.uint16], num_actions: int) -> None:
        self.offsets = offsets
        """Shape (N + 1,): decision i has ``actions[offsets[i] : offsets[i + 1]]``."""
        self.actions = actions
        """Shape (L,)."""
        self.num_actions = num_actions

    @classmethod
    def of_counts(cls, counts: NDArray[np.integer], actions: NDArray[np.uint16], num_actions: int) -> "LegalActions":
        """Return the legal actions of decisions with ``counts`` (N,) of them each."""
        offsets = np.zeros(len(counts) + 1, dtype=np.int64)
        np.cumsum(counts, out=offsets[1:])
        return cls(offsets, actions, num_actions)

    @classmethod
    def of_mask(cls, mask: NDArray[np.bool_]) -> "LegalActions":
        """Return the legal actions of a mask of shape (N, A), true where legal."""
        return cls.of_counts(mask.sum(axis=1), mask.nonzero()[1].astype(np.uint16), mask.shape[1])

    @classmethod
    def joined(cls, parts: Sequence["LegalActions"], num_actions: int) -> "LegalActions":
        """Return the decisions of all ``parts`` in order."""
        if not parts:
            return cls(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint16), num_actions)
        counts = np.concatenate([part.counts for part in parts])
        return cls.of_counts(counts, np.concatenate([part.actions for part in parts]), num_actions)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> NDArray[np.uint16]:
        """Return the legal actions of one decision."""
        return self.actions[self.offsets[row] : self.offsets[row + 1]]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Shape (N,): the number of legal actions of each decision."""
        return self.offsets[1:] - self.offsets[:-1]

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Shape (L,): the decision of each legal action."""
        return np.arange(len(self)).repeat(self.counts)

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """Shape (L,): the place of each legal action in a flat mask; ascending, if the lists are right."""
        if len(self) == 1:
            return self.actions.astype(np.int64)
        return self.rows * self.num_actions + self.actions

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Shape (L,): the place of each legal action in its decision's list."""
        return np.arange(len(self.actions)) - self.offsets[self.rows]

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """Shape (N, A), true where legal. For spaces of few actions."""
        if len(self) == 1:
            only = np.zeros((1, self.num_actions), dtype=np.bool_)
            only[0, self.actions] = True
            return only
        mask = np.zeros(len(self) * self.num_actions, dtype=np.bool_)
        mask[self.keys] = True
        return mask.reshape(len(self), self.num_actions)

    def take(self, rows: NDArray[np.int64] | slice) -> "LegalActions":
        """Return the given decisions; of neighbours that a slice names, views."""
        if isinstance(rows, slice) and rows.step in {None, 1}:
            start, stop, _ = rows.indices(len(self))
            offsets = self.offsets[start : max(start, stop) + 1]
            return LegalActions(offsets - offsets[0], self.actions[offsets[0] : offsets[-1]], self.num_actions)
        starts, counts = self.offsets[:-1][rows], self.counts[rows]
        taken = LegalActions.of_counts(counts, self.actions[:0], self.num_actions)
        taken.actions = self.actions[np.repeat(starts - taken.offsets[:-1], counts) + np.arange(taken.offsets[-1])]
        return taken

    def places_of(self, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the place of one action of each decision in that one's list, shape (N,); −1 where it is illegal."""
        wanted = np.arange(len(self)) * self.num_actions + actions
        found = np.searchsorted(self.keys, wanted)
        is_there = np.append(self.keys, -1)[found] == wanted
        return np.where(is_there & (actions < self.num_actions), found - self.offsets[:-1], -1)

    def problem(self) -> str | None:
        """Return the fault of lists from elsewhere; None without one."""
        if len(self) == 1 and self._is_right():
            return None
        # Counts of faults: numpy's reductions cost several times as much for the few actions of one decision.
        if self.offsets[0] != 0 or self.offsets[-1] != len(self.actions) or np.count_nonzero(self.counts < 0):
            return f"legal actions end at {self.offsets[-1]}, expected {len(self.actions)}"
        if np.count_nonzero(self.counts) < len(self):
            return "a decision has no legal action"
        if np.count_nonzero(self.actions >= self.num_actions):
            return f"action {self.actions.max()} is beyond the {self.num_actions} of the space"
        keys = self.keys
        if np.count_nonzero(keys[1:] <= keys[:-1]):
            return "legal actions are not in ascending order"
        return None

    def _is_right(self) -> bool:
        """Say whether the list of a single decision is right: without numpy, whose calls cost more for few actions."""
        actions = self.actions.tolist()
        return (
            len(actions) > 0
            and self.offsets.tolist() == [0, len(actions)]
            and actions == sorted(set(actions))
            and actions[-1] < self.num_actions
        )
