"""Plays battles with batched inference.

Each seat draws from its own counter-based generator, seeded by battle and seat, so that the other decisions of a batch
do not change its draw. The recorded action is the one that was executed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import TryAgainError
from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed, uniforms
from nashdex.core.stopping import check_stop
from nashdex.games.interface import NUM_SEATS, Arena, BattleSpec, Decisions, Outcome, RunningBattle
from nashdex.games.view import View
from nashdex.policies.interface import Actions, Policy
from nashdex.rollout.recording import Recorder
from nashdex.telemetry import metrics
from nashdex.trajectory.episode import Episode

_NO_VIEW = -1
MAX_TRIES = 4
"""Tries of one battle, each with the same seeds, before it counts as unfinished."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """A planned battle and the policies that play it."""

    spec: BattleSpec
    seats: tuple[PolicyId, PolicyId]
    number: int = 0
    """The caller's number for the battle."""
    team_names: tuple[str, str] = ("", "")
    """By seat, for the record: the team's number in the set, or the seed that generated it."""
    first_seat: int = 0
    """Seat of the policy that the result is counted for."""
    record: tuple[bool, bool] = (False, False)
    """Seats whose decisions are recorded."""


@dataclass(frozen=True, slots=True)
class Finished:
    """One assignment's end."""

    assignment: Assignment
    outcome: Outcome | None
    """None if all ``MAX_TRIES`` tries failed: the battle has no result."""
    episodes: tuple[Episode, ...] = ()
    """One for each recorded seat."""
    detail: str = ""
    """Why the last try failed, if there is no outcome."""


@dataclass(slots=True)
class RolloutCounts:
    """Totals of the battles played so far."""

    battles: int = 0
    decisions: int = 0
    rejected_choices: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    """Failed tries by cause."""


class Rollout:
    """Plays assignments on an arena, at most ``concurrent_battles`` at once.

    A battle's number in the arena is its slot here. A seat's policy, seed and draw counter are at index
    slot · ``NUM_SEATS`` + seat of their arrays.

    With ``joins_batches``, decisions that several gateways ask for at once are answered in one batch. The slower an
    answer is, the more gateways ask meanwhile. It suits a GPU; a CPU's caches hold one gateway's batch better.
    """

    def __init__(
        self,
        arena: Arena,
        policies: Mapping[PolicyId, Policy],
        concurrent_battles: int,
        counts: RolloutCounts | None = None,
        *,
        joins_batches: bool = False,
    ) -> None:
        self._arena = arena
        self._joins_batches = joins_batches
        self._policies = list(policies.values())
        self._index = {policy_id: index for index, policy_id in enumerate(policies)}
        self._views: list[View] = []
        """Policies that see alike share a view, which is computed once for all of them."""
        self._view_of = np.full(len(self._policies), _NO_VIEW, dtype=np.int64)
        """The view of each policy."""
        self._find_views()
        self._slots: list[Assignment | None] = [None] * concurrent_battles
        self._free = list(range(concurrent_battles))
        self._tries = [0] * concurrent_battles
        num_seats = concurrent_battles * NUM_SEATS
        self._policy_of = np.zeros(num_seats, dtype=np.int64)
        self._seed_of = np.zeros(num_seats, dtype=np.uint64)
        self._num_draws = np.zeros(num_seats, dtype=np.uint64)
        self._recorder = Recorder(concurrent_battles, arena.space)
        self.counts = RolloutCounts() if counts is None else counts
        metrics.REJECTED_CHOICES.add(0)

    def play(self, assignments: Iterable[Assignment]) -> Iterator[Finished]:
        """Yield every assignment's end, in the order in which they end.

        Raises:
            StoppedError: the process was asked to stop.
        """
        waiting = iter(assignments)
        self._fill(waiting)
        while len(self._free) < len(self._slots):
            check_stop()
            events = self._arena.poll()
            joins = self._joins_batches and len(events.decisions) > 1
            for decisions in [Decisions.joined(events.decisions)] if joins else events.decisions:
                self._answer(decisions)
            for outcome in events.outcomes:
                yield self._finish(outcome)
            retries = []
            for failure in events.failures:
                self.counts.failures[failure.cause] += 1
                metrics.FAILED_BATTLES.add(cause=failure.cause)
                self._forget(failure.battle)
                if self._tries[failure.battle] < MAX_TRIES:
                    retries.append(failure.battle)
                else:
                    detail = f"{failure.cause}: {failure.detail}"
                    yield Finished(self._release(failure.battle), None, detail=detail)
            self._start(retries)
            if self._free:
                self._fill(waiting)

    def _fill(self, waiting: Iterator[Assignment]) -> None:
        started = []
        while self._free and (assignment := next(waiting, None)) is not None:
            slot = self._free.pop()
            self._slots[slot] = assignment
            self._tries[slot] = 0
            started.append(slot)
        self._start(started)

    def _start(self, slots: list[int]) -> None:
        battles = []
        for slot in slots:
            assignment = self._assignment(slot)
            self._tries[slot] += 1
            needs_lines, needs_state = [False, False], [False, False]
            for seat, policy_id in enumerate(assignment.seats):
                index = self._index[policy_id]
                at = slot * NUM_SEATS + seat
                self._policy_of[at] = index
                self._seed_of[at] = derive_seed(assignment.spec.seed, "seat", seat)
                self._num_draws[at] = 0
                needs_lines[seat] = self._policies[index].needs_lines
                needs_state[seat] = self._policies[index].needs_state
            self._recorder.begin(slot, assignment.record)
            lines, states = (needs_lines[0], needs_lines[1]), (needs_state[0], needs_state[1])
            battles.append(RunningBattle(slot, assignment.spec, lines=lines, states=states))
        if battles:
            self._arena.start(battles)

    def _answer(self, decisions: Decisions) -> None:
        battle, seat = decisions.battle, decisions.seat
        seats = battle * NUM_SEATS + seat
        policy_of = self._policy_of[seats]
        num_draws = self._num_draws[seats]
        draws = uniforms(self._seed_of[seats], num_draws)
        self._num_draws[seats] = num_draws + np.uint64(1)
        view_of = self._view_of[policy_of]
        action = np.zeros(len(decisions), dtype=np.int64)
        log_prob = np.zeros(len(decisions), dtype=np.float32)
        for view in np.unique(view_of) if self._views else (_NO_VIEW,):
            rows = np.flatnonzero(view_of == view)
            seen = decisions if len(rows) == len(decisions) else decisions.take(rows)
            if view != _NO_VIEW:
                seen = replace(seen, viewed=self._views[view].read(seen))
            answers = self._act(seen, policy_of[rows], draws[rows])
            action[rows], log_prob[rows] = answers.action, answers.log_prob
        self._arena.act(battle, seat, action)
        self._recorder.add(decisions, action, log_prob)
        self.counts.decisions += int(len(decisions) - np.count_nonzero(decisions.asked_again))

    def _act(self, decisions: Decisions, policy_of: NDArray[np.int64], draws: NDArray[np.float64]) -> Actions:
        """Return the answers of the policies that the rows belong to, which have one view or none."""
        present = np.flatnonzero(np.bincount(policy_of))
        if len(present) == 1:
            answers: Actions = self._policies[present[0]].act(decisions, draws)
            return answers
        action = np.zeros(len(decisions), dtype=np.int64)
        log_prob = np.zeros(len(decisions), dtype=np.float32)
        for index in present:
            rows = np.flatnonzero(policy_of == index)
            answers = self._policies[index].act(decisions.take(rows), draws[rows])
            action[rows], log_prob[rows] = answers.action, answers.log_prob
        return Actions(action, log_prob)

    def _find_views(self) -> None:
        by_fingerprint: dict[str, int] = {}
        for index, policy in enumerate(self._policies):
            if policy.view is not None:
                fingerprint = policy.view.identity.fingerprint
                if fingerprint not in by_fingerprint:
                    by_fingerprint[fingerprint] = len(self._views)
                    self._views.append(policy.view)
                self._view_of[index] = by_fingerprint[fingerprint]

    def _finish(self, outcome: Outcome) -> Finished:
        slot = outcome.battle
        assignment = self._assignment(slot)
        episodes = []
        for seat in range(NUM_SEATS):
            if assignment.record[seat]:
                steps = self._recorder.take(slot, seat)
                episodes.append(
                    Episode(
                        seed=assignment.spec.seed,
                        seat=seat,
                        policy=assignment.seats[seat],
                        opponent=assignment.seats[1 - seat],
                        score=outcome.score(seat),
                        observations=steps.observations,
                        legal=steps.legal,
                        actions=steps.actions,
                        log_probs=steps.log_probs,
                    )
                )
        self._forget(slot)
        self.counts.battles += 1
        self.counts.rejected_choices += outcome.rejected
        if outcome.rejected:
            metrics.REJECTED_CHOICES.add(outcome.rejected)
        return Finished(self._release(slot), outcome, tuple(episodes))

    def _forget(self, slot: int) -> None:
        for seat in range(NUM_SEATS):
            policy = self._policy_of[slot * NUM_SEATS + seat]
            self._policies[policy].forget(slot, seat)
            if self._view_of[policy] != _NO_VIEW:
                self._views[self._view_of[policy]].forget(slot, seat)
            self._recorder.drop(slot, seat)

    def _assignment(self, slot: int) -> Assignment:
        assignment = self._slots[slot]
        assert assignment is not None, "the arena reported a battle that is not running"
        return assignment

    def _release(self, slot: int) -> Assignment:
        assignment = self._assignment(slot)
        self._slots[slot] = None
        self._free.append(slot)
        return assignment


def require_finished(finished: Finished) -> Outcome:
    """Return the outcome of a battle whose result is required.

    Raises:
        TryAgainError: every try failed.
    """
    if finished.outcome is None:
        raise TryAgainError(
            f"the battle with seed {finished.assignment.spec.seed} between {' and '.join(finished.assignment.seats)} "
            f"failed {MAX_TRIES} times ({finished.detail}); try again"
        )
    return finished.outcome
