"""The declaration of a scripted policy, and the base of its players."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nashdex.games.interface import Decisions, View
from nashdex.games.space import Space
from nashdex.games.tabular.tree import GameTree, Table
from nashdex.policies.interface import Actions


class ScriptedPlayer(ABC):
    """A scripted policy in one process, ready for one space. Plays many battles at once."""

    view: View | None = None
    """The view that ``Decisions.viewed`` is to come from, if it reads one."""

    @abstractmethod
    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each of N decisions. ``uniforms``, shape (N,) in [0, 1), is all the randomness there is."""

    def forget(self, battle: int, seat: int) -> None:  # noqa: B027 - most players remember nothing
        """Forget a seat whose battle ended."""

    def cpu_seconds(self) -> float:
        """Return the CPU time of its child processes so far, user and system, in seconds; most have none."""
        return 0.0

    def close(self) -> None:  # noqa: B027 - most players start no processes
        """End the child processes. Safe to call twice; a later decision starts others."""


SINGLES_AND_DOUBLES: Final = frozenset({1, 2})


@dataclass(frozen=True)
class ScriptedPolicy:
    """One scripted policy. Its entry point has the same name."""

    player: Callable[..., ScriptedPlayer] | str
    """Makes the player, given the ``Space`` and ``parameters`` as keywords. Raises ConfigurationError if the space
    lacks something. ``module:attribute`` is imported when the policy first plays: for heavy imports."""
    games: frozenset[str] | None = None
    """Games that it plays, by ``Space.game``: ``showdown``, ``tabular``. None: every game."""
    slots: frozenset[int] = frozenset({1})
    """Numbers of slots that it chooses for at once (``Space.num_slots``): 2 in doubles."""
    formats: str = ""
    """Regular expression for the start of the names of the formats that it plays. Empty: every format."""
    needs_lines: bool = False
    """Whether it reads the game's own text (``Decisions.lines``): Showdown's protocol and request."""
    needs_state: bool = False
    """Whether it also reads the tracker's state (``SeatLines.state``); only with ``needs_lines``."""
    is_uniform: bool = False
    """Whether each action is the legal one that the uniform falls on, all of one width: an arena may then play it."""
    parameters: Mapping[str, float] = field(default_factory=dict)
    """Keyword arguments of ``player``: one class can be registered under several names."""
    max_concurrent_battles: int | None = None
    """Largest number of its concurrent battles in a match: a slow policy must not let battles pass their deadline."""
    table: Callable[[GameTree], Table] | None = None
    """Its action probabilities in a tabular game. None: ``player`` is deterministic and is asked in every state."""

    @property
    def module(self) -> str:
        """Module that makes the player."""
        return self.player.partition(":")[0] if isinstance(self.player, str) else self.player.__module__

    def make(self, space: Space) -> ScriptedPlayer:
        """Return a player for ``space``.

        Raises:
            ConfigurationError: the space lacks something that the player needs.
        """
        made = resolve_name(self.player) if isinstance(self.player, str) else self.player
        player: ScriptedPlayer = made(space, **self.parameters)
        return player

    def plays(self, format_id: str, game: str, num_slots: int = 1) -> bool:
        """Say whether it plays a format with spaces of ``num_slots`` of the game that ``Space.game`` names."""
        return (
            (self.games is None or game in self.games)
            and num_slots in self.slots
            and re.match(self.formats, format_id) is not None
        )
