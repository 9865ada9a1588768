"""Battles with a program that plays by websocket: a server, the program, and the client that challenges it.

The server draws teams and chance from seeds of its own. So battles are independent: no two have the same teams with the
seats swapped.
"""

import math
import secrets
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import structlog

from nashdex.core.stopping import check_stop
from nashdex.games.interface import Game
from nashdex.games.showdown.external_causes import UNAVAILABLE
from nashdex.games.showdown.stock_server import ServerAddress, stock_server
from nashdex.games.teams import TeamPool
from nashdex.policies.external import reach
from nashdex.serve.client import Client
from nashdex.serve.connection import Connection
from nashdex.serve.deciding import Decider
from nashdex.serve.lines import to_id
from nashdex.serve.login import Account
from nashdex.serve.programs.process import Elsewhere, Program
from nashdex.serve.programs.referee import ProgramGoneError, ProgramReferee
from nashdex.serve.record import Record
from nashdex.serve.room import ServedBattle
from nashdex.serve.service import Service
from nashdex.settings.external import ExternalPlayer

_RENEW_SECONDS: Final = 10.0
_PATIENCE_SECONDS: Final = 60.0
_log = structlog.get_logger()


class _Users(NamedTuple):
    own: str
    program: str

    @classmethod
    def new(cls, player: str, declared: ExternalPlayer) -> "_Users":
        """Return names that nobody is likely to have registered: a program may ask the public login server."""
        drawn = secrets.token_hex(3)
        program = declared.username or f"{to_id(player.partition(':')[2])[:11] or 'program'}{drawn}"
        return cls(f"nashdex{drawn}", program)


def play_battles(
    game: Game,
    player: str,
    declared: ExternalPlayer,
    decider: Decider,
    *,
    battles: int,
    seed: int,
    failures: Counter[str],
    on_battle: Callable[[ServedBattle], None],
) -> None:
    """Play until ``battles`` battles with the program ``player`` have a result, or it failed too often in a row.

    Draws of the policies' teams follow from ``seed``; the program brings its own. ``failures`` counts void battles by
    cause, and starts after which no battle began. ``on_battle`` is called after each battle, void or not.

    Raises:
        ConfigurationError: the program is not available, or the server refuses the format or a team.
        DataError: the server sends what no Showdown server of a known version sends.
        TryAgainError: the server or the gateway does not answer.
        StoppedError: the process was asked to stop.
    """
    users = _Users.new(player, declared)
    service = Service(
        game.format,
        opponent=None if declared.challenges else users.program,
        battles=battles,
        counts_void=False,
        at_once=declared.most_at_once,
        users=frozenset({to_id(users.program)}),
        # The referee has the deadline.
        patience_seconds=math.inf,
        renew_seconds=_RENEW_SECONDS,
        pause_seconds=declared.pause_seconds,
        seed=seed,
    )

    def count(battle: ServedBattle) -> None:
        if battle.void is not None:
            failures[battle.void] += 1
        on_battle(battle)

    with _place(player, declared) as (server, program):
        values = _values(server, users, game.format)
        referee = ProgramReferee(
            program, declared, lambda num_finished: values | {"battles": str(battles - num_finished)}
        )
        client = Client(
            Connection(server.websocket, _PATIENCE_SECONDS),
            decider,
            Record(None),
            TeamPool(game.teams()),
            Account(users.own),
            service,
            count,
            referee,
        )
        try:
            client.run()
        except ProgramGoneError:
            _log.error("a program failed too often in a row; the other battles are not played", player=player)
        finally:
            failures[UNAVAILABLE] += referee.num_unavailable
        if referee.num_finished < battles:
            check_stop()


def _values(server: ServerAddress, users: _Users, format_id: str) -> dict[str, str]:
    return {
        "websocket": server.websocket,
        "host": server.host,
        "port": str(server.port),
        "username": users.program,
        "opponent": users.own,
        "format": format_id,
    }


@contextmanager
def _place(player: str, declared: ExternalPlayer) -> Iterator[tuple[ServerAddress, Program | Elsewhere]]:
    """Yield a server and the program on it, which are ended after the block if they are this process's own."""
    if declared.server is not None:
        reach(player, declared.server, declared.start_seconds, waits=True).close()
        yield ServerAddress.of(declared.server), Elsewhere(player, declared)
        return
    with stock_server() as server, _program(player, declared) as program:
        yield server, program


@contextmanager
def _program(player: str, declared: ExternalPlayer) -> Iterator[Program]:
    """Yield the program, which is ended after the block. The file with its output is kept if a message names it."""
    name = player.partition(":")[2]
    with tempfile.NamedTemporaryFile(prefix=f"nashdex-{name}-", suffix=".log", delete=False) as file:
        program = Program(player, declared, Path(file.name))
    try:
        yield program
    finally:
        program.kill()
        if not program.is_quoted:
            program.log.unlink()
