"""Battles that choose a policy never score it."""

import pytest

from nashdex.metagame.evidence.ledger import BattleRecord, Purpose, for_purpose
from support.tournaments import cell


def records() -> list[BattleRecord]:
    return cell("a", "b", ["a"] * 8)


def test_every_battle_has_one_purpose_and_a_pair_shares_it() -> None:
    purposes = [r.purpose for r in records()]
    assert purposes == [Purpose.SELECTION, Purpose.SELECTION, Purpose.SCORING, Purpose.SCORING] * 2
    assert '"purpose":"selection"' in records()[0].model_dump_json()


def test_a_record_cannot_claim_another_purpose() -> None:
    values = records()[0].model_dump(mode="json") | {"purpose": "scoring"}
    with pytest.raises(ValueError, match="pair 0 is for selection"):
        BattleRecord.model_validate(values)


def test_the_two_kinds_share_no_battle_and_leave_none_out() -> None:
    selection, scoring = (for_purpose(records(), purpose) for purpose in Purpose)
    assert {r.planned for r in selection}.isdisjoint(r.planned for r in scoring)
    assert len(selection) + len(scoring) == len(records())
