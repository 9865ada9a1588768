"""A question's log, read as the client of ``nashdex serve`` reads a room."""

from typing import Any, Literal, NamedTuple

from nashdex.core.errors import DataError
from nashdex.decide.documents import Question, RefusedError, check_request
from nashdex.serve.room import Room
from nashdex.serve.tracking import neutral_request


class Asked(NamedTuple):
    """A question that can be decided."""

    battle: str
    seat: Literal[0, 1]
    lines: tuple[str, ...]
    """Lines of the battle, with neutral names of the players."""
    request: dict[str, Any]
    turn: int


def read_question(question: Question) -> Asked:
    """Return what a question asks.

    Raises:
        RefusedError: it does not name the players, or nothing is to be decided.
    """
    room = Room(question.battle, "", 0)
    seat: Literal[0, 1] = 0 if question.seat == "p1" else 1
    try:
        for line in question.log:
            room.read(line)
    except DataError as error:
        raise RefusedError(f"log: {error}", "log") from error
    if not room.players[seat]:
        raise RefusedError(
            f"log names no player of {question.seat}; expected every line of the room, |player|{question.seat}|NAME "
            "among them",
            "log",
        )
    if room.result is not None:
        raise RefusedError("log is of a battle that is over; expected one that goes on", "log")
    request = room.request if question.request is None else question.request
    if request is None or request.get("wait"):
        raise RefusedError(
            f"{question.seat} has nothing to choose; expected a request in a line |request|{{…}} of log, or in request",
            "request",
        )
    check_request(request, question.seat)
    return Asked(question.battle, seat, tuple(room.new_lines()), neutral_request(request, seat), room.turns)
