"""A program on poke-env's client: ``websocket_player.py WEBSOCKET USERNAME FORMAT [OPTION...]``.

It chooses at random. ``--class=NAME`` names another player of poke-env, ``--battles=N`` the battles that it accepts
before it ends with 0, and ``--challenges=USER`` challenges instead. Ways to fail: ``--crash-every=N`` ends with 3 at
the first decision of every N-th battle by the counter in the file ``--counter=FILE``; ``--sleeps`` never decides;
``--forfeits`` forfeits.
"""

import argparse
import asyncio
import logging
import os
import time
from pathlib import Path

import poke_env.player
from poke_env import AccountConfiguration, ServerConfiguration
from poke_env.battle import AbstractBattle
from poke_env.concurrency import handle_threaded_coroutines
from poke_env.player import BattleOrder, ForfeitBattleOrder, Player


def _odd(base: type[Player], options: argparse.Namespace) -> type[Player]:
    class Odd(base):  # type: ignore[misc, valid-type]
        seen: set[str] = set()  # noqa: RUF012 - one player a process

        def choose_move(self, battle: AbstractBattle) -> BattleOrder:
            if battle.battle_tag not in self.seen:
                self.seen.add(battle.battle_tag)
                if options.crash_every:
                    number = int(options.counter.read_text() or 0) + 1 if options.counter.exists() else 1
                    options.counter.write_text(str(number))
                    if number % options.crash_every == 0:
                        print("crashing as asked", flush=True)  # noqa: T201 - its last words
                        os._exit(3)
            if options.sleeps:
                time.sleep(600)
            if options.forfeits:
                return ForfeitBattleOrder()
            order: BattleOrder = super().choose_move(battle)
            return order

    return Odd


async def _insist(player: Player, opponent: str, format_id: str) -> None:
    """Challenge again until a battle begins: a challenge to a user who is not there yet is lost."""
    while not player.battles:
        await asyncio.sleep(10)
        if not player.battles:
            challenge = player.ps_client.challenge(opponent, format_id, player.next_team)
            await handle_threaded_coroutines(challenge, player.ps_client.loop)


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("websocket")
    parser.add_argument("username")
    parser.add_argument("format")
    parser.add_argument("--class", dest="player", default="RandomPlayer")
    parser.add_argument("--battles", type=int, default=10_000)
    parser.add_argument("--challenges")
    parser.add_argument("--crash-every", type=int, default=0)
    parser.add_argument("--counter", type=Path)
    for way in ("sleeps", "forfeits"):
        parser.add_argument(f"--{way}", action="store_true")
    options = parser.parse_args()
    made = _odd(getattr(poke_env.player, options.player), options)
    player = made(
        AccountConfiguration(options.username, None),
        battle_format=options.format,
        log_level=logging.CRITICAL,
        open_timeout=None,
        server_configuration=ServerConfiguration(options.websocket, "http://127.0.0.1/"),
    )
    if options.challenges:
        insisting = asyncio.create_task(_insist(player, options.challenges, options.format))
        await player.send_challenges(options.challenges, n_challenges=options.battles)
        insisting.cancel()
    else:
        await player.accept_challenges(None, options.battles)


asyncio.run(main())
