"""Payoffs of tabular games: every pair once, by id, whatever the order and however the shards divide them."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.battles import NO_BATTLES
from nashdex.metagame.evidence.exact import ExactValues
from nashdex.metagame.evidence.ledger import ExactCell, ShardLedger
from nashdex.metagame.evidence.planned import Demand

VALUE = {"a": 0.5, "b": -1.25, "c": 2.0, "d": 0.125}
"""A made game: the payoff of i against j is VALUE[i] − VALUE[j]."""


def shard(*pairs: tuple[str, str]) -> ShardLedger:
    cells = tuple(ExactCell(policies=(PolicyId(i), PolicyId(j)), payoff=VALUE[i] - VALUE[j]) for i, j in pairs)
    return ShardLedger(
        battles=NO_BATTLES, failures={}, rejected_choices=0, decisions=0, seconds=0.0, cpu_seconds=0.0, exact=cells
    )


def ids(names: str) -> list[PolicyId]:
    return [PolicyId(name) for name in names]


NOTHING = ExactValues.unknown(largest_payoff=4.0)
DEMAND = Demand(battles_per_cell=200)
"""It has no effect: no battle is played."""


def first_three() -> ExactValues:
    return NOTHING.with_results(ids("abc"), DEMAND, [shard(("a", "b"), ("b", "c")), shard(("a", "c"))])


@given(order=st.permutations("abcd"))
def test_a_new_policy_brings_its_pairs_alone_and_all_follow_their_ids(order: list[str]) -> None:
    old = first_three()
    assert old.missing(ids("".join(order)), DEMAND) == [("a", "d"), ("b", "d"), ("c", "d")]
    matrix = old.with_results(ids("".join(order)), DEMAND, [shard(("b", "d")), shard(("a", "d"), ("c", "d"))])
    assert matrix.policies == tuple(order)
    for i, j in combinations(range(4), 2):
        assert matrix.payoffs[i][j] == VALUE[order[i]] - VALUE[order[j]] == -matrix.payoffs[j][i]
    assert not matrix.battles_by_cell().any()
    assert matrix.largest_payoff == 4.0


def test_nothing_is_missing_where_nobody_is_new() -> None:
    assert first_three().missing(ids("cab"), DEMAND) == []
    assert first_three().with_results(ids("cab"), DEMAND, []).policies == ("c", "a", "b")


@pytest.mark.parametrize(
    ("ledgers", "message"),
    [
        ([shard(("a", "b"), ("b", "c"))], "payoff of 'a' against 'c' is in no ledger"),
        ([shard(("a", "b"), ("b", "c"), ("a", "c")), shard(("a", "b"))], "'a' against 'b' is recorded twice"),
        ([shard(("a", "b"), ("b", "c"), ("a", "c"), ("a", "d"))], "'a' against 'd' was not asked for"),
    ],
)
def test_a_pair_that_is_missing_doubled_or_unasked_is_named(ledgers: list[ShardLedger], message: str) -> None:
    with pytest.raises(DataError, match=message):
        NOTHING.with_results(ids("abc"), DEMAND, ledgers)


def test_a_matrix_must_be_antisymmetric_and_square() -> None:
    values = first_three().model_dump(mode="json")
    values["payoffs"][0][1] = 7.0
    with pytest.raises(ValueError, match="expected one to be minus the other"):
        ExactValues.model_validate(values)
    values["payoffs"] = [[0.0]]
    with pytest.raises(ValueError, match="not a square table"):
        ExactValues.model_validate(values)


def test_a_matrix_drops_and_reorders_members_but_invents_none() -> None:
    smaller = first_three().restricted_to(ids("ca"))
    assert smaller.payoffs == ((0.0, 1.5), (-1.5, 0.0))
    with pytest.raises(DataError, match="payoffs of 'd' are not known"):
        first_three().over(ids("abcd"))


def test_a_cell_of_a_policy_against_itself_or_out_of_order_is_refused() -> None:
    for pair in (("a", "a"), ("b", "a")):
        with pytest.raises(ValueError, match="sorted by id"):
            ExactCell(policies=(PolicyId(pair[0]), PolicyId(pair[1])), payoff=0.0)
