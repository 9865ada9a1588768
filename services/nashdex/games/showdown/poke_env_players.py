"""Players based on poke-env: its battle reads the protocol's lines, and its player chooses.

This needs no websocket, event loop or thread: poke-env's battle reads lines and requests, and its heuristics are a
function of the battle alone. Only this package, plug-ins and the audits of the tests import poke-env.
"""

import logging
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from poke_env.battle import Battle, DoubleBattle, Move, Pokemon
from poke_env.data import GenData
from poke_env.player import Player, SimpleHeuristicsPlayer
from poke_env.player.battle_order import DoubleBattleOrder, PassBattleOrder, SingleBattleOrder
from poke_env.teambuilder import Teambuilder

from nashdex.games.showdown.doubles_slots import PASS, SlotChoice, joined, num_slot_choices

_PLAYER_NAMES: Final = ("Player 1", "Player 2")
"""The gateway's names of the seats."""

_NOT_FOR_BATTLES: Final = frozenset(
    {*Player.MESSAGES_TO_IGNORE, *Battle.MESSAGES_TO_IGNORE, "win", "tie", "request", "error", "bigerror"}
)
"""Types of lines without information for a battle, or handled by poke-env's player itself."""

_ODDITIES: Final = (
    AssertionError,
    AttributeError,
    IndexError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""Errors of poke-env's battle on unknown lines, or on lines that contradict its state."""

_FIRST_MOVE_ACTION: Final = 6
_MOVES_PER_GROUP: Final = 4

# It warns about every effect that it has no name for.
_LOGGER: Final = logging.getLogger("poke-env")
_LOGGER.setLevel(logging.CRITICAL)


class PokeEnvSeat:
    """One seat of one battle as poke-env sees it."""

    def __init__(self, format_id: str, seat: int, num_slots: int = 1) -> None:
        # A Battle, or a DoubleBattle where there are two slots: their attributes differ in type.
        self.battle: Any = (DoubleBattle if num_slots > 1 else Battle)(
            battle_tag=f"battle-{format_id}-0",
            username=_PLAYER_NAMES[seat],
            logger=_LOGGER,
            gen=GenData.from_format(format_id).gen,
        )
        self.num_oddities = 0
        """Lines and requests that poke-env could not read and skipped."""
        self._team: list[str] = []
        self._request: dict[str, Any] = {}

    def read(self, lines: Sequence[str], request: dict[str, Any]) -> None:
        """Pass poke-env this seat's lines since its last decision, and the request."""
        for line in lines:
            if line.startswith("|") and line[1:].partition("|")[0] not in _NOT_FOR_BATTLES:
                try:
                    self._read_line(line.split("|"))
                except _ODDITIES:
                    self.num_oddities += 1
        self._request = request
        try:
            self.battle.parse_request(request)
        except _ODDITIES:
            self.num_oddities += 1
        if not self._team:
            self._team = [pokemon["ident"][4:] for pokemon in request["side"]["pokemon"]]

    def _read_line(self, words: list[str]) -> None:
        if words[1] == "showteam":
            self._read_sheet(role=words[2], packed="|".join(words[3:]))
        else:
            self.battle.parse_message(words)

    def _read_sheet(self, role: str, packed: str) -> None:
        """Read an Open Team Sheet, as poke-env's player does: its battle has no method for it."""
        battle = self.battle
        is_own = role == battle.player_role
        shown = {sheet.nickname: sheet for sheet in Teambuilder.parse_packed_team(packed)}
        for pokemon in battle.teampreview_team if is_own else battle.teampreview_opponent_team:
            name = next(name for name in shown if name is not None and pokemon.identifies_as(name))
            known = battle.get_pokemon(f"{role}: {name}", details=pokemon._last_details)  # noqa: SLF001
            known._update_from_teambuilder(shown[name])  # noqa: SLF001

    def choose(self, uniform: float) -> int | None:
        """Return the action that poke-env's heuristics prefer, or None if they have no preference.

        They have none before the opponent is seen, and if they find no available move or switch. Some of their choices
        are drawn: equal ``uniform`` in [0, 1) draw alike.
        """
        with drawing_from(uniform):
            return self._choose()

    def _choose(self) -> int | None:
        battle = self.battle
        if isinstance(battle, DoubleBattle):
            return self._choose_pair(battle)
        if battle.active_pokemon is None or battle.opponent_active_pokemon is None:
            return None
        if not battle.available_moves and not battle.available_switches:
            return None
        try:
            order, _ = SimpleHeuristicsPlayer.choose_singles_move(battle)
        except _ODDITIES:
            self.num_oddities += 1
            return None
        return self.action_of(order)

    def _choose_pair(self, battle: DoubleBattle) -> int | None:
        """Return the joint action that poke-env's heuristics prefer."""
        if battle.teampreview:
            return None
        try:
            # A method that uses only static ones: a player of its own would open a websocket.
            order = SimpleHeuristicsPlayer.choose_move(SimpleHeuristicsPlayer, battle)  # type: ignore[arg-type]
            assert isinstance(order, DoubleBattleOrder), "poke-env's heuristics choose for both slots"
            return self.pair_of(order)
        except _ODDITIES:
            self.num_oddities += 1
            return None

    def pair_of(self, order: DoubleBattleOrder) -> int | None:
        """Return the number of the joint action of both slots' orders, or None if the request does not offer it."""
        first, second = self._slot_choice(order.first_order, 0), self._slot_choice(order.second_order, 1)
        if first is None or second is None:
            return None
        return joined(first, second, num_slot_choices(self.battle.gen))

    def preview_of(self, members: Sequence[int], half: int) -> int | None:
        """Return the action of a Team Preview that puts ``members``, numbered from 1, in front.

        In doubles the leads are chosen first (half 0), then the other two (half 1).
        """
        if not isinstance(self.battle, DoubleBattle):
            return members[0] - 1 if members else None
        pair = members[2 * half : 2 * half + 2]
        if len(pair) < 2:  # noqa: PLR2004 - one for each slot
            return None
        first, second = (SlotChoice("switch", row=member).number for member in pair)
        return joined(first, second, num_slot_choices(self.battle.gen))

    def _slot_choice(self, order: SingleBattleOrder, slot: int) -> int | None:
        """Return the number of ``order`` among a slot's choices, or None if the request does not offer it.

        Numbers are as in poke-env's ``DoublesEnv``, in the request's order of moves. That class itself imports
        environments of other games.
        """
        if isinstance(order, PassBattleOrder):
            return PASS
        if isinstance(order.order, Pokemon):
            name = order.order.name
            return SlotChoice("switch", row=self._team.index(name) + 1).number if name in self._team else None
        if not isinstance(order.order, Move) or "active" not in self._request:
            return None
        place = self._place_of(order.order.id, slot)
        if place is None:
            return None
        return SlotChoice("move", move=place + 1, target=order.move_target, gimmick=_gimmick_of(order)).number

    def action_of(self, order: SingleBattleOrder) -> int | None:
        """Return the number of ``order`` among this seat's actions, or None if the request does not offer it.

        Numbers are as in poke-env's ``SinglesEnv.order_to_action``, but in the request's order of moves: poke-env
        orders the moves of a transformed Pokémon as it saw the opponent use them.
        """
        if isinstance(order.order, Pokemon):
            return self._team.index(order.order.name) if order.order.name in self._team else None
        if not isinstance(order.order, Move) or "active" not in self._request:
            return None
        place = self._place_of(order.order.id, 0)
        if place is None:
            return None
        return _FIRST_MOVE_ACTION + _MOVES_PER_GROUP * _gimmick_of(order) + place

    def _place_of(self, move_id: str, slot: int) -> int | None:
        """Return a move's place among the moves of the Pokémon in a slot; a single other move has place 0."""
        offered = [_bare(move["id"]) for move in self._request["active"][slot]["moves"]]
        own = [_bare(move) for move in self._request["side"]["pokemon"][slot]["moves"]]
        bare = _bare(move_id)
        if bare not in offered:
            return None
        return own.index(bare) if bare in own else 0


@contextmanager
def drawing_from(uniform: float) -> Iterator[None]:
    """Seed Python's own generator, from which poke-env draws, and leave it as it was."""
    state = random.getstate()
    random.seed(uniform)
    try:
        yield
    finally:
        random.setstate(state)


def _gimmick_of(order: SingleBattleOrder) -> int:
    """Return the number of the gimmick that an order uses; 0 for none."""
    used = (order.mega, order.z_move, order.dynamax, order.terastallize)
    return used.index(True) + 1 if any(used) else 0


def _bare(move_id: str) -> str:
    """Return a move's id without the suffixes of requests: the type of a Hidden Power, and powers."""
    return "hiddenpower" if move_id.startswith("hiddenpower") else move_id.rstrip("0123456789")


class HeuristicSeats:
    """Any number of seats that play by poke-env's ``SimpleHeuristicsPlayer``.

    If the heuristics have no preference, or prefer an illegal action, a legal one is drawn. ``fallbacks`` counts the
    illegal preferences.
    """

    def __init__(self, format_id: str, num_slots: int = 1) -> None:
        self._format = format_id
        self._num_slots = num_slots
        self._seats: dict[tuple[int, int], PokeEnvSeat] = {}
        self.fallbacks = 0

    def __len__(self) -> int:
        """Return the number of seats that are remembered."""
        return len(self._seats)

    def choose(
        self,
        battle: int,
        seat: int,
        lines: Sequence[str],
        request: dict[str, Any],
        legal: NDArray[np.uint16],
        uniform: float,
    ) -> int:
        """Return a legal action for a decision.

        Args:
            battle: the battle's number; its first decision begins a new battle for poke-env.
            seat: 0 or 1.
            lines: the seat's lines since its last decision.
            request: the simulator's request.
            legal: the numbers of the legal actions.
            uniform: in [0, 1), for a draw. From the battle's seed, so that ``battle`` does not matter.
        """
        key = (battle, seat)
        if key not in self._seats:
            self._seats[key] = PokeEnvSeat(self._format, seat, self._num_slots)
        player = self._seats[key]
        player.read(lines, request)
        action = player.choose(uniform)
        if action is not None and action in legal:
            return action
        if action is not None:
            self.fallbacks += 1
        return int(legal[int(uniform * len(legal))])

    def forget(self, battle: int, seat: int) -> None:
        """Forget a seat whose battle ended."""
        self._seats.pop((battle, seat), None)
