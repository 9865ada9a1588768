"""Plays battles with batched inference. The recorded action is the one that was executed."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from nashdex.core.errors import TryAgainError
from nashdex.core.ids import PolicyId
from nashdex.core.stopping import check_stop
from nashdex.games.interface import Arena, BattleSpec, Decisions, Failure, Outcome
from nashdex.games.space import NUM_SEATS
from nashdex.policies.interface import Actions, Policy
from nashdex.rollout.recording import Recorder
from nashdex.rollout.seats import Seats
from nashdex.telemetry import metrics
from nashdex.trajectory.episode import Episode

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
class PlayedBattle:
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

    A battle's number in the arena is its slot here.

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
        self._seats = Seats(policies, concurrent_battles)
        self._slots: list[Assignment | None] = [None] * concurrent_battles
        self._free = list(range(concurrent_battles))
        self._tries = [0] * concurrent_battles
        self._recorder = Recorder(concurrent_battles, arena.space)
        self.counts = RolloutCounts() if counts is None else counts
        metrics.REJECTED_CHOICES.add(0)

    def play(self, assignments: Iterable[Assignment]) -> Iterator[PlayedBattle]:
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
            void: dict[int, Failure] = {}
            for decisions in [Decisions.joined(events.decisions)] if joins else events.decisions:
                void |= self._answer(decisions)
            for outcome in events.outcomes:
                yield self._finish(outcome)
            retries = []
            for failure in [*events.failures, *void.values()]:
                self.counts.failures[failure.cause] += 1
                metrics.FAILED_BATTLES.add(cause=failure.cause)
                self._forget(failure.battle)
                if self._tries[failure.battle] < MAX_TRIES:
                    retries.append(failure.battle)
                else:
                    detail = f"{failure.cause}: {failure.detail}"
                    yield PlayedBattle(self._release(failure.battle), None, detail=detail)
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
            self._recorder.begin(slot, assignment.record)
            battles.append(self._seats.running(slot, assignment.spec, assignment.seats))
        if battles:
            self._arena.start(battles)

    def _answer(self, decisions: Decisions) -> dict[int, Failure]:
        """Answer decisions. The battles that a player from outside has no answer for end here; returns them."""
        answers = self._seats.answer(decisions)
        if answers.void:
            decisions, answers = self._without_void(decisions, answers)
            if not len(decisions):
                return dict(answers.void)
        self._arena.act(decisions.battle, decisions.seat, answers.action)
        self._recorder.add(decisions, answers.action, answers.log_prob)
        self.counts.decisions += int(len(decisions) - np.count_nonzero(decisions.asked_again))
        return dict(answers.void)

    def _without_void(self, decisions: Decisions, answers: Actions) -> tuple[Decisions, Actions]:
        """Stop the void battles, and return the other rows."""
        is_void = np.isin(decisions.battle, list(answers.void))
        for battle in answers.void:
            self._arena.stop(battle, int(np.count_nonzero(decisions.battle == battle)))
        rows = np.flatnonzero(~is_void)
        return decisions.take(rows), Actions(answers.action[rows], answers.log_prob[rows], answers.void)

    def _finish(self, outcome: Outcome) -> PlayedBattle:
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
        return PlayedBattle(self._release(slot), outcome, tuple(episodes))

    def _forget(self, slot: int) -> None:
        for seat in range(NUM_SEATS):
            self._seats.forget(slot, seat)
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


def require_finished(finished: PlayedBattle) -> Outcome:
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
