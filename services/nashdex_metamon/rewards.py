"""Metamon's reward functions: what they give for the changes between two decisions, and for the battle's end.

A tie gives no reward at the end. These rewards shape without a potential: the best policy under them need not be the
one that wins most. ``state_changes`` measures changes in states, ``decision_rewards`` in observations.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from nashdex.core.errors import ConfigurationError
from nashdex_metamon.names import NO_STATUS
from nashdex_metamon.state import BattleState, PokemonState

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RewardFunction = Callable[[BattleState, BattleState], float]
"""A reward of the state before and the state after."""


class Changes(NamedTuple):
    """What happened between two decisions of one seat: numbers, or arrays with a value for each pair."""

    hp: "float | NDArray[np.float32]"
    """Damage to the opponent's active Pokémon plus HP gained by the own."""
    status: "float | NDArray[np.float32]"
    """Statuses given minus statuses taken."""
    faints: "float | NDArray[np.float32]"
    """Opponents removed minus own Pokémon lost."""


class Weights(NamedTuple):
    """What one reward function gives."""

    hp: float
    status: float
    faint: float
    victory: float
    defeat: float

    def between(self, changes: Changes) -> Any:  # noqa: ANN401 - a number or an array, as the changes are
        """Return the worth of ``changes``."""
        return self.hp * changes.hp + self.status * changes.status + self.faint * changes.faints

    def outcome(self, score: float) -> float:
        """Return the worth of a battle's end: ``score`` is above ½ for a victory and below for a defeat."""
        return self.victory if score > 0.5 else self.defeat if score < 0.5 else 0.0  # noqa: PLR2004 - a draw


REWARDS: Final[Mapping[str, Weights]] = {
    "DefaultShapedReward": Weights(hp=1.0, status=0.5, faint=1.0, victory=100.0, defeat=-100.0),
    "AggressiveShapedReward": Weights(hp=1.0, status=0.0, faint=2.0, victory=200.0, defeat=0.0),
    "BinaryReward": Weights(hp=0.0, status=0.0, faint=0.0, victory=100.0, defeat=-100.0),
}


def reward_function(name: str) -> RewardFunction:
    """Return the reward function called ``name``, of two states. Raises ConfigurationError: there is none."""
    if name not in REWARDS:
        raise ConfigurationError(f"there is no reward {name!r}: expected one of {', '.join(REWARDS)}")
    weights = REWARDS[name]

    def reward(before: BattleState, after: BattleState) -> float:
        score = 0.5 + 0.5 * (float(after.battle_won) - float(after.battle_lost))
        total: float = weights.between(state_changes(before, after)) + weights.outcome(score)
        return total

    return reward


def state_changes(before: BattleState, after: BattleState) -> Changes:
    """Return what happened between two states."""
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
    return Changes(hp=damage + hp_gain, status=given - taken, faints=float(removed) - float(lost))


def _same(pokemon: PokemonState, among: tuple[PokemonState, ...]) -> PokemonState | None:
    return next((other for other in among if other.base_species == pokemon.base_species), None)
