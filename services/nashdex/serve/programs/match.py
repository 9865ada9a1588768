"""A match against a program that plays by websocket: a stock server, the program, and the client that challenges it.

The server draws teams and chance from seeds of its own. So battles are independent: no two have the same teams with the
seats swapped, and the interval is Wilson's over single battles.
"""

import math
import secrets
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import structlog

from nashdex.core.stopping import check_stop
from nashdex.evaluator.match import MatchResult
from nashdex.games.registry import game_for
from nashdex.games.showdown.external_causes import UNAVAILABLE
from nashdex.games.showdown.stock_server import StockServer, stock_server
from nashdex.games.teams import TeamPool
from nashdex.metagame.evidence.estimates import clustered_wilson_interval
from nashdex.serve.client import Client
from nashdex.serve.connection import Connection
from nashdex.serve.deciding import open_decider
from nashdex.serve.lines import to_id
from nashdex.serve.login import Account
from nashdex.serve.programs.process import Program
from nashdex.serve.programs.referee import ProgramGoneError, ProgramReferee
from nashdex.serve.record import Record
from nashdex.serve.room import SCORES, Result, ServedBattle
from nashdex.serve.service import Service
from nashdex.settings.external import ExternalPlayer

ESTIMATOR: Final = "mean-score, wilson"
"""The mean score, with Wilson's interval over single battles."""
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


def play_program_match(
    format_id: str,
    policy: str,
    player: str,
    declared: ExternalPlayer,
    *,
    battles: int,
    program_is_first: bool = False,
    teams_text: str | None = None,
    seed: int = 0,
    on_battle: Callable[[int], None] = lambda _: None,
) -> MatchResult:
    """Play ``battles`` battles between ``policy`` and the program ``player``; the result is the first one's.

    Draws of the policy follow from ``seed`` and the server's names of the rooms. ``teams_text`` replaces the policy's
    teams; the program brings its own. The result's decisions are the policy's.

    Raises:
        ConfigurationError: the policy, the format or the program is not available.
        DataError: the policy is missing, altered, or of another space.
        TryAgainError: the server or the gateway does not answer.
        StoppedError: the process was asked to stop.
    """
    users = _Users.new(player, declared)
    game = game_for(format_id, teams_text)
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
    started = time.monotonic()
    record = Record(None)

    def count(_: ServedBattle) -> None:
        on_battle(len(_results(record)))

    decider = open_decider(policy, game, seed)
    try:
        with stock_server() as server, _program(player, declared) as program:
            values = _values(server, users, game.format)
            referee = ProgramReferee(
                program, declared, lambda num_finished: values | {"battles": str(battles - num_finished)}
            )
            client = Client(
                Connection(server.websocket, _PATIENCE_SECONDS),
                decider,
                record,
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
            if len(_results(record)) < battles:
                check_stop()
    finally:
        decider.close()
    failures = Counter(battle.void for battle in record.battles if battle.void is not None)
    failures[UNAVAILABLE] += referee.num_unavailable
    own = [SCORES[result] for result in _results(record)]
    scores = [1 - score for score in own] if program_is_first else own
    low, high = clustered_wilson_interval(scores, range(len(scores))) if scores else (None, None)
    return MatchResult(
        format=game.format,
        p1=player if program_is_first else policy,
        p2=policy if program_is_first else player,
        seed=seed,
        score=math.fsum(scores) / len(scores) if scores else None,
        low=low,
        high=high,
        estimator=ESTIMATOR,
        score_draws_as_losses=scores.count(1.0) / len(scores) if scores else None,
        battles=len(scores),
        wins=scores.count(1.0),
        losses=scores.count(0.0),
        draws=scores.count(0.5),
        rejected=sum(battle.refused for battle in record.battles),
        untracked=sum(battle.untracked for battle in record.battles),
        failed=battles - len(scores),
        failures=dict(+failures),
        decisions=sum(battle.decisions for battle in record.battles),
        seconds=time.monotonic() - started,
    )


def _results(record: Record) -> list[Result]:
    """Return the results of the battles that count."""
    return [battle.result for battle in record.battles if battle.result is not None]


def _values(server: StockServer, users: _Users, format_id: str) -> dict[str, str]:
    return {
        "websocket": server.websocket,
        "host": server.host,
        "port": str(server.port),
        "username": users.program,
        "opponent": users.own,
        "format": format_id,
    }


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
