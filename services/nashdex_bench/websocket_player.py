"""A program: ``python -m nashdex_bench.websocket_player WEBSOCKET USERNAME FORMAT BATTLES AT_ONCE``.

It is poke-env's SimpleHeuristicsPlayer on poke-env's own client, and nothing of nashdex: what a user of poke-env runs.
"""

import asyncio
import logging
import sys

from poke_env import AccountConfiguration, ServerConfiguration
from poke_env.player import SimpleHeuristicsPlayer


async def play(websocket: str, username: str, format_id: str, battles: int, at_once: int) -> None:
    """Accept challenges until ``battles`` battles are over."""
    player = SimpleHeuristicsPlayer(
        AccountConfiguration(username, None),
        battle_format=format_id,
        log_level=logging.CRITICAL,
        max_concurrent_battles=at_once,
        # By default poke-env gives up after ten seconds, and waits on without a message.
        open_timeout=None,
        server_configuration=ServerConfiguration(websocket, "http://127.0.0.1/"),
    )
    await player.accept_challenges(None, battles)


if __name__ == "__main__":
    address, name, wanted_format, num_battles, concurrent = sys.argv[1:]
    asyncio.run(play(address, name, wanted_format, int(num_battles), int(concurrent)))
