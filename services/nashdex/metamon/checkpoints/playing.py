"""Imported policies in battles: a memory for each (battle, seat), one forward pass over all rows."""

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from nashdex.core.ids import GREEDY, SAMPLED
from nashdex.core.seeds import inverse_cdf
from nashdex.games.interface import Decisions
from nashdex.games.space import Space
from nashdex.metamon.actions import action_space
from nashdex.metamon.checkpoints.archive import LoadedPolicy
from nashdex.metamon.checkpoints.memory import SeatMemory
from nashdex.metamon.dex import dex
from nashdex.metamon.live import NO_ORDER, LiveSeat, WireActions, begins_battle, generation_of, orders
from nashdex.metamon.observations import observation_space
from nashdex.metamon.rewards import reward_function
from nashdex.metamon.state import BattleState
from nashdex.policies.interface import Actions
from nashdex.policies.scripted.declaration import ScriptedPlayer
from nashdex.telemetry import metrics

_LEAST_PROBABILITY, _MOST_PROBABILITY = 0.001, 0.99
"""What AMAGO clips the probabilities of all actions to, illegal ones too."""


@dataclass(slots=True)
class _Seat:
    live: LiveSeat
    last_state: BattleState | None = None
    last_action: int | None = None
    logits: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    """Of the newest decision, for when its answer is rejected and asked for again."""


class MemoryPlayer(ScriptedPlayer):
    """Plays by an imported network, which sees a battle as metamon shows it.

    Raises ConfigurationError for a space that is no Showdown format's.

    A rejected decision is answered again by the same logits: the network remembers each decision once. Sets torch to
    one thread, as every policy does: battles are played by one process a core.
    """

    def __init__(self, loaded: LoadedPolicy, space: Space, temperature: float = SAMPLED) -> None:
        torch.set_num_threads(1)
        document = loaded.document
        self._network = loaded.network
        self._tokenizer = loaded.tokenizer
        self._memory = SeatMemory(loaded.network.memory_shapes())
        self._observations = observation_space(document.observation_space)
        self._num_actions = action_space(document.action_space).num_actions
        self._reward = reward_function(document.reward)
        self._is_strict = document.strict_mask
        self._temperature = temperature
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

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row."""
        self._decide(decisions)
        probabilities = np.stack([self._wire_probabilities(decisions, row) for row in range(len(decisions))])
        if self._temperature == GREEDY:
            action = probabilities.argmax(axis=1)
            log_prob = np.zeros(len(action), dtype=np.float32)
        else:
            action = inverse_cdf(probabilities.cumsum(axis=1), uniforms)
            chosen = probabilities[np.arange(len(action)), action]
            log_prob = np.log(chosen / probabilities.sum(axis=1)).astype(np.float32)
        for row, key in enumerate(_keys(decisions)):
            seat = self._seats[key]
            meant = orders(decisions.lines[key], decisions.mask[row], self._wire)[: self._num_actions]
            found = np.flatnonzero(meant == action[row])
            seat.last_action = int(found[0]) if len(found) else None
        return Actions(action, log_prob)

    def forget(self, battle: int, seat: int) -> None:
        """Free the memory of a seat whose battle ended."""
        self._seats.pop((battle, seat), None)
        self._memory.forget((battle, seat))

    def _decide(self, decisions: Decisions) -> None:
        """Compute the logits of every row that is a new decision."""
        words, numbers, previous, keys = [], [], [], []
        for row, key in enumerate(_keys(decisions)):
            said = decisions.lines[key]
            if decisions.asked_again[row] and key in self._seats:
                continue
            if begins_battle(said) and key in self._seats:
                # Whoever played the battle before did not say that it ended.
                metrics.LEAKED_STATES.add()
                self.num_leaked += 1
                self.forget(*key)
            seat = self._seats.setdefault(key, _Seat(LiveSeat(self._format, key[1], self._dex)))
            state = seat.live.read(said)
            if state is None:
                seat.logits = np.zeros(self._num_actions, dtype=np.float32)
                continue
            observed = self._observations.observe(state, seat.live.seen)
            words.append(self._tokenizer.tokens(observed.words))
            numbers.append(observed.numbers)
            previous.append(self._previous(seat, state))
            keys.append(key)
            seat.last_state = state
        if not keys:
            return
        with torch.inference_mode():
            logits = self._network.step(
                torch.from_numpy(np.stack(words)).to(torch.int64),
                torch.from_numpy(np.stack(numbers)),
                torch.from_numpy(np.stack(previous)),
                self._memory.tensors,
                self._memory.slots(keys),
            ).numpy()
        for key, row_logits in zip(keys, logits, strict=True):
            self._seats[key].logits = row_logits

    def _previous(self, seat: _Seat, state: BattleState) -> NDArray[np.float32]:
        """Return the last reward and the last action as one-hot, shape (1 + A,); zero at the first decision."""
        values = np.zeros(1 + self._num_actions, dtype=np.float32)
        if seat.last_state is not None:
            values[0] = self._reward(seat.last_state, state)
            if seat.last_action is not None:
                values[1 + seat.last_action] = 1.0
        return values

    def _wire_probabilities(self, decisions: Decisions, row: int) -> NDArray[np.float64]:
        """Return the simulator's actions' probabilities. Without an order, all legal ones are equally probable."""
        key = (int(decisions.battle[row]), int(decisions.seat[row]))
        mask = decisions.mask[row]
        legal: NDArray[np.float64] = mask / mask.sum()
        said = decisions.lines[key]
        meant = orders(said, mask, self._wire)[: self._num_actions]
        if said.request.get("teamPreview") or not (meant != NO_ORDER).any():
            return legal
        own = self._probabilities(self._seats[key].logits, meant != NO_ORDER)
        probabilities: NDArray[np.float64] = np.zeros(len(mask))
        np.add.at(probabilities, meant[meant != NO_ORDER], own[meant != NO_ORDER])
        probabilities += own[meant == NO_ORDER].sum() * legal
        return probabilities

    def _probabilities(self, logits: NDArray[np.float32], legal: NDArray[np.bool_]) -> NDArray[np.float64]:
        shifted = np.where(legal, logits.astype(np.float64), -np.inf)
        shifted -= shifted.max()
        if self._temperature not in {SAMPLED, GREEDY}:
            shifted /= self._temperature
        probabilities: NDArray[np.float64] = np.exp(shifted)
        probabilities /= probabilities.sum()
        if not self._is_strict:
            probabilities = probabilities.clip(_LEAST_PROBABILITY, _MOST_PROBABILITY)
            probabilities /= probabilities.sum()
        return probabilities


def _keys(decisions: Decisions) -> list[tuple[int, int]]:
    return list(zip(decisions.battle.tolist(), decisions.seat.tolist(), strict=True))
