"""Records the decisions of chosen seats until their battle ends."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashdex.games.interface import Decisions
from nashdex.games.legal import LegalActions
from nashdex.games.space import NUM_SEATS, Space

_FIRST_ROWS = 1024
_FIRST_STEPS = 64
_FIRST_LEGAL = 16


@dataclass(frozen=True, slots=True)
class Steps:
    """One seat's T decisions."""

    observations: NDArray[np.float32]
    """Shape (T, F)."""
    legal: LegalActions
    """Legal actions of each decision."""
    actions: NDArray[np.int64]
    """Shape (T,)."""
    log_probs: NDArray[np.float32]
    """Shape (T,)."""


class Recorder:
    """Records the decisions of the chosen seats until their battle ends.

    One pool of rows holds them all, and each seat has a list of its rows: recording a batch takes one copy per array,
    however many battles it came from. Rows of finished battles are reused, so the largest number of concurrent battles
    decides the size of the pool. (Keeping whole batches until their last battle ends would save the copy and cost many
    times the memory, because one long battle keeps a batch alive.)
    """

    def __init__(self, num_slots: int, space: Space) -> None:
        self._observations = np.empty((0, space.observation_size), dtype=np.float32)
        self._num_actions = space.num_actions
        self._legal = np.empty((0, min(_FIRST_LEGAL, space.num_actions)), dtype=np.uint16)
        """Legal actions of each row; the first of ``_num_legal`` count."""
        self._num_legal = np.empty(0, dtype=np.int64)
        self._actions = np.empty(0, dtype=np.int64)
        self._log_probs = np.empty(0, dtype=np.float32)
        self._free = np.empty(0, dtype=np.int64)
        """Unused rows; the first ``_num_free`` count."""
        self._num_free = 0
        num_seats = num_slots * NUM_SEATS
        self._wanted = np.zeros(num_seats, dtype=np.bool_)
        self._num_steps = np.zeros(num_seats, dtype=np.int64)
        self._rows = np.empty((num_seats, _FIRST_STEPS), dtype=np.int64)
        """Row of each step; the first ``_num_steps`` of a seat count."""

    @property
    def num_rows(self) -> int:
        """Decisions that the pool has room for."""
        return len(self._actions)

    def begin(self, slot: int, record: tuple[bool, bool]) -> None:
        """Start recording the given seats of a new battle."""
        self._wanted[slot * NUM_SEATS : (slot + 1) * NUM_SEATS] = record

    def add(self, decisions: Decisions, action: NDArray[np.int64], log_prob: NDArray[np.float32]) -> None:
        """Record answers. If a decision was asked again, its answer replaces the rejected one."""
        seats = decisions.battle * NUM_SEATS + decisions.seat
        wanted = self._wanted[seats]
        if wanted.all():
            rows = self._next_rows(seats, decisions.asked_again)
            self._observations[rows] = decisions.observation
            self._add_legal(rows, decisions.legal)
            self._actions[rows] = action
            self._log_probs[rows] = log_prob
        elif wanted.any():
            chosen = np.flatnonzero(wanted)
            self.add(decisions.take(chosen), action[chosen], log_prob[chosen])

    def take(self, slot: int, seat: int) -> Steps:
        """Return a copy of a seat's decisions, in order."""
        rows = self._rows_of(slot * NUM_SEATS + seat)
        assert len(rows), "a battle ended before a recorded seat decided anything"
        lists, counts = self._legal[rows], self._num_legal[rows]
        actions = lists[np.arange(lists.shape[1]) < counts[:, None]]
        legal = LegalActions.of_counts(counts, actions, self._num_actions)
        return Steps(self._observations[rows], legal, self._actions[rows], self._log_probs[rows])

    def drop(self, slot: int, seat: int) -> None:
        """Forget a seat's decisions."""
        rows = self._rows_of(slot * NUM_SEATS + seat)
        self._free[self._num_free : self._num_free + len(rows)] = rows
        self._num_free += len(rows)
        self._num_steps[slot * NUM_SEATS + seat] = 0
        self._wanted[slot * NUM_SEATS + seat] = False

    def _add_legal(self, rows: NDArray[np.int64], legal: LegalActions) -> None:
        counts = legal.counts
        while counts.max() > self._legal.shape[1]:
            self._legal = np.concatenate([self._legal, np.empty_like(self._legal)], axis=1)
        self._legal[rows[legal.rows], legal.places] = legal.actions
        self._num_legal[rows] = counts

    def _rows_of(self, seat: int) -> NDArray[np.int64]:
        """Return the rows of a seat's decisions, in order."""
        return self._rows[seat, : self._num_steps[seat]]

    def _next_rows(self, seats: NDArray[np.int64], asked_again: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the row of each seat's next decision, or of its last one if that is asked again."""
        if not asked_again.any():
            return self._new_rows(seats)
        rows: NDArray[np.int64] = self._rows[seats, self._num_steps[seats] - 1]
        if not asked_again.all():
            rows[~asked_again] = self._new_rows(seats[~asked_again])
        return rows

    def _new_rows(self, seats: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give each seat one more row and return them."""
        steps = self._num_steps[seats]
        if steps.max() == self._rows.shape[1]:
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)], axis=1)
        while len(seats) > self._num_free:
            self._grow()
        self._num_free -= len(seats)
        rows = self._free[self._num_free : self._num_free + len(seats)]
        self._rows[seats, steps] = rows
        self._num_steps[seats] = steps + 1
        return rows

    def _grow(self) -> None:
        num_rows = len(self._actions)
        num_new = num_rows or _FIRST_ROWS
        for name in ("_observations", "_legal", "_num_legal", "_actions", "_log_probs", "_free"):
            array = getattr(self, name)
            setattr(self, name, np.concatenate([array, np.empty((num_new, *array.shape[1:]), array.dtype)]))
        self._free[self._num_free : self._num_free + num_new] = np.arange(num_rows, num_rows + num_new)
        self._num_free += num_new
