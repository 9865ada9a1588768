"""An answer, assembled from the policy's choice, the networks' evaluation and the tracker's state."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nashdex.core.ids import PolicyId
from nashdex.decide.documents import ActionAnswer, Answer, RefusedError
from nashdex.decide.predicting import predicted
from nashdex.decide.reading import Asked
from nashdex.envs.text import choices_of
from nashdex.games.space import Space


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
