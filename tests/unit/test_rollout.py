"""The rollout: every assignment ends once, draws follow the seat alone, and failures are no results."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from arenas import NUM_TURNS, CardArena, UniformPolicy
from nashdex.core.errors import TryAgainError
from nashdex.core.ids import PolicyId
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import MAX_TRIES, Assignment, Finished, Rollout, require_finished

A, B = PolicyId("a"), PolicyId("b")


def _assignments(count: int, root: int = 1) -> list[Assignment]:
    battles = PairedBattles(root, ["t0", "t1", "t2"], deadline_seconds=9.0)
    return [battles.assignment(number, (A, B), record=True) for number in range(count)]


def _play(
    arena: CardArena, assignments: list[Assignment], concurrent_battles: int = 8
) -> tuple[Rollout, list[Finished]]:
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

    def outcomes(results: list[Finished]) -> dict[int, tuple[int | None, list[int]]]:
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
