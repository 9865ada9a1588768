"""What a format declares. A package adds its own under the entry point group ``nashdex.formats``."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from nashdex.core.evidence import Evidence
from nashdex.games.interface import Game
from nashdex.games.tabular.matrix import MatrixDocument


@dataclass(frozen=True, slots=True)
class Inputs:
    """Files of a run that its game is made from."""

    teams: str | None = None
    """Packed teams, one per line."""
    matrix: MatrixDocument | None = None
    """Payoffs."""


class Format(ABC):
    """One format: a game that settings can name. Its entry point has the same name.

    Subclasses are ``games.showdown.formats.ShowdownFormat`` and ``games.tabular.game.TabularFormat``.
    """

    game: ClassVar[str]
    """``Space.game`` of its games, such as ``showdown``: scripted policies declare the games that they play."""

    evidence: ClassVar[Evidence]
    """Source of the payoffs between policies: battles, or exact computation."""

    @property
    def num_slots(self) -> int:
        """Slots that one decision chooses for: 2 in doubles."""
        return 1

    @property
    def takes_teams(self) -> bool:
        """Whether players bring teams, which the setting ``teams`` may replace."""
        return False

    @property
    def takes_matrix(self) -> bool:
        """Whether a run has to bring payoffs, by the setting ``matrix``."""
        return False

    @abstractmethod
    def make(self, name: str, inputs: Inputs) -> Game:
        """Return the game, which calls itself ``name``. ``inputs`` holds nothing that the format does not take.

        Raises:
            ConfigurationError: the inputs do not fit.
        """
