"""Records the decisions of chosen seats until their battle ends."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashdex.games.interface import NUM_SEATS, Decisions


@dataclass(frozen=True, slots=True)
class Steps:
    """One seat's T decisions."""

    observations: NDArray[np.float32]
    """Shape (T, F)."""
    masks: NDArray[np.bool_]
    """Shape (T, A)."""
    actions: NDArray[np.int64]
    """Shape (T,)."""
    log_probs: NDArray[np.float32]
    """Shape (T,)."""


@dataclass(frozen=True, slots=True)
class _Batch:
    decisions: Decisions
    action: NDArray[np.int64]
    log_prob: NDArray[np.float32]


class Recorder:
    """Keeps references to whole batches while a battle lasts, and copies a seat's rows once, when it ends."""

    def __init__(self, num_slots: int) -> None:
        self._wanted = np.zeros((num_slots, NUM_SEATS), dtype=np.bool_)
        self._steps: dict[tuple[int, int], list[tuple[_Batch, int]]] = {}

    def begin(self, slot: int, record: tuple[bool, bool]) -> None:
        """Record the seats of a battle that starts."""
        self._wanted[slot] = record
        for seat in range(NUM_SEATS):
            if record[seat]:
                self._steps[slot, seat] = []

    def add(self, decisions: Decisions, action: NDArray[np.int64], log_prob: NDArray[np.float32]) -> None:
        """Record answers; one to a decision that was asked again takes the place of the rejected one."""
        rows = np.flatnonzero(self._wanted[decisions.battle, decisions.seat])
        if not len(rows):
            return
        batch = _Batch(decisions, action, log_prob)
        keys = zip(decisions.battle[rows].tolist(), decisions.seat[rows].tolist(), strict=True)
        for key, row, again in zip(keys, rows.tolist(), decisions.asked_again[rows].tolist(), strict=True):
            steps = self._steps[key]
            if again:
                steps[-1] = (batch, row)
            else:
                steps.append((batch, row))

    def take(self, slot: int, seat: int) -> Steps:
        """Return a seat's decisions, in order."""
        steps = self._steps[slot, seat]
        assert steps, "a battle ended before a recorded seat decided anything"
        return Steps(
            observations=np.stack([batch.decisions.observation[row] for batch, row in steps]),
            masks=np.stack([batch.decisions.mask[row] for batch, row in steps]),
            actions=np.array([batch.action[row] for batch, row in steps], dtype=np.int64),
            log_probs=np.array([batch.log_prob[row] for batch, row in steps], dtype=np.float32),
        )

    def drop(self, slot: int, seat: int) -> None:
        """Forget a seat's decisions."""
        self._wanted[slot, seat] = False
        self._steps.pop((slot, seat), None)
