"""Tabular formats: each is a function that writes a game's tree down."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

from nashdex.core.evidence import Evidence
from nashdex.games.format import Format, Inputs
from nashdex.games.tabular.game import GAME, TabularGame
from nashdex.games.tabular.matrix import matrix_tree
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.games.tabular.tree import GameTree


@dataclass(frozen=True)
class TabularFormat(Format):
    """A two-player zero-sum game that is small enough to be written down."""

    make_tree: Callable[[str], GameTree]
    """Returns the game's tree, given the format's name. Called when the game is needed; heavy imports belong inside."""

    game: ClassVar[str] = GAME
    evidence: ClassVar[Evidence] = Evidence.EXACT

    def make(self, name: str, inputs: Inputs) -> TabularGame:
        """Return the game."""
        del inputs
        return TabularGame(self.make_tree(name))


class MatrixFormat(Format):
    """A zero-sum matrix game whose payoffs a run brings."""

    game: ClassVar[str] = GAME
    evidence: ClassVar[Evidence] = Evidence.EXACT

    @property
    def takes_matrix(self) -> bool:
        """True: a run brings the payoffs."""
        return True

    def make(self, name: str, inputs: Inputs) -> TabularGame:
        """Return the game of the payoffs in ``inputs``."""
        assert inputs.matrix is not None, "the registry checks what a format takes"
        return TabularGame(matrix_tree(inputs.matrix, name))


OPENSPIEL: Final = TabularFormat(openspiel_tree)
"""A game that OpenSpiel calls by the format's name."""
MATRIX: Final = MatrixFormat()
