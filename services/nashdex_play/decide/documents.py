"""Questions and answers as JSON: the models behind the command, the service and its OpenAPI document."""

import json
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema

from nashdex.core.documents import Model, describe_problems
from nashdex.core.errors import DataError

MOST_LINES: Final = 20_000
MOST_LINE_CHARACTERS: Final = 65_536
"""A request, the longest line of a log, has up to 10,000 characters."""
MOST_BYTES: Final = 1 << 20
"""Largest question as JSON."""
_MOST_POKEMON: Final = 24
_MOST_MOVES: Final = 24


def _lines(log: object) -> object:
    """Return the lines of a log that is text, or a list of texts; anything else unchanged."""
    texts = [log] if isinstance(log, str) else log
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError("expected text, or a list of lines")
    lines = [line.removesuffix("\r") for text in texts for line in text.split("\n")]
    if len(lines) > MOST_LINES:
        raise ValueError(f"expected at most {MOST_LINES} lines, not {len(lines)}")
    longest = len(max(lines, key=len, default=""))
    if longest > MOST_LINE_CHARACTERS:
        raise ValueError(f"expected lines of at most {MOST_LINE_CHARACTERS} characters, not {longest}")
    return lines


def _encodable(request: dict[str, Any] | None) -> dict[str, Any] | None:
    """Refuse what has no form in JSON, although some parsers read it: half a character, NaN, endless depth."""
    try:
        json.dumps(request, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise ValueError("expected an object that is JSON and Unicode, a few levels deep") from error
    return request


Log = Annotated[
    tuple[str, ...],
    BeforeValidator(_lines),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]


class Question(Model):
    """A battle as one seat saw it, with a request that asks the seat for a choice."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "log": "|player|p1|Ann||\n|player|p2|Bob||\n…\n|turn|1",
                    "seat": "p1",
                    "request": {"active": ["…"], "side": {"name": "Ann", "id": "p1", "pokemon": ["…"]}, "rqid": 2},
                }
            ]
        }
    )

    log: Log = Field(
        description="The room's lines from its first on, as the seat received them: text or a list. Chat may be in it."
    )
    seat: Literal["p1", "p2"]
    request: Annotated[dict[str, Any] | None, AfterValidator(_encodable)] = Field(
        None, description="The seat's newest request; null: the log has it, in a line |request|{…}."
    )
    battle: str = Field(
        "",
        max_length=200,
        description="A name of the battle. Draws follow from it: a mixture plays one battle with one policy.",
    )


class ActionAnswer(Model):
    """One legal choice."""

    choice: str | None = Field(description="Showdown's words; null for one half of a Team Preview of doubles.")
    name: str
    probability: float | None = Field(
        description="The network's own, at temperature 1; null for a policy without a distribution."
    )


class Predicted(Model):
    """What the opponent may choose."""

    name: str = Field(description="Id of a move, or `switch` and the id of a species; `unseen` for all others.")
    probability: float


class Answer(Model):
    """A policy's decision."""

    choice: str = Field(description="What the policy plays, in Showdown's words, such as `/choose move 1`.")
    actions: tuple[ActionAnswer, ...] = Field(description="Every legal choice, the most probable first.")
    value: float | None = Field(description="The critic's expected return; null for a policy without a critic.")
    win_probability: float | None = Field(
        description="Against an equal opponent; calibrated after `nashdex policy calibrate`. Null where the critic's "
        "reward does not say who wins."
    )
    opponent: tuple[Predicted, ...] | None = Field(
        description="The network's prediction of the opponent's choice, the most probable first; null without a head."
    )
    turn: int
    rqid: int | None = Field(
        description="The request's own number, which belongs after the choice: `/choose move 1|5`."
    )
    policy: str = Field(description="Id of the policy that decided.")


class Refused(Model):
    """Why there is no decision."""

    error: str = Field(description="What is wrong, what was expected, what to do.")
    field: str | None = Field(description="The field that is wrong, such as `log`; null for none.")


class RefusedError(DataError):
    """A question without an answer, and the field that is at fault."""

    def __init__(self, message: str, field: str | None) -> None:
        super().__init__(message)
        self.field = field

    @property
    def document(self) -> Refused:
        """The error as JSON."""
        return Refused(error=str(self), field=self.field)


class _Move(BaseModel):
    """A move that a request offers. Other keys are the tracker's to read."""

    model_config = ConfigDict(extra="allow", strict=True)
    move: str
    id: str


class _Active(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)
    moves: list[_Move] = Field(max_length=_MOST_MOVES)


class _Pokemon(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)
    ident: str
    details: str
    condition: str
    active: bool
    stats: dict[str, int]
    moves: list[str] = Field(max_length=_MOST_MOVES)


class _Side(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)
    id: Literal["p1", "p2"]
    pokemon: list[_Pokemon] = Field(min_length=1, max_length=_MOST_POKEMON)


class _Request(BaseModel):
    """What every request that asks for a choice has."""

    model_config = ConfigDict(extra="allow", strict=True)
    side: _Side
    active: list[_Active | None] | None = Field(None, max_length=2)
    rqid: int | None = Field(None, ge=0, lt=1 << 53)


def parse_question(data: bytes) -> Question:
    """Return the question that is written as JSON.

    Raises:
        RefusedError: it is none; names the field that is wrong.
    """
    try:
        return Question.model_validate_json(data)
    except ValidationError as error:
        where = error.errors(include_url=False)[0]["loc"]
        raise RefusedError(describe_problems(error), str(where[0]) if where else None) from error


def check_request(request: dict[str, Any], seat: str) -> None:
    """Check that a request is one of ``seat``.

    Raises:
        RefusedError: it is not; names what is wrong.
    """
    try:
        found = _Request.model_validate(request)
    except ValidationError as error:
        raise RefusedError(
            f"request is not one of Showdown's: {describe_problems(error)}; expected the JSON of a line |request|",
            "request",
        ) from error
    if found.side.id != seat:
        raise RefusedError(f"request is of {found.side.id}, and seat is {seat}: expected the seat's own", "request")
