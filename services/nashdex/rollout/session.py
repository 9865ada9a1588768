"""One way to play: an open arena, its policies, and the counts."""

from collections.abc import Iterable, Iterator
from typing import Self

from nashdex.core.ids import PolicyId
from nashdex.games.interface import Arena
from nashdex.games.space import Space
from nashdex.policies.interface import Policy, with_processes
from nashdex.policies.sources import load_policies
from nashdex.rollout.play import Assignment, PlayedBattle, Rollout, RolloutCounts
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry.progress import Progress


class Session:
    """Plays assignments on ``arena``. Use as a context manager: on every exit it ends all child processes.

    Everything that plays battles does so here: the steps, ``nashdex battle``, training's own rounds and benchmarks.
    """

    def __init__(self, arena: Arena, concurrent_battles: int, device: str = "cpu") -> None:
        self.arena = arena
        self.device = device
        """Where networks choose their actions, ``cpu`` or ``cuda``."""
        self.policies: dict[PolicyId, Policy] = {}
        """Policies that assignments may name."""
        self.counts = RolloutCounts()
        """Totals of everything played so far."""
        self._concurrent_battles = concurrent_battles

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the arena, and end the child processes of policies. Safe to call twice."""
        self.arena.close()
        for policy in with_processes(self.policies.values()):
            policy.close()

    def cpu_seconds(self) -> float:
        """Return the CPU time of all child processes so far, the arena's and the policies', in seconds."""
        return self.arena.cpu_seconds() + sum(policy.cpu_seconds() for policy in with_processes(self.policies.values()))

    @property
    def space(self) -> Space:
        """What policies see and may do on the arena."""
        return self.arena.space

    def load(self, store: ObjectStore, ids: Iterable[PolicyId]) -> None:
        """Add scripted policies, and stored ones from ``store``.

        Raises:
            DataError: one is missing, altered, or was trained for another space.
            ConfigurationError: a scripted one cannot play here.
        """
        self.policies |= load_policies(store, ids, self.space, self.device)

    def play(self, assignments: Iterable[Assignment], progress: Progress | None = None) -> Iterator[PlayedBattle]:
        """Yield every assignment's end, in the order in which they end. ``progress`` advances by one for each.

        Battles that are still running when the caller stops iterating end with the arena.

        Raises:
            StoppedError: the process was asked to stop.
        """
        rollout = Rollout(
            self.arena, self.policies, self._concurrent_battles, self.counts, joins_batches=self.device != "cpu"
        )
        for finished in rollout.play(assignments):
            if progress is not None:
                progress.advance(decisions=self.counts.decisions, failures=self.counts.failures.total())
            yield finished
