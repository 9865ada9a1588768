"""Views by name: what an environment's agent observes of its decisions. N decisions, A actions, F observation values.

An installed package adds a view by an entry point of the group ``nashdex.views``.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from nashdex.core.arguments import check_flag
from nashdex.core.errors import ConfigurationError
from nashdex.core.plugins import Registry
from nashdex.core.user_input import shorten
from nashdex.games.interface import Decisions, View, Viewed, ViewIdentity
from nashdex.games.legal import LegalActions
from nashdex.games.space import Space
from nashdex_play.envs.text import choices_of, position


@dataclass(frozen=True, kw_only=True)
class EnvView:
    """One view, as an environment takes it. Its entry point has the same name."""

    make: Callable[[Space], View] | None
    """Returns what reads the decisions of a space; None: the arena's own observation. An observation is the view's one
    input, or a dictionary of its inputs by name. Without decisions, the view gives their shapes and types."""
    reads_states: bool = True
    """Whether it reads ``Decisions.lines`` with the tracker's state, which Showdown's formats alone have."""

    def __post_init__(self) -> None:
        """Check the fields: a package, or a user, wrote them."""
        if self.make is not None and not callable(self.make):
            raise ConfigurationError(f"make is {shorten(self.make)}: expected a function of a Space, or None")
        check_flag("reads_states", self.reads_states)


class _Texts:
    """What a seat knows as a text for each decision. Implements ``games.interface.View``."""

    def __init__(self, space: Space, name: str, write: Callable[[dict[str, Any], dict[int, str]], str]) -> None:
        self.identity = ViewIdentity(name=name, fingerprint=name)
        self._space = space
        self._write = write

    def read(self, decisions: Decisions) -> Viewed:
        """Return the text of each row, (N,), in Team Preview too. It has no actions of its own."""
        num = len(decisions)
        texts = np.full(num, "", dtype=np.object_)
        for row, key in enumerate(zip(decisions.battle.tolist(), decisions.seat.tolist(), strict=True)):
            seen = decisions.lines[key]
            assert seen.state is not None, "a view that reads states gets them"
            legal = decisions.legal[row].astype(np.int64)
            texts[row] = self._write(seen.state, choices_of(self._space, seen.state, seen.request, legal))
        return Viewed(
            {"text": texts}, np.zeros((num, 0), dtype=np.int64), np.ones(num, np.bool_), np.zeros(num, np.bool_)
        )

    def forget(self, battle: int, seat: int) -> None:
        """Remember nothing."""


def _json(state: dict[str, Any], choices: dict[int, str]) -> str:
    return json.dumps({"state": state, "choices": choices}, ensure_ascii=False)


OBSERVATION: Final = EnvView(make=None, reads_states=False)
TEXT: Final = EnvView(make=lambda space: _Texts(space, "text", position))
JSON: Final = EnvView(make=lambda space: _Texts(space, "json", _json))

VIEWS: Final[Registry[EnvView]] = Registry(
    "nashdex.views",
    "view",
    EnvView,
    {
        "observation": "nashdex_play.envs.views:OBSERVATION",
        "text": "nashdex_play.envs.views:TEXT",
        "json": "nashdex_play.envs.views:JSON",
    },
)
"""By the name that ``view`` of an environment uses."""


def nothing(space: Space, view: View | None) -> Any:  # noqa: ANN401 - an array, a text, or a dictionary of them
    """Return what an agent observes where nothing is to be decided: zeros, or no text."""
    if view is None:
        return np.zeros(space.observation_size, dtype=np.float32)
    return shown({name: _blank(part) for name, part in view.read(_no_decisions(space)).inputs.items()}, 0)


def shown(inputs: Mapping[str, NDArray[Any]], row: int) -> Any:  # noqa: ANN401 - as nothing() returns it
    """Return the observation of one row of a view's inputs."""
    rows = {name: part[row] if part.dtype == np.object_ else part[row, ...] for name, part in inputs.items()}
    return next(iter(rows.values())) if len(rows) == 1 else rows


def _blank(part: NDArray[Any]) -> NDArray[Any]:
    shape = (1, *part.shape[1:])
    return np.full(shape, "", dtype=np.object_) if part.dtype == np.object_ else np.zeros(shape, dtype=part.dtype)


def _no_decisions(space: Space) -> Decisions:
    return Decisions(
        battle=np.zeros(0, dtype=np.int64),
        seat=np.zeros(0, dtype=np.int8),
        asked_again=np.zeros(0, dtype=np.bool_),
        observation=np.zeros((0, space.observation_size), dtype=np.float32),
        legal=LegalActions.joined([], space.num_actions),
    )
