"""A small game with real rules, for tests of what plays games: highest total of three cards wins."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nashdex.core.evidence import Evidence
from nashdex.core.ids import PolicyId
from nashdex.games.interface import (
    BattleSpec,
    Decisions,
    Events,
    Failure,
    Outcome,
    RunningBattle,
    Situations,
    View,
)
from nashdex.games.legal import LegalActions
from nashdex.games.space import Space
from nashdex.policies.interface import Actions
from support.spaces import tiny_space

NUM_TURNS = 3


class CardArena:
    """Each seat plays one of its legal actions on each of three turns; the larger sum wins, equal sums draw.

    A battle whose seed is in ``fails`` breaks that many times before it can be finished. A seat that plays the
    highest action when its seed is odd is refused once, and asked again.
    """

    def __init__(self, num_actions: int = 4, fails: dict[int, int] | None = None) -> None:
        self._space = tiny_space(num_actions)
        self._fails = dict(fails or {})
        self._specs: dict[int, BattleSpec] = {}
        self._totals: dict[int, list[list[int]]] = {}
        self._answered: dict[int, dict[int, int]] = {}
        self._refused: set[tuple[int, int]] = set()
        self._pending: list[tuple[int, int, bool]] = []
        self._failures: list[Failure] = []
        self.most_at_once = 0
        self.is_closed = False

    @property
    def space(self) -> Space:
        return self._space

    @property
    def versions(self) -> dict[str, str]:
        return {"cards": "1"}

    @property
    def draws_choices(self) -> bool:
        return False

    def start(self, battles: Sequence[RunningBattle]) -> None:
        for running in battles:
            battle, spec = running.battle, running.spec
            assert battle not in self._specs, "a slot is taken twice"
            if self._fails.get(spec.seed, 0) > 0:
                self._fails[spec.seed] -= 1
                self._failures.append(Failure(battle, "broken", "on purpose"))
                continue
            self._specs[battle] = spec
            self._totals[battle] = [[], []]
            self._answered[battle] = {}
            self._pending += [(battle, 0, False), (battle, 1, False)]
        self.most_at_once = max(self.most_at_once, len(self._specs))

    def poll(self) -> Events:
        events = Events([], [], self._failures)
        self._failures = []
        for battle in [b for b, totals in self._totals.items() if len(totals[0]) == NUM_TURNS]:
            first, second = (sum(total) for total in self._totals.pop(battle))
            del self._specs[battle]
            winner = None if first == second else int(second > first)
            events.outcomes.append(Outcome(battle, winner, NUM_TURNS, (NUM_TURNS, NUM_TURNS), rejected=0))
        if self._pending:
            battle, seat, again = np.array(self._pending).T
            observation = np.zeros((len(battle), self._space.observation_size), dtype=np.float32)
            observation[:, 4] = [len(self._totals[b][s]) for b, s in zip(battle, seat, strict=True)]
            mask = np.ones((len(battle), self._space.num_actions), dtype=np.bool_)
            mask[:, 0] = False
            legal = LegalActions.of_mask(mask)
            events.decisions.append(Decisions(battle, seat.astype(np.int8), again.astype(np.bool_), observation, legal))
            self._pending = []
        return events

    def act(self, battle: NDArray[np.int64], seat: NDArray[np.int8], action: NDArray[np.int64]) -> None:
        for b, s, a in zip(battle.tolist(), seat.tolist(), action.tolist(), strict=True):
            assert 0 < a < self._space.num_actions, "an illegal action was played"
            spec = self._specs[b]
            if a == self._space.num_actions - 1 and spec.seed % 2 and (spec.seed, s) not in self._refused:
                self._refused.add((spec.seed, s))
                self._pending.append((b, s, True))
                continue
            self._answered[b][s] = a
            if len(self._answered[b]) == 2:
                for side in range(2):
                    self._totals[b][side].append(self._answered[b][side])
                self._answered[b] = {}
                if len(self._totals[b][0]) < NUM_TURNS:
                    self._pending += [(b, 0, False), (b, 1, False)]

    def stop(self, battle: int, num_open: int) -> None:
        raise NotImplementedError

    def resident_bytes(self) -> int:
        return 0

    def cpu_seconds(self) -> float:
        return 0.0

    def close(self) -> None:
        self.is_closed = True


class UniformPolicy:
    """Plays a legal action at random, or always the highest."""

    def __init__(self, name: str, *, greedy: bool = False) -> None:
        self.id = PolicyId(name)
        self.needs_lines = False
        self.needs_state = False
        self.view: View | None = None
        self._greedy = greedy
        self.batch_sizes: list[int] = []
        self.forgotten: list[tuple[int, int]] = []

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        self.batch_sizes.append(len(decisions))
        num_actions = decisions.mask.shape[1]
        drawn = 1 + np.floor(uniforms * (num_actions - 1)).astype(np.int64)
        action = np.full(len(decisions), num_actions - 1) if self._greedy else drawn
        return Actions(action, np.full(len(decisions), -1.0, dtype=np.float32))

    def forget(self, battle: int, seat: int) -> None:
        self.forgotten.append((battle, seat))


class CardGame:
    """The card game, for what opens its own arena. Implements ``games.interface.Game``."""

    format = "tiny"
    evidence = Evidence.COUNTS
    largest_payoff = 0.5
    tree = None

    def __init__(self) -> None:
        self.arenas: list[CardArena] = []

    def open_arena(self, *, num_gateways: int) -> CardArena:
        del num_gateways
        self.arenas.append(CardArena())
        return self.arenas[-1]

    def teams(self) -> Sequence[str]:
        return ()

    def situations(self, space: Space, observations: NDArray[np.float32]) -> Situations:
        del space
        return Situations("", np.arange(len(observations)), np.zeros(len(observations), np.int64))
