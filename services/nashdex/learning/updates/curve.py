"""The values of each update, thinned as their number grows."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import ConfigDict, PositiveInt

from nashdex.core.documents import Model
from nashdex.core.results import TrainingPoint

MAX_POINTS = 500


class Curve(Model):
    """At most ``MAX_POINTS`` points, evenly spaced: at the limit, every second one is dropped."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=False)

    points: tuple[TrainingPoint, ...] = ()
    """The evenly spaced points."""
    stride: PositiveInt = 1
    last: TrainingPoint | None = None

    @property
    def newest(self) -> Mapping[str, float]:
        """The values of the newest update; empty before the first."""
        return {} if self.last is None else self.last.values

    def add(self, update: int, values: Mapping[str, float]) -> None:
        """Record the values of ``update``."""
        self.last = TrainingPoint(update=update, values=dict(values))
        if update % self.stride == 0:
            self.points = (*self.points, self.last)
        if len(self.points) >= MAX_POINTS:
            self.stride *= 2
            self.points = tuple(point for point in self.points if point.update % self.stride == 0)

    def with_newest(self) -> tuple[TrainingPoint, ...]:
        """Return the points and the newest one, if it is not among them."""
        if self.last is None or (self.points and self.points[-1] == self.last):
            return self.points
        return (*self.points, self.last)
