"""The rules that void battles for a reason outside the battle."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from nashdex.serve.room import Room


@dataclass(frozen=True)
class Ruling:
    """What a client should do."""

    void: Mapping[str, str] = field(default_factory=dict)
    """Why battles under way are void, by room. The client forfeits and leaves them."""
    asks_again: bool = False
    """Whether the opponent began again, so that challenges of and to it mean nothing."""


class Referee(Protocol):
    """Looks at a client's battles between its messages. This is all that a client calls."""

    def look(self, rooms: Sequence[Room]) -> Ruling:
        """Return what to do about the battles under way."""

    def verdict(self, room: Room) -> str | None:
        """Return why a battle that is over is void; None if its result counts."""
