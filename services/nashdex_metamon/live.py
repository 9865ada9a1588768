"""One seat of a battle in play, as metamon's policies see it: states from the tracker, orders from legal actions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError
from nashdex.games.interface import NO_ACTION, SeatLines
from nashdex.games.showdown.wire_actions import WireActions
from nashdex_metamon.actions import DEFAULT_ACTIONS, FIRST_SWITCH, FIRST_TERA
from nashdex_metamon.conditions import Conditions
from nashdex_metamon.dex import Dex
from nashdex_metamon.lines import read_lines, read_request
from nashdex_metamon.names import move_name
from nashdex_metamon.observations import SeenOpponents
from nashdex_metamon.state import NUM_MOVES, NUM_SWITCHES, BattleState
from nashdex_metamon.tracked import battle_state
from nashdex_replays.words import clean_name

_RECHARGE: Final = "recharge"
_FIRST_LINES: Final = ("|player|", "|gametype|")


@dataclass(slots=True)
class LiveSeat:
    """What one seat has seen of its battle so far."""

    format: str
    seat: int
    dex: Dex
    conditions: Conditions = field(init=False)
    seen: SeenOpponents = field(default_factory=SeenOpponents)

    def __post_init__(self) -> None:
        self.conditions = Conditions.of_generation(self.dex)

    def read(self, said: SeatLines) -> BattleState | None:
        """Take in a decision's lines and return its state; None in Team Preview, which metamon does not decide.

        Call it once a decision.
        """
        read_lines(self.conditions, said.lines)
        read_request(self.conditions, said.request)
        assert said.state is not None, "a policy that needs the tracker's state gets it"
        if said.request.get("teamPreview"):
            return None
        state = battle_state(self.format, self.seat, said.state, self.conditions, self.dex)
        self.seen.add(state)
        return state


def generation_of(format_id: str) -> int:
    """Return the generation of a Showdown format.

    Raises:
        ConfigurationError: the id names no Showdown format.
    """
    found = re.match(r"gen([1-9])", format_id)
    if found is None:
        raise ConfigurationError(f"{format_id!r} is not a Showdown format, so metamon's policies do not play it")
    return int(found[1])


def begins_battle(said: SeatLines) -> bool:
    """Say whether a decision is its battle's first."""
    return any(line.startswith(_FIRST_LINES) for line in said.lines)


def orders(said: SeatLines, mask: NDArray[np.bool_], wire: WireActions) -> NDArray[np.int64]:
    """Return the simulator's action for each of metamon's 13, shape (13,): ``NO_ACTION`` where it means none.

    If the only move is not the Pokémon's own (Struggle, the first generation's ``fight``), every move means it; if the
    only move is a recharge, every action means it. ``mask`` are the simulator's legal actions.
    """
    assert said.state is not None, "a policy that needs the tracker's state gets it"
    meant = np.full(DEFAULT_ACTIONS.num_actions, NO_ACTION, dtype=np.int64)
    own = said.state["own"]
    bench = [
        row
        for row, pokemon in enumerate(own["pokemon"])
        if row != own["active"] and pokemon["fainted"] == said.state["reviving"]
    ]
    bench.sort(key=lambda row: clean_name(own["pokemon"][row]["forme"]))
    for place, row in enumerate(bench[:NUM_SWITCHES]):
        meant[FIRST_SWITCH + place] = wire.switches[row]
    if not said.state["force_switch"]:
        names = [move_name(move["id"]) for move in own["pokemon"][own["active"]]["moves"]][:NUM_MOVES]
        foreign = _single_foreign_move(said.request, names)
        if foreign == _RECHARGE:
            meant[:] = wire.moves[0]
        elif foreign is not None:
            meant[:NUM_MOVES] = meant[FIRST_TERA:] = wire.moves[0]
        else:
            by_name = sorted(range(len(names)), key=names.__getitem__)
            for place, move in enumerate(by_name):
                meant[place] = wire.moves[move]
                # Without terastallization it is the plain move.
                with_tera = wire.tera_moves[move] if wire.tera_moves else wire.moves[move]
                meant[FIRST_TERA + place] = with_tera if mask[with_tera] else wire.moves[move]
    legal = (meant != NO_ACTION) & mask[meant]
    return np.where(legal, meant, NO_ACTION)


def _single_foreign_move(request: Mapping[str, Any], own: Sequence[str]) -> str | None:
    """Return the only move that a request offers, if it is not one of the Pokémon's own."""
    active = request.get("active")
    offered = [move_name(move["id"]) for move in active[0]["moves"]] if active else []
    return offered[0] if len(offered) == 1 and offered[0] not in own else None
