"""What doubles add to the features: both slots' requests, and joint actions."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from poke_env.battle import DoubleBattle
from poke_env.environment import DoublesEnv
from poke_env.player.battle_order import DoubleBattleOrder, SingleBattleOrder

from audits.tracker.compared import Compared


def request_features(battle: DoubleBattle, state: Mapping[str, Any]) -> Iterator[Compared]:
    """Compare what the request asks of each slot."""
    yield Compared("force_switch", state["force_switch"], any(battle.force_switch), state)
    for position, slot in enumerate(state["slots"]):
        for feature, theirs in (
            ("force_switch", battle.force_switch),
            ("trapped", battle.trapped),
            ("maybe_trapped", battle.maybe_trapped),
            ("can_mega", battle.can_mega_evolve),
            ("can_z_move", battle.can_z_move),
            ("can_dynamax", battle.can_dynamax),
            ("can_tera", battle.can_tera),
        ):
            yield Compared(f"slot.{feature}", slot[feature], bool(theirs[position]), state)


def active_features(battle: DoubleBattle, state: Mapping[str, Any]) -> Iterator[Compared]:
    """Compare which Pokémon is in each slot; poke-env has none where it fainted."""
    if state["team_preview"]:
        return
    for name, theirs in (("own", battle.active_pokemon), ("opponent", battle.opponent_active_pokemon)):
        side = state[name]
        for row, pokemon in zip(side["slots"], theirs, strict=True):
            entry = side["pokemon"][row] if row >= 0 else None
            ours = entry["name"] if entry and not entry["fainted"] else None
            yield Compared(f"{name}.slot", ours, pokemon.name if pokemon else None, state)


def choice_features(battle: DoubleBattle, state: Mapping[str, Any]) -> Iterator[Compared]:
    """Compare which joint actions are legal, by number."""
    ours = sorted(int(action) for action in state["choices"])
    num_choices = DoublesEnv.get_action_space_size(battle.gen)
    if state["team_preview"]:
        # poke-env chooses the leads, then the others, as pairs of switches to rows of its team.
        free = np.flatnonzero(DoublesEnv.get_action_mask_individual(battle, 0)).tolist()
        rows = [row for row in free if row - 1 not in (state["leads"] or ())]
        theirs = [num_choices * a + b for a in rows for b in rows if a != b]
        yield Compared("pairs", ours, theirs, state)
        return
    slots = [_orders(battle, position) for position in (0, 1)]
    theirs = sorted(
        num_choices * first + second
        for first, order in slots[0].items()
        for second, other in slots[1].items()
        if DoubleBattleOrder.join_orders([order], [other])
    )
    yield Compared("pairs", ours, theirs, state)


def _orders(battle: DoubleBattle, position: int) -> dict[int, SingleBattleOrder]:
    """Return poke-env's orders of one slot by number."""
    mask = DoublesEnv.get_action_mask_individual(battle, position)
    return {
        int(action): DoublesEnv._action_to_order_individual(np.int64(action), battle, fake=True, pos=position)
        for action in np.flatnonzero(mask)
    }
