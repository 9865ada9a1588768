"""The values of each update, thinned as their number grows."""

from collections.abc import Mapping, Sequence

from nashdex.core.results import TrainingPoint

MAX_POINTS = 500


class Curve:
    """At most ``MAX_POINTS`` points, evenly spaced: at the limit, every second one is dropped."""

    def __init__(self, points: Sequence[TrainingPoint] = (), stride: int = 1) -> None:
        self._points = list(points)
        self._newest = self._points[-1] if self._points else None
        self.stride = stride

    @property
    def kept(self) -> tuple[TrainingPoint, ...]:
        """The evenly spaced points."""
        return tuple(self._points)

    @property
    def newest(self) -> Mapping[str, float]:
        """The values of the newest update; empty before the first."""
        return {} if self._newest is None else self._newest.values

    def add(self, update: int, values: Mapping[str, float]) -> None:
        """Record the values of ``update``."""
        self._newest = TrainingPoint(update=update, values=dict(values))
        if update % self.stride == 0:
            self._points.append(self._newest)
        if len(self._points) >= MAX_POINTS:
            self.stride *= 2
            self._points = [point for point in self._points if point.update % self.stride == 0]

    def with_newest(self) -> tuple[TrainingPoint, ...]:
        """Return the kept points and the newest, if it is not among them."""
        if self._newest is None or (self._points and self._points[-1] is self._newest):
            return self.kept
        return (*self._points, self._newest)
