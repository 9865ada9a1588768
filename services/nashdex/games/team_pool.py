"""The teams that battles draw from, and how likely each is."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nashdex.core.seeds import inverse_cdf, seed_uniform


@dataclass(frozen=True)
class TeamPool:
    """Packed teams; without any, the game generates a team from the seed."""

    teams: Sequence[str]
    weights: Sequence[float] = ()
    """Weight of each team, in any scale; empty: all teams are equally likely."""
    names: Sequence[str] = ()
    """Name of each team; empty: its number."""

    def draw(self, seed: int) -> tuple[str, str | None]:
        """Return the name and the text of the team that follows from ``seed``, a 64-bit number."""
        if not self.teams:
            return str(seed), None
        place = self._place(seed) if self.weights else seed % len(self.teams)
        return (self.names[place] if self.names else str(place)), self.teams[place]

    def _place(self, seed: int) -> int:
        return int(inverse_cdf(self._cumulative, np.array([seed_uniform(seed)]))[0])

    @cached_property
    def _cumulative(self) -> NDArray[np.float64]:
        return np.cumsum(self.weights)[None, :]
