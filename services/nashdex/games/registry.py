"""Games by the name that settings use."""

from nashdex.core.errors import ConfigurationError
from nashdex.games.interface import Game
from nashdex.games.showdown.game import FORMATS, showdown_game


def check_format(name: str) -> None:
    """Raise ConfigurationError unless ``name`` is a game that can be played."""
    if name not in FORMATS:
        raise ConfigurationError(f"unknown format {name!r}: expected one of {', '.join(sorted(FORMATS))}")


def game_for(name: str, teams_text: str | None = None) -> Game:
    """Return the game called ``name``, with the packed teams of ``teams_text`` where it takes any.

    Raises:
        ConfigurationError: there is no such game, or it takes no teams.
    """
    check_format(name)
    return showdown_game(name, teams_text)
