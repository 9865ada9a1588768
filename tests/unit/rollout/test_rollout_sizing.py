"""Sizes of a shard: what is set is kept, what is open follows from cores and trials."""

from pathlib import Path

import pytest

from nashdex.rollout.sizing import BATTLES_PER_GATEWAY, MIN_BATTLES_FOR_A_TRIAL, Trial, choose_sizes, cores_of_shard
from nashdex.settings.run import ArenaSettings

MANY = 10 * MIN_BATTLES_FOR_A_TRIAL


class Machine:
    """Rates that follow from the number of gateways and of battles a gateway."""

    def __init__(self, by_gateways: dict[int, float], by_battles: dict[int, float] | None = None) -> None:
        self._by_gateways = by_gateways
        self._by_battles = by_battles or {}
        self.asked: list[tuple[int, int]] = []

    def __call__(self, gateways: int, battles: int) -> float:
        self.asked.append((gateways, battles))
        return self._by_gateways[gateways] * self._by_battles.get(battles // gateways, 1.0)


def _sizes(
    gateways: int, battles: int, num_cores: int, trial: Trial | None, num_battles: int = MANY
) -> tuple[int, int]:
    settings = ArenaSettings(gateways=gateways, concurrent_battles=battles)
    sizes = choose_sizes(settings, num_battles, num_cores, trial)
    return sizes.gateways, sizes.concurrent_battles


def test_what_is_set_is_kept_and_nothing_is_tried() -> None:
    machine = Machine({})
    assert _sizes(3, 10, 8, machine) == (3, 10)
    assert machine.asked == []


def test_gateways_double_as_long_as_that_is_worth_it() -> None:
    assert _sizes(0, 100, 8, Machine({1: 10, 2: 19, 4: 30, 8: 31})) == (4, 100)
    assert _sizes(0, 100, 3, Machine({1: 10, 2: 19})) == (2, 100), "no more gateways than cores"
    slower = Machine({1: 10, 2: 9, 4: 99})
    assert _sizes(0, 100, 8, slower) == (1, 100)
    assert slower.asked == [(2, 100), (1, 100)], "what is slower already is not doubled"


def test_battles_are_tried_at_the_chosen_number_of_gateways() -> None:
    machine = Machine({1: 10, 2: 19}, {128: 1.2, 32: 0.9})
    assert _sizes(0, 0, 2, machine) == (2, 256)
    assert _sizes(2, 0, 1, Machine({2: 10}, {128: 1.01, 32: 1.1})) == (2, 64)
    assert _sizes(2, 0, 1, Machine({2: 10}, {128: 1.01, 32: 1.01})) == (2, 2 * BATTLES_PER_GATEWAY), "chance alone"


def test_no_size_is_tried_twice() -> None:
    machine = Machine({1: 10, 2: 20, 4: 40})
    _sizes(0, 0, 4, machine)
    assert len(machine.asked) == len(set(machine.asked)) == 5


@pytest.mark.parametrize(("trial", "num_battles"), [(None, MANY), (Machine({}), MIN_BATTLES_FOR_A_TRIAL - 1)])
def test_without_a_trial_there_is_a_gateway_a_core(trial: Trial | None, num_battles: int) -> None:
    assert _sizes(0, 0, 3, trial, num_battles) == (3, 3 * BATTLES_PER_GATEWAY)
    assert _sizes(0, 7, 3, trial, num_battles) == (3, 7)
    assert _sizes(2, 0, 3, trial, num_battles) == (2, 2 * BATTLES_PER_GATEWAY)


def test_the_reason_names_what_was_measured() -> None:
    sizes = choose_sizes(ArenaSettings(gateways=0, concurrent_battles=64), MANY, 2, Machine({1: 5000, 2: 9000}))
    assert sizes.reason.endswith("2 × 32: 9,000, 1 × 64: 5,000")


@pytest.mark.parametrize(
    ("quota", "expected"), [("50000 100000", 1), ("max 100000", None), ("nonsense", None), ("100000 100000", 1)]
)
def test_a_containers_quota_is_the_shards_own(tmp_path: Path, quota: str, expected: int | None) -> None:
    file = tmp_path / "cpu.max"
    file.write_text(quota)
    of_machine = cores_of_shard(1, tmp_path / "absent")
    assert cores_of_shard(1, file) == (expected or of_machine)
    assert cores_of_shard(1000, tmp_path / "absent") == 1
