"""Turns what a seat received in a battle into metamon's trajectory of it: states, and metamon's action numbers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import TryAgainError
from nashdex.games.interface import Decisions, SeatLines
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.protocol import Lines, Seat, Track, TrackedSeat, Untrack
from nashdex.games.showdown.wire_actions import WireActions
from nashdex_metamon.actions import UNKNOWN_ACTION
from nashdex_metamon.conditions import Conditions
from nashdex_metamon.data.replay_file import ParsedReplay
from nashdex_metamon.dex import dex
from nashdex_metamon.lines import read_lines, read_request
from nashdex_metamon.live import generation_of, orders
from nashdex_metamon.state import BattleState
from nashdex_metamon.tracked import Knowledge, battle_state

_ANSWER_SECONDS = 60.0
_BATTLE = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """A decision of the seat: what it received since the one before, and the simulator's number of its action."""

    said: SeatLines
    action: int


class FirstPerson:
    """Makes trajectories with a gateway's tracker. Use as a context manager: it stops the gateway."""

    def __init__(self, format_id: str, knowledge: Knowledge = "online") -> None:
        self._format = format_id
        self._dex = dex(generation_of(format_id))
        self._knowledge = knowledge
        self._gateway = Gateway(format_id)
        self._wire = WireActions.of(self._gateway.space)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._gateway.close()

    def replay(self, seat: Seat, turns: Sequence[Turn], last_lines: Iterable[str]) -> ParsedReplay | None:
        """Return the trajectory of ``seat``; None if it decided nothing but the order of its team.

        Team Preview is not a decision of metamon's. An action that metamon has no number for is −1. ``last_lines`` are
        those after the last decision, to the battle's end.
        """
        conditions = Conditions.of_generation(self._dex)
        states: list[BattleState] = []
        actions: list[int] = []
        try:
            for said, mask, action in self._tracked(seat, turns):
                read_lines(conditions, said.lines)
                read_request(conditions, said.request)
                if not said.request.get("teamPreview"):
                    states.append(self._state(seat, said, conditions))
                    found = np.flatnonzero(orders(said, mask, self._wire) == action)
                    actions.append(int(found[0]) if len(found) else UNKNOWN_ACTION)
            if not states:
                return None
            last = tuple(last_lines)
            view, _ = self._track(TrackedSeat(battle=_BATTLE, seat=seat, lines=last, request=None, state=True))
            read_lines(conditions, last)
            states.append(self._state(seat, view, conditions))
        finally:
            self._gateway.send(Untrack(battles=(_BATTLE,)))
        return ParsedReplay(tuple(states), (*actions, UNKNOWN_ACTION))

    def _tracked(self, seat: Seat, turns: Sequence[Turn]) -> Iterator[tuple[SeatLines, NDArray[np.bool_], int]]:
        for turn in turns:
            lines, request = tuple(turn.said.lines), turn.said.request
            view, mask = self._track(
                TrackedSeat(battle=_BATTLE, seat=seat, lines=lines, request=request, state=True), asks=True
            )
            assert mask is not None, "a recorded decision asks for a choice"
            yield SeatLines(list(lines), request, view.state), mask, turn.action

    def _track(self, row: TrackedSeat, *, asks: bool = False) -> tuple[SeatLines, NDArray[np.bool_] | None]:
        """Return the tracker's state after ``row``, and the legal actions if it asks for a choice."""
        self._gateway.send(Track(rows=(row,)))
        self._gateway.flush()
        view: SeatLines | None = None
        mask: NDArray[np.bool_] | None = None
        while view is None or (asks and mask is None):
            received = self._gateway.receive(_ANSWER_SECONDS)
            if received is None:
                raise TryAgainError("the gateway does not answer; try again")
            if isinstance(received, Lines):
                view = SeatLines([], {}, received.rows[0].state)
            elif isinstance(received, Decisions):
                mask = received.mask[0].copy()
                self._gateway.channel.recycle()
        return view, mask

    def _state(self, seat: int, said: SeatLines, conditions: Conditions) -> BattleState:
        assert said.state is not None, "every tracked row asks for the state"
        return battle_state(self._format, seat, said.state, conditions, self._dex, self._knowledge)
