"""Metamon's baselines as scripted policies, under the names that the registry gives them.

Nothing heavy is imported before a player is made.
"""

import importlib
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Any, Final

from nashdex.policies.scripted.declaration import ScriptedPlayer, ScriptedPolicy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from nashdex.games.interface import Decisions
    from nashdex.games.space import Space
    from nashdex.policies.interface import Actions

_PACKAGE: Final = "nashdex_metamon.baselines"
_SHOWDOWN: Final = "showdown"


class BaselinePlayer(ScriptedPlayer):
    """Plays by one baseline, in formats of generations 1 to 4 and 9."""

    def __init__(self, space: "Space", new_chooser: Callable[[Random], Any]) -> None:
        # Late: poke-env takes a second to import.
        from nashdex_metamon.baselines.seats import BaselineSeats  # noqa: PLC0415

        self._seats = BaselineSeats(space, new_chooser)

    def act(self, decisions: "Decisions", uniforms: "NDArray[np.float64]") -> "Actions":
        """Answer each row."""
        return self._seats.act(decisions, uniforms)

    def forget(self, battle: int, seat: int) -> None:
        """Forget a seat whose battle ended."""
        self._seats.forget(battle, seat)


def _baseline(module: str, function: str) -> ScriptedPolicy:
    def player(space: "Space") -> BaselinePlayer:
        chooser = getattr(importlib.import_module(f"{_PACKAGE}.{module}"), function)
        return BaselinePlayer(space, lambda random: chooser)  # noqa: ARG005 draws nothing for a battle

    return ScriptedPolicy(player, games=frozenset({_SHOWDOWN}), needs_lines=True)


def _max_base_power_player(space: "Space") -> BaselinePlayer:
    from nashdex_metamon.baselines.simple import MOST_RANDOM, max_base_power  # noqa: PLC0415 poke-env

    def new_chooser(random: Random) -> Callable[[Any], Any]:
        share_random = random.uniform(0.0, MOST_RANDOM)
        return lambda situation: max_base_power(situation, share_random)

    return BaselinePlayer(space, new_chooser)


RANDOM: Final = _baseline("simple", "uniform")
MAX_BP: Final = ScriptedPolicy(_max_base_power_player, games=frozenset({_SHOWDOWN}), needs_lines=True)
GEN1_TRAINER: Final = _baseline("simple", "gen1_trainer")
GEN1_TRAINER_GOOD_SWITCHING: Final = _baseline("simple", "gen1_trainer_good_switching")
GEN1_BOSS_AI: Final = _baseline("simple", "gen1_boss")
BASIC_SWITCHER: Final = _baseline("simple", "basic_switcher")
GRUNT: Final = _baseline("simple", "grunt")
BUG_CATCHER: Final = _baseline("simple", "bug_catcher")
GYM_LEADER: Final = _baseline("gym_leader", "gym_leader")
POKE_ENV_HEURISTIC: Final = _baseline("heuristics", "poke_env_heuristic")
EASY_POKE_ENV_HEURISTIC: Final = _baseline("heuristics", "easy_poke_env_heuristic")
EMERALD_KAIZO: Final = _baseline("kaizo.player", "emerald_kaizo")
EMERALD_KAIZO_RISKY: Final = _baseline("kaizo.player", "emerald_kaizo_risky")
EMERALD_KAIZO_REPAIRED: Final = _baseline("kaizo.player", "emerald_kaizo_repaired")
