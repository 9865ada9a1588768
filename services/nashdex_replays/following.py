"""Feeds players' lines and requests to a gateway's tracker: what they saw at each decision, in both forms of it."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import TryAgainError
from nashdex.games.interface import Decisions
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.protocol import Failed, Lines, Seat, Track, TrackedSeat, Untrack
from nashdex.games.showdown.wire_actions import WireActions
from nashdex.games.space import Space
from nashdex_replays.requests import Asked

_CONDITION = re.compile(r"(?<!\d)(\d{1,9})/([1-9]\d{0,8})(?= |$)")
_FULL_PERCENT: Final = 100
_ANSWER_SECONDS: Final = 60.0


@dataclass(slots=True)
class Followed:
    """One player's view of a battle. F observation values, A actions."""

    seat: Seat
    asked: Sequence[Asked]
    last_lines: Sequence[str]
    """After the last decision."""
    states: list[Mapping[str, Any]] = field(default_factory=list)
    """The tracker's, one a decision and one at the end."""
    observations: list[NDArray[np.float32]] = field(default_factory=list)
    """Observation of each decision, shape (F,)."""
    masks: list[NDArray[np.bool_]] = field(default_factory=list)
    """Legal actions of each decision, shape (A,)."""
    failure: str | None = None
    """Error of the tracker; None if it read everything."""


class Follower:
    """A gateway that follows battles of one format. Use as a context manager: it stops the gateway."""

    def __init__(self, format_id: str) -> None:
        self._gateway = Gateway(format_id)
        self.wire = WireActions.of(self.space)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._gateway.close()

    @property
    def space(self) -> Space:
        """The layout of observations and actions."""
        return self._gateway.space

    def follow(self, views: Sequence[Followed]) -> None:
        """Fill in what each of ``views`` saw, side by side.

        Raises:
            TryAgainError: the gateway is gone or does not answer.
        """
        longest = max((len(view.asked) for view in views), default=-1)
        for step in range(longest + 1):
            rows = {
                number: _row(number, view, step)
                for number, view in enumerate(views)
                if view.failure is None and step <= len(view.asked)
            }
            if rows:
                self._gateway.send(Track(rows=tuple(rows.values())))
                self._gateway.flush()
                self._receive(views, rows)
        if views:
            self._gateway.send(Untrack(battles=tuple(range(len(views)))))

    def _receive(self, views: Sequence[Followed], rows: Mapping[int, TrackedSeat]) -> None:
        """Wait for the state of every row, and for the decision of every row with a request."""
        states, decisions = set(rows), {number for number, row in rows.items() if row.request is not None}
        while states or decisions:
            message = self._gateway.receive(_ANSWER_SECONDS)
            if message is None:
                raise TryAgainError(f"the gateway did not answer within {_ANSWER_SECONDS:.0f} s; try again")
            if isinstance(message, Lines):
                for row in message.rows:
                    assert row.state is not None, "every row asks for its state"
                    views[row.battle].states.append(row.state)
                    states.discard(row.battle)
            elif isinstance(message, Decisions):
                decisions.difference_update(_keep(views, message))
                self._gateway.channel.recycle()
            elif isinstance(message, Failed):
                for failed in message.battles:
                    views[failed.battle].failure = failed.detail.partition("\n")[0]
                    states.discard(failed.battle)
                    decisions.discard(failed.battle)


def _row(number: int, view: Followed, step: int) -> TrackedSeat:
    if step == len(view.asked):
        return TrackedSeat(battle=number, seat=view.seat, lines=tuple(view.last_lines), request=None, state=True)
    asked = view.asked[step]
    return TrackedSeat(battle=number, seat=view.seat, lines=tuple(asked.lines), request=asked.request, state=True)


def _keep(views: Sequence[Followed], decisions: Decisions) -> Iterable[int]:
    """Store copies of a frame's rows, and return whose they are."""
    numbers: list[int] = decisions.battle.tolist()
    for row, number in enumerate(numbers):
        views[number].observations.append(decisions.observation[row].copy())
        views[number].masks.append(decisions.mask[row].copy())
    return numbers


def seen_by(seat: int, lines: Sequence[str]) -> list[str]:
    """Return lines of the omniscient log as ``seat`` sees them: the opponent's HP in percent, rounded up."""
    opponent = f"|p{2 - seat}"
    return [_in_percent(line) if opponent in line else line for line in lines]


def _in_percent(line: str) -> str:
    def percent(match: re.Match[str]) -> str:
        hp, most = int(match[1]), int(match[2])
        share = math.ceil(_FULL_PERCENT * hp / most)
        return f"{_FULL_PERCENT - 1 if share == _FULL_PERCENT and hp < most else share}/{_FULL_PERCENT}"

    return _CONDITION.sub(percent, line)
