"""Metamon's own check of an action, as a referee: what a state does not rule out."""

from nashdex_metamon.actions import FIRST_SWITCH, FIRST_TERA
from nashdex_metamon.state import NUM_MOVES, NUM_SWITCHES, BattleState


def maybe_valid(state: BattleState) -> list[int]:
    """Return the actions of metamon's 13 that the state does not rule out, sorted; none at the end.

    The state does not show all that the request forbids: Disable, a lock on one move, a trap.
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
    return valid
