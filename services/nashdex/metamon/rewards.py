"""Metamon's reward functions of two consecutive states of one seat.

A tie gives no reward at the end. These rewards shape without a potential: the best policy under them need not be the
one that wins most.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from nashdex.core.errors import ConfigurationError
from nashdex.metamon.names import NO_STATUS
from nashdex.metamon.state import BattleState, PokemonState

RewardFunction = Callable[[BattleState, BattleState], float]
"""Of the state before and the state after."""


@dataclass(frozen=True, slots=True)
class _Changes:
    damage: float
    hp_gain: float
    status: float
    """Statuses given minus statuses taken."""
    faints: float
    """Opponents removed minus own Pokémon lost."""
    outcome: float


def _changes(before: BattleState, after: BattleState) -> _Changes:
    own = after.player_active_pokemon
    match = _same(own, (before.player_active_pokemon, *before.available_switches))
    hp_gain = taken = 0.0
    if match is not None:
        hp_gain = own.hp_pct - match.hp_pct
        taken = float(match.status == NO_STATUS != own.status)
    foe, foe_after = before.opponent_active_pokemon, after.opponent_active_pokemon
    damage = given = 0.0
    if foe.base_species == foe_after.base_species:
        damage = foe.hp_pct - foe_after.hp_pct
        given = float(foe.status == NO_STATUS != foe_after.status)
    lost = len(after.available_switches) < len(before.available_switches)
    removed = after.opponents_remaining < before.opponents_remaining
    return _Changes(
        damage=damage,
        hp_gain=hp_gain,
        status=given - taken,
        faints=float(removed) - float(lost),
        outcome=float(after.battle_won) - float(after.battle_lost),
    )


def _same(pokemon: PokemonState, among: tuple[PokemonState, ...]) -> PokemonState | None:
    return next((other for other in among if other.base_species == pokemon.base_species), None)


def default_shaped(before: BattleState, after: BattleState) -> float:
    """Damage, HP, half a point for a status, one for a Pokémon, 100 for the battle."""
    changes = _changes(before, after)
    return changes.damage + changes.hp_gain + 0.5 * changes.status + changes.faints + 100.0 * changes.outcome


def aggressive_shaped(before: BattleState, after: BattleState) -> float:
    """Damage, HP, two points for a Pokémon, 200 for a victory; a defeat costs nothing."""
    changes = _changes(before, after)
    return changes.damage + changes.hp_gain + 2.0 * changes.faints + 200.0 * max(0.0, changes.outcome)


def binary(before: BattleState, after: BattleState) -> float:
    """Return 100 for a victory, −100 for a defeat, else 0."""
    del before
    return 100.0 * (float(after.battle_won) - float(after.battle_lost))


REWARDS: Final[dict[str, RewardFunction]] = {
    "DefaultShapedReward": default_shaped,
    "AggressiveShapedReward": aggressive_shaped,
    "BinaryReward": binary,
}


def reward_function(name: str) -> RewardFunction:
    """Return the reward function called ``name``. Raises ConfigurationError: there is none."""
    if name not in REWARDS:
        raise ConfigurationError(f"there is no reward {name!r}: expected one of {', '.join(REWARDS)}")
    return REWARDS[name]
