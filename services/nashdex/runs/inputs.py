"""What is stored with a run before it begins: teams, payoffs of a matrix game, raw replays, stored policies.

Each is checked before anything is stored.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import structlog

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.user_input import read_file
from nashdex.games.interface import Game
from nashdex.games.registry import FORMATS, game_for
from nashdex.games.showdown.game import pack_teams
from nashdex.games.showdown.teams import load_team_set
from nashdex.games.tabular.matrix import MAX_ACTIONS, MatrixDocument
from nashdex.games.teams import TeamSets
from nashdex.oracles.registry import ORACLES
from nashdex.runs.first_policies import initial_policy, member_policies
from nashdex.settings.run import RunSettings, TeamStage
from nashdex.solver import matrix_file
from nashdex.trajectory.replay_readers import reader_of

SETTING_OF: Final[Mapping[str, str]] = {keys.TEAMS: "teams", keys.MATRIX: "matrix"}
"""The setting that names a file, by the store key of the file's content."""

_log = structlog.get_logger()


def read_inputs(settings: RunSettings) -> dict[str, bytes]:
    """Return the content of the files to store with the run, by key, and the objects of its first policies.

    Raises:
        DataError: a file or policy that the settings name is missing or wrong; a team is illegal.
        ConfigurationError: the format takes no such file.
    """
    inputs = {}
    if settings.teams is not None:
        inputs[keys.TEAMS] = _teams(settings.teams, settings.format)
    inputs |= scheduled_teams(settings.team_schedule, settings.format)
    if settings.matrix is not None:
        document = read_matrix(settings.matrix)
        game_for(settings.format, matrix=document)
        inputs[keys.MATRIX] = document.to_json()
    first = settings.train.first
    replays = ORACLES[first.kind].replays(first) if ORACLES[settings.train.oracle.kind].improves else None
    if replays is not None:
        inputs |= reader_of(settings.format).pack(replays, settings.format)
    inputs |= initial_policy(settings.network.init_from)
    return inputs | member_policies(settings.population.initial, settings.collect.teacher)


def scheduled_teams(schedule: Sequence[TeamStage], format_id: str) -> dict[str, bytes]:
    """Return the teams of the sets that a run's schedule names, by key; none without a schedule.

    Raises:
        ConfigurationError: the format takes no teams, or there is no such set.
        DataError: a set cannot be read, or has no legal team.
    """
    if not schedule:
        return {}
    names = sorted({name for stage in schedule for name in stage.sets})
    sets = {name: tuple(_teams(Path(name), format_id).decode().splitlines()) for name in names}
    return {keys.TEAM_SETS: TeamSets(sets=sets).to_json()}


def _teams(path: Path, format_id: str) -> bytes:
    """Return the packed teams of a file, or of the team set with this name, each checked by the simulator."""
    if len(path.parts) == 1 and not path.suffix and not path.exists():
        return read_team_set(format_id, path.name).encode()
    try:
        text = read_file(path, "a text file of teams").decode()
    except UnicodeDecodeError as error:
        raise DataError(f"teams: {path} cannot be read ({error}); expected a text file of teams") from error
    game_for(format_id, text)
    return pack_teams(format_id, text, str(path)).encode()


def read_team_set(format_id: str, name: str) -> str:
    """Return the packed legal teams of the team set called ``name``, one a line. Illegal ones are logged and left out.

    Raises:
        ConfigurationError: the format takes no teams, or has no such set.
        DataError: the set cannot be read, or has no legal team.
    """
    if not FORMATS[format_id].takes_teams:
        raise ConfigurationError(f"{format_id} takes no teams: leave the set of teams out")
    teams = load_team_set(format_id, name)
    for place, problems in teams.illegal:
        _log.warning("illegal team is left out", team_set=name, team=place, problems=list(problems))
    return teams.text


def read_matrix(path: Path) -> MatrixDocument:
    """Return the game in a file such as ``nashdex solve`` reads, if it can be played.

    Raises:
        DataError: the file is missing or wrong, or its game is not zero-sum or too large.
    """
    game = matrix_file.read(path)
    if isinstance(game, matrix_file.SymmetricGame):
        rows = columns = game.policies
        zero_sum = game.zero_sum
    else:
        rows, columns = game.row_policies, game.column_policies
        zero_sum = isinstance(game, matrix_file.TwoPopulationGame)
    if isinstance(game, matrix_file.BimatrixGame) or not zero_sum:
        raise DataError(f"{path} is not zero-sum; expected payoffs to the row player alone, without column_payoffs")
    if max(len(rows), len(columns)) > MAX_ACTIONS:
        raise DataError(
            f"{path} is {len(rows)} × {len(columns)}; a format has at most {MAX_ACTIONS} rows and columns. "
            "`nashdex solve` takes larger ones"
        )
    return MatrixDocument(row_policies=rows, column_policies=columns, payoffs=tuple(map(tuple, game.payoffs.tolist())))


def game_with_team_set(format_id: str, team_set: str | None) -> Game:
    """Return the game called ``format_id``, with the teams of a set or else the format's own.

    Raises:
        ConfigurationError: there is no such format, it needs payoffs, or there is no such set.
        DataError: the set cannot be read, or has no legal team.
    """
    if FORMATS[format_id].takes_matrix:
        raise ConfigurationError(
            f"format {format_id} needs payoffs, and none can be given here; expected another format"
        )
    return game_for(format_id, None if team_set is None else read_team_set(format_id, team_set))
