"""Records the decisions of chosen seats until their battle ends."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashdex.games.interface import NUM_SEATS, Decisions

_FIRST_CAPACITY = 64


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


class _Track:
    """One seat's decisions so far, in arrays that double when they are full.

    Rows are copied out of their batch at once: a batch that was kept whole would live as long as the longest of its
    battles.
    """

    def __init__(self, observation_size: int, num_actions: int) -> None:
        self._length = 0
        self._observations = np.empty((_FIRST_CAPACITY, observation_size), dtype=np.float32)
        self._masks = np.empty((_FIRST_CAPACITY, num_actions), dtype=np.bool_)
        self._actions = np.empty(_FIRST_CAPACITY, dtype=np.int64)
        self._log_probs = np.empty(_FIRST_CAPACITY, dtype=np.float32)

    def add(self, decisions: Decisions, row: int, action: int, log_prob: float) -> None:
        """Record one decision, in place of the last one if that was rejected."""
        if decisions.asked_again[row]:
            self._length -= 1
        at = self._length
        if at == len(self._actions):
            self._observations, self._masks, self._actions, self._log_probs = (
                np.concatenate([full, np.empty_like(full)])
                for full in (self._observations, self._masks, self._actions, self._log_probs)
            )
        self._observations[at] = decisions.observation[row]
        self._masks[at] = decisions.mask[row]
        self._actions[at] = action
        self._log_probs[at] = log_prob
        self._length = at + 1

    def steps(self) -> Steps:
        """Return the decisions, in order."""
        taken = slice(self._length)
        return Steps(self._observations[taken], self._masks[taken], self._actions[taken], self._log_probs[taken])


class Recorder:
    """Records the decisions of the seats that are wanted, battle by battle."""

    def __init__(self, num_slots: int) -> None:
        self._wanted = np.zeros((num_slots, NUM_SEATS), dtype=np.bool_)
        self._tracks: dict[tuple[int, int], _Track] = {}

    def begin(self, slot: int, record: tuple[bool, bool]) -> None:
        """Record the given seats of a battle that starts."""
        self._wanted[slot] = record

    def add(self, decisions: Decisions, action: NDArray[np.int64], log_prob: NDArray[np.float32]) -> None:
        """Record answers; one to a decision that was asked again takes the place of the rejected one."""
        rows = np.flatnonzero(self._wanted[decisions.battle, decisions.seat])
        columns = (decisions.battle[rows], decisions.seat[rows], rows, action[rows], log_prob[rows])
        for battle, seat, row, chosen, chance in zip(*(column.tolist() for column in columns), strict=True):
            track = self._tracks.get((battle, seat))
            if track is None:
                track = _Track(decisions.observation.shape[1], decisions.mask.shape[1])
                self._tracks[battle, seat] = track
            track.add(decisions, row, chosen, chance)

    def take(self, slot: int, seat: int) -> Steps:
        """Return a seat's decisions, in order."""
        assert (slot, seat) in self._tracks, "a battle ended before a recorded seat decided anything"
        return self._tracks[slot, seat].steps()

    def drop(self, slot: int, seat: int) -> None:
        """Forget a seat's decisions."""
        self._wanted[slot, seat] = False
        self._tracks.pop((slot, seat), None)
