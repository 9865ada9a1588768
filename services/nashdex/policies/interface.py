"""The interface between rollouts and policies."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nashdex.core.ids import PolicyId
from nashdex.games.interface import Decisions
from nashdex.games.view import View


@dataclass(frozen=True, slots=True)
class Actions:
    """A policy's answers, one per row."""

    action: NDArray[np.int64]
    """Shape (N,), each legal."""
    log_prob: NDArray[np.float32]
    """Shape (N,): log π(action)."""


class Policy(Protocol):
    """Chooses actions for a batch of decisions. This is the whole interface."""

    @property
    def id(self) -> PolicyId:
        """The policy's id; equal ids play equally."""

    @property
    def needs_lines(self) -> bool:
        """Whether it reads the game's own text (``Decisions.lines``)."""

    @property
    def needs_state(self) -> bool:
        """Whether it also reads the tracker's state (``SeatLines.state``)."""

    @property
    def view(self) -> View | None:
        """The view that ``Decisions.viewed`` is to come from, if it reads one. Views of one fingerprint are shared."""

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row. ``uniforms``, shape (N,) in [0, 1), is all the randomness there is."""

    def forget(self, battle: int, seat: int) -> None:
        """Forget a seat whose battle ended."""


@runtime_checkable
class WithProcesses(Protocol):
    """A policy that starts child processes: a session counts their CPU time, and ends them with itself."""

    def cpu_seconds(self) -> float:
        """Return the CPU time of its child processes so far, user and system, in seconds."""

    def close(self) -> None:
        """End the child processes. Safe to call twice; a later decision starts others."""
