"""``nashdex_play.poke_env.Player``: a policy as a poke-env player, by websocket on the stock server."""

import asyncio
import logging
from typing import Any

import pytest
from poke_env import AccountConfiguration, ServerConfiguration
from poke_env.player import RandomPlayer
from structlog.testing import capture_logs

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.games.registry import game_for
from nashdex.games.showdown.stock_server import StockServer, stock_server
from nashdex_play.poke_env import Player

pytestmark = pytest.mark.integration
FORMAT = "gen9vgc2025regi"
"""Two slots, Team Preview, and a team that the player draws."""


async def _play(server: StockServer, num_battles: int) -> tuple[Player, RandomPlayer]:
    """Let ``max-power`` play poke-env's random player, two battles at once."""
    options: dict[str, Any] = {
        "server_configuration": ServerConfiguration(server.websocket, "http://127.0.0.1/"),
        "log_level": logging.CRITICAL,
        "max_concurrent_battles": 2,
        "open_timeout": None,
    }
    ours = Player("max-power", AccountConfiguration("ours", None), battle_format=FORMAT, **options)
    team = game_for(FORMAT).teams()[0]
    theirs = RandomPlayer(AccountConfiguration("theirs", None), battle_format=FORMAT, team=team, **options)
    try:
        await asyncio.wait_for(ours.battle_against(theirs, n_battles=num_battles), 300)
    finally:
        for player in (ours, theirs):
            await player.ps_client.stop_listening()
        ours.close()
    return ours, theirs


@pytest.mark.slow
def test_a_policy_plays_a_poke_env_player_on_the_stock_server() -> None:
    with stock_server() as server, capture_logs() as logged:
        ours, theirs = asyncio.run(_play(server, 2))
    assert ours.n_finished_battles == theirs.n_finished_battles == 2
    assert ours.n_won_battles == theirs.n_lost_battles
    assert ours.n_won_battles + ours.n_lost_battles + ours.n_tied_battles == 2
    for tag, battle in ours.battles.items():
        assert battle.turn == theirs.battles[tag].turn > 1
    assert not ours._rooms, "a battle that is over leaves nothing behind"
    assert logged == [], "every choice is the policy's"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"policy": "randm", "battle_format": FORMAT}, "unknown scripted policy"),
        ({"policy": "random"}, "name the format"),
        ({"policy": "random", "battle_format": "gen1uo"}, "gen1ou"),
        ({"policy": "random", "battle_format": "kuhn_poker"}, "no Showdown server plays kuhn_poker"),
        ({"policy": "random", "battle_format": FORMAT, "team_set": "mine"}, "mine"),
        ({"policy": "random", "battle_format": FORMAT, "max_concurrent_battles": 0}, "expected 1 to 64"),
        ({"policy": "nowhere#newest"}, "no run"),
    ],
)
def test_what_cannot_play_is_refused_before_it_connects(arguments: dict[str, object], problem: str) -> None:
    with pytest.raises((ConfigurationError, DataError), match=problem):
        Player(**arguments, start_listening=False)  # type: ignore[arg-type]
