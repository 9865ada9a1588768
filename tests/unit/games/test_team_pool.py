"""Teams are drawn by the weights of their sets, and a pair's battles share theirs."""

from collections import Counter

import pytest

from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed
from nashdex.games.teams import TeamPool, TeamSets
from nashdex.rollout.pairs import PairedBattles

SETS = TeamSets(sets={"mine": ("m1", "m2"), "own": ("o1", "o2", "o3"), "unused": ("u1",)})
SEEDS = [derive_seed(7, "team", number) for number in range(4000)]


def test_a_set_is_drawn_by_its_weight_and_then_its_teams_alike() -> None:
    drawn = Counter(SETS.pool({"mine": 1.0, "own": 3.0, "unused": 0.0}).draw(seed) for seed in SEEDS)
    shares = {text: count / len(SEEDS) for (_, text), count in drawn.items()}
    assert shares == pytest.approx({"m1": 0.125, "m2": 0.125, "o1": 0.25, "o2": 0.25, "o3": 0.25}, abs=0.025)


def test_a_teams_name_is_the_same_in_every_stage() -> None:
    first, second = SETS.pool({"mine": 1.0}), SETS.pool({"own": 0.1, "mine": 5.0})
    names = {first.draw(seed) for seed in SEEDS}
    assert names == {("mine 1", "m1"), ("mine 2", "m2")}
    assert names < {second.draw(seed) for seed in SEEDS}


def test_without_weights_the_battles_are_those_of_earlier_versions() -> None:
    assert [TeamPool(["a", "b", "c"]).draw(seed) for seed in (5, 6, 2**64 - 1)] == [("2", "c"), ("0", "a"), ("0", "a")]
    assert TeamPool(()).draw(5) == ("5", None)


def test_both_battles_of_a_pair_have_the_same_teams() -> None:
    battles = PairedBattles(3, SETS.pool({"own": 1.0, "mine": 1.0}), deadline_seconds=9.0)
    drawn = [battles.assignment(number, (PolicyId("a"), PolicyId("b"))) for number in range(40)]
    assert [one.spec.teams for one in drawn[::2]] == [one.spec.teams for one in drawn[1::2]]
    assert len({one.team_names for one in drawn}) > 10
    assert all(name.startswith(("own ", "mine ")) for one in drawn for name in one.team_names)
