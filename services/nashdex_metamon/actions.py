"""Metamon's action numbers.

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


ACTION_SPACES: Final = {
    space.name: space for space in (ActionSpace("DefaultActionSpace", 13), ActionSpace("MinimalActionSpace", 9))
}
DEFAULT_ACTIONS: Final = ACTION_SPACES["DefaultActionSpace"]


def action_space(name: str) -> ActionSpace:
    """Return the action space called ``name``. Raises ConfigurationError: there is none."""
    if name not in ACTION_SPACES:
        raise ConfigurationError(f"there is no action space {name!r}: expected one of {', '.join(ACTION_SPACES)}")
    return ACTION_SPACES[name]
