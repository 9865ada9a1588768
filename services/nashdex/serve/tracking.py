"""A gateway's trackers of battles that run elsewhere: what each seat received in, decisions and choices out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import TryAgainError
from nashdex.games.interface import Decisions, SeatLines
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.protocol import (
    Choice,
    Choices,
    Chosen,
    Failed,
    Lines,
    Track,
    TrackedAction,
    TrackedSeat,
    Untrack,
)

Seat = tuple[int, int]
"""Battle and seat."""
ANSWER_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Tracked:
    """The next decisions of tracked battles."""

    decisions: Decisions | None
    """None: every battle has failed."""
    failed: dict[int, str]
    """Errors of the tracker, by battle."""


class Tracking:
    """Battles of one format, each seat with its own tracker. Close the gateway after use."""

    def __init__(self, gateway: Gateway, answer_seconds: float = ANSWER_SECONDS) -> None:
        self.gateway = gateway
        self._answer_seconds = answer_seconds

    def read(self, rows: Iterable[TrackedSeat]) -> None:
        """Give trackers what their seats have received since their last rows. ``decisions`` has the answer."""
        self.gateway.send(Track(rows=tuple(rows)))

    def decisions(self, rows: Mapping[Seat, TrackedSeat]) -> Tracked:
        """Return the next decisions of ``rows``, which were read, in one frame: others may follow.

        Raises:
            TryAgainError: the gateway does not answer.
        """
        states: dict[Seat, dict[str, Any] | None] = {}
        failed: dict[int, str] = {}
        while True:
            if len(failed) == len({battle for battle, _ in rows}):
                return Tracked(None, failed)
            self.gateway.flush()
            received = self.gateway.receive(self._answer_seconds)
            match received:
                case Decisions():
                    seen = {
                        key: SeatLines(list(row.lines), row.request or {}, states.get(key)) for key, row in rows.items()
                    }
                    return Tracked(replace(received, lines=seen), failed)
                case Lines():
                    states |= {(view.battle, view.seat): view.state for view in received.rows}
                case Failed():
                    failed |= {each.battle: each.detail for each in received.battles}
                case None:
                    raise TryAgainError(f"the gateway sent nothing for {self._answer_seconds:.0f} s")
                case _:
                    raise TryAgainError(f"the gateway sent an unexpected {type(received).__name__}")

    def choices(
        self, battles: NDArray[np.int64], seats: NDArray[np.integer], actions: NDArray[np.int64]
    ) -> tuple[Choice, ...]:
        """Return the server's text of actions, all of shape (N,).

        It has neither text nor cause for the first half of a Team Preview, whose second half follows.

        Raises:
            TryAgainError: the gateway does not answer.
        """
        asked = zip(battles.tolist(), seats.tolist(), actions.tolist(), strict=True)
        rows = tuple(TrackedAction(battle=battle, seat=seat, action=action) for battle, seat, action in asked)
        self.gateway.send(Choices(rows=rows))
        return self.gateway.expect(Chosen, self._answer_seconds).rows

    def forget(self, battles: Iterable[int]) -> None:
        """Drop the trackers of battles."""
        self.gateway.send(Untrack(battles=tuple(battles)))


def neutral_request(request: dict[str, Any], seat: int) -> dict[str, Any]:
    """Return the request without the player's name, which the lines do not have either."""
    side = request.get("side")
    return request if side is None else request | {"side": side | {"name": f"Player {seat + 1}"}}
