"""A stored ledger: what goes in comes out, and a value that is none of a battle is named."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nashdex.core import frames
from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.core.manifest import Manifest
from nashdex.core.steps import StepName
from nashdex.metagame.evidence.battles import NO_BATTLES, BattleRecord, Battles, PlannedBattle
from nashdex.metagame.evidence.ledger import (
    LEDGER,
    ExactCell,
    LedgerHeader,
    SavedReplay,
    ShardLedger,
    UnplayedCell,
    decode,
    encode,
)
from nashdex.store.attempt import Attempt
from nashdex.store.documents import read_decoded
from support.memory_store import MemoryStore
from support.tournaments import cell, ledger, record

A, B, C = (PolicyId(name) for name in "abc")
NUMBERS = st.integers(0, 2**64 - 2)
RECORDS = st.lists(
    st.builds(
        BattleRecord,
        policies=st.sampled_from([(A, B), (B, A), (C, A), (B, C)]),
        pair=st.integers(0, 2**62),
        seed=st.integers(0, 2**64 - 1),
        teams=st.none() | st.tuples(NUMBERS, NUMBERS),
        winner=st.sampled_from([0, 1, None]),
        turns=NUMBERS,
        decisions=NUMBERS,
    ),
    max_size=20,
)


@given(RECORDS, RECORDS)
def test_battles_survive_their_columns_and_their_file(some: list[BattleRecord], others: list[BattleRecord]) -> None:
    assert list(Battles.of(some)) == some
    assert list(decode(encode(ledger(some)), "ledger").battles) == some
    assert list(Battles.joined([Battles.of(some), Battles.of(others)])) == [*some, *others]
    in_order = Battles.of(some).in_order()
    assert [one.planned for one in in_order] == sorted(one.planned for one in some)


def test_everything_else_survives_its_file() -> None:
    whole = ShardLedger(
        battles=NO_BATTLES,
        failures={"deadline": 2},
        rejected_choices=1,
        decisions=3,
        seconds=1.5,
        cpu_seconds=2.5,
        replays=(SavedReplay(policies=(B, A), pair=0, object="replays/b-vs-a-0-1.log"),),
        unplayed=(UnplayedCell(policies=(A, C), cause="it is not there"),),
        exact=(ExactCell(policies=(A, B), payoff=-0.1), ExactCell(policies=(B, C), payoff=2 / 3)),
    )
    found = decode(encode(whole), "ledger")
    assert found.model_dump(exclude={"battles"}) == whole.model_dump(exclude={"battles"})
    assert len(found.battles) == 0


def test_a_battle_takes_few_bytes() -> None:
    generator = np.random.default_rng(0)
    records = [
        record(PlannedBattle(a, b, number), (a, b)[generator.integers(2)], seed=int(generator.integers(2**62)))
        for a, b in ((A, B), (A, C), (B, C))
        for number in range(1000)
    ]
    assert len(encode(ledger(records))) < 12 * len(records), "8 of them are the seed"


def test_a_ledger_is_truncated_or_altered_anywhere() -> None:
    frame = encode(ledger(cell("a", "b", ["a", None, "b"])))
    damaged = [frame[:cut] for cut in range(0, len(frame), 7)]
    damaged += [frame[:at] + bytes([frame[at] ^ 0x10]) + frame[at + 1 :] for at in range(0, len(frame), 3)]
    for data in damaged:
        with pytest.raises(DataError, match="the-ledger"):
            decode(data, "the-ledger")


def altered(change: Callable[[dict[str, Any]], object], header: bytes | None = None) -> bytes:
    """Return the ledger of a cell whose columns were changed by somebody who then made a valid file of them."""
    frame = encode(ledger(cell("a", "b", ["a", "a", "b"])))
    tensors, document, _ = frames.FrameReader("ledger", "ledger", "", 1 << 20, 1 << 20).decode(frame, "ledger")
    tensors = {name: column.copy() for name, column in tensors.items()}
    change(tensors)
    text = (header or document).decode()
    return frames.encode({name: [column] for name, column in tensors.items()}, {"ledger": text})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop("seeds"), "the-ledger has no seeds"),
        (lambda t: t["b"].fill(0), "the-ledger: 'a' is recorded against itself"),
        (lambda t: (t["a"].fill(1), t["b"].fill(0)), "the-ledger: 'b' is recorded before 'a'; expected .* sorted"),
        (lambda t: t["b"].fill(2), "battle of a policy beyond the 2"),
        (lambda t: t["winners"].__setitem__(2, 3), "battle 2 of 'a' against 'b' was won by seat 3; expected 0, 1 or 2"),
        (lambda t: t.update(turns=t["turns"].astype(np.float64)), r"turns is float64 \(3,\); expected 3 unsigned"),
        (lambda t: t.update(turns=t["turns"][:2]), r"turns is uint8 \(2,\); expected 3 unsigned integers"),
        (lambda t: t.update(exact_a=np.zeros(1, np.uint8)), "its payoffs are not a number and two places each"),
        (
            lambda t: t.update(
                exact_a=np.zeros(1, np.uint8), exact_b=np.ones(1, np.uint8), exact_payoffs=np.full(1, np.nan)
            ),
            "a payoff of no pair of its policies",
        ),
    ],
)
def test_values_that_are_none_of_a_battle_are_named(change: Callable[[dict[str, Any]], object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        decode(altered(change), "the-ledger")


def test_a_number_that_no_column_holds_is_refused() -> None:
    with pytest.raises(DataError, match="outside 0 to 2⁶⁴ − 1"):
        Battles.of([cell("a", "b", ["a"])[0]._replace(turns=-1)])


def test_another_version_is_named() -> None:
    header = LedgerHeader(failures={}, rejected_choices=0, decisions=0, seconds=0, cpu_seconds=0, schema_version=3)
    text = header.model_dump_json().replace("{", '{"policies":["a","b"],', 1).encode()
    with pytest.raises(DataError, match="schema version 3; this nashdex reads 2"):
        decode(altered(lambda _: None, text), "the-ledger")


def test_a_run_of_an_older_version_gets_one_message() -> None:
    store = MemoryStore()
    attempt = Attempt(store, 0, StepName.EVALUATE, 0)
    attempt.write("ledger.json", b"{}")
    manifest: Manifest = attempt.finish({})
    with pytest.raises(DataError, match=r"it has \['ledger.json'\]. Another version of nashdex wrote it"):
        read_decoded(store, manifest, LEDGER, decode)
