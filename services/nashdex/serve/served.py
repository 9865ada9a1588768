"""One battle that was served, as its record's line says it."""

from typing import Literal

from pydantic import NonNegativeInt

from nashdex.core.documents import Model
from nashdex.serve.room import Result


class ServedBattle(Model):
    """One battle that was served."""

    room: str
    format: str
    policy: str
    name: str
    opponent: str
    seat: Literal[0, 1] | None
    result: Result | None
    """None: void, for the reason in ``void``."""
    void: str | None
    series: str | None = None
    """The room of the series that it is part of."""
    turns: NonNegativeInt
    decisions: NonNegativeInt
    refused: NonNegativeInt
    """Choices that the server refused."""
    untracked: NonNegativeInt = 0
    """Decisions that the tracker could not follow; the server's default choice answered them."""
    trajectory: bool = False
    """Whether every decision was the policy's and of one process, so that the record has the trajectory."""
    rating: NonNegativeInt | None
    """The server's, after the battle."""
