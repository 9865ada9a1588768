"""The rollout: every assignment ends once, draws follow the seat alone, and failures are no results."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from nashdex.core.errors import DataError, TryAgainError
from nashdex.core.ids import PolicyId
from nashdex.games.interface import Decisions, Events
from nashdex.games.legal import LegalActions
from nashdex.policies.interface import Actions
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import MAX_TRIES, Assignment, PlayedBattle, Rollout, require_finished
from nashdex.rollout.recording import Recorder
from support.arenas import NUM_TURNS, CardArena, UniformPolicy
from support.spaces import tiny_space

A, B = PolicyId("a"), PolicyId("b")


def _assignments(count: int, root: int = 1) -> list[Assignment]:
    battles = PairedBattles(root, ["t0", "t1", "t2"], deadline_seconds=9.0)
    return [battles.assignment(number, (A, B), record=True) for number in range(count)]


def _play(
    arena: CardArena, assignments: list[Assignment], concurrent_battles: int = 8
) -> tuple[Rollout, list[PlayedBattle]]:
    rollout = Rollout(arena, {A: UniformPolicy("a"), B: UniformPolicy("b")}, concurrent_battles)
    return rollout, list(rollout.play(assignments))


def test_every_assignment_ends_once_and_never_too_many_run() -> None:
    arena = CardArena()
    rollout, finished = _play(arena, _assignments(50))
    assert Counter(f.assignment.number for f in finished) == Counter(range(50))
    assert arena.most_at_once == 8
    assert rollout.counts.battles == 50
    assert rollout.counts.decisions == 50 * 2 * NUM_TURNS


def test_what_happens_does_not_depend_on_what_shares_the_batch() -> None:
    def actions(concurrent_battles: int) -> dict[int, tuple[list[int], int | None]]:
        _, finished = _play(CardArena(), _assignments(40), concurrent_battles)
        return {
            f.assignment.number: (f.episodes[0].actions.tolist(), f.outcome.winner)
            for f in finished
            if f.outcome is not None
        }

    assert actions(1) == actions(7) == actions(40)


class TwoGateways(CardArena):
    """Asks for the decisions of odd and of even battles apart, as two gateways do that are ready at once."""

    def poll(self) -> Events:
        events = super().poll()
        parts = [d.take(np.flatnonzero(d.battle % 2 == k)) for d in events.decisions for k in range(2)]
        return replace(events, decisions=[part for part in parts if len(part)])


class CountingPolicy(UniformPolicy):
    """Counts the batches that it answers."""

    num_batches = 0

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        self.num_batches += 1
        return super().act(decisions, uniforms)


@pytest.mark.parametrize("joins", [False, True])
def test_decisions_of_several_gateways_are_answered_in_one_batch_or_in_each_their_own(*, joins: bool) -> None:
    policy = CountingPolicy("a")
    rollout = Rollout(TwoGateways(), {A: policy, B: policy}, 8, joins_batches=joins)
    finished = list(rollout.play([replace(one, seats=(A, A)) for one in _assignments(8)]))
    alone = Rollout(CardArena(), {A: UniformPolicy("a")}, 1)
    expected = list(alone.play([replace(one, seats=(A, A)) for one in _assignments(8)]))

    def played(finished: list[PlayedBattle]) -> dict[int, list[list[int]]]:
        return {one.assignment.number: [e.actions.tolist() for e in one.episodes] for one in finished}

    assert played(finished) == played(expected)
    assert (policy.num_batches < 2 * NUM_TURNS) is joins


def test_a_rejected_choice_is_replaced_by_the_one_that_was_executed() -> None:
    """With odd seeds the highest card is refused once; the record holds exactly the played turns all the same."""
    _, finished = _play(CardArena(), _assignments(60))
    assert {len(f.episodes[0]) for f in finished} == {NUM_TURNS}
    for f in finished:
        np.testing.assert_array_equal(f.episodes[0].observations[:, 4], range(NUM_TURNS))


def test_an_episode_says_who_met_whom_and_how_it_ended() -> None:
    _, finished = _play(CardArena(), _assignments(20))
    for f in finished:
        (episode,) = f.episodes
        assert f.outcome is not None
        assert (episode.policy, episode.opponent, episode.seat) == (A, B, f.assignment.number % 2)
        assert episode.score == f.outcome.score(episode.seat)
        assert episode.seed == f.assignment.spec.seed


def test_a_failed_battle_is_replayed_with_its_own_seed_and_never_scored() -> None:
    assignments = _assignments(10)
    undisturbed = _play(CardArena(), assignments)[1]
    broken = assignments[3].spec.seed
    rollout, finished = _play(CardArena(fails={broken: MAX_TRIES - 1}), assignments)
    assert rollout.counts.failures == {"broken": MAX_TRIES - 1}

    def outcomes(results: list[PlayedBattle]) -> dict[int, tuple[int | None, list[int]]]:
        return {f.assignment.number: (require_finished(f).winner, f.episodes[0].actions.tolist()) for f in results}

    assert outcomes(finished) == outcomes(undisturbed)


def test_a_battle_that_never_finishes_is_no_result() -> None:
    assignments = _assignments(10)
    rollout, finished = _play(CardArena(fails={assignments[3].spec.seed: 99}), assignments)
    (unfinished,) = [f for f in finished if f.outcome is None]
    assert unfinished.assignment.number == 3
    assert rollout.counts.battles == 9
    with pytest.raises(TryAgainError, match="broken: on purpose"):
        require_finished(unfinished)


def test_both_seats_of_one_policy_are_answered_in_one_batch() -> None:
    policy = UniformPolicy("a")
    rollout = Rollout(CardArena(), {A: policy}, concurrent_battles=4)
    list(rollout.play([replace(a, seats=(A, A)) for a in _assignments(4)]))
    assert max(policy.batch_sizes) == 8
    assert sorted(policy.forgotten) == sorted((slot, seat) for slot in range(4) for seat in range(2))


def test_a_pair_shares_its_teams_and_swaps_the_seats() -> None:
    for first, second in zip(*[iter(_assignments(20))] * 2, strict=True):
        assert first.spec.teams == second.spec.teams
        assert first.spec.team_seeds == second.spec.team_seeds
        assert first.spec.seed != second.spec.seed
        assert first.seats == (A, B)
        assert second.seats == (B, A)
        assert (first.record, second.record) == ((True, False), (False, True))
        assert (first.first_seat, second.first_seat) == (0, 1)


def test_battles_follow_their_number_and_root_alone() -> None:
    assert _assignments(5) == _assignments(9)[:5]
    assert _assignments(5)[0].spec.seed != _assignments(5, root=2)[0].spec.seed


def test_the_stronger_policy_wins() -> None:
    """Always the highest card beats a random one: scores are given to the right seat."""
    rollout = Rollout(CardArena(), {A: UniformPolicy("a", greedy=True), B: UniformPolicy("b")}, 8)
    scores = [require_finished(f).score(f.assignment.first_seat) for f in rollout.play(_assignments(200))]
    assert np.mean(scores) > 0.9


@given(
    batches=st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), min_size=1, max_size=8, unique=True), max_size=200
    ),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_recorder_keeps_each_seats_decisions_in_order_whatever_the_batches(
    batches: list[list[tuple[int, int]]], seed: int
) -> None:
    """Against a list for each seat; battles end, choices are asked again, and one seat is not recorded."""
    rng = np.random.default_rng(seed)
    space = tiny_space(40)
    recorder = Recorder(4, space)
    expected: dict[tuple[int, int], list[tuple[float, ...]]] = {}

    def begin(slot: int) -> None:
        recorder.begin(slot, (True, slot != 2))
        expected.update({(slot, seat): [] for seat in range(2)})

    for slot in range(4):
        begin(slot)
    for seats in batches:
        battle, seat = (np.array(column) for column in zip(*seats, strict=True))
        again = np.array([bool(expected[key]) and rng.random() < 0.2 for key in seats])
        observation = rng.random((len(seats), space.observation_size)).astype(np.float32)
        mask = rng.random((len(seats), 40)) < 0.5
        mask[:, 0] = True
        action, log_prob = rng.integers(0, 4, len(seats)), rng.random(len(seats)).astype(np.float32)
        recorder.add(
            Decisions(battle, seat.astype(np.int8), again, observation, LegalActions.of_mask(mask)), action, log_prob
        )
        for row, key in enumerate(seats):
            if again[row]:
                expected[key].pop()
            expected[key].append((*observation[row], *mask[row], action[row], log_prob[row]))
        if rng.random() < 0.2:
            slot = int(rng.integers(4))
            for seat_number in range(2):
                if expected[slot, seat_number] and (slot, seat_number) != (2, 1):
                    steps = recorder.take(slot, seat_number)
                    columns = (steps.observations, steps.legal.mask, steps.actions[:, None], steps.log_probs[:, None])
                    np.testing.assert_array_equal(np.hstack(columns), expected[slot, seat_number])
                recorder.drop(slot, seat_number)
            begin(slot)


def test_a_battle_may_be_long_and_its_rows_are_used_again() -> None:
    space = tiny_space(2)
    recorder = Recorder(1, space)
    for _ in range(3):
        recorder.begin(0, (True, True))
        for turn in range(1000):
            observation = np.full((2, space.observation_size), turn, dtype=np.float32)
            decisions = Decisions(
                np.zeros(2, np.int64),
                np.arange(2, dtype=np.int8),
                np.zeros(2, np.bool_),
                observation,
                LegalActions.of_mask(np.ones((2, 2), np.bool_)),
            )
            recorder.add(decisions, np.array([0, 1]), np.zeros(2, np.float32))
        for seat in range(2):
            steps = recorder.take(0, seat)
            np.testing.assert_array_equal(steps.observations[:, 0], range(1000))
            assert set(steps.actions.tolist()) == {seat}
            recorder.drop(0, seat)
    assert recorder.num_rows == 2048, "the pool is as large as one battle needs"


def test_a_policy_that_repeats_an_illegal_action_is_named_instead_of_asked_for_ever() -> None:
    class Stubborn(UniformPolicy):
        def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
            answers = super().act(decisions, uniforms)
            return Actions(np.zeros_like(answers.action), answers.log_prob)

    class Asking(CardArena):
        def act(self, battle: NDArray[np.int64], seat: NDArray[np.int8], action: NDArray[np.int64]) -> None:
            legal = action > 0
            refused = zip(battle[~legal].tolist(), seat[~legal].tolist(), strict=True)
            self._pending += [(b, s, True) for b, s in refused]
            super().act(battle[legal], seat[legal], action[legal])

    rollout = Rollout(Asking(), {A: UniformPolicy("a"), B: Stubborn("b")}, 8)
    with pytest.raises(
        DataError, match=r"^policy b repeats an action that is not legal: 0; expected one of \[1, 2, 3\]"
    ):
        list(rollout.play(_assignments(8)))
