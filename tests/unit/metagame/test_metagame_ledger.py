"""Counting battles: by id, as integers, each exactly once."""

import json
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.core.steps import shard_range
from nashdex.metagame.evidence.battles import BattleRecord, PlannedBattle
from nashdex.metagame.evidence.ledger import ShardLedger, UnplayedCell, counted
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.evidence.planned import Demand, check_played_as_planned
from nashdex.metagame.evidence.sampled import SampledCounts
from support.tournaments import cell, ledger, matrix, record

A, B, C, D = (PolicyId(name) for name in "abcd")
NOTHING = SampledCounts.unplayed(())


def _missing(policies: str, num_battles: int, counted: SampledCounts = NOTHING) -> list[PlannedBattle]:
    return counted.missing([PolicyId(name) for name in policies], Demand(num_battles))


def _play(battles: list[PlannedBattle], seed: int = 0) -> ShardLedger:
    generator = np.random.default_rng(seed)
    return ledger(record(battle, (*battle.seats, None)[generator.integers(3)]) for battle in battles)


def test_battles_of_a_cell_are_side_swapped_pairs() -> None:
    battles = _missing("ba", 5)
    assert [battle.seats for battle in battles] == [(A, B), (B, A), (A, B), (B, A), (A, B)]
    assert [battle.pair for battle in battles] == [0, 0, 1, 1, 2]


@given(st.integers(0, 1000))
def test_a_record_knows_which_planned_battle_it_is(number: int) -> None:
    battle = PlannedBattle(A, B, number)
    assert record(battle, "a").planned == battle


def test_the_plan_does_not_depend_on_the_order_of_the_population() -> None:
    plans = {tuple(_missing("".join(order), 4)) for order in permutations("abc")}
    assert len(plans) == 1


def test_the_plan_holds_what_is_missing_and_nothing_else() -> None:
    counted = matrix("ba", [[0, 1], [2, 0]], [[0, 3], [3, 0]])
    cells = counted.missing_cells([A, B, C], Demand(5))
    assert cells == [(A, B, range(3, 5)), (A, C, range(5)), (B, C, range(5))]
    assert _missing("ab", 3, counted) == []


def test_shards_and_retries_play_every_planned_battle_exactly_once() -> None:
    planned = _missing("dacb", 7)
    first_try = _play([planned[i] for i in shard_range(len(planned), 3, 1)], seed=1)
    shards = [_play([planned[i] for i in shard_range(len(planned), 3, shard)]) for shard in range(3)]
    found = NOTHING.with_results((D, A, C, B), Demand(7), shards)
    assert (found.battles_by_cell() == 7 * (1 - np.eye(4))).all()
    with pytest.raises(DataError, match="twice"):
        NOTHING.with_records((D, A, C, B), [*shards[1].battles, *first_try.battles])
    with pytest.raises(DataError, match="more than once"):
        NOTHING.with_results((D, A, C, B), Demand(7), [*shards, first_try])


def test_a_cell_that_one_shard_cannot_play_counts_nothing_and_is_planned_again() -> None:
    planned = _missing("abc", 4)
    shards = [_play([planned[i] for i in shard_range(len(planned), 3, shard)]) for shard in range(3)]
    absent = UnplayedCell(policies=(A, C), cause="external_unavailable: it is not there")
    kept = shards[1].battles.outside([(A, C)])
    shards[1] = shards[1].model_copy(update={"battles": kept, "unplayed": (absent,)})
    found = NOTHING.with_results((A, B, C), Demand(4), counted(shards))
    assert found.battles_by_cell().tolist() == [[0, 4, 0], [4, 0, 4], [0, 4, 0]]
    assert found.missing_cells([A, B, C], Demand(4)) == [(A, C, range(4))]


def test_a_missing_or_unplanned_battle_is_named() -> None:
    planned = NOTHING.missing_cells([A, B], Demand(3))
    with pytest.raises(DataError, match="battle 2 of 'a' against 'b' is planned but in no ledger"):
        check_played_as_planned(planned, [ledger(cell("a", "b", ["a", "b"]))])
    with pytest.raises(DataError, match=r"battle 3 of 'a' against 'b' \(and 1 more\) is recorded but was not planned"):
        check_played_as_planned(planned, [ledger(cell("a", "b", ["a"] * 5))])


def test_wins_follow_the_seat_that_won() -> None:
    records = cell("a", "b", ["a", "a", None, "b", "a"])
    counted = NOTHING.with_records((B, A), records)
    assert counted.wins == ((0, 1), (3, 0))
    assert counted.draws == ((0, 1), (1, 0))
    assert counted.games == ((0, 5), (5, 0))


@settings(deadline=None, derandomize=True, max_examples=30)
@given(st.permutations("abcd"), st.permutations("abcd"), st.integers(0, 100))
def test_counts_follow_ids_through_any_reordering(order: list[str], other: list[str], seed: int) -> None:
    """Counts of one order, added to those of another, are what they would be in any order."""
    battles = _missing("abcd", 3)
    ids, other_ids = ([PolicyId(name) for name in names] for names in (order, other))
    half = len(battles) // 2
    early = NOTHING.with_records(ids, _play(battles[:half], seed).battles)
    both = early.with_records(other_ids, _play(battles[half:], seed).battles)
    straight = NOTHING.with_records(
        (A, B, C, D), [*_play(battles[:half], seed).battles, *_play(battles[half:], seed).battles]
    )
    assert both.restricted_to((A, B, C, D)) == straight


def test_members_join_and_leave_with_their_own_counts() -> None:
    counted = matrix("abc", [[0, 1, 2], [3, 0, 4], [5, 6, 0]], [[0, 4, 7], [4, 0, 10], [7, 10, 0]])
    without = counted.restricted_to((C, A))
    assert without.wins == ((0, 5), (2, 0))
    assert without.over((A, D, C)).games == ((0, 0, 7), (0, 0, 0), (7, 0, 0))


def test_restricting_to_a_stranger_or_twice_to_one_is_refused() -> None:
    counted = matrix("ab", [[0, 1], [1, 0]], [[0, 2], [2, 0]])
    with pytest.raises(DataError, match="'z'"):
        counted.restricted_to((A, PolicyId("z")))
    with pytest.raises(DataError, match="twice"):
        counted.restricted_to((A, A))


def test_a_ledger_with_a_stranger_is_refused() -> None:
    with pytest.raises(DataError, match="'c'"):
        NOTHING.with_records((A, B), cell("a", "c", ["a"]))


GOOD = {
    "kind": "counts",
    "schema_version": 3,
    "policies": ["a", "b"],
    "wins": [[0, 3], [2, 0]],
    "draws": [[0, 1], [1, 0]],
    "games": [[0, 6], [6, 0]],
    "pairs": {
        "won_both": [[0, 1], [0, 0]],
        "won_and_drew": [[0, 0], [0, 0]],
        "split": [[0, 1], [1, 0]],
        "drew_both": [[0, 0], [0, 0]],
    },
}


def _pairs(**tables: list[list[int]]) -> dict[str, object]:
    return {"pairs": {**GOOD["pairs"], **tables}}  # type: ignore[dict-item]


def test_the_counts_form_is_enough_to_read_a_matrix() -> None:
    read = InteractionMatrix.from_json(json.dumps(GOOD).encode(), "matrix")
    assert isinstance(read, SampledCounts)
    assert read.wins == ((0, 3), (2, 0))
    assert read.tally.pairs[0, 1] == 2
    assert [int(single[0, 1]) for single in read.tally.single_battles()] == [0, 1, 1]


def test_pairs_are_counted_whole_whatever_the_order_of_their_battles() -> None:
    """Five battles: a wins a pair, a pair is split, and the last battle has no partner."""
    records = cell("a", "b", ["a", "a", "b", "a", "b"])
    for order in (records, records[::-1]):
        counted = NOTHING.with_records((A, B), order)
        assert counted.pairs.won_both == ((0, 1), (0, 0))
        assert counted.pairs.split == ((0, 1), (1, 0))
        assert [int(single[0, 1]) for single in counted.tally.single_battles()] == [0, 0, 1]


def test_counts_move_with_their_pairs() -> None:
    counted = NOTHING.with_records((A, B), cell("a", "b", ["a", "a", None, "a", None, None]))
    turned = counted.over((B, PolicyId("c"), A))
    assert turned.pairs.won_both[2][0] == turned.pairs.won_and_drew[2][0] == turned.pairs.drew_both[0][2] == 1
    assert turned.over((A, B)) == counted


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"policies": ["a", "a"]}, "'a' is named twice"),
        ({"policies": []}, "no policies"),
        ({"policies": ["a", "b", "c"]}, "wins has 2 rows for 3 policies"),
        ({"wins": [[0, 3], [2]]}, "wins of 'b' has 1 entries; expected 2"),
        ({"wins": [[0, -3], [2, 0]]}, "greater than or equal to 0"),
        ({"wins": [[0, 5], [2, 0]]}, "'a' against 'b': 5 wins, 1 draws and 2 losses make 8 games, but games says 6"),
        ({"wins": [[0, 1], [2, 0]]}, "make 4 games, but games says 6"),
        ({"wins": [[0, 2.5], [2, 0]]}, "expected an integer"),
        ({"wins": [[1, 3], [2, 0]]}, "'a' is counted against itself"),
        ({"games": [[0, 6], [6, 1]]}, "'b' is counted against itself"),
        ({"draws": [[0, 1], [0, 0]]}, "1 draws one way and 0 the other"),
        ({"games": [[0, 6], [7, 0]]}, "6 games one way and 7 the other"),
        ({"games": None}, "games"),
        ({"kind": "guesses"}, "kind: .*'counts' or 'exact'"),
        ({"schema_version": 1}, "schema version 1; this nashdex reads 3"),
        ({"schema_version": 2}, "schema version 2; this nashdex reads 3"),
        ({"pairs": None}, "pairs"),
        (_pairs(split=[[0, 1], [2, 0]]), "'a' against 'b': pairs.split is 1 one way and 2 the other"),
        (_pairs(won_both=[[0, 2], [0, 0]]), "'a' against 'b': the pairs hold 5 wins of 3 in all"),
        (_pairs(drew_both=[[0, 1], [1, 0]]), "the pairs hold 2 draws of 1 in all"),
        (_pairs(won_both=[[0, 1]]), "pairs.won_both has 1 rows for 2 policies"),
    ],
)
def test_wrong_counts_are_named(change: dict[str, object], problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        InteractionMatrix.from_json(json.dumps(GOOD | change).encode(), "interaction_matrix.json")


def test_a_retry_of_a_solved_iteration_cannot_count_its_battles_again() -> None:
    """What was counted before is not planned again, so playing it again is refused."""
    shard = _play(_missing("ab", 4))
    counted = NOTHING.with_results((A, B), Demand(4), [shard])
    with pytest.raises(DataError, match="was not planned"):
        counted.with_results((A, B), Demand(4), [shard])


def test_seats_alternate_evenly() -> None:
    battles: list[BattleRecord] = cell("a", "b", ["a"] * 10)
    assert Counter(battle.policies[0] for battle in battles) == {A: 5, B: 5}
