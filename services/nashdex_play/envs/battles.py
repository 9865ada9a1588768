"""Battles whose decisions a program answers, seat by seat; policies answer the other seats. Any game, in this process.

F observation values, A actions.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_uniform
from nashdex.games.interface import Decisions, Failure, Game, Outcome, Position, SeatLines
from nashdex.games.space import NUM_SEATS, Space
from nashdex.games.teams import TeamPool
from nashdex.learning.rewards import REWARDS
from nashdex.policies.interface import Actions, Policy, with_processes
from nashdex.policies.mixture import Mixture
from nashdex.rollout.contestants import load_contestant
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.seats import Seats
from nashdex_play.envs.views import EnvView, nothing, shown

_EVEN = 0.5


class StepRewards:
    """The reward called ``kind`` of each step in ``space``.

    Raises:
        ConfigurationError: there is no such reward, or ``space`` does not have it.
    """

    def __init__(self, space: Space, kind: str, discount: float) -> None:
        self._reward = REWARDS[kind]
        if not self._reward.fits(space.game, space.num_slots):
            raise ConfigurationError(f"{space.format} has no reward {kind!r}; expected 'win-loss'")
        self._space = space
        self._discount = discount
        self.reads_observations = self._reward.reads_observations
        """Whether steps within battles have a reward other than 0."""

    def of_steps(self, before: NDArray[np.float32], after: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the rewards of steps within battles, shape (N,), from neighbouring observations, each (N, F)."""
        pairs = np.stack([before, after], axis=1).reshape(-1, before.shape[1])
        return self._rewards(pairs, _EVEN)[::2]

    def of_last_step(self, before: NDArray[np.float32], score: float) -> float:
        """Return the reward of the step that ends a battle, from the last observation, shape (F,)."""
        return float(self._rewards(before[None], score)[0])

    def _rewards(self, observations: NDArray[np.float32], score: float) -> NDArray[np.float32]:
        return self._reward.compute(self._space, observations, score, self._discount)


_CALLER: Final = PolicyId("caller")
_DEADLINE_SECONDS: Final = 86_400.0
"""A caller may think, or train, between two decisions."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What one seat's open decision shows besides its observation."""

    lines: SeatLines | None
    """The game's own text and the tracker's state, if the battles are opened with ``reads_states``."""
    view: Any
    """What the view shows; None if there is none."""
    view_actions: NDArray[np.int64] | None = None
    """Shape (V,): the action that each of the view's means, or ``NO_ACTION``; None if it has none of its own."""
    is_shown: bool = True
    """False where the view does not show the decision; then ``view`` holds zeros."""


class _Caller:
    """Sits at the program's seats. Implements ``policies.interface.Policy``, and is never asked."""

    id = _CALLER
    view = None

    def __init__(self, *, reads_states: bool) -> None:
        self.needs_lines = self.needs_state = reads_states

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        del decisions, uniforms
        raise AssertionError("the program answers its own seats")

    def forget(self, battle: int, seat: int) -> None:
        del battle, seat


class Battles:
    """Up to ``num_battles`` battles of ``game`` at once, each under its number from 0.

    Use ``start``, then ``wait``, and ``act`` for every seat that ``is_asked``; then ``wait`` again. B is
    ``num_battles``, and S the number of seats: seat s of battle b is at b · S + s of the arrays.

    Raises:
        ConfigurationError: ``opponent`` names no policy, or it or ``view`` does not fit the game.
        DataError: its run or policy is missing or altered.
        TryAgainError: no gateway answers.
    """

    def __init__(
        self,
        game: Game,
        opponent: str | None,
        num_battles: int,
        *,
        view: EnvView,
        reads_states: bool = False,
        keeps_logs: bool = False,
        num_gateways: int = 1,
    ) -> None:
        reads_states = reads_states or view.reads_states
        if reads_states and game.tree is not None:
            raise ConfigurationError(
                f"{game.format} has no states to show: leave `states` and `view` out, or play a Showdown format"
            )
        self._is_closed = False
        self._game = game
        self._pool = TeamPool(game.teams())
        self._keeps_logs = keeps_logs
        self._arena = game.open_arena(num_gateways=num_gateways)
        try:
            self._view = None if view.make is None else view.make(self._arena.space)
            self.nothing = nothing(self._arena.space, self._view)
            policies: dict[PolicyId, Policy] = {}
            mixture = Mixture({_CALLER: 1.0})
            if opponent is not None:
                contestant = load_contestant(opponent, self._arena.space)
                policies, mixture = dict(contestant.policies), contestant.mixture
        except BaseException:
            self._arena.close()
            raise
        self.shows_more = reads_states or self._view is not None
        """Whether decisions are ``shown``."""
        self._mixture = mixture
        self._opponents = tuple(policies.values())
        self._seats = Seats(policies | {_CALLER: _Caller(reads_states=reads_states)}, num_battles)
        num_seats = num_battles * NUM_SEATS
        self._is_callers = np.zeros(num_seats, dtype=np.bool_)
        self.is_asked = np.zeros(num_seats, dtype=np.bool_)
        """Shape (B · S,): which of the program's seats have an open decision. What follows holds each one's newest."""
        self.asked_again = np.zeros(num_seats, dtype=np.bool_)
        """Shape (B · S,): the simulator refused the previous answer, for a reason that the player could not know."""
        self.observations = np.zeros((num_seats, self.space.observation_size), dtype=np.float32)
        """Shape (B · S, F)."""
        self.masks = np.zeros((num_seats, self.space.num_actions), dtype=np.bool_)
        """Shape (B · S, A): legal actions, at least one of each decision."""
        self.shown: dict[tuple[int, int], Shown] = {}
        """The rest of it by battle and seat, if there is a view or states are read."""
        self.ended: list[Outcome | Failure | None] = [None] * num_battles
        """How each battle ended, until its number is used again."""
        self.players: list[tuple[PolicyId, PolicyId] | None] = [None] * num_battles
        """Who plays each battle, by seat; None before the first."""
        self._is_running = [False] * num_battles
        self._waiting: set[int] = set()
        """Battles that run and ask the program nothing."""

    @property
    def space(self) -> Space:
        """Layout of observations and actions."""
        return self._arena.space

    def start(self, battle: int, seed: int, seat: int | None, position: Position | None = None) -> None:
        """Start a battle with the program at ``seat``, or at both. A battle that runs under this number is forgotten.

        Teams, chance, and which policy of a mixture is the opponent follow from ``seed`` and ``seat``. At a
        ``position``, only what its seat had not seen is drawn.

        Raises:
            ConfigurationError: the battles are closed, as in ``act``.
        """
        self._check_open()
        self.stop(battle)
        opponent = self._mixture.draw(derive_uniform(seed, "policy")) if seat is not None else _CALLER
        pairs = PairedBattles(seed, self._pool, _DEADLINE_SECONDS)
        assignment = pairs.assignment(seat or 0, (_CALLER, opponent), log=self._keeps_logs)
        spec = assignment.spec
        if position is not None:
            spec = replace(spec, position=position.model_copy(update={"teams": tuple(self._pool.teams)}))
        self.ended[battle] = None
        self.players[battle] = assignment.seats
        self._is_running[battle] = True
        self._waiting.add(battle)
        for each in range(NUM_SEATS):
            self._is_callers[battle * NUM_SEATS + each] = assignment.seats[each] == _CALLER
        running = self._seats.running(battle, spec, assignment.seats, arena_draws=self._arena.draws_choices)
        self._arena.start([running])

    def stop(self, battle: int) -> None:
        """Forget a battle, if it runs."""
        if battle in self._waiting:  # an interrupted ``wait``: its decision would be taken for one of the number's next
            self.wait()
        if self._is_running[battle]:
            self._arena.stop(battle, int(self.is_asked[battle * NUM_SEATS : (battle + 1) * NUM_SEATS].sum()))
            self._forget(battle)

    def wait(self, on_end: Callable[[int], None] = lambda _: None) -> None:
        """Let policies play until every battle asks the program or has ended.

        ``on_end`` takes the number of each battle that ends, and may start the next one under it.

        Raises:
            TryAgainError: a gateway is gone and cannot be replaced.
        """
        while self._waiting:
            events = self._arena.poll()
            for decisions in events.decisions:
                self._take(decisions)
            endings: list[Outcome | Failure] = [*events.outcomes, *events.failures]
            for ending in endings:
                self._forget(ending.battle)
                self.ended[ending.battle] = ending
                on_end(ending.battle)

    def act(self, battles: NDArray[np.int64], seats: NDArray[np.int8], actions: NDArray[np.int64]) -> None:
        """Answer open decisions of the program's seats, each with a legal action. A battle's are answered together."""
        self._check_open()
        self.is_asked[_places(battles, seats)] = False
        self._waiting.update(battles.tolist())
        self._arena.act(battles, seats, actions)

    def close(self) -> None:
        """Stop the simulator, and the child processes of policies. Safe to call twice."""
        self._is_closed = True
        self._arena.close()
        for policy in with_processes(self._opponents):
            policy.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise ConfigurationError("the environment is closed: make another one")

    def _take(self, decisions: Decisions) -> None:
        at = _places(decisions.battle, decisions.seat)
        is_callers = self._is_callers[at]
        num_callers = np.count_nonzero(is_callers)
        if num_callers < len(decisions):
            self._let_opponents_answer(decisions.take(_rows(np.flatnonzero(~is_callers))))
        if not num_callers:
            return
        # Of the opponents too: it is cheaper than to select the rows.
        self.asked_again[at] = decisions.asked_again
        self.observations[at] = decisions.observation
        self.masks[at] = decisions.mask
        self.is_asked[at] = is_callers
        asking = decisions.battle if num_callers == len(decisions) else decisions.battle[is_callers]
        self._waiting.difference_update(asking.tolist())
        if self.shows_more:
            self._show(decisions.take(_rows(np.flatnonzero(is_callers))))

    def _let_opponents_answer(self, decisions: Decisions) -> None:
        answers = self._seats.answer(decisions)
        for failure in answers.void.values():
            raise TryAgainError(f"the opponent has no answer ({failure.cause}: {failure.detail}); try again")
        self._arena.act(decisions.battle, decisions.seat, answers.action)

    def _show(self, decisions: Decisions) -> None:
        viewed = None if self._view is None else self._view.read(decisions)
        for row, key in enumerate(zip(decisions.battle.tolist(), decisions.seat.tolist(), strict=True)):
            self.shown[key] = Shown(
                decisions.lines.get(key),
                None if viewed is None else shown(viewed.inputs, row),
                None if viewed is None or not viewed.actions.shape[1] else viewed.actions[row],
                viewed is None or bool(viewed.is_shown[row]),
            )

    def _forget(self, battle: int) -> None:
        self._is_running[battle] = False
        self._waiting.discard(battle)
        self.is_asked[battle * NUM_SEATS : (battle + 1) * NUM_SEATS] = False
        for seat in range(NUM_SEATS):
            self._seats.forget(battle, seat)
            if self._view is not None:
                self._view.forget(battle, seat)


def _places(battles: NDArray[np.int64], seats: NDArray[np.int8]) -> NDArray[np.int64] | slice:
    """Return where seats are in the arrays of ``Battles``; a single one as a slice, as in ``_rows``."""
    if len(battles) != 1:
        return battles * NUM_SEATS + seats
    place = int(battles[0]) * NUM_SEATS + int(seats[0])
    return slice(place, place + 1)


def _rows(rows: NDArray[np.int64]) -> NDArray[np.int64] | slice:
    """Return a single row as a slice, which numpy reads and writes faster than a list of rows."""
    if len(rows) != 1:
        return rows
    row = int(rows[0])
    return slice(row, row + 1)
