"""Tabular games as games that the steps can play."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashdex.core.evidence import Evidence
from nashdex.games.interface import Situations
from nashdex.games.space import Space
from nashdex.games.tabular.arena import TabularArena
from nashdex.games.tabular.space import tabular_space
from nashdex.games.tabular.tree import GameTree


@dataclass(frozen=True)
class TabularGame:
    """One tabular game. Implements ``games.interface.Game``."""

    tree: GameTree

    @property
    def format(self) -> str:
        """The name that settings use."""
        return self.tree.format

    @property
    def evidence(self) -> Evidence:
        """Exact: payoffs follow from the tree."""
        return Evidence.EXACT

    @property
    def largest_payoff(self) -> float:
        """The largest payoff of either seat, in the game's units."""
        return self.tree.max_payoff

    @property
    def space(self) -> Space:
        """Layout of observations and actions."""
        return tabular_space(self.tree)

    def open_arena(self, *, num_gateways: int) -> TabularArena:
        """Open an arena in this process; it starts no simulator."""
        del num_gateways
        return TabularArena(self.tree)

    def teams(self) -> Sequence[str]:
        """Return nothing: tabular games have no teams."""
        return ()

    def situations(self, space: Space, observations: NDArray[np.float32]) -> Situations:
        """Return the number of each decision within its battle as its turn."""
        del space
        num_decisions = len(observations)
        return Situations("", np.arange(num_decisions), np.zeros(num_decisions, np.int64))
