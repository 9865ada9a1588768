"""``emerald-kaizo``: switches by resistance, and the best-scored move."""

from typing import Final

from poke_env.battle import Move, MoveCategory, Pokemon

from nashdex_metamon.baselines.kaizo import attacks, boosts, recovery, status
from nashdex_metamon.baselines.kaizo.context import RULES, Context, words
from nashdex_metamon.baselines.orders import Order, best, is_emergency, switch_to, use
from nashdex_metamon.baselines.situation import Situation

_RULE_MODULES: Final = (attacks, boosts, recovery, status)
"""Imported for their rules."""
_START_SCORE: Final = 10.0
_CHANCE_TO_LEAVE: Final = 0.9
_RISKY: Final = frozenset(
    words(
        """
    attract counter destinybond focuspunch mirrorcoat sleeppowder hypnosis lovelykiss spore selfdestruct
    explosion drillrun xscissor crosschop dragonclaw confuseray teeterdance ancientpower
    """
    )
)


def emerald_kaizo(situation: Situation) -> Order | None:
    """Choose an order."""
    return _choose(situation, is_risky=False)


def emerald_kaizo_risky(situation: Situation) -> Order | None:
    """Choose an order; gambles are worth two points more half of the time."""
    return _choose(situation, is_risky=True)


def emerald_kaizo_repaired(situation: Situation) -> Order | None:
    """Choose an order by the rules as they were meant: shares of HP, weather, and points of HP."""
    return _choose(situation, is_risky=False, is_repaired=True)


def _choose(situation: Situation, *, is_risky: bool, is_repaired: bool = False) -> Order | None:
    if situation.is_forced or not situation.moves:
        return switch_to(_replacement(situation))
    if situation.bench and is_emergency(situation) and situation.random.random() < _CHANCE_TO_LEAVE:
        return switch_to(situation.random.choice(_threats(situation) or situation.bench))
    if len(situation.moves) == 1:  # such as "recharge": poke-env knows no numbers of it to score
        return use(situation, situation.moves[0])
    context = Context(situation, is_repaired)
    strongest = best(situation.moves, lambda move: situation.damage(move, "max"))

    def score(move: Move) -> float:
        total = _base_score(context, move, is_strongest=move is strongest)
        total += sum(gain(context, move) for applies, gain in RULES if applies(context, move))
        return total + (context.when(50, 2) if is_risky and move.id in _RISKY else 0)

    return use(situation, best(situation.moves, score))


def _replacement(situation: Situation) -> Pokemon | None:
    """Return the first of the best resistance that can hit hard; else the one of the most damage."""
    ranked = sorted(situation.bench, key=lambda pokemon: -_resistance(situation, pokemon))
    for pokemon in ranked:
        if _resistance(situation, pokemon) > 0 and any(
            move.base_power > 1 and situation.advantage(move.type) >= 2 for move in pokemon.moves.values()
        ):
            return pokemon
    return best(
        situation.bench,
        lambda pokemon: max(
            (situation.damage(move, "max", user=pokemon) for move in pokemon.moves.values()), default=0.0
        ),
    )


def _resistance(situation: Situation, pokemon: Pokemon) -> float:
    score = _START_SCORE
    types = situation.foe.types
    factor = 4.0 if len(types) == 1 else 2.0
    for type_ in types:
        advantage = situation.advantage(type_, pokemon)
        if advantage == 0:
            score = 0.0
        elif advantage < 1:
            score /= factor
        elif advantage >= 2:
            score *= factor
    return score


def _threats(situation: Situation) -> list[Pokemon]:
    """Return the bench's Pokémon once for each move that hits harder than normally."""
    return [
        pokemon
        for pokemon in situation.bench
        for move in pokemon.moves.values()
        if move.base_power > 1 and situation.advantage(move.type) > 1
    ]


def _base_score(c: Context, move: Move, *, is_strongest: bool) -> int:
    situation = c.situation
    bonus = (2 if move.priority > 0 and move.id != "fakeout" else 0) + is_strongest
    if situation.worst_case(move) >= c.foe_hp:
        return bonus + (-1 if move.self_destruct else 5)
    if situation.expected_damage(move) >= c.foe_hp:
        return bonus + (-1 if move.self_destruct else 4)
    if move.category == MoveCategory.STATUS:
        return c.when(70, 2)
    if is_strongest:
        return c.when(70, 2)
    if move.base_power > 1:
        return -1
    is_last = sum(not pokemon.fainted for pokemon in situation.battle.team.values()) == 1
    return -12 if c.ineffective(move) or (move.self_destruct and is_last) else 0
