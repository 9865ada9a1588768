"""Games by the name that settings use."""

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError
from nashdex.games.interface import Game
from nashdex.games.showdown.formats import FORMATS as SHOWDOWN_FORMATS
from nashdex.games.tabular.game import TABULAR_FORMATS, TabularGame, tabular_game
from nashdex.games.tabular.matrix import MatrixDocument
from nashdex.settings.run import RunSettings
from nashdex.store.protocol import ObjectStore


def check_format(name: str) -> None:
    """Raise ConfigurationError unless ``name`` is a game that can be played."""
    known = (*sorted(SHOWDOWN_FORMATS), *TABULAR_FORMATS)
    if name not in known:
        raise ConfigurationError(f"unknown format {name!r}: expected one of {', '.join(known)}")


def is_tabular(name: str) -> bool:
    """Say whether the format called ``name`` is a tabular game, whose payoffs are known exactly."""
    return name in TABULAR_FORMATS


def game_for(name: str, teams_text: str | None = None, matrix: MatrixDocument | None = None) -> Game:
    """Return the game called ``name``, with the packed teams or the matrix where it takes any.

    Raises:
        ConfigurationError: there is no such game, it takes no teams or matrix, or a matrix is missing.
    """
    check_format(name)
    if not is_tabular(name):
        if matrix is not None:
            raise ConfigurationError(f"{name} has no payoffs to set: leave `matrix` out")
        # Late: a gateway's client is no business of a process that plays cards.
        from nashdex.games.showdown.game import showdown_game  # noqa: PLC0415

        return showdown_game(name, teams_text)
    if teams_text is not None:
        raise ConfigurationError(f"{name} has no teams: leave `teams` out")
    return tabular_game(name, matrix)


def game_of_run(store: ObjectStore, settings: RunSettings) -> Game:
    """Return the run's game, with the teams or the matrix that are stored with it.

    Raises:
        DataError: the stored matrix was altered.
    """
    teams_text = store.get(keys.TEAMS).decode() if settings.teams is not None else None
    return game_for(settings.format, teams_text, _stored_matrix(store, settings))


def tabular_game_for(name: str, matrix: MatrixDocument | None = None) -> TabularGame:
    """Return the tabular game called ``name``.

    Raises:
        ConfigurationError: it is no tabular game, or a matrix is missing or superfluous.
    """
    if not is_tabular(name):
        raise ConfigurationError(f"{name!r} is no tabular game; expected one of {', '.join(TABULAR_FORMATS)}")
    return tabular_game(name, matrix)


def tabular_game_of_run(store: ObjectStore, settings: RunSettings) -> TabularGame:
    """Return the game of a run of a tabular format.

    Raises:
        ConfigurationError: the format is another.
        DataError: the stored matrix was altered.
    """
    return tabular_game_for(settings.format, _stored_matrix(store, settings))


def _stored_matrix(store: ObjectStore, settings: RunSettings) -> MatrixDocument | None:
    if settings.matrix is None:
        return None
    return MatrixDocument.from_json(store.get(keys.MATRIX), f"{store.uri}/{keys.MATRIX}")
