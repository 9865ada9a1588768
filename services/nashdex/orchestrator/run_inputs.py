"""Files that a run takes along: teams, and the payoffs of a matrix game. Each is checked before anything is stored."""

from collections.abc import Mapping
from typing import Final

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.settings import RunSettings
from nashdex.games.registry import game_for
from nashdex.games.tabular.matrix import MAX_ACTIONS, MatrixDocument

SETTING_OF: Final[Mapping[str, str]] = {keys.TEAMS: "teams", keys.MATRIX: "matrix"}
"""The setting that names the file, by the key under which its content is stored."""


def read_inputs(settings: RunSettings) -> dict[str, bytes]:
    """Return what is to be stored with the run, by key.

    Raises:
        DataError: a file that the settings name is missing or wrong; a team is illegal.
        ConfigurationError: the format takes no such file.
    """
    inputs = {}
    if settings.teams is not None:
        inputs[keys.TEAMS] = _teams(settings)
    if settings.matrix is not None:
        inputs[keys.MATRIX] = _matrix(settings)
    return inputs


def _teams(settings: RunSettings) -> bytes:
    """Return the packed teams of the file that the settings name, each checked by the simulator."""
    # Late: as in the registry.
    from nashdex.games.showdown.game import pack_teams  # noqa: PLC0415

    assert settings.teams is not None
    try:
        text = settings.teams.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"teams: {settings.teams} cannot be read ({error}); expected a text file of teams") from error
    game_for(settings.format, text)
    return pack_teams(settings.format, text, str(settings.teams)).encode()


def _matrix(settings: RunSettings) -> bytes:
    """Return the payoffs to the row player in the file that the settings name, as a file that can be solved again."""
    # Late: checking a matrix takes the solver's modules, and with them scipy.
    from nashdex.solver import matrix_file  # noqa: PLC0415

    assert settings.matrix is not None
    game = matrix_file.read(settings.matrix)
    if isinstance(game, matrix_file.SymmetricGame):
        rows = columns = game.policies
    else:
        rows, columns = game.row_policies, game.column_policies
    if isinstance(game, matrix_file.BimatrixGame) or not getattr(game, "zero_sum", True):
        raise DataError(f"{settings.matrix} is not zero-sum; expected payoffs to the row player alone")
    if max(len(rows), len(columns)) > MAX_ACTIONS:
        raise DataError(
            f"{settings.matrix} is {len(rows)} × {len(columns)}; a game to be played has at most {MAX_ACTIONS} rows "
            "and columns. `nashdex solve` takes larger ones"
        )
    document = MatrixDocument(
        row_policies=rows, column_policies=columns, payoffs=tuple(map(tuple, game.payoffs.tolist()))
    )
    game_for(settings.format, matrix=document)
    return document.to_json()
