"""The rate of work now, from which the time left follows: a slow start does not count for long."""

from collections import deque
from typing import Final

_LEAST_SECONDS: Final = 10.0
_SHARE: Final = 1 / 3
"""Share of the time so far. Training works in bursts, a round each, and more rounds need a longer window."""
_MARKS_A_WINDOW: Final = 50


class RecentRate:
    """Units per second over the last third of the time, and over ten seconds at least. Times are of any one clock."""

    def __init__(self) -> None:
        self._began: float | None = None
        self._marks: deque[tuple[float, float]] = deque()
        """Times, and the units done by then; the first is at or before the window's beginning."""

    def add(self, done: float, now: float) -> None:
        """Record that ``done`` units are done by ``now``."""
        if self._began is None:
            self._began = now
        window = max(_LEAST_SECONDS, _SHARE * (now - self._began))
        if len(self._marks) > 1 and self._marks[-1][0] - self._marks[-2][0] < window / _MARKS_A_WINDOW:
            self._marks.pop()
        self._marks.append((now, done))
        while len(self._marks) > 1 and self._marks[1][0] <= now - window:
            self._marks.popleft()

    def per_second(self, now: float) -> float | None:
        """Return the rate; None while nothing has been done, or no time has passed."""
        if not self._marks:
            return None
        since, before = self._marks[0]
        done = self._marks[-1][1] - before
        return done / (now - since) if done > 0 and now > since else None
