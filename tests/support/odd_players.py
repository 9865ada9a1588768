"""poke-env players that misbehave, for tests of players from outside."""

import os
import time
from typing import ClassVar

from poke_env.battle import AbstractBattle
from poke_env.player import BattleOrder, Player, RandomPlayer


class CrashesInEveryTenthBattle(RandomPlayer):
    """Ends its process at the first decision of the tenth battle that the process plays."""

    _seen: ClassVar[list[AbstractBattle]] = []

    def choose_move(self, battle: AbstractBattle) -> BattleOrder:
        if not any(battle is seen for seen in self._seen):
            self._seen.append(battle)
            if len(self._seen) == 10:
                os._exit(3)
        return super().choose_move(battle)


class ReturnsGarbage(Player):
    """Chooses something that is no order."""

    def choose_move(self, battle: AbstractBattle) -> BattleOrder:
        del battle
        return "move 1"  # type: ignore[return-value]


class Raises(Player):
    """Raises at every decision, and prints to the standard output before."""

    def choose_move(self, battle: AbstractBattle) -> BattleOrder:
        print("choosing")  # noqa: T201 - what a user's player may do
        raise KeyError(battle.battle_tag)


class Sleeps(Player):
    """Never decides."""

    def choose_move(self, battle: AbstractBattle) -> BattleOrder:
        time.sleep(60)
        return self.choose_random_move(battle)


class OrdersIllegally(Player):
    """Always orders a move that no request offers."""

    def choose_move(self, battle: AbstractBattle) -> BattleOrder:
        del battle
        order = self.choose_default_move()
        order.order = "/choose move 9"
        return order


class Waits(RandomPlayer):
    """Decides in a coroutine."""

    async def choose_move(self, battle: AbstractBattle) -> BattleOrder:  # type: ignore[override]
        return self.choose_random_move(battle)
