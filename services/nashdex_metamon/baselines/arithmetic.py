"""The quantities that metamon's baselines judge a battle by: stats, accuracy, damage, speed, switches."""

import math
from collections.abc import Mapping
from typing import Final, Literal

from poke_env.battle import Move, MoveCategory, Pokemon, PokemonType, SideCondition, Status, Weather
from poke_env.data import GenData

Assumption = Literal["best", "worst", "uniform"]
"""What an unknown Pokémon's effort values are: 252, 0 or 85 in every stat."""
Roll = Literal["min", "mean", "max"]

_EFFORT: Final = {"best": 252, "worst": 0, "uniform": 85}
_BOOST_FACTORS: Final = (0.25, 0.28, 0.33, 0.4, 0.5, 0.66, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)
_ACCURACY_FACTORS: Final = {
    1: _BOOST_FACTORS,
    2: (0.33, 0.36, 0.43, 0.5, 0.6, 0.75, 1.0, 1.33, 1.66, 2.0, 2.33, 2.66, 3.0),
    3: (0.33, 0.36, 0.43, 0.5, 0.6, 0.75, 1.0, 1.33, 1.66, 2.0, 2.5, 2.66, 3.0),
    5: (0.333, 0.375, 0.428, 0.5, 0.6, 0.75, 1.0, 1.33, 1.66, 2.0, 2.333, 2.666, 3.0),
}
_CRIT_CHANCES: Final = {
    2: (0.0664, 0.125, 0.25, 0.332, 0.5),
    3: (0.0625, 0.125, 0.25, 0.333, 0.5),
    6: (0.0625, 0.125, 0.5, 1.0, 1.0),
    7: (0.0417, 0.125, 0.5, 1.0, 1.0),
}
ROLLS: Final[dict[str, float]] = {"min": 0.85, "mean": 0.925, "max": 1.0}
_STATS: Final = ("hp", "atk", "def", "spa", "spd", "spe")
_NEUTRAL_STAGE: Final = 6
_LAST_WITH_STAT_EXPERIENCE: Final = 2
SURE_HIT: Final = 255 / 256
"""The best accuracy of the first generation. Later ones count a move as certain from here on, too."""


def _since(table: Mapping[int, tuple[float, ...]], generation: int) -> tuple[float, ...]:
    return table[max(first for first in table if first <= generation)]


class Arithmetic:
    """One seat's arithmetic in one battle.

    An assumption about an unknown stat sticks for the battle, whatever later questions assume: metamon
    writes it into the Pokémon. A question about damage assumes the stat that it needs, one about speed all stats.
    """

    def __init__(self, generation: int) -> None:
        self.generation = generation
        self._chart = GenData.from_gen(generation).type_chart
        self._assumed: dict[tuple[int, str], int] = {}
        """By the stat and the identity of the Pokémon's object, which its battle keeps alive."""

    def type_advantage(self, attacking: PokemonType | None, target: Pokemon) -> float:
        """Return the product of a type's effectiveness on the target's current types; 0 without a type."""
        if attacking is None:
            return 0.0
        result = 1.0
        for defending in target.types:
            result *= self._chart.get(defending.name, {}).get(attacking.name, 1.0)
        return result

    def stat(self, pokemon: Pokemon, name: str, assume: Assumption) -> int:
        """Return one of the six stats: from the request, else from the first assumption about the Pokémon."""
        known = pokemon.stats[name]
        if known is not None:
            return known
        found = self._assumed.get((id(pokemon), name))
        if found is None:
            found = self._assumed[id(pokemon), name] = self._assumed_stat(pokemon, name, assume)
        return found

    def assume(self, pokemon: Pokemon, assume: Assumption) -> None:
        """Assume all stats about which nothing is known or assumed yet."""
        for name in _STATS:
            self.stat(pokemon, name, assume)

    def _assumed_stat(self, pokemon: Pokemon, name: str, assume: Assumption) -> int:
        base, level = pokemon.base_stats[name], pokemon.level
        if self.generation <= _LAST_WITH_STAT_EXPERIENCE:
            raw = ((base + 15) * 2 + math.ceil(math.sqrt(65535)) // 4) * level / 100
        else:
            raw = (2 * base + 31 + _EFFORT[assume] // 4) * level / 100
        return math.floor(raw) + (level + 10 if name == "hp" else 5)

    def boosted(self, pokemon: Pokemon, name: str, assume: Assumption) -> int:
        """Return a stat with its stages, rounded to even at halves."""
        stage = pokemon.boosts[name] + _NEUTRAL_STAGE
        return round(self.stat(pokemon, name, assume) * _BOOST_FACTORS[stage])

    def accuracy(self, move: Move, user: Pokemon, target: Pokemon) -> float:
        """Return the chance to hit. Generations 1 and 2 multiply by the target's evasion, instead of dividing by it."""
        factors = _since(_ACCURACY_FACTORS, self.generation)
        own, evasion = user.boosts["accuracy"], target.boosts["evasion"]
        if self.generation <= _LAST_WITH_STAT_EXPERIENCE:
            result = move.accuracy * factors[own + _NEUTRAL_STAGE] * factors[evasion + _NEUTRAL_STAGE]
        else:
            result = move.accuracy * factors[max(-6, min(6, own - evasion)) + _NEUTRAL_STAGE]
        return min(result, SURE_HIT) if self.generation == 1 else min(result, 1.0)

    def crit_chance(self, move: Move, user: Pokemon) -> float:
        """Return the chance of a critical hit."""
        if self.generation == 1:
            return user.base_stats["spe"] / 512
        return _since(_CRIT_CHANCES, self.generation)[min(move.crit_ratio, 4)]

    def damage(
        self,
        move: Move,
        user: Pokemon,
        target: Pokemon,
        *,
        roll: float,
        assume: Assumption,
        crit: bool = False,
        round_up: bool = True,
        screens: "frozenset[SideCondition]" = frozenset(),
        weather: "frozenset[Weather]" = frozenset(),
    ) -> float:
        """Return the points of damage of one hit, with the given share of the most damage."""
        if move.category == MoveCategory.STATUS:
            return 0.0
        is_physical = move.category == MoveCategory.PHYSICAL
        attack, defense = ("atk" if is_physical else "spa"), _defense_of(move)
        if crit:
            ratio = self.stat(user, attack, assume) / self.stat(target, defense, assume)
        else:
            ratio = self.boosted(user, attack, assume) / self.boosted(target, defense, assume)
        screen = SideCondition.REFLECT if is_physical else SideCondition.LIGHT_SCREEN
        halved = 0.5 if screen in screens else 1.0
        result = (2 * user.level / 5 * halved * move.base_power * ratio) / 50 + 2
        result *= _weather_factor(move, weather) * (self._crit_factor(user) if crit else 1.0) * roll
        if move.type in user.types:
            result *= 2.0 if user.is_terastallized else 1.5
        result *= self.type_advantage(move.type, target)
        if is_physical and user.status == Status.BRN:
            result *= 0.5
        return math.ceil(result) if round_up else result

    def _crit_factor(self, user: Pokemon) -> float:
        if self.generation == 1:
            return (2 * user.level + 5) / (user.level + 5)
        return 2.0 if self.generation <= 5 else 1.5  # noqa: PLR2004 the last generation whose critical hits double


def _defense_of(move: Move) -> str:
    return "def" if move.defensive_category == MoveCategory.PHYSICAL else "spd"


def _weather_factor(move: Move, weather: "frozenset[Weather]") -> float:
    helped = {Weather.RAINDANCE: PokemonType.WATER, Weather.SUNNYDAY: PokemonType.FIRE}
    weakened = {Weather.RAINDANCE: PokemonType.FIRE, Weather.SUNNYDAY: PokemonType.WATER}
    result = 1.0
    for current in weather:
        if helped.get(current) == move.type:
            result *= 1.5
        elif weakened.get(current) == move.type:
            result *= 0.5
    return result
