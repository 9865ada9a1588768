"""``gym-leader``: certain knock-outs first, then boosts, healing and expected damage; leaves bad match-ups."""

from typing import Final

from poke_env.battle import Move, Pokemon

from nashdex_metamon.baselines.orders import Order, best, best_switch, is_emergency, switch_to, use
from nashdex_metamon.baselines.situation import Situation

_LEAST_BOOST: Final = 1
_LEAST_HEAL: Final = 0.33
_HEALTHY, _HURT = 0.9, 0.33
_CHANCE_TO_BOOST, _CHANCE_TO_HEAL = 0.5, 0.75


def gym_leader(situation: Situation) -> Order | None:
    """Choose an order."""
    # First of all, as in the original: the question makes the assumptions about the opponent that all others use.
    situation.outspeed_chance()
    if situation.bench and (situation.is_forced or not situation.moves or is_emergency(situation)):
        finisher = next((pokemon for pokemon in situation.bench if _finishes(situation, pokemon)), None)
        return switch_to(finisher or best_switch(situation, speed=True))
    return use(situation, _move(situation))


def _finishes(situation: Situation, pokemon: Pokemon) -> bool:
    """Say whether a Pokémon surely moves first and surely knocks the opponent out."""
    if situation.outspeed_chance(pokemon) < 1:
        return False
    return any(
        move.priority >= 0 and situation.worst_case(move, pokemon) >= situation.foe.current_hp
        for move in pokemon.moves.values()
    )


def _move(situation: Situation) -> Move | None:
    own, offered, moves = situation.own, {move.id for move in situation.moves}, list(situation.own.moves.values())
    sure = best(moves, situation.worst_case)
    if sure is not None and situation.worst_case(sure) > situation.foe.current_hp and sure.id in offered:
        return sure
    if own.first_turn and own.current_hp_fraction > _HEALTHY:
        boosting = best(situation.moves, _boost)
        if boosting is not None and _boost(boosting) > _LEAST_BOOST and situation.random.random() < _CHANCE_TO_BOOST:
            return boosting
    elif own.current_hp_fraction < _HURT:
        healing = best(situation.moves, lambda move: move.heal)
        if healing is not None and healing.heal > _LEAST_HEAL and situation.random.random() < _CHANCE_TO_HEAL:
            return healing
    return best(situation.moves, situation.expected_damage)


def _boost(move: Move) -> int:
    """Return the sum of the stages that a move raises."""
    boosts = move.boosts or {}
    return sum(boosts.values()) + sum((move.self_boost or {}).values())
