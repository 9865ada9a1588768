"""``poke-env-heuristic`` and its easy form: the ideas of poke-env's SimpleHeuristicsPlayer, each considered by chance.

The easy form forgets most ideas at most decisions. The original's idea to raise its own stats never applies, because it
compares a move's target with a text that it never equals; so it is absent here.
"""

from dataclasses import dataclass
from typing import Final

from poke_env.battle import Move, MoveCategory, Pokemon, SideCondition

from nashdex_metamon.baselines.orders import Order, best, switch_to
from nashdex_metamon.baselines.situation import Situation

_HAZARDS: Final = {
    "spikes": SideCondition.SPIKES,
    "stealthrock": SideCondition.STEALTH_ROCK,
    "stickyweb": SideCondition.STICKY_WEB,
    "toxicspikes": SideCondition.TOXIC_SPIKES,
}
_REMOVAL: Final = frozenset({"rapidspin", "defog"})
_SPEED_WEIGHT, _HP_WEIGHT = 0.1, 0.4
_BAD_MATCHUP: Final = -2
_WORN_STAGE: Final = -3
_FEW_OPPONENTS: Final = 3
_TEAM_SIZE: Final = 6


@dataclass(frozen=True, slots=True)
class Ideas:
    """With which probability each idea is considered at a decision."""

    dynamax: float = 1.0
    switch: float = 1.0
    hazards: float = 1.0
    removal: float = 1.0
    stab: float = 1.0
    stat_ratio: float = 1.0
    accuracy: float = 1.0
    hits: float = 1.0
    effectiveness: float = 1.0


ALL_IDEAS: Final = Ideas()
FEW_IDEAS: Final = Ideas(0.1, 0.1, 0.1, 0.1, 0.1, 0.2, 0.1, 0.2, 0.3)


def poke_env_heuristic(situation: Situation) -> Order | None:
    """Choose by all ideas."""
    return _choose(situation, ALL_IDEAS)


def easy_poke_env_heuristic(situation: Situation) -> Order | None:
    """Choose by few ideas."""
    return _choose(situation, FEW_IDEAS)


def _choose(situation: Situation, ideas: Ideas) -> Order | None:
    def considers(probability: float) -> bool:
        return situation.random.random() < probability

    moves, bench = situation.moves, situation.bench
    leaves = bool(bench) and considers(ideas.switch) and _should_leave(situation)
    if not moves or leaves:
        return switch_to(best(bench, lambda pokemon: _matchup(pokemon, situation.foe)))
    for move in moves:
        if _lays_hazard(situation, move) and considers(ideas.hazards):
            return Order(move)
        if _removes_hazard(situation, move) and considers(ideas.removal):
            return Order(move)
    counted = {
        name: considers(getattr(ideas, name)) for name in ("stab", "stat_ratio", "accuracy", "hits", "effectiveness")
    }
    chosen = best(moves, lambda move: _power(situation, move, counted))
    dynamax = considers(ideas.dynamax) and _should_dynamax(situation)
    return None if chosen is None else Order(chosen, dynamax=dynamax)


def _matchup(pokemon: Pokemon, foe: Pokemon) -> float:
    score = max(foe.damage_multiplier(type_) for type_ in pokemon.types)
    score -= max(pokemon.damage_multiplier(type_) for type_ in foe.types)
    own_speed, foe_speed = pokemon.base_stats["spe"], foe.base_stats["spe"]
    score += _SPEED_WEIGHT * ((own_speed > foe_speed) - (own_speed < foe_speed))
    return score + _HP_WEIGHT * (pokemon.current_hp_fraction - foe.current_hp_fraction)


def _should_leave(situation: Situation) -> bool:
    own, foe = situation.own, situation.foe
    if not any(_matchup(pokemon, foe) > 0 for pokemon in situation.bench):
        return False
    boosts, attack, special = own.boosts, own.stats["atk"] or 0, own.stats["spa"] or 0
    return (
        min(boosts["def"], boosts["spd"]) <= _WORN_STAGE
        or (boosts["atk"] <= _WORN_STAGE and attack >= special)
        or (boosts["spa"] <= _WORN_STAGE and attack <= special)
        or _matchup(own, foe) < _BAD_MATCHUP
    )


def _lays_hazard(situation: Situation, move: Move) -> bool:
    left = _TEAM_SIZE - sum(pokemon.fainted for pokemon in situation.battle.opponent_team.values())
    lies = situation.battle.opponent_side_conditions
    return left >= _FEW_OPPONENTS and move.id in _HAZARDS and _HAZARDS[move.id] not in lies


def _removes_hazard(situation: Situation, move: Move) -> bool:
    left = sum(not pokemon.fainted for pokemon in situation.battle.team.values())
    return bool(situation.battle.side_conditions) and move.id in _REMOVAL and left > 1


def _should_dynamax(situation: Situation) -> bool:
    if not situation.battle.can_dynamax:
        return False
    own, team = situation.own, list(situation.battle.team.values())
    is_full = own.current_hp_fraction == 1
    alone = sum(pokemon.current_hp_fraction == 1 for pokemon in team) == 1
    better = _matchup(own, situation.foe) > 0 and situation.foe.current_hp_fraction == 1
    return (is_full and (alone or better)) or sum(not pokemon.fainted for pokemon in team) == 1


def _power(situation: Situation, move: Move, counted: dict[str, bool]) -> float:
    own, foe = situation.own, situation.foe
    power: float = move.base_power
    if counted["stab"] and move.type in own.types:
        power *= 1.5
    if counted["stat_ratio"]:
        is_physical = move.category == MoveCategory.PHYSICAL
        power *= _estimate(own, "atk" if is_physical else "spa") / _estimate(foe, "def" if is_physical else "spd")
    if counted["accuracy"]:
        power *= move.accuracy
    if counted["hits"]:
        power *= move.expected_hits
    return power * (foe.damage_multiplier(move) if counted["effectiveness"] else 1.0)


def _estimate(pokemon: Pokemon, stat: str) -> float:
    """Return a stat by its base and stages; one positive stage counts as two, as in poke-env."""
    stage = pokemon.boosts[stat]
    return (2 * pokemon.base_stats[stat] + 36) * ((2 + stage) / 2 if stage > 1 else 2 / (2 - stage))
