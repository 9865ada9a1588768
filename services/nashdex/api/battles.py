"""``nashdex.battle``: a match between two policies."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Final

from nashdex.core.arguments import FORMAT_OR_NONE, POLICY, TEAM_SET, Kind, check_type, whole_number
from nashdex.core.errors import ConfigurationError
from nashdex.core.user_input import shorten
from nashdex.evaluator.match import MatchResult, play_match
from nashdex.evaluator.programs import play_program_match
from nashdex.games.tabular.matrix import MatrixDocument
from nashdex.runs.inputs import read_matrix, read_team_set
from nashdex.runs.played_format import format_to_play
from nashdex.settings.external import declared_program

_MATRIX: Final[Kind] = (MatrixDocument | str | PathLike | None, "payoffs, the path of a file of them, or None")


def battle(
    p1: str,
    p2: str,
    *,
    format: str | None = None,  # noqa: A002 - the project's word for it everywhere
    battles: int = 100,
    best_of: int = 1,
    team_set: str | None = None,
    matrix: MatrixDocument | str | PathLike[str] | None = None,
    seed: int = 0,
    num_gateways: int = 1,
    on_battle: Callable[[int], None] = lambda _: None,
) -> MatchResult:
    """Play ``battles`` battles as side-swapped pairs and return the first policy's score, with its interval.

    Args:
        p1: a scripted policy, ``RUN#newest``, ``RUN#nash`` or ``RUN#NAME``, with ``@greedy`` if wanted, or
            ``external:NAME``. At most one may be a program that plays by websocket: its battles are independent, not
            side-swapped pairs.
        p2: its opponent, named alike.
        format: by default the format of a player's run or stored policy.
        battles: side-swapped pairs, an odd last battle alone.
        best_of: 1, or an odd number: each of ``battles`` is then a series of up to that many.
        team_set: teams to draw from; by default the format's own.
        matrix: payoffs of format ``matrix``, or the path of a file of them, such as ``nashdex solve`` reads.
        seed: teams, chance and draws follow from it.
        num_gateways: simulator processes.
        on_battle: called with the number of finished battles.

    Raises:
        ConfigurationError: an argument is of another type or out of range, a format or policy is unknown, or they do
            not fit together.
        DataError: a policy is missing, altered, or of another space.
        TryAgainError: no simulator answers.
    """
    for name, text in (("p1", p1), ("p2", p2)):
        check_type(name, text, POLICY)
    check_type("format", format, FORMAT_OR_NONE)
    check_type("team_set", team_set, TEAM_SET)
    check_type("matrix", matrix, _MATRIX)
    if not callable(on_battle):
        raise ConfigurationError(
            f"on_battle is {shorten(on_battle)}: expected a function that takes the number of finished battles"
        )
    for name, value, least in (
        ("battles", battles, 1),
        ("best_of", best_of, 1),
        ("seed", seed, 0),
        ("num_gateways", num_gateways, 1),
    ):
        whole_number(name, value, least)
    payoffs = read_matrix(Path(matrix)) if isinstance(matrix, str | PathLike) else matrix
    if best_of % 2 == 0:
        raise ConfigurationError(f"best_of is {best_of}: expected an odd number of battles, such as 3")
    played = format_to_play(format, {"p1": p1, "p2": p2})
    teams_text = None if team_set is None else read_team_set(played, team_set)
    programs = {player: found for player in (p1, p2) if (found := declared_program(player)) is not None}
    if programs:
        if p1 == p2 or len(programs) > 1:
            raise ConfigurationError("both players are programs that play by websocket; expected at most one")
        if best_of > 1 or matrix is not None or num_gateways > 1:
            raise ConfigurationError(
                "a program plays single battles on one server: expected a best of 1, no matrix and one gateway"
            )
        (player, declared), *_ = programs.items()
        return play_program_match(
            played,
            p2 if player == p1 else p1,
            player,
            declared,
            battles=battles,
            program_is_first=player == p1,
            teams_text=teams_text,
            seed=seed,
            on_battle=on_battle,
        )
    return play_match(
        played,
        p1,
        p2,
        battles=battles,
        best_of=best_of,
        matrix=payoffs,
        teams_text=teams_text,
        seed=seed,
        num_gateways=num_gateways,
        on_battle=on_battle,
    )
