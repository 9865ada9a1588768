"""A player's view of a raw replay as metamon's trajectory."""

import itertools

import numpy as np

from nashdex.games.interface import SeatLines
from nashdex_metamon.actions import UNKNOWN_ACTION
from nashdex_metamon.conditions import Conditions
from nashdex_metamon.data.replay_file import ParsedReplay
from nashdex_metamon.dex import dex
from nashdex_metamon.lines import read_lines, shown_species
from nashdex_metamon.live import orders
from nashdex_metamon.tracked import battle_state
from nashdex_replays.following import Follower
from nashdex_replays.reconstruction import View
from nashdex_replays.requests import NO_ACTION


def parsed(view: View, follower: Follower) -> ParsedReplay | None:
    """Return the view as metamon's trajectory; None if the player decided nothing but the order of the team."""
    followed, format_id = view.followed, view.replay.format
    facts = dex(view.replay.generation)
    conditions = Conditions.of_generation(facts)
    states, actions = [], []
    chosen = [*view.actions, NO_ACTION]
    lines = [*(row.lines for row in followed.asked), followed.last_lines]
    # A replay has no request, so it is read once for the own team's names.
    conditions.own_names = shown_species(itertools.chain.from_iterable(lines), f"p{view.seat + 1}")
    for number, (state, new) in enumerate(zip(followed.states, lines, strict=True)):
        read_lines(conditions, new)
        is_last = number == len(followed.asked)
        if not is_last and view.decisions[number].asks == "team":
            continue
        states.append(battle_state(format_id, view.seat, state, conditions, facts, "known"))
        action = UNKNOWN_ACTION
        if chosen[number] != NO_ACTION:
            said = SeatLines([], followed.asked[number].request, dict(state))
            found = np.flatnonzero(orders(said, followed.masks[number], follower.wire) == chosen[number])
            action = int(found[0]) if len(found) else UNKNOWN_ACTION
        actions.append(action)
    return ParsedReplay(tuple(states), tuple(actions)) if len(states) > 1 else None
