"""Battles that choose a policy never score it."""

import pytest

from nashdex.core.errors import DataError
from nashdex.metagame.evidence.ledger import BattleRecord, Purpose, ScoringBattles, SelectionBattles
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
    selection = SelectionBattles.among(records())
    scoring = ScoringBattles.among(records(), num_candidates=2)
    assert {r.planned for r in selection.records}.isdisjoint(r.planned for r in scoring.records)
    assert len(selection.records) + len(scoring.records) == len(records())


def test_neither_can_be_made_of_the_others_battles() -> None:
    with pytest.raises(DataError, match="expected battles for selection"):
        SelectionBattles(tuple(records()))
    with pytest.raises(DataError, match="expected battles for scoring"):
        ScoringBattles(tuple(records()))


def test_a_single_candidate_was_not_chosen_so_every_battle_scores_it() -> None:
    assert len(ScoringBattles.among(records(), num_candidates=1).records) == len(records())
