"""The answers of a baseline, and the rules shared by several baselines."""

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from poke_env.battle import Effect, Move, Pokemon
from poke_env.player.battle_order import SingleBattleOrder

from nashdex_metamon.baselines.situation import Situation

Order = SingleBattleOrder
Chooser = Callable[[Situation], Order | None]
"""A baseline. None: it has no preference, and a legal action is drawn."""

_Item = TypeVar("_Item")
_WEIGHT_OF_SPEED: Final = 0.001


def best(items: Iterable[_Item], score: Callable[[_Item], float]) -> _Item | None:
    """Return the first item of the highest score; None if there are none."""
    return max(items, key=score, default=None)


def switch_to(pokemon: Pokemon | None) -> Order | None:
    """Return the order to switch."""
    return None if pokemon is None else Order(pokemon)


def use(situation: Situation, move: Move | None, *, gimmick: bool = True) -> Order | None:
    """Return the order to use a move: with terastallization or the like, if ``gimmick`` and its moment has come."""
    if move is None:
        return None
    battle = situation.battle
    if not gimmick or not _is_moment_for_gimmick(situation):
        return Order(move)
    return Order(
        move,
        mega=battle.can_mega_evolve,
        z_move=battle.can_z_move,
        dynamax=battle.can_dynamax,
        terastallize=battle.can_tera,
    )


def _is_moment_for_gimmick(situation: Situation) -> bool:
    """Say whether the active Pokémon alone is at full HP, or alone is left."""
    team = list(situation.battle.team.values())
    full = [pokemon for pokemon in team if pokemon.current_hp_fraction == 1]
    return full == [situation.own] or sum(not pokemon.fainted for pokemon in team) == 1


def best_switch(situation: Situation, *, speed: bool = False) -> Pokemon | None:
    """Return the bench's best by types, and by speed at equal types."""
    weight = _WEIGHT_OF_SPEED if speed else 0.0
    return best(situation.bench, lambda pokemon: situation.switch_score(pokemon, 1.0, 1.0, weight))


def is_emergency(situation: Situation) -> bool:
    """Say whether the active Pokémon should leave: no move of normal effect, or two turns to live."""
    own = situation.own
    if situation.battle.trapped:
        return False
    advantages = [situation.advantage(move.type) for move in own.moves.values()]
    return max(advantages, default=0.0) < 1 or Effect.PERISH2 in own.effects
