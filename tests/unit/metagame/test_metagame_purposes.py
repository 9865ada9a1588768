"""Battles that choose a policy never score it."""

from nashdex.metagame.evidence.battles import Battles, Purpose
from support.tournaments import cell

BATTLES = Battles.of(cell("a", "b", ["a"] * 8))


def test_every_battle_has_one_purpose_and_a_pair_shares_it() -> None:
    purposes = [record.purpose for record in BATTLES]
    assert purposes == [Purpose.SELECTION, Purpose.SELECTION, Purpose.SCORING, Purpose.SCORING] * 2


def test_the_two_kinds_share_no_battle_and_leave_none_out() -> None:
    selection, scoring = (BATTLES.for_purpose(purpose) for purpose in Purpose)
    assert {r.planned for r in selection}.isdisjoint(r.planned for r in scoring)
    assert len(selection) + len(scoring) == len(BATTLES)
