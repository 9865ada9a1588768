"""Formats by the name that settings use: built in, or from installed packages."""

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError
from nashdex.core.plugins import Registry
from nashdex.core.user_input import did_you_mean
from nashdex.games.format import Format, Inputs
from nashdex.games.interface import Game
from nashdex.games.showdown.game import ShowdownGame
from nashdex.games.showdown.names import (
    DOUBLES_TIERS,
    OTHER_VGC,
    RANDOM_BATTLES,
    RANDOM_DOUBLES,
    TIERS,
    VGC,
    series_of,
    why_unsupported,
)
from nashdex.games.tabular.game import GAME as TABULAR
from nashdex.games.tabular.game import TabularGame
from nashdex.games.tabular.matrix import MatrixDocument
from nashdex.settings.run import RunSettings
from nashdex.store.checked import read_root
from nashdex.store.protocol import ObjectStore


class _Formats(Registry[Format]):
    def unknown(self, name: str) -> str:
        """Return why there is no such format: the reason if its name shows one, and similar names."""
        if reason := why_unsupported(name):
            return f"format {name!r} is not supported: {reason}; `nashdex formats` lists the supported ones"
        return f"unknown format {name!r}: {did_you_mean(name, self.names)}`nashdex formats` lists the supported ones"


FORMATS: Registry[Format] = _Formats(
    "nashdex.formats",
    "format",
    Format,  # type: ignore[type-abstract]  # entries are instances of its subclasses
    {
        **dict.fromkeys(RANDOM_BATTLES, "nashdex.games.showdown.formats:RANDOM_BATTLE"),
        **dict.fromkeys(TIERS, "nashdex.games.showdown.formats:TIER"),
        **dict.fromkeys(RANDOM_DOUBLES, "nashdex.games.showdown.formats:RANDOM_DOUBLES"),
        **dict.fromkeys(
            (*DOUBLES_TIERS, *OTHER_VGC, *series_of(OTHER_VGC)), "nashdex.games.showdown.formats:DOUBLES_TIER"
        ),
        **dict.fromkeys((*VGC, *series_of(VGC)), "nashdex.games.showdown.formats:VGC"),
        "kuhn_poker": "nashdex.games.tabular.game:OPENSPIEL",
        "leduc_poker": "nashdex.games.tabular.game:OPENSPIEL",
        "matrix": "nashdex.games.tabular.game:MATRIX",
    },
)


def check_inputs(name: str, *, has_teams: bool, has_matrix: bool) -> None:
    """Check that the format called ``name`` exists and takes the given files.

    Raises:
        ConfigurationError: there is no such format, it takes no teams or payoffs, or payoffs are missing.
    """
    chosen = FORMATS[name]
    if has_teams and not chosen.takes_teams:
        raise ConfigurationError(f"{name} takes no teams: leave `teams` out")
    if has_matrix and not chosen.takes_matrix:
        raise ConfigurationError(f"{name} takes no payoffs: leave `matrix` out")
    if chosen.takes_matrix and not has_matrix:
        raise ConfigurationError(
            f"format {name} needs payoffs: set `matrix` to a file of them, in the form that `nashdex solve` reads"
        )


def game_for(name: str, teams_text: str | None = None, matrix: MatrixDocument | None = None) -> Game:
    """Return the game called ``name``, with the packed teams or the payoffs where it takes any.

    Raises:
        ConfigurationError: there is no such game, or it does not take these files.
    """
    check_inputs(name, has_teams=teams_text is not None, has_matrix=matrix is not None)
    game = FORMATS[name].make(name, Inputs(teams_text, matrix))
    if game.format != name:
        raise ConfigurationError(f"the format {name!r} makes a game that calls itself {game.format!r}; expected {name}")
    return game


def game_of_run(store: ObjectStore, settings: RunSettings) -> Game:
    """Return the run's game, with the teams or the payoffs that are stored with it.

    Raises:
        DataError: the stored teams or payoffs were altered.
    """
    teams_text = read_root(store, keys.TEAMS).decode() if settings.teams is not None else None
    matrix = _stored_matrix(store) if settings.matrix is not None else None
    return game_for(settings.format, teams_text, matrix)


def showdown_game(name: str) -> ShowdownGame:
    """Return the Showdown game called ``name``, with the format's own teams.

    Raises:
        ConfigurationError: it is not a Showdown format.
    """
    game = game_for(name)
    if not isinstance(game, ShowdownGame):
        raise ConfigurationError(f"{name!r} is not a Showdown format; expected one such as gen1ou")
    return game


def tabular_game_for(name: str, matrix: MatrixDocument | None = None) -> TabularGame:
    """Return the tabular game called ``name``.

    Raises:
        ConfigurationError: it is not a tabular game, or payoffs are missing or superfluous.
    """
    if name not in FORMATS or FORMATS[name].game != TABULAR:
        known = ", ".join(each for each in FORMATS.names if FORMATS[each].game == TABULAR)
        raise ConfigurationError(
            f"{name!r} is not a tabular game; expected one of {known}, or a file of payoffs where the command takes one"
        )
    game = game_for(name, matrix=matrix)
    assert isinstance(game, TabularGame), "a format of tabular games made another"
    return game


def tabular_game_of_run(store: ObjectStore, settings: RunSettings) -> TabularGame:
    """Return the game of a run of a tabular format.

    Raises:
        ConfigurationError: the format is another.
        DataError: the stored payoffs were altered.
    """
    matrix = _stored_matrix(store) if settings.matrix is not None else None
    return tabular_game_for(settings.format, matrix)


def _stored_matrix(store: ObjectStore) -> MatrixDocument:
    return MatrixDocument.from_json(read_root(store, keys.MATRIX), f"{store.uri}/{keys.MATRIX}")
