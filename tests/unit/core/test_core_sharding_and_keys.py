"""Shards cover the work exactly; keys are what docs/explanation/architecture.md says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import AttemptId, PolicyId, new_attempt_id, run_id
from nashdex.core.sharding import shard_range
from nashdex.core.steps import StepName


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
    assert keys.policy_weights(PolicyId("p1")) == "policies/p1/weights.safetensors"


@pytest.mark.parametrize("text", ["", "Upper", "a/b", "../x", "a b", "x" * 64, "-a"])
def test_a_run_id_that_no_key_can_hold_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="run id"):
        run_id(text)


def test_attempt_ids_differ() -> None:
    assert len({new_attempt_id() for _ in range(100)}) == 100
