"""A gateway for searches: it receives what the searching seats see, and nothing else."""

import weakref
from collections.abc import Sequence
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import TryAgainError
from nashdex.core.seeds import derive_seed, hex_seed
from nashdex.games.interface import Decisions
from nashdex.games.registry import game_for
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.protocol import Message, SearchedSeat, Untrack
from nashdex.games.space import Space

_PATIENCE_SECONDS: Final = 600.0
"""Longest wait for the answers of one batch."""
_UNIFORM_BITS: Final = 2.0**53
_Answer = TypeVar("_Answer", bound=Message)


class SearchGateway:
    """Opens at the first question: a process that only loads a policy starts no simulator."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self.teams = tuple(game_for(space.format).teams())
        """Packed teams that the format's players draw from; none if the simulator generates teams."""
        self._gateway: Gateway | None = None
        self._stop: weakref.finalize[..., Any] | None = None
        """Stops the gateway, also when this object is collected or the process ends."""
        self._spent_cpu_seconds = 0.0
        self._tracked: set[int] = set()

    def rows(self, decisions: Decisions, roots: Sequence[int]) -> tuple[SearchedSeat, ...]:
        """Return N decisions as a search's rows, each with a seed from its root."""
        if not self._tracked and self._gateway is not None and not self._gateway.is_open():
            self.close()
        rows = []
        for battle, seat, root in zip(decisions.battle.tolist(), decisions.seat.tolist(), roots, strict=True):
            said = decisions.lines[battle, seat]
            seed = hex_seed(derive_seed(root, "search"))
            rows.append(
                SearchedSeat(battle=battle, seat=seat, lines=tuple(said.lines), request=said.request, seed=seed)
            )
            self._tracked.add(battle)
        return tuple(rows)

    def ask(self, message: Any, answer: type[_Answer]) -> _Answer:  # noqa: ANN401 - any client message
        """Send a message and return the gateway's answer.

        Raises:
            TryAgainError: it does not arrive.
            ConfigurationError: the gateway refused the message.
        """
        if self._gateway is None:
            self._gateway = Gateway(self._space.format)
            self._stop = weakref.finalize(self, self._gateway.close)
        self._gateway.send(message)
        return self._gateway.expect(answer, _PATIENCE_SECONDS)

    def observations(self, count: int) -> NDArray[np.float32]:
        """Return the next ``count`` rows of observations, shape (count, F).

        Raises:
            TryAgainError: they do not arrive.
        """
        assert self._gateway is not None, "a question was asked"
        found = np.empty((count, self._space.observation_size), dtype=np.float32)
        row = 0
        while row < count:
            received = self._gateway.receive(_PATIENCE_SECONDS)
            if not isinstance(received, Decisions):
                raise TryAgainError(f"the gateway sent {type(received).__name__}, expected the leaves of a search")
            found[row : row + len(received)] = received.observation
            row += len(received)
            self._gateway.channel.recycle()
        return found

    def forget(self, battle: int) -> None:
        """Forget both seats of a battle, which has ended."""
        if battle in self._tracked and self._gateway is not None:
            self._tracked.discard(battle)
            self._gateway.send(Untrack(battles=(battle,)))

    def cpu_seconds(self) -> float:
        """Return the gateway's CPU time so far, in seconds."""
        return self._spent_cpu_seconds + (0.0 if self._gateway is None else self._gateway.cpu_seconds())

    def close(self) -> None:
        """Stop the gateway. A later question starts another."""
        self._spent_cpu_seconds = self.cpu_seconds()
        if self._stop is not None:
            self._stop()
        self._gateway = self._stop = None
        self._tracked.clear()


class Searching:
    """A player whose searches a gateway runs: the methods that every such player shares."""

    def __init__(self, space: Space) -> None:
        self._gateway = SearchGateway(space)

    def forget(self, battle: int, seat: int) -> None:
        """Forget both seats of the battle, which has ended."""
        del seat
        self._gateway.forget(battle)

    def cpu_seconds(self) -> float:
        """Return the CPU time of the gateway so far, in seconds."""
        return self._gateway.cpu_seconds()

    def close(self) -> None:
        """Stop the gateway."""
        self._gateway.close()


def search_roots(uniforms: NDArray[np.float64]) -> list[int]:
    """Return the seed of each decision, from its uniform number: it seeds the search, and the draw from the mixture."""
    roots: list[int] = (uniforms * _UNIFORM_BITS).astype(np.int64).tolist()
    return roots
