"""The interface between rollouts and policies."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nashdex.core.ids import PolicyId
from nashdex.games.interface import Decisions, Failure, View


@dataclass(frozen=True, slots=True)
class Actions:
    """A policy's answers, one per row."""

    action: NDArray[np.int64]
    """Shape (N,), each legal."""
    log_prob: NDArray[np.float32]
    """Shape (N,): log π(action)."""
    void: Mapping[int, Failure] = field(default_factory=dict)
    """Battles that have no answer and so no result, by number: a player from outside crashed. Their rows mean nothing.
    Only policies from outside have any."""


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
class WithDistribution(Protocol):
    """A policy that also says how probable each legal action is. L legal actions of all rows."""

    def log_probs(self, decisions: Decisions) -> NDArray[np.float64]:
        """Return log π of each legal action, shape (L,), in the order of ``decisions.legal``; −∞ for probability 0.

        It takes the place of ``act``: a policy that remembers battles counts each row as one decision.
        """


@runtime_checkable
class Drawn(Protocol):
    """A policy that may be one whose actions are only drawn, so that an arena can play it."""

    @property
    def is_uniform(self) -> bool:
        """Whether each action is the legal one that the row's uniform falls on, all of one width."""


@runtime_checkable
class WithProcesses(Protocol):
    """A policy that starts child processes: a session counts their CPU time, and ends them with itself."""

    def cpu_seconds(self) -> float:
        """Return the CPU time of its child processes so far, user and system, in seconds."""

    def close(self) -> None:
        """End the child processes. Safe to call twice; a later decision starts others."""


def with_processes(policies: Iterable[Policy]) -> list[WithProcesses]:
    """Return the ``policies`` that start child processes."""
    return [policy for policy in policies if isinstance(policy, WithProcesses)]
