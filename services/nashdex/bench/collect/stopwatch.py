"""An arena that measures how long decisions wait for their answers, and each side for the other."""

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nashdex.games.interface import Arena, Events, RunningBattle
from nashdex.games.space import Space


class Stopwatch:
    """Plays on ``arena`` and reads the clock before and after each poll. Implements ``games.interface.Arena``.

    A poll sends the answers and then waits, so a turn of the collector lasts from the end of one poll to the start of
    the next. Every turn is kept: use it for measurements, not for long runs.
    """

    def __init__(self, arena: Arena, num_gateways: int) -> None:
        self._arena = arena
        self._num_gateways = num_gateways
        self._ended = 0.0
        self._events = Events([], [], [])
        self._turns: list[tuple[int, float]] = []
        self.collector_waited_seconds = 0.0
        """Wall time in polls minus their CPU time."""
        self.gateways_waited_seconds = 0.0
        """Wall time between a gateway's decisions and their answers, mean over the gateways. With several gateways, the
        wait of one while another is answered is not counted."""

    @property
    def space(self) -> Space:
        """The arena's space."""
        return self._arena.space

    @property
    def versions(self) -> dict[str, str]:
        """The arena's versions."""
        return self._arena.versions

    def latencies_seconds(self, since: int = 0) -> NDArray[np.float64]:
        """Return each decision's time from its arrival until its answer was sent, from turn ``since`` on."""
        turns = self._turns[since:]
        return np.repeat([seconds for _, seconds in turns], [num for num, _ in turns])

    @property
    def num_turns(self) -> int:
        """The number of turns so far."""
        return len(self._turns)

    def start(self, battles: Sequence[RunningBattle]) -> None:
        """Start battles."""
        self._arena.start(battles)

    def poll(self) -> Events:
        """Poll; add its waiting time and the time since the last poll."""
        began, began_cpu = time.monotonic(), time.thread_time()
        if self._events.decisions:
            seconds = began - self._ended
            self._turns.append((sum(len(decisions) for decisions in self._events.decisions), seconds))
            self.gateways_waited_seconds += seconds * len(self._events.decisions) / self._num_gateways
        self._events = self._arena.poll()
        self._ended = time.monotonic()
        worked = time.thread_time() - began_cpu
        self.collector_waited_seconds += max(0.0, self._ended - began - worked)
        return self._events

    def act(self, battle: NDArray[np.int64], seat: NDArray[np.int8], action: NDArray[np.int64]) -> None:
        """Answer decisions."""
        self._arena.act(battle, seat, action)

    def stop(self, battle: int, num_open: int) -> None:
        """Forget a battle."""
        self._arena.stop(battle, num_open)

    def resident_bytes(self) -> int:
        """Return the arena's."""
        return self._arena.resident_bytes()

    def cpu_seconds(self) -> float:
        """Return the arena's."""
        return self._arena.cpu_seconds()

    def close(self) -> None:
        """Close the arena."""
        self._arena.close()
