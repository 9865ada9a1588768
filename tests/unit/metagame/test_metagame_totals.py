"""Running totals: after any division of the battles into iterations they are those of all battles at once."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.battles import BattleRecord, Purpose, tally_of
from nashdex.metagame.evidence.ledger import ExactCell, ShardLedger, findings_sha256
from nashdex.metagame.evidence.tally import Tally
from nashdex.metagame.evidence.totals import BattleTotals, CellCounts
from support.tournaments import cell, ledger, record

A, B, C = PolicyId("a"), PolicyId("b"), PolicyId("c")
RESULTS = st.lists(st.sampled_from(["first", "second", None]), min_size=1, max_size=9)


def _same(one: Tally, other: Tally) -> bool:
    return all((getattr(one, name) == getattr(other, name)).all() for name in Tally.tables())


def _cell(one: str, other: str, results: list[str | None]) -> list[BattleRecord]:
    winners = {"first": one, "second": other, None: None}
    return cell(one, other, [winners[result] for result in results])


@given(RESULTS, RESULTS, st.integers(0, 9), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_totals_do_not_depend_on_where_iterations_end(
    ab: list[str | None], ac: list[str | None], cut: int, other_cut: int
) -> None:
    """A pair whose battles lie in two iterations is a pair, and ladder sums are equal to the last bit."""
    first, second = _cell("a", "b", ab), _cell("a", "c", ac)
    early = [*first[:cut], *second[:other_cut]]
    late = [*first[cut:], *second[other_cut:]]
    stepwise = BattleTotals.nothing().with_battles((A, B, C), early).with_battles((A, B, C), late)
    at_once = BattleTotals.nothing().with_battles((A, B, C), [*early, *late])
    assert stepwise == at_once
    assert _same(stepwise.tally(), tally_of((A, B, C), [*early, *late]))
    for purpose in Purpose:
        of_purpose = [one for one in [*early, *late] if one.purpose == purpose]
        assert _same(stepwise.tally(purpose), tally_of((A, B, C), of_purpose))


def test_a_document_keeps_every_number() -> None:
    totals = BattleTotals.nothing().with_battles(
        (B, A), _cell("a", "b", ["first", None, "second", "second", "first"]), "0" * 64, "1" * 64
    )
    assert len(totals.open) == 1
    read = BattleTotals.from_json(totals.to_json(), "totals")
    assert read == totals
    assert (read.findings_sha256, read.before_sha256) == ("0" * 64, "1" * 64)
    assert read.tally().games.tolist() == [[0, 5], [5, 0]]


def _digest(*shards: ShardLedger) -> str:
    return findings_sha256(shards)


def test_what_ledgers_found_does_not_depend_on_the_attempt() -> None:
    battles = _cell("a", "b", ["first", None, "second"])
    whole = ledger(battles)
    slower = {"seconds": 9.0, "cpu_seconds": 8.0, "failures": {"deadline": 2}, "rejected_choices": 1}
    assert _digest(ledger(battles[2:]), ledger(battles[:2]).model_copy(update=slower)) == _digest(whole)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("winner", 1),
        ("winner", None),
        ("seed", 1),
        ("teams", (0, 1)),
        ("teams", None),
        ("turns", 11),
        ("decisions", 21),
    ],
)
def test_any_value_of_a_battle_changes_what_ledgers_found(name: str, value: object) -> None:
    battles = _cell("a", "b", ["first", None, "second"])
    changes: dict[str, Any] = {name: value}
    altered = battles[0]._replace(**changes)
    assert _digest(ledger([altered, *battles[1:]])) != _digest(ledger(battles))
    assert _digest(ledger(battles[1:])) != _digest(ledger(battles))


def test_a_payoff_changes_what_ledgers_found() -> None:
    first, second = ExactCell(policies=(A, B), payoff=0.5), ExactCell(policies=(A, C), payoff=0.25)
    none = ledger([])

    def shard(*cells: ExactCell) -> ShardLedger:
        return none.model_copy(update={"exact": cells})

    assert _digest(shard(second), shard(first)) == _digest(shard(first, second))
    other = first.model_copy(update={"payoff": 0.25})
    assert len({_digest(none), _digest(shard(first)), _digest(shard(other)), _digest(shard(first, second))}) == 4


def test_a_newcomer_keeps_the_places_of_the_others() -> None:
    before = BattleTotals.nothing().with_battles((B, C), _cell("b", "c", ["first"] * 4))
    after = before.with_battles((A, B, C), _cell("a", "c", ["second"] * 2))
    assert after.tally().wins.tolist() == [[0, 0, 0], [0, 0, 4], [2, 0, 0]]
    assert after.ladder[B] == before.ladder[B]
    assert after.ladder[C].online_elo > before.ladder[C].online_elo
    assert after.battles == 6


def test_a_battle_that_waits_cannot_be_played_twice() -> None:
    alone = _cell("a", "b", ["first"])
    totals = BattleTotals.nothing().with_battles((A, B), alone)
    with pytest.raises(DataError, match="twice"):
        totals.with_battles((A, B), [record(alone[0].planned, "b")])


def test_a_matrix_that_counts_other_battles_is_refused() -> None:
    totals = BattleTotals.nothing().with_battles((A, B), _cell("a", "b", ["first"] * 4))
    totals.require_counted((B, A), np.array([[0, 4], [4, 0]]))
    with pytest.raises(DataError, match="record 4 battles that do not fit the matrix's 2 games"):
        totals.require_counted((B, A), np.array([[0, 2], [2, 0]]))


def test_a_member_with_battles_does_not_leave() -> None:
    totals = BattleTotals.nothing().with_battles((A, B), _cell("a", "b", ["first"] * 4))
    with pytest.raises(DataError, match="'a' has battles and is no member any more"):
        totals.with_battles((B, C), [])


@pytest.mark.parametrize(
    ("changed", "problem"),
    [({"wins": (1, 2)}, "differ in length"), ({"first": (1,)}, "not before its second")],
)
def test_an_altered_document_is_refused(changed: dict[str, tuple[int, ...]], problem: str) -> None:
    totals = BattleTotals.nothing().with_battles((A, B), _cell("a", "b", ["first"] * 4))
    altered = totals.model_copy(update={"scoring": totals.scoring.model_copy(update=changed)})
    with pytest.raises(DataError, match=problem):
        BattleTotals.from_json(altered.to_json(), "totals")
    beyond = CellCounts.of(totals.tally())
    with pytest.raises(DataError, match="1 policies; the document was altered"):
        beyond.tally(1)
