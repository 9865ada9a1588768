"""Who sits opposite in a round's battles: itself, snapshots and scripted policies, each in its share."""

from collections import Counter
from typing import Any

import pytest
from pydantic import ValidationError

from nashdex.core.ids import PolicyId
from nashdex.learning.rounds.planned import NEWEST, RoundBattles
from nashdex.settings.anchors import PoolSettings

OLD = (PolicyId("snapshot-00000001"), PolicyId("snapshot-00000002"))
SCRIPTED = (PolicyId("heuristic"), PolicyId("max-power"))


def battles(**changed: object) -> RoundBattles:
    """Return a round of itself alone, with ``changed`` values."""
    values: dict[str, Any] = {
        "round": 3,
        "seed": 11,
        "num_battles": 4000,
        "opponents": {NEWEST: 1.0},
        "snapshots": OLD,
        "snapshot_share": 0.3,
        "records_opponents": False,
        "deadline_seconds": 60.0,
    }
    return RoundBattles.model_validate(values | changed)


def opposite(planned: RoundBattles) -> list[str]:
    """Return the opponent of each battle."""
    found = planned.assignments((), range(planned.size))
    return [one.seats[1 - one.first_seat] for one in found]


def test_without_scripted_policies_the_battles_are_those_of_earlier_versions() -> None:
    numbers = {NEWEST: "n", OLD[0]: "1", OLD[1]: "2"}
    assert "".join(numbers[PolicyId(one)] for one in opposite(battles())[:60:2]) == "nnnnn2nn12n2nnnnnnnn12nnnn1nn1"


def test_scripted_policies_sit_opposite_in_their_share_of_pairs() -> None:
    met = opposite(battles(scripted=SCRIPTED, scripted_share=0.2))
    assert met[::2] == met[1::2], "a pair has one opponent"
    count = Counter(met)
    shares = [count[policy] / 4000 for policy in (*SCRIPTED, *OLD, NEWEST)]
    assert shares == pytest.approx([0.1, 0.1, 0.15, 0.15, 0.5], abs=0.025)


def test_scripted_policies_replace_itself_and_move_no_other_battle() -> None:
    before, now = opposite(battles()), opposite(battles(scripted=SCRIPTED, scripted_share=0.7))
    changed = [(one, other) for one, other in zip(before, now, strict=True) if one != other]
    assert {one for one, _ in changed} == {NEWEST}
    assert NEWEST not in now, "0.3 and 0.7 leave nothing"


def test_only_the_learner_is_recorded_against_scripted_policies() -> None:
    for one in battles(scripted=SCRIPTED, scripted_share=0.5).assignments((), range(200)):
        opponent = one.seats[1 - one.first_seat]
        assert one.record[one.first_seat]
        assert one.record[1 - one.first_seat] == (opponent == NEWEST)


def test_the_plans_own_opponents_keep_their_battles() -> None:
    mixed = {"opponents": {NEWEST: 0.5, PolicyId("random"): 0.5}}
    now = opposite(battles(**mixed, scripted=SCRIPTED, scripted_share=0.7))
    where = [place for place, policy in enumerate(opposite(battles(**mixed))) if policy == "random"]
    assert {now[place] for place in where} == {"random"}


@pytest.mark.parametrize(
    ("policies", "message"),
    [
        (["nobody"], "unknown anchor 'nobody': expected one of"),
        (["hueristic"], "unknown anchor 'hueristic': did you mean heuristic"),
        (["random", "random"], "a name is repeated"),
    ],
)
def test_anchors_that_nobody_plays_are_refused(policies: list[str], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        PoolSettings.model_validate({"anchors": {"share": 0.1, "policies": policies}})
