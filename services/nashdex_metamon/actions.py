"""Metamon's action numbers, and which of them a state allows.

0 to 3 are the active Pokémon's known moves by name, 4 to 8 the bench by name, 9 to 12 the moves with terastallization.
"""

from dataclasses import dataclass
from typing import Final

from nashdex.core.errors import ConfigurationError
from nashdex_metamon.state import NUM_MOVES, NUM_SWITCHES, BattleState, MoveState, PokemonState

UNKNOWN_ACTION: Final = -1
"""The action of a decision whose choice the data does not show."""
FIRST_SWITCH: Final = NUM_MOVES
FIRST_TERA: Final = NUM_MOVES + NUM_SWITCHES


def sorted_moves(pokemon: PokemonState) -> list[MoveState]:
    """Return the moves by name, the order of actions and of observations."""
    return sorted(pokemon.moves, key=_name)


def sorted_switches(state: BattleState) -> list[PokemonState]:
    """Return the bench by name, the order of actions and of observations."""
    return sorted(state.available_switches, key=_name)


def _name(named: MoveState | PokemonState) -> str:
    return named.name


@dataclass(frozen=True, slots=True)
class ActionSpace:
    """A numbering of actions: the first ``num_actions`` of the 13."""

    name: str
    num_actions: int

    def maybe_valid(self, state: BattleState) -> list[int]:
        """Return the actions that the state does not rule out, sorted.

        The state does not show all that the request forbids: Disable, a lock on one move, a trap. None at the end.
        """
        if state.battle_won or state.battle_lost:
            return []
        num_moves = 0 if state.forced_switch else min(len(state.player_active_pokemon.moves), NUM_MOVES)
        valid = [
            *range(num_moves),
            *range(FIRST_SWITCH, FIRST_SWITCH + min(len(state.available_switches), NUM_SWITCHES)),
        ]
        if state.can_tera:
            valid += range(FIRST_TERA, FIRST_TERA + num_moves)
        return [action for action in valid if action < self.num_actions]

    def from_default(self, action: int) -> int:
        """Return the number, in this space, of one of the 13: a terastallization is the plain move if it has none."""
        return action - FIRST_TERA if action >= FIRST_TERA and self.num_actions <= FIRST_TERA else action


ACTION_SPACES: Final = {
    space.name: space for space in (ActionSpace("DefaultActionSpace", 13), ActionSpace("MinimalActionSpace", 9))
}
DEFAULT_ACTIONS: Final = ACTION_SPACES["DefaultActionSpace"]
MINIMAL_ACTIONS: Final = ACTION_SPACES["MinimalActionSpace"]


def action_space(name: str) -> ActionSpace:
    """Return the action space called ``name``. Raises ConfigurationError: there is none."""
    if name not in ACTION_SPACES:
        raise ConfigurationError(f"there is no action space {name!r}: expected one of {', '.join(ACTION_SPACES)}")
    return ACTION_SPACES[name]
