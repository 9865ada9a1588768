"""Plays with a user's player over a pipe: ``python -m nashdex.games.showdown.external_player CLASS FORMAT SLOTS``.

It runs as a child process. With ``CLASS --listen HOST:PORT`` it waits for connections and answers each by a child
process whose first line has ``format`` and ``slots``. The other side writes one JSON line for each decision, and
reads one for each answer, in the same order. poke-env's battle reads the protocol's lines; the player's own
``choose_move`` and ``teampreview`` choose.
"""

import asyncio
import importlib
import inspect
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable
from typing import Any, TextIO

from poke_env.player import Player
from poke_env.player.battle_order import BattleOrder, DoubleBattleOrder, ForfeitBattleOrder, SingleBattleOrder

from nashdex.core.address import Address, open_listener
from nashdex.core.errors import ConfigurationError, ExitCode
from nashdex.games.showdown.external_causes import ERROR, FORFEIT, GARBAGE
from nashdex.games.showdown.poke_env_players import PokeEnvSeat, drawing_from


def player_class(name: str) -> type[Player]:
    """Return the poke-env player called ``module:Class``.

    Raises:
        ConfigurationError: it cannot be imported, or is no player.
    """
    module_name, _, class_name = name.partition(":")
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except Exception as error:
        raise ConfigurationError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error
    if not inspect.isclass(found) or not issubclass(found, Player):
        raise ConfigurationError(f"{name} is no poke-env player: expected a subclass of poke_env.player.Player")
    return found


class PipedPlayer:
    """One player and the seats that it plays."""

    def __init__(self, name: str, format_id: str, num_slots: int) -> None:
        """Raise ConfigurationError if the class cannot be imported or made."""
        self._format = format_id
        self._num_slots = num_slots
        self._seats: dict[tuple[int, int], PokeEnvSeat] = {}
        self._num_previews: dict[tuple[int, int], int] = {}
        made = player_class(name)
        try:
            self._player: Player = made(
                battle_format=format_id, start_listening=False, log_level=logging.CRITICAL, max_concurrent_battles=0
            )
        except Exception as error:
            raise ConfigurationError(f"{name} cannot be made: {type(error).__name__}: {error}") from error

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to one decision: the number of the action, or None for the server's default.

        A decision has ``battle``, ``seat``, ``lines``, ``request`` and ``uniform``.
        """
        key = (int(asked["battle"]), int(asked["seat"]))
        if key not in self._seats:
            self._seats[key] = PokeEnvSeat(self._format, key[1], self._num_slots)
        seat = self._seats[key]
        seat.read(asked["lines"], asked["request"])
        with drawing_from(asked["uniform"]):
            if asked["request"].get("teamPreview"):
                return self._preview(key, seat)
            order = _result(self._player.choose_move(seat.battle))
        if isinstance(order, ForfeitBattleOrder):
            return {"cause": FORFEIT, "detail": "the player forfeits"}
        if not isinstance(order, BattleOrder):
            return {"cause": GARBAGE, "detail": f"choose_move returned {type(order).__name__}"}
        return {"action": self._action_of(seat, order), "order": order.message}

    def forget(self, battle: int, seat: int) -> None:
        """Forget a seat whose battle ended."""
        self._seats.pop((battle, seat), None)
        self._num_previews.pop((battle, seat), None)

    def _preview(self, key: tuple[int, int], seat: PokeEnvSeat) -> dict[str, Any]:
        half = self._num_previews.get(key, 0)
        self._num_previews[key] = half + 1
        text = _result(self._player.teampreview(seat.battle))
        if not isinstance(text, str) or not text.startswith("/team "):
            return {"cause": GARBAGE, "detail": f"teampreview returned {str(text)[:80]!r}"}
        members = [int(digit) for digit in text.removeprefix("/team ") if digit.isdigit()]
        return {"action": seat.preview_of(members, half), "order": text}

    @staticmethod
    def _action_of(seat: PokeEnvSeat, order: BattleOrder) -> int | None:
        if isinstance(order, DoubleBattleOrder):
            return seat.pair_of(order)
        return seat.action_of(order) if isinstance(order, SingleBattleOrder) else None


def _result(found: object) -> object:
    """Return what a player's method gives, also if it is a coroutine."""
    if not isinstance(found, Awaitable):
        return found

    async def wait() -> object:
        return await found

    return asyncio.run(wait())


def converse(player: PipedPlayer, answers: TextIO) -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        asked = json.loads(line)
        if "forget" in asked:
            player.forget(*asked["forget"])
            continue
        try:
            answer = player.answer(asked)
        except Exception as error:  # noqa: BLE001 - a user's player raises anything, and this process is its edge
            answer = {"cause": ERROR, "detail": f"{type(error).__name__}: {error}"}
        _write(answers, answer)


def _write(answers: TextIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def listen(name: str, address: str) -> None:
    """Give each connection to ``address`` a child process with the player called ``name``, until SIGTERM.

    Raises:
        ConfigurationError: the player cannot be loaded, or it cannot listen there.
    """
    player_class(name)
    listener = open_listener(address, least_port=1)
    signal.signal(signal.SIGTERM, lambda _signal, _frame: sys.exit(0))
    # A child that has ended leaves nothing behind.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    sys.stderr.write(f"{name} listens at {Address.of_socket(listener)}\n")
    with listener:
        while True:
            connection, _ = listener.accept()
            with connection:
                command = [sys.executable, "-m", "nashdex.games.showdown.external_player", name]
                subprocess.Popen(command, stdin=connection.fileno(), stdout=connection.fileno())  # noqa: S603 - this module itself


def _played(arguments: list[str]) -> tuple[str, str, int]:
    """Return class, format and slots; the last two from the first line of the input, if they are no arguments."""
    if len(arguments) == 1:
        hello = json.loads(sys.stdin.readline() or "{}")
        return arguments[0], str(hello["format"]), int(hello["slots"])
    name, format_id, num_slots = arguments
    return name, format_id, int(num_slots)


def main(arguments: list[str]) -> int:
    """Load the player, say so, and answer; or listen."""
    if len(arguments) not in (1, 3):
        sys.stderr.write(
            "usage: python -m nashdex.games.showdown.external_player CLASS FORMAT SLOTS, or CLASS --listen HOST:PORT\n"
        )
        return 64
    if arguments[1:2] == ["--listen"]:
        try:
            listen(arguments[0], arguments[2])
        except ConfigurationError as error:
            sys.stderr.write(f"error: {error}\n")
            return int(error.exit_code)
    # What the player prints belongs to standard error: standard output is the pipe.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        player = PipedPlayer(*_played(arguments))
    except (ValueError, KeyError, TypeError) as error:
        _write(answers, {"refusal": f"the first line is no format and slots ({error})"})
        return int(ExitCode.CONFIGURATION)
    except ConfigurationError as error:
        _write(answers, {"refusal": str(error)})
        return int(error.exit_code)
    _write(answers, {"ready": True})
    converse(player, answers)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
