"""Imported policies in battles: a memory for each (battle, seat), one forward pass over all rows.

N decisions, A actions of the policy.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from nashdex.core.ids import GREEDY, SAMPLED
from nashdex.core.seeds import inverse_cdf
from nashdex.games.interface import NO_ACTION, Decisions, Viewed
from nashdex.games.space import Space
from nashdex.policies.interface import Actions
from nashdex.policies.memory import SeatMemory
from nashdex.policies.scripted.declaration import ScriptedPlayer
from nashdex_metamon.checkpoints.archive import LoadedPolicy
from nashdex_metamon.views.reading import NUMBERS, REWARD, TOKENS, MetamonView

_LEAST_PROBABILITY, _MOST_PROBABILITY = 0.001, 0.99
"""What AMAGO clips the probabilities of all actions to, illegal ones too."""
_PREVIOUS = "previous"
"""Input: the last reward, then the last action as one-hot, (N, 1 + A)."""


@dataclass(slots=True)
class _Answers:
    """A seat's last two answers, in the policy's numbers; None: an action that has none."""

    last: int | None = None
    before: int | None = None


class MemoryPlayer(ScriptedPlayer):
    """Plays by an imported network, which sees a battle through its view and remembers it.

    Raises ConfigurationError for a space that is not a Showdown format's.

    Sets torch to one thread, as every policy does: battles are played by one process a core.
    """

    def __init__(self, loaded: LoadedPolicy, space: Space, temperature: float = SAMPLED) -> None:
        torch.set_num_threads(1)
        document = loaded.document
        self.view: MetamonView = MetamonView(
            space,
            loaded.tokenizer,
            observations=document.observation_space,
            actions=document.action_space,
            reward=document.reward,
            vocabulary=document.vocabulary_sha256,
        )
        self._memory = SeatMemory(loaded.network)
        self._is_strict = document.strict_mask
        self._temperature = temperature
        self._answers: dict[tuple[int, int], _Answers] = {}

    @property
    def num_remembered(self) -> int:
        """The number of seats that it remembers."""
        return len(self._memory)

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row."""
        viewed = decisions.viewed
        assert viewed is not None, "whoever plays battles gives a policy what its view shows"
        keys = list(zip(decisions.battle.tolist(), decisions.seat.tolist(), strict=True))
        shown = np.flatnonzero(viewed.is_shown)
        logits = np.zeros(viewed.actions.shape, dtype=np.float32)
        if len(shown):
            logits[shown] = self._logits(
                viewed.take(shown), [keys[row] for row in shown], decisions.asked_again[shown].tolist()
            )
        probabilities = self._arena_probabilities(logits, viewed, decisions.mask)
        if self._temperature == GREEDY:
            action = probabilities.argmax(axis=1)
            log_prob = np.zeros(len(action), dtype=np.float32)
        else:
            action = inverse_cdf(probabilities.cumsum(axis=1), uniforms)
            chosen = probabilities[np.arange(len(action)), action]
            log_prob = np.log(chosen / probabilities.sum(axis=1)).astype(np.float32)
        for row in shown:
            found = np.flatnonzero(viewed.actions[row] == action[row])
            self._answers[keys[row]].last = int(found[0]) if len(found) else None
        return Actions(action, log_prob)

    def forget(self, battle: int, seat: int) -> None:
        """Free the memory of a seat whose battle ended."""
        self._answers.pop((battle, seat), None)
        self._memory.forget((battle, seat))

    def _logits(self, viewed: Viewed, keys: list[tuple[int, int]], asked_again: list[bool]) -> NDArray[np.float32]:
        """Return the logits of shown decisions, (N, A), after the decisions before them."""
        previous = np.zeros((len(keys), 1 + viewed.actions.shape[1]), dtype=np.float32)
        previous[:, 0] = viewed.inputs[REWARD]
        for row, key in enumerate(keys):
            if viewed.is_first[row]:
                self.forget(*key)
            answers = self._answers.setdefault(key, _Answers())
            if not asked_again[row]:
                answers.before = answers.last
            if answers.before is not None:
                previous[row, 1 + answers.before] = 1.0
        inputs = {
            TOKENS: torch.from_numpy(viewed.inputs[TOKENS]),
            NUMBERS: torch.from_numpy(viewed.inputs[NUMBERS]),
            _PREVIOUS: torch.from_numpy(previous),
        }
        logits: NDArray[np.float32] = self._memory.step(inputs, keys, asked_again).numpy()
        return logits

    def _arena_probabilities(
        self, logits: NDArray[np.float32], viewed: Viewed, masks: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return the probabilities of the arena's actions. Where none has a meaning, all legal ones are equal."""
        probabilities: NDArray[np.float64] = masks / masks.sum(axis=1, keepdims=True)
        for row in np.flatnonzero(viewed.is_shown & (viewed.actions != NO_ACTION).any(axis=1)):
            meant = viewed.actions[row]
            own = self._probabilities(logits[row], meant != NO_ACTION)
            legal = probabilities[row].copy()
            probabilities[row] = own[meant == NO_ACTION].sum() * legal
            np.add.at(probabilities[row], meant[meant != NO_ACTION], own[meant != NO_ACTION])
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
