"""What a reward is: the whole surface between it and training. T decisions of one seat, F observation values."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from nashdex.games.space import Space


@dataclass(frozen=True, kw_only=True)
class Reward:
    """One reward. Its entry point has the same name."""

    compute: "Callable[[Space, NDArray[np.float32], float, float], NDArray[np.float32]]"
    """Returns the reward of each decision, shape (T,), given the space, the observations (T, F), the score (1 for a
    win, ½ for a draw, 0 for a loss, anything between in a game for stakes) and the discount γ."""
    games: frozenset[str] | None = None
    """Games that have it, by ``Space.game``: ``showdown``, ``tabular``. None: every game."""
    slots: frozenset[int] | None = None
    """Numbers of slots that one decision chooses for (``Space.num_slots``): 2 in doubles. None: any number."""
    version: str = "1"
    """Changes whenever ``compute`` returns other numbers for the same battle: it is part of a policy's id."""

    def fits(self, game: str, num_slots: int) -> bool:
        """Say whether spaces of ``num_slots`` of the game that ``Space.game`` names have it."""
        return (self.games is None or game in self.games) and (self.slots is None or num_slots in self.slots)
