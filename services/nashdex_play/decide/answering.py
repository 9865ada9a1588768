"""An answer, assembled from the policy's choice, the networks' evaluation and the tracker's state."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.core.user_input import shorten
from nashdex.games.showdown.names import without_series
from nashdex.games.space import Space
from nashdex.serve.room import Room
from nashdex.serve.tracking import neutral_request
from nashdex.settings.run import FORMAT_ALIASES
from nashdex_play.decide.documents import ActionAnswer, Answer, Predicted, Question, RefusedError, check_request
from nashdex_play.envs.text import choices_of
from nashdex_replays.evidence import is_tier_of
from nashdex_replays.words import clean_name

_PLAYED_ALIKE: Final = ("bo3", "unrated", "blitz")
"""Parts of formats' names that change the number of battles, the ladder or the clock, and no battle."""


class Asked(NamedTuple):
    """A question that can be decided."""

    battle: str
    seat: Literal[0, 1]
    lines: tuple[str, ...]
    """Lines of the battle, with neutral names of the players."""
    request: dict[str, Any]
    turn: int


def read_question(question: Question, space: Space) -> Asked:
    """Return what a question asks of a policy for ``space``.

    Raises:
        RefusedError: it does not name the players, nothing is to be decided, or its log says that it is of another
            generation, game type or tier.
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
    lines = tuple(room.new_lines())
    _check_format(lines, space)
    return Asked(question.battle, seat, lines, neutral_request(request, seat), room.turns)


def _check_format(lines: Sequence[str], space: Space) -> None:
    """Check what the log says of its format before the battle begins. It may say nothing.

    Raises:
        RefusedError: another generation, game type or tier.
    """
    expected = {"gen": space.format[len("gen")], "gametype": "singles" if space.num_slots == 1 else "doubles"}
    for line in lines:
        _, kind, stated, *_ = [*line.split("|", 3), "", ""]
        if kind == "start":
            return
        if expected.get(kind, stated) != stated or (kind == "tier" and not _is_tier_of(stated, space.format)):
            raise RefusedError(f"{kind} is {shorten(stated)} in log; expected a battle of {space.format}", "log")


def _is_tier_of(tier: str, format_id: str) -> bool:
    name = clean_name(tier.partition("@@@")[0])
    for word in _PLAYED_ALIKE:
        name = name.replace(word, "")
    return is_tier_of(FORMAT_ALIASES.get(name, name), without_series(format_id))


_UNSEEN: Final = "unseen"


def predicted(
    space: Space, observation: NDArray[np.float32], state: Mapping[str, Any], probabilities: NDArray[np.float64]
) -> tuple[Predicted, ...]:
    """Return the probability (C,) of each choice that the opponent has shown, and of all others as ``unseen``.

    Shown are the moves of its active Pokémon, and the Pokémon that it can switch to.
    """
    shown = {name: float(probabilities[number]) for name, number in _shown(space, observation, state)}
    found = [Predicted(name=name, probability=probability) for name, probability in shown.items()]
    rest = max(0.0, 1.0 - sum(shown.values()))
    return (*sorted(found, key=lambda each: -each.probability), Predicted(name=_UNSEEN, probability=rest))


def _shown(space: Space, observation: NDArray[np.float32], state: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield names and numbers: rows of the observation and of the state are in one order."""
    species = space.view(observation[None], "opponent", "species")[0, :, 0].astype(np.int64)
    moves = space.view(observation[None], "opponent_moves", "move")[0, :, 0].astype(np.int64)
    moves_each = len(moves) // len(species)
    for row, pokemon in enumerate(state["opponent"]["pokemon"][: len(species)]):
        if pokemon["active"]:
            for place, move in enumerate(pokemon["moves"][:moves_each]):
                if number := int(moves[row * moves_each + place]):
                    yield move["id"], number
        elif not pokemon["fainted"] and species[row]:
            yield f"switch {pokemon['species']}", space.vocabularies["move"] + int(species[row])


class Thought(NamedTuple):
    """What networks think of one decision. F observation values, C choices of the opponent."""

    probabilities: Mapping[int, float]
    """Probability of each legal action."""
    value: float | None
    win_probability: float | None
    observation: NDArray[np.float32]
    """Shape (F,)."""
    prediction: NDArray[np.float64] | None
    """Shape (C,)."""


def answer_of(
    space: Space,
    asked: Asked,
    policy: PolicyId,
    action: int,
    texts: Mapping[int, str | None],
    state: Mapping[str, Any],
    thought: Thought | None,
) -> Answer | RefusedError:
    """Return the answer to a question; ``texts`` has Showdown's words for every legal action."""
    try:
        names = choices_of(space, state, asked.request, np.array(list(texts), dtype=np.int64))
        opponent = None
        if thought is not None and thought.prediction is not None:
            opponent = predicted(space, thought.observation, state, thought.prediction)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        # Both come from outside, and a tracker reads less of a request than its names need.
        return RefusedError(
            f"request does not fit log ({type(error).__name__}); expected both of one moment", "request"
        )
    probabilities = {} if thought is None else thought.probabilities
    actions = [
        ActionAnswer(choice=_command(text), name=names[each], probability=probabilities.get(each))
        for each, text in texts.items()
    ]
    chosen = _command(texts[action])
    assert chosen is not None, "a whole choice has words"
    return Answer(
        choice=chosen,
        actions=tuple(sorted(actions, key=lambda each: -(each.probability or 0.0))),
        value=None if thought is None else thought.value,
        win_probability=None if thought is None else thought.win_probability,
        opponent=opponent,
        turn=asked.turn,
        rqid=asked.request.get("rqid"),
        policy=policy,
    )


def _command(text: str | None) -> str | None:
    return None if text is None else f"/choose {text}"
