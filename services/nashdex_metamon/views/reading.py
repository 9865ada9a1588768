"""A view of metamon in battles: tokens, numbers and the last reward of each decision, and what its actions mean."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashdex.games.interface import NO_ACTION, Decisions, Viewed, ViewIdentity
from nashdex.games.showdown.wire_actions import WireActions
from nashdex.games.space import Space
from nashdex.telemetry import metrics
from nashdex_metamon.actions import action_space
from nashdex_metamon.dex import dex
from nashdex_metamon.live import LiveSeat, begins_battle, generation_of, orders
from nashdex_metamon.observations import observation_space
from nashdex_metamon.rewards import reward_function
from nashdex_metamon.state import BattleState
from nashdex_metamon.tokens import Tokenizer
from nashdex_metamon.views.definition import view_definition

TOKENS, NUMBERS, REWARD = "tokens", "numbers", "reward"
"""Names of inputs: (N, W) int64, (N, F) float32 and (N,) float32, 0 at a battle's first decision."""


@dataclass(slots=True)
class _Seat:
    live: LiveSeat
    state: BattleState | None = None
    tokens: NDArray[np.int32] | None = None
    """Tokens of the newest decision, in case its answer is rejected; None in Team Preview, which metamon skips."""
    numbers: NDArray[np.float32] | None = None
    reward: float = 0.0
    num_shown: int = 0


class MetamonView:
    """Implements ``games.interface.View`` for the format of ``space``.

    Raises ConfigurationError if that is not a Showdown format, or a name is unknown.
    """

    def __init__(
        self, space: Space, tokenizer: Tokenizer, *, observations: str, actions: str, reward: str, vocabulary: str
    ) -> None:
        """Read what ``observations``, ``actions`` and ``reward`` name; ``vocabulary`` is the tokenizer's sha256."""
        self.identity: ViewIdentity = view_definition(observations, actions, reward, vocabulary).identity
        self._space = observation_space(observations)
        self._num_actions = action_space(actions).num_actions
        self._reward = reward_function(reward)
        self._tokenizer = tokenizer
        self._format = space.format
        self._dex = dex(generation_of(space.format))
        self._wire = WireActions.of(space)
        self._seats: dict[tuple[int, int], _Seat] = {}
        self.num_leaked = 0
        """Seats that began a battle while an earlier one was still remembered."""
        metrics.LEAKED_STATES.add(0)

    @property
    def num_remembered(self) -> int:
        """The number of seats that it remembers."""
        return len(self._seats)

    def read(self, decisions: Decisions) -> Viewed:
        """Return what each row shows. A decision that is asked again shows the same, with other legal actions."""
        num = len(decisions)
        tokens = np.zeros((num, self._space.num_words), dtype=np.int64)
        numbers = np.zeros((num, self._space.num_numbers), dtype=np.float32)
        rewards = np.zeros(num, dtype=np.float32)
        actions = np.full((num, self._num_actions), NO_ACTION, dtype=np.int64)
        is_shown = np.zeros(num, dtype=np.bool_)
        is_first = np.zeros(num, dtype=np.bool_)
        masks = decisions.mask
        keys = zip(decisions.battle.tolist(), decisions.seat.tolist(), strict=True)
        for row, key in enumerate(keys):
            seat = self._seat(decisions, row, key)
            if seat.tokens is not None and seat.numbers is not None:
                tokens[row], numbers[row], rewards[row] = seat.tokens, seat.numbers, seat.reward
                meant = orders(decisions.lines[key], masks[row], self._wire)
                actions[row] = meant[: self._num_actions]
                is_shown[row], is_first[row] = True, seat.num_shown == 1
        return Viewed({TOKENS: tokens, NUMBERS: numbers, REWARD: rewards}, actions, is_shown, is_first)

    def forget(self, battle: int, seat: int) -> None:
        """Forget a seat whose battle ended."""
        self._seats.pop((battle, seat), None)

    def _seat(self, decisions: Decisions, row: int, key: tuple[int, int]) -> _Seat:
        """Return a seat after this decision."""
        said = decisions.lines[key]
        if decisions.asked_again[row] and key in self._seats:
            return self._seats[key]
        if begins_battle(said) and key in self._seats:
            # Whoever played the battle before did not say that it ended.
            metrics.LEAKED_STATES.add()
            self.num_leaked += 1
            self.forget(*key)
        seat = self._seats.setdefault(key, _Seat(LiveSeat(self._format, key[1], self._dex)))
        state = seat.live.read(said)
        if state is None:
            seat.tokens = seat.numbers = None
            return seat
        observed = self._space.observe(state, seat.live.seen)
        seat.tokens, seat.numbers = self._tokenizer.tokens(observed.words), observed.numbers
        seat.reward = 0.0 if seat.state is None else self._reward(seat.state, state)
        seat.state = state
        seat.num_shown += 1
        return seat
