"""The baselines of a few rules: random moves, types, base power, damage."""

from random import Random
from typing import Final

from poke_env.battle import Move, MoveCategory, Pokemon

from nashdex_metamon.baselines.orders import Chooser, Order, best, best_switch, switch_to, use
from nashdex_metamon.baselines.situation import Situation

_SETUP_MOVES: Final = frozenset({"reflect", "lightscreen", "transform"})
_START_SCORE: Final = 10
_FIRST_GENERATIONS_AI_AVOIDS: Final = 5
_MOST_RANDOM: Final = 0.1


def uniform(situation: Situation) -> Order | None:
    """Draw from the offered moves and switches."""
    orders = [Order(move) for move in situation.moves] + [Order(pokemon) for pokemon in situation.bench]
    return situation.random.choice(orders) if orders else None


def new_max_base_power(random: Random) -> Chooser:
    """Return a battle's ``max_base_power``: its share of random answers is drawn up to a tenth."""
    share_random = random.uniform(0.0, _MOST_RANDOM)
    return lambda situation: max_base_power(situation, share_random)


def max_base_power(situation: Situation, share_random: float = 0.0) -> Order | None:
    """Use the move of the highest base power; with probability ``share_random``, and if there is none, draw."""
    if situation.random.random() < share_random or not situation.moves:
        return uniform(situation)
    return use(situation, best(situation.moves, lambda move: move.base_power), gimmick=False)


def gen1_trainer(situation: Situation) -> Order | None:
    """Draw a move; after a faint, send the first Pokémon."""
    if situation.is_forced or not situation.moves:
        return switch_to(next(iter(situation.bench), None))
    return use(situation, situation.random.choice(situation.moves), gimmick=False)


def gen1_trainer_good_switching(situation: Situation) -> Order | None:
    """Draw a move; after a faint, send the best Pokémon by types."""
    if situation.is_forced or not situation.moves:
        return switch_to(best_switch(situation, speed=True))
    return use(situation, situation.random.choice(situation.moves), gimmick=False)


def gen1_boss(situation: Situation) -> Order | None:
    """Draw from the moves that the first games' boss trainers like best."""
    if situation.is_forced or not situation.moves:
        return switch_to(next(iter(situation.bench), None))
    scores = [_boss_score(situation, move) for move in situation.moves]
    liked = [move for move, score in zip(situation.moves, scores, strict=True) if score == min(scores)]
    return use(situation, situation.random.choice(liked))


def _boss_score(situation: Situation, move: Move) -> int:
    """Return a score; lower is better."""
    score = _START_SCORE
    is_status = move.category == MoveCategory.STATUS and move.base_power == 0
    if is_status and move.volatile_status is not None and situation.foe.status is not None:
        score += _FIRST_GENERATIONS_AI_AVOIDS
    if situation.own.first_turn and (move.boosts or move.heal or move.id in _SETUP_MOVES):
        score -= 1
    return score + (-1 if situation.advantage(move.type) >= 1 else 1)


def basic_switcher(situation: Situation) -> Order | None:
    """Switch to a Pokémon whose types are better against the opponent's; else use the strongest move by type."""
    candidate = best(situation.bench, lambda pokemon: _by_types(situation, pokemon))
    if candidate is not None and _by_types(situation, candidate) > _by_types(situation, situation.own):
        return switch_to(candidate)
    if not situation.moves:
        return uniform(situation)
    strongest = best(situation.moves, lambda move: move.base_power * situation.advantage(move.type))
    return use(situation, strongest, gimmick=False)


def _by_types(situation: Situation, pokemon: Pokemon) -> float:
    return max(situation.advantage(type_) for type_ in pokemon.types)


def grunt(situation: Situation) -> Order | None:
    """Use the move of the most damage by a draw; after a faint, send the best Pokémon by types."""
    if situation.is_forced or not situation.moves:
        return switch_to(best_switch(situation))
    return use(situation, best(situation.moves, situation.damage_roll))


def bug_catcher(situation: Situation) -> Order | None:
    """Do the worst that a grunt could do."""
    if situation.is_forced or not situation.moves:
        return switch_to(best(situation.bench, lambda pokemon: -situation.switch_score(pokemon, 1.0, 1.0)))
    return use(situation, best(situation.moves, lambda move: -situation.damage_roll(move)), gimmick=False)
