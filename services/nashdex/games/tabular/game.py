"""Tabular games as games that the steps can play."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError
from nashdex.games.interface import Reward
from nashdex.games.space import Space
from nashdex.games.tabular import matrix, openspiel
from nashdex.games.tabular.arena import TabularArena
from nashdex.games.tabular.matrix import MatrixDocument, matrix_tree
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.games.tabular.space import tabular_space
from nashdex.games.tabular.tree import GameTree

TABULAR_FORMATS: Final = (*openspiel.FORMATS, matrix.FORMAT)
REWARD_VERSION = "1"


@dataclass(frozen=True)
class TabularGame:
    """One tabular game. Implements ``games.interface.Game``."""

    tree: GameTree

    @property
    def format(self) -> str:
        """The name that settings use."""
        return self.tree.format

    @property
    def space(self) -> Space:
        """What policies see and may do."""
        return tabular_space(self.tree)

    def open_arena(self, *, num_gateways: int) -> TabularArena:
        """Open an arena; it needs no simulator's process."""
        del num_gateways
        return TabularArena(self.tree)

    def teams(self) -> Sequence[str]:
        """Return none."""
        return ()

    @property
    def reward_version(self) -> str:
        """The version of ``rewards``."""
        return REWARD_VERSION

    def rewards(
        self, kind: Reward, space: Space, observations: NDArray[np.float32], score: float, discount: float
    ) -> NDArray[np.float32]:
        """Return 0, and at the last decision the payoff as a share of the largest, shape (T,).

        Raises:
            ConfigurationError: the reward is to be shaped, which takes a game with something to shape it by.
        """
        del space, discount
        if kind != "win-loss":
            raise ConfigurationError(f"{self.format} has no {kind} reward; expected win-loss")
        result = np.zeros(len(observations), dtype=np.float32)
        if len(result):
            result[-1] = 2.0 * score - 1.0
        return result


def tabular_game(name: str, matrix_document: MatrixDocument | None) -> TabularGame:
    """Return the game called ``name``, one of ``TABULAR_FORMATS``.

    Raises:
        ConfigurationError: a matrix is missing, or given to a game that takes none.
    """
    if (name == matrix.FORMAT) != (matrix_document is not None):
        raise ConfigurationError(
            f"{name} has payoffs of its own: leave `matrix` out"
            if matrix_document is not None
            else f"format {name} needs payoffs: set `matrix` to a file of them, such as `nashdex solve` reads"
        )
    return TabularGame(openspiel_tree(name) if matrix_document is None else matrix_tree(matrix_document))
