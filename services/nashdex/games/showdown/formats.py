"""Showdown formats. The simulator has more than nashdex ships: a package can register any of its others."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import ClassVar, Final

from nashdex.core.evidence import Evidence
from nashdex.games.format import Format, Inputs
from nashdex.games.showdown.game import ShowdownGame
from nashdex.games.showdown.names import without_series

GAME: Final = "showdown"
"""``Space.game`` of every Showdown format."""


@dataclass(frozen=True)
class ShowdownFormat(Format):
    """A format of two players, registered under the simulator's own id for it."""

    team_set: Callable[[str], str] | None = None
    """Returns the packed teams, one per line, of the format with this name. None: the simulator generates teams."""

    active: int = 1
    """Active Pokémon of each side: 2 in doubles."""

    game: ClassVar[str] = GAME
    evidence: ClassVar[Evidence] = Evidence.COUNTS

    @property
    def num_slots(self) -> int:
        """Slots that one decision chooses for: one for each active Pokémon."""
        return self.active

    @property
    def takes_teams(self) -> bool:
        """Whether players bring teams."""
        return self.team_set is not None

    def make(self, name: str, inputs: Inputs) -> ShowdownGame:
        """Return the game with the teams of ``inputs``, or else with the format's own."""
        text = inputs.teams if inputs.teams is not None or self.team_set is None else self.team_set(name)
        lines = (text or "").splitlines()
        return ShowdownGame(name, tuple(line for line in lines if line and not line.startswith("#")))


def _shipped_teams(name: str, suffix: str = "") -> str:
    file = f"{without_series(name)}{suffix}.txt"
    return (resources.files(__package__) / "team_sets" / file).read_text(encoding="utf-8")


def _tournament_teams(name: str) -> str:
    return _shipped_teams(name, ".tournaments")


RANDOM_BATTLE: Final = ShowdownFormat()
TIER: Final = ShowdownFormat(_shipped_teams)
RANDOM_DOUBLES: Final = ShowdownFormat(active=2)
DOUBLES_TIER: Final = ShowdownFormat(_shipped_teams, active=2)
VGC: Final = ShowdownFormat(_tournament_teams, active=2)
