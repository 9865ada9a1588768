"""Throughput of poke-env's own websocket players: ``python -m nashdex_bench.collect.poke_env --format FORMAT``.

The usual set-up for training: two random players in one client play each other on the stock server of the same package.
nashdex itself uses none of this.
"""

import asyncio
import json
import logging
import random
import sys
import time
from collections.abc import Sequence
from typing import Annotated

import typer
from poke_env import AccountConfiguration, ServerConfiguration
from poke_env.battle import AbstractBattle
from poke_env.player import BattleOrder, RandomPlayer
from poke_env.teambuilder import Teambuilder
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from nashdex.core.documents import Model
from nashdex.core.errors import NashdexError, TryAgainError
from nashdex.games.registry import game_for
from nashdex.games.showdown.stock_server import StockServer, stock_server
from nashdex_bench.process_tree import cpu_seconds_of_tree

CONCURRENT_BATTLES = 10
"""More gain nothing: the server's single simulator process is busy."""
_WARM_UP_SHARE = 0.5
_START_SECONDS = 150.0
_LOOK_SECONDS = 0.1
_LAST_BATTLES_SECONDS = 120.0
_BATTLES_PER_ROUND = 50


class PeerResult(Model):
    """The players' work after the warm-up. A decision is one choice of one seat, as in nashdex."""

    format: str
    decisions: PositiveInt
    battles: int
    seconds: PositiveFloat
    client_cpu_seconds: NonNegativeFloat = Field(description="This process, which holds both players.")
    server_cpu_seconds: NonNegativeFloat = Field(description="The stock server with all its processes.")
    decisions_per_cpu_second: PositiveFloat = Field(description="All processes, user and system.")


class _CountingPlayer(RandomPlayer):
    """A random player that counts its decisions."""

    num_decisions = 0

    def choose_move(self, battle: AbstractBattle) -> BattleOrder:
        self.num_decisions += 1
        return super().choose_move(battle)


class _TeamSet(Teambuilder):
    """Draws one of ``teams`` (packed) for each battle."""

    def __init__(self, teams: Sequence[str], seed: int) -> None:
        self._teams = teams
        self._random = random.Random(seed)

    def yield_team(self) -> str:
        return self._random.choice(self._teams)


def measure(format_id: str, seconds: float, seed: int) -> PeerResult:
    """Play for ``seconds`` and measure all but the first part, in which Node compiles.

    Raises:
        ConfigurationError: the format is unknown, or Node or the server's package is missing.
        TryAgainError: the server or the first battle does not start.
    """
    teams = game_for(format_id).teams()
    random.seed(seed)
    with stock_server() as server:
        return asyncio.run(_play(format_id, teams, seconds, seed, server))


async def _play(format_id: str, teams: Sequence[str], seconds: float, seed: int, server: StockServer) -> PeerResult:
    players = [
        _CountingPlayer(
            AccountConfiguration(f"nashdex peer {number}", None),
            battle_format=format_id,
            log_level=logging.CRITICAL,
            max_concurrent_battles=CONCURRENT_BATTLES,
            open_timeout=None,  # poke-env gives up for good at a time-out; the first decision has its own deadline.
            server_configuration=ServerConfiguration(server.websocket, "http://127.0.0.1/"),
            team=_TeamSet(teams, seed + number) if teams else None,
        )
        for number in range(2)
    ]
    first, second = players
    is_over = asyncio.Event()
    battles = asyncio.create_task(_battle_on(first, second, is_over))
    try:
        await _wait_for_a_decision(first, battles)
        readings = []
        for pause in (seconds * _WARM_UP_SHARE, seconds * (1 - _WARM_UP_SHARE)):
            await asyncio.wait([battles], timeout=pause)
            decisions = sum(player.num_decisions for player in players)
            cpu = (time.process_time(), cpu_seconds_of_tree(server.process))
            readings.append((time.monotonic(), *cpu, decisions, first.n_finished_battles))
        is_over.set()
        await asyncio.wait_for(battles, _LAST_BATTLES_SECONDS)
    except TimeoutError as error:
        raise TryAgainError("poke-env's players did not finish their battles; try again") from error
    finally:
        for player in players:
            if player.ps_client.logged_in.is_set():  # poke-env's client has no websocket before.
                await player.ps_client.stop_listening()
    taken, client, of_server, decisions, finished = (end - begin for begin, end in zip(*readings, strict=True))
    if not decisions:
        raise TryAgainError(f"poke-env's players decided nothing in {taken:.0f} s; measure for longer")
    return PeerResult(
        format=format_id,
        decisions=int(decisions),
        battles=int(finished),
        seconds=taken,
        client_cpu_seconds=client,
        server_cpu_seconds=of_server,
        decisions_per_cpu_second=decisions / (client + of_server),
    )


async def _battle_on(first: RandomPlayer, second: RandomPlayer, is_over: asyncio.Event) -> None:
    """Play rounds of battles until ``is_over``, so that no battle is running when the players leave."""
    while not is_over.is_set():
        await first.battle_against(second, n_battles=_BATTLES_PER_ROUND)


async def _wait_for_a_decision(player: _CountingPlayer, battles: asyncio.Task[None]) -> None:
    """Wait until the server can run battles."""
    deadline = time.monotonic() + _START_SECONDS
    while not player.num_decisions:
        if battles.done():
            battles.result()
        if time.monotonic() > deadline:
            raise TryAgainError(f"poke-env's players started no battle within {_START_SECONDS:.0f} s; try again")
        await asyncio.wait([battles], timeout=_LOOK_SECONDS)


def main(
    format_id: Annotated[str, typer.Option("--format", help="Showdown format.")] = "gen1randombattle",
    seconds: Annotated[
        float, typer.Option(help="Duration of the measurement, warm-up included.", min=1, max=3600)
    ] = 20.0,
    seed: Annotated[int, typer.Option(help="Seed of teams and choices; the server also draws its own.", min=0)] = 0,
) -> None:
    """Measure, and print one JSON document."""
    try:
        result = measure(format_id, seconds, seed)
    except NashdexError as error:
        sys.stderr.write(f"error: {error}\n")
        raise typer.Exit(error.exit_code) from error
    sys.stdout.write(json.dumps(result.model_dump(mode="json")) + "\n")


if __name__ == "__main__":
    typer.run(main)
