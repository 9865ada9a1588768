"""One battle, decision by decision, for programs that plan: it can be forked.

Policies and runs play through ``Arena``, which serves many battles at once. This is for notebooks, planners and tests.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.core.seeds import derive_seed, hex_seed
from nashdex.games.interface import Decisions
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.protocol import (
    BattleStart,
    Failed,
    Finished,
    FinishedBattle,
    Fork,
    Lines,
    Recycle,
    Rejected,
    Start,
    Stop,
)
from nashdex.games.space import NUM_SEATS

_ANSWER_SECONDS: Final = 60.0
_DEADLINE_SECONDS: Final = 86_400.0
_NUM_NUMBERS: Final = 2**32


@dataclass(frozen=True, slots=True)
class Decision:
    """One seat's open decision."""

    observation: NDArray[np.float32]
    """Shape (F,)."""
    legal: NDArray[np.int64]
    """Legal actions, ascending."""
    asked_again: bool
    """Whether the simulator rejected the previous answer."""


class Battle:
    """A battle on ``gateway``, which must not be used for anything else in between.

    The caller chooses its number: battles and forks that run on one gateway need different numbers.
    """

    def __init__(self, gateway: Gateway, number: int) -> None:
        """Use ``start`` or ``fork``."""
        self._gateway = gateway
        self.number = number
        self.decisions: dict[int, Decision] = {}
        """Open decisions by seat; empty once the battle is over."""
        self.result: FinishedBattle | None = None
        """How it ended; None while it runs."""

    @classmethod
    def start(
        cls, gateway: Gateway, *, seed: int, teams: tuple[str | None, str | None] = (None, None), number: int = 0
    ) -> Self:
        """Start a battle between packed ``teams``; None: the format's generator makes the team.

        Raises:
            ConfigurationError: a team is illegal, or missing in a format without a generator.
            TryAgainError: the gateway does not answer.
        """
        battle = cls(gateway, number)
        first, second = (hex_seed(derive_seed(seed, "team", seat)) for seat in range(NUM_SEATS))
        start = BattleStart(
            battle=number,
            seed=hex_seed(derive_seed(seed, "battle")),
            teams=teams,
            team_seeds=(first, second),
            lines=(False, False),
            states=(False, False),
            draws=(None, None),
            log=False,
            deadline_seconds=_DEADLINE_SECONDS,
        )
        gateway.send(Start(battles=(start,)))
        battle._receive()
        return battle

    def act(self, actions: Mapping[int, int]) -> None:
        """Answer every open decision, by seat, and wait for the next ones or the end.

        Raises:
            ConfigurationError: the seats differ from the seats of ``decisions``, or an action is not legal.
        """
        if actions.keys() != self.decisions.keys():
            raise ConfigurationError(
                f"battle {self.number} waits for seats {sorted(self.decisions)}, but there are actions for seats "
                f"{sorted(actions)}; give one action for each seat that it waits for"
            )
        for seat, action in actions.items():
            legal = self.decisions[seat].legal
            if action not in legal:
                raise ConfigurationError(
                    f"action {action} of seat {seat} is not legal now; expected one of {legal.tolist()}"
                )
        seats = sorted(actions)
        self._gateway.act(
            np.full(len(seats), self.number),
            np.array(seats, dtype=np.int8),
            np.array([actions[seat] for seat in seats]),
        )
        self.decisions = {}
        self._receive()

    def fork(
        self,
        *,
        seed: int,
        number: int | None = None,
        seat: int | None = None,
        teams: tuple[str, ...] = (),
    ) -> "Battle":
        """Return a copy that plays on by itself, with chance from ``seed``. This battle stays as it is.

        Args:
            seed: of all chance from here on; without ``seat`` nothing else is random.
            number: of the fork; by default this one's plus 1.
            seat: draw everything that this seat has not seen (docs/reference/search.md). None: an exact copy, which
                knows both players' hidden cards.
            teams: packed teams that players draw from, if the format generates none; only with ``seat``.

        Raises:
            ConfigurationError: the battle is over, the number is taken, or worlds of the format cannot be drawn.
        """
        if not self.decisions:
            raise ConfigurationError(f"battle {self.number} is over: there is nothing to fork")
        fork = Battle(self._gateway, (self.number + 1) % _NUM_NUMBERS if number is None else number)
        self._gateway.send(
            Fork(
                battle=self.number,
                fork=fork.number,
                seat=None if seat is None else (0 if seat == 0 else 1),
                seed=hex_seed(seed),
                teams=teams,
                deadline_seconds=_DEADLINE_SECONDS,
            )
        )
        fork._receive()
        return fork

    def stop(self) -> None:
        """Forget the battle, so that it takes no memory. Its number is free again."""
        self._gateway.send(Stop(battles=(self.number,)))
        self.decisions = {}

    def _receive(self) -> None:
        """Send what is queued, and wait until the battle asks again or is over."""
        self._gateway.flush()
        while not self.decisions and self.result is None:
            received = self._gateway.receive(_ANSWER_SECONDS)
            match received:
                case Decisions():
                    self._ask(received)
                case Finished():
                    self.result = received.battles[0]
                case Failed():
                    failed = received.battles[0]
                    raise ConfigurationError(f"battle {self.number} failed ({failed.cause}): {failed.detail}")
                case Rejected() | Lines():
                    pass  # The decision comes again.
                case Recycle():
                    pass  # Battles and forks go on here until the gateway is overloaded.
                case None:
                    raise TryAgainError(f"the gateway sent nothing for {_ANSWER_SECONDS:.0f} s")
                case _:
                    raise TryAgainError(f"the gateway sent an unexpected {type(received).__name__}")

    def _ask(self, decisions: Decisions) -> None:
        for row, (battle, seat) in enumerate(zip(decisions.battle.tolist(), decisions.seat.tolist(), strict=True)):
            assert battle == self.number, "another battle on this gateway was asked"
            legal = decisions.legal[row].astype(np.int64)
            observation = decisions.observation[row].copy()
            self.decisions[seat] = Decision(observation, legal, bool(decisions.asked_again[row]))
        self._gateway.channel.recycle()
