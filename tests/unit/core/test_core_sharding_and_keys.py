"""Shards cover the work exactly; keys are what docs/explanation/architecture.md says; ids have one spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import GREEDY, AttemptId, BarePolicyId, PlayedPolicy, PolicyId, new_attempt_id, policy_id, run_id
from nashdex.core.steps import StepName, shard_range


@given(st.integers(0, 5000), st.integers(1, 200))
def test_shards_are_disjoint_cover_all_and_are_even(num_items: int, num_shards: int) -> None:
    parts = [shard_range(num_items, num_shards, shard) for shard in range(num_shards)]
    assert [item for part in parts for item in part] == list(range(num_items))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_a_shard_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="shard 2"):
        shard_range(10, 2, 2)


def test_keys() -> None:
    assert keys.manifest(3, StepName.COLLECT, 12) == "iterations/0003/collect/00012/manifest.json"
    assert keys.checkpoint(3, StepName.TRAIN, 0) == "iterations/0003/train/00000/checkpoint.json"
    attempt = keys.attempt_object(0, StepName.EVALUATE, 1, AttemptId("abc"), "ledger.json")
    assert attempt == "iterations/0000/evaluate/00001/abc/ledger.json"
    assert keys.published(0, keys.META_STRATEGY) == "iterations/0000/meta_strategy.json"
    assert keys.policy_weights(BarePolicyId(PolicyId("p1"))) == "policies/p1/weights.safetensors"


@pytest.mark.parametrize("text", ["", "Upper", "a/b", "../x", "a b", "x" * 64, "-a"])
def test_a_run_id_that_no_key_can_hold_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="run id"):
        run_id(text)


@pytest.mark.parametrize(
    ("text", "policy", "temperature"),
    [
        ("p0123", "p0123", 1.0),
        ("p0123@greedy", "p0123", GREEDY),
        ("p0123@T0.5", "p0123", 0.5),
        ("p0123@T0.001", "p0123", 0.001),
        ("p0123@T1.25", "p0123", 1.25),
        ("p0123@T10", "p0123", 10.0),
        ("p0123@T99.999", "p0123", 99.999),
    ],
)
def test_a_policy_id_says_how_the_policy_plays(text: str, policy: str, temperature: float) -> None:
    played = PlayedPolicy.of(PolicyId(text))
    assert (played.policy, played.temperature, played.id) == (policy, temperature, text)


@given(st.integers(1, 99_999))
def test_every_temperature_has_one_spelling(thousandths: int) -> None:
    played = PlayedPolicy(PlayedPolicy.of(PolicyId("p1")).policy, thousandths / 1000)
    assert PlayedPolicy.of(played.id) == played
    assert policy_id(played.id) == played.id
    if played.suffix:
        with pytest.raises(ConfigurationError, match="policy id"):
            policy_id(f"{played.id}{'0' if '.' in played.id else '.0'}")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("p1@T0.50", "write 'p1@T0.5'"),
        ("p1@T.5", "write 'p1@T0.5'"),
        ("p1@t0.5", "write 'p1@T0.5'"),
        ("p1@0.5", "write 'p1@T0.5'"),
        ("p1@T5e-1", "write 'p1@T0.5'"),
        ("p1@T1", "write 'p1'"),
        ("p1@T1.0", "write 'p1'"),
        ("p1@T0", "write 'p1@greedy'"),
        ("p1@Greedy", "write 'p1@greedy'"),
        ("p1@T-1", "expected .*'@greedy' or a temperature such as '@T0.5'"),
        ("p1@T100", "above 0 and below 100"),
        ("p1@T0.0001", "at most three decimals"),
        ("p1@Tnan", "expected"),
        ("p1@Tinf", "expected"),
        ("p1@", "expected"),
        ("p1@best", "expected"),
        ("p1@greedy@T0.5", "expected"),
        ("p1@greedy/../p2", "expected"),
        ("p1@T0.5\n", "write 'p1@T0.5'"),
        ("p1@T\u0662", "write 'p1@T2'"),
        ("@greedy", "expected"),
        ("../p1@greedy", "expected"),
    ],
)
def test_another_spelling_is_refused_with_the_right_one(text: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        policy_id(text)
    with pytest.raises(ConfigurationError, match=says):
        PlayedPolicy.of(PolicyId(text))


def test_attempt_ids_differ() -> None:
    assert len({new_attempt_id() for _ in range(100)}) == 100
