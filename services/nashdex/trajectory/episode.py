"""One seat's decisions in one battle."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashdex.core.ids import PolicyId
from nashdex.games.legal import LegalActions


@dataclass(frozen=True, slots=True)
class Episode:
    """What one policy saw and did in one battle. T decisions, F observation values."""

    seed: int
    """The battle's seed."""
    seat: int
    policy: PolicyId
    """Who acted."""
    opponent: PolicyId
    """Who sat opposite; drawn once, never changed."""
    score: float
    """1 for a win, ½ for a draw, 0 for a loss; anything between in a game for stakes."""
    observations: NDArray[np.float32]
    """Shape (T, F)."""
    legal: LegalActions
    """Legal actions of each decision."""
    actions: NDArray[np.int64]
    """Shape (T,): the actions that were executed."""
    log_probs: NDArray[np.float32]
    """Shape (T,): log π(action) of the acting policy when it acted."""
    agreeing: LegalActions | None = None
    """Legal actions of each decision that agree with what is known of its action, which is one of them; None: all
    actions are known. A log may show what one slot chose and not the other."""

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def known_actions(self) -> LegalActions:
        """``agreeing``; each action alone where all are known."""
        if self.agreeing is not None:
            return self.agreeing
        ones = np.ones(len(self), np.int64)
        return LegalActions.of_counts(ones, self.actions.astype(np.uint16), self.legal.num_actions)
