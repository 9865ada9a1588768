"""The control messages between client and gateway: the one declaration (docs/reference/gateway.md).

``scripts/make_protocol.py`` writes a JSON Schema, the gateway's validators and its types from these models. Every field
of a message is always present. Decisions and actions are binary frames and no part of this.
"""

from typing import Annotated, Any, Final, Literal, get_args

from pydantic import ConfigDict, Field, NonNegativeInt, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from nashdex.core.documents import Model
from nashdex.games.space import Space

PROTOCOL: Final = 13
"""Changes with every message that changes. Client and gateway of different versions refuse each other."""
_DIALECT = "https://json-schema.org/draft/2020-12/schema"

BattleNumber = Annotated[int, Field(ge=0, lt=2**32, description="Chosen by the client, unique among running battles.")]
Seat = Literal[0, 1]
Seed = Annotated[str, Field(pattern="^[0-9a-f]{16}$", description="16 lower-case hex digits.")]
CpuSeconds = Annotated[
    float, Field(ge=0, description="CPU time of the gateway's process since it started, user and system.")
]
Action = Annotated[int, Field(ge=0, lt=2**16, description="An action number of the space.")]
FailureCause = Literal["deadline", "simulator_error", "tracker_error", "illegal_team", "bad_start"]
ErrorCode = Literal["protocol", "unknown_format", "bad_frame", "bad_message", "unauthorized", "overloaded", "silent"]


class Message(Model):
    """A control message or a part of one: strict types, so that both sides accept the same JSON."""

    model_config = ConfigDict(strict=True, json_schema_serialization_defaults_required=True)


class Hello(Message):
    """Opens the conversation. The answer is ``Welcome``, or ``ErrorMessage`` and the end."""

    type: Literal["hello"] = "hello"
    protocol: Literal[13] = PROTOCOL
    format: str = Field(description="Id of a Showdown format for two players.")
    token: str | None = Field(description="The gateway's shared token; null if it has none.")


class BattleStart(Message):
    """One battle to play. Its log depends on its seed, its teams and the actions, and on nothing else."""

    battle: BattleNumber
    seed: Seed
    teams: tuple[str | None, str | None] = Field(description="Packed teams by seat; null: the format generates one.")
    team_seeds: tuple[Seed, Seed] = Field(description="Seeds of the generated teams, by seat.")
    lines: tuple[bool, bool] = Field(description="Seats that receive protocol lines and requests with their rows.")
    states: tuple[bool, bool] = Field(description="Seats that receive the tracker's state with their rows.")
    draws: tuple[Seed | None, Seed | None] = Field(
        description="By seat, the seed from which the gateway draws each choice uniformly; null: the client answers."
    )
    log: bool = Field(description="Return the omniscient log when the battle ends.")
    deadline_seconds: float = Field(gt=0, description="Wall-clock time after which the battle fails.")


class Start(Message):
    """Starts battles. Decisions follow, and in the end ``Finished`` or ``Failed``."""

    type: Literal["start"] = "start"
    battles: tuple[BattleStart, ...]


class Validate(Message):
    """Asks whether teams are legal. The answer is ``Validated``."""

    type: Literal["validate"] = "validate"
    teams: tuple[str, ...] = Field(description="Packed or export text.")


class Generate(Message):
    """Asks for teams. The answer is ``Generated``."""

    type: Literal["generate"] = "generate"
    count: int = Field(ge=1, le=10_000)
    seed: Seed
    source: str | None = Field(description="Random format whose generator is used; null: the format's own.")


class TrackedSeat(Message):
    """What one seat of a battle that runs elsewhere has received since its last row."""

    battle: BattleNumber
    seat: Seat
    lines: tuple[str, ...]
    request: dict[str, Any] | None = Field(description="The seat's newest request; null if there is no new one.")
    state: bool = Field(description="Return the tracker's state after these lines, in `lines`.")


class Track(Message):
    """Feeds battles that run elsewhere (a replay, the ladder). Each request for a choice is answered by a decision."""

    type: Literal["track"] = "track"
    rows: tuple[TrackedSeat, ...]


class TrackedAction(Message):
    """An action of a tracked seat."""

    battle: BattleNumber
    seat: Seat
    action: Action


class Choices(Message):
    """Asks for the simulator's text of tracked seats' actions. The answer is ``Chosen``."""

    type: Literal["choices"] = "choices"
    rows: tuple[TrackedAction, ...]


class Untrack(Message):
    """Forgets tracked battles, whose numbers are then free again. There is no answer."""

    type: Literal["untrack"] = "untrack"
    battles: tuple[BattleNumber, ...]


class SearchedSeat(Message):
    """A seat to search for. The first row of an unknown battle and seat starts a tracker, as in ``Track``."""

    battle: BattleNumber
    seat: Seat
    lines: tuple[str, ...] = Field(description="Protocol lines that the seat has received since its last row.")
    request: dict[str, Any] = Field(description="The seat's newest request, which asks for a choice.")
    seed: Seed


class Search(Message):
    """Asks what seats should play, by search over sampled worlds. The answer is ``Searched``."""

    type: Literal["search"] = "search"
    rows: tuple[SearchedSeat, ...]
    nodes: int = Field(ge=1, le=1_000_000, description="Joint choices to play out; the last world's are all played.")
    turns: int = Field(ge=1, le=50, description="Turns that a node plays, the joint choice's own included.")
    milliseconds: float | None = Field(gt=0, description="Begin no world after this time; null: nodes alone count.")
    teams: tuple[str, ...] = Field(description="Packed teams that players draw from, if the format generates none.")


class Expand(Message):
    """Begins a search whose leaves the client values. The answer is ``Expanded``, then a row of decisions a leaf."""

    type: Literal["expand"] = "expand"
    rows: tuple[SearchedSeat, ...]
    nodes: int = Field(ge=1, le=1_000_000, description="As in `Search`, like all other fields.")
    turns: int = Field(ge=1, le=50)
    milliseconds: float | None = Field(gt=0)
    teams: tuple[str, ...]


class ValuedSeat(Message):
    """The values of the leaves that ``Expand`` found for a row."""

    battle: BattleNumber
    seat: Seat
    values: tuple[float, ...] = Field(description="In the order of the leaves' rows, -1 to 1.")


class Value(Message):
    """Ends the searches that ``Expand`` began. The answer is ``Searched``."""

    type: Literal["value"] = "value"
    rows: tuple[ValuedSeat, ...]


class Sample(Message):
    """Asks for worlds that seats cannot tell from their battles, for a search elsewhere. The answer is ``Sampled``."""

    type: Literal["sample"] = "sample"
    rows: tuple[SearchedSeat, ...]
    worlds: int = Field(ge=1, le=1_000, description="Worlds to draw for each row.")
    teams: tuple[str, ...] = Field(description="As in `Search`.")


class Fork(Message):
    """Copies a running battle at a decision that no seat has answered. The fork's decisions follow."""

    type: Literal["fork"] = "fork"
    battle: BattleNumber
    fork: BattleNumber
    seat: Seat | None = Field(
        description="Draw what this seat has not seen; null: an exact copy with all hidden cards."
    )
    seed: Seed
    teams: tuple[str, ...] = Field(description="As in `Search`.")
    deadline_seconds: float = Field(gt=0, description="Wall-clock time after which the fork fails.")


class Resume(Message):
    """Starts a battle at a decision of one that was played elsewhere, as one seat knew it then.

    What the seat had not seen is drawn, or known from ``input``. The battle's decisions follow, as after ``Start``.
    """

    type: Literal["resume"] = "resume"
    battle: BattleNumber
    seat: Seat
    seen: tuple[tuple[str, ...], tuple[str, ...]] = Field(
        description="Protocol lines so far, as each seat received them."
    )
    request: dict[str, Any] = Field(description="The seat's request, which asks for a choice.")
    input: tuple[str, ...] = Field(
        description="The simulator's input log of the battle, `>start`, `>player` and choices, played again up to the "
        "position; empty: unseen parts are drawn."
    )
    seed: Seed
    teams: tuple[str, ...] = Field(description="As in `Search`.")
    lines: tuple[bool, bool] = Field(description="As in `start`; the first row's are all lines so far.")
    states: tuple[bool, bool] = Field(description="As in `start`.")
    draws: tuple[Seed | None, Seed | None] = Field(description="As in `start`.")
    log: bool = Field(description="Return the omniscient log when the battle ends, from this decision on.")
    deadline_seconds: float = Field(gt=0, description="Wall-clock time after which the battle fails.")


class Stop(Message):
    """Forgets running battles, forks among them. There is no answer, and none of their decisions follows."""

    type: Literal["stop"] = "stop"
    battles: tuple[BattleNumber, ...]


class Welcome(Message):
    """The answer to ``Hello``."""

    type: Literal["welcome"] = "welcome"
    simulator: str = Field(description="Version of the pokemon-showdown package.")
    space: Space = Field(description="Layout of observations and actions.")


class SeatView(Message):
    """What a seat that reads lines or states gets beside its row in the next decisions frame."""

    battle: BattleNumber
    seat: Seat
    lines: tuple[str, ...] = Field(description="Protocol lines since the seat's last row; empty if not asked for.")
    request: dict[str, Any] | None = Field(description="The seat's request; null if it does not read lines.")
    state: dict[str, Any] | None = Field(description="The tracker's state; null if not asked for.")


class Lines(Message):
    """Views of the seats that asked for them, sent before the decisions frame with their rows."""

    type: Literal["lines"] = "lines"
    rows: tuple[SeatView, ...]


class FinishedBattle(Message):
    """How a battle ended."""

    battle: BattleNumber
    winner: Seat | None = Field(description="Null for a draw.")
    turns: NonNegativeInt
    decisions: tuple[NonNegativeInt, NonNegativeInt] = Field(description="Decisions by seat.")
    rejected: NonNegativeInt = Field(description="Choices that the simulator rejected; they are not decisions.")
    log: str | None = Field(description="The omniscient log; null if not asked for.")


class Finished(Message):
    """Battles that ended."""

    type: Literal["finished"] = "finished"
    battles: tuple[FinishedBattle, ...]
    cpu_seconds: CpuSeconds


class FailedBattle(Message):
    """Why a battle has no result."""

    battle: BattleNumber
    cause: FailureCause
    detail: str = Field(description="The validator's words, what is wrong with the start, or a stack trace.")


class Failed(Message):
    """Battles that failed. Actions for them that are still under way are ignored."""

    type: Literal["failed"] = "failed"
    battles: tuple[FailedBattle, ...]


class Rejected(Message):
    """A choice that the simulator rejected. The seat's row comes again, flagged, without this action."""

    type: Literal["rejected"] = "rejected"
    battle: BattleNumber
    seat: Seat
    action: Action
    choice: str = Field(description="The simulator's text; empty if the action was not legal.")
    cause: str = Field(description="The simulator's words.")


class Recycle(Message):
    """Asks the client to start no more battles here, to finish those that run and to reconnect."""

    type: Literal["recycle"] = "recycle"
    reason: str


class Validated(Message):
    """The verdicts on teams, in the order of ``Validate``."""

    type: Literal["validated"] = "validated"
    problems: tuple[tuple[str, ...] | None, ...] = Field(description="The validator's words; null for a legal team.")
    packed: tuple[str | None, ...] = Field(description="The team as the validator accepts it; null if it is illegal.")


class Generated(Message):
    """Packed teams, fewer than asked for if too few attempts gave a legal team."""

    type: Literal["generated"] = "generated"
    teams: tuple[str, ...]


class Choice(Message):
    """The text of one action."""

    battle: BattleNumber
    seat: Seat
    choice: str | None = Field(description="The simulator's text; null if the action is illegal.")
    cause: str | None = Field(description="Why there is no text; null if there is.")


class Chosen(Message):
    """The texts that ``Choices`` asked for, in its order."""

    type: Literal["chosen"] = "chosen"
    rows: tuple[Choice, ...]


class Found(Message):
    """What the search found for one row."""

    battle: BattleNumber
    seat: Seat
    actions: tuple[Action, ...] = Field(description="Legal actions.")
    probabilities: tuple[float, ...] = Field(description="The mixture to play, by action.")
    values: tuple[float, ...] = Field(description="Values of the actions, -1 to 1.")
    worlds: NonNegativeInt
    nodes: NonNegativeInt
    cause: str | None = Field(description="Why the position could not be searched; the mixture is then uniform.")


class Searched(Message):
    """The answers to ``Search``, in its order."""

    type: Literal["searched"] = "searched"
    rows: tuple[Found, ...]
    cpu_seconds: CpuSeconds


class ExpandedSeat(Message):
    """How many leaves one row of ``Expand`` has. Battles that are over at a leaf are not among them."""

    battle: BattleNumber
    seat: Seat
    leaves: NonNegativeInt


class Expanded(Message):
    """Precedes the leaves of ``Expand``: decisions with one row for each, in this order."""

    type: Literal["expanded"] = "expanded"
    rows: tuple[ExpandedSeat, ...]


class SampledSeat(Message):
    """The worlds of one row of ``Sample``."""

    battle: BattleNumber
    seat: Seat
    choices: dict[str, str] = Field(description="The simulator's texts of the legal actions, by action.")
    worlds: tuple[dict[str, Any], ...] = Field(description="Each as `src/search/snapshot.js` writes it.")
    cause: str | None = Field(description="Why the position could not be rebuilt; there are then no worlds.")


class Sampled(Message):
    """The answers to ``Sample``, in its order."""

    type: Literal["sampled"] = "sampled"
    rows: tuple[SampledSeat, ...]


class ErrorMessage(Message):
    """What the client did wrong. The gateway then ends."""

    type: Literal["error"] = "error"
    code: ErrorCode
    message: str


ClientMessage = (
    Hello
    | Start
    | Validate
    | Generate
    | Track
    | Choices
    | Search
    | Expand
    | Value
    | Sample
    | Fork
    | Resume
    | Stop
    | Untrack
)
GatewayMessage = (
    Welcome
    | Lines
    | Finished
    | Failed
    | Rejected
    | Recycle
    | Validated
    | Generated
    | Chosen
    | Searched
    | Expanded
    | Sampled
    | ErrorMessage
)

CLIENT_MESSAGE: TypeAdapter[ClientMessage] = TypeAdapter(
    Annotated[ClientMessage, Field(discriminator="type")], config=ConfigDict(defer_build=True)
)
GATEWAY_MESSAGE: TypeAdapter[GatewayMessage] = TypeAdapter(
    Annotated[GatewayMessage, Field(discriminator="type")], config=ConfigDict(defer_build=True)
)


class _Untitled(GenerateJsonSchema):
    """No titles of fields, which only repeat their names."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 the base class's signature
        return False


def protocol_schema() -> dict[str, Any]:
    """Return the JSON Schema of all messages; ``ClientMessage`` and ``GatewayMessage`` are the two directions."""
    directions = {"ClientMessage": get_args(ClientMessage), "GatewayMessage": get_args(GatewayMessage)}
    models = [model for direction in directions.values() for model in direction]
    _, schema = models_json_schema([(model, "serialization") for model in models], schema_generator=_Untitled)
    definitions = {
        name: {"oneOf": [{"$ref": f"#/$defs/{model.__name__}"} for model in direction]}
        for name, direction in directions.items()
    }
    return {
        "$schema": _DIALECT,
        "title": f"Control messages of the battle gateway, protocol {PROTOCOL}",
        "description": "Made by scripts/make_protocol.py from nashdex.games.showdown.protocol.",
        "$defs": schema["$defs"] | definitions,
    }
