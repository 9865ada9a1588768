"""The rate from which the time left follows."""

import pytest

from nashdex.telemetry.progress import RecentRate


def test_a_slow_start_is_forgotten() -> None:
    rate = RecentRate()
    rate.add(0, 0.0)
    rate.add(1, 20.0)
    for second in range(1, 11):
        rate.add(1 + 50 * second, 20.0 + second)
    assert rate.per_second(30.0) == pytest.approx(50.0)


def test_bursts_count_together() -> None:
    """Rounds of training: nothing for ten seconds, then ten updates."""
    rate = RecentRate()
    rate.add(0, 0.0)
    for round_number in range(1, 31):
        for update in range(1, 11):
            rate.add(10 * (round_number - 1) + update, 11.0 * round_number + update / 10)
    assert rate.per_second(332.0) == pytest.approx(10 / 11, rel=0.15)


def test_what_was_done_before_is_no_rate() -> None:
    rate = RecentRate()
    assert rate.per_second(5.0) is None
    rate.add(1000, 5.0)
    assert rate.per_second(6.0) is None
    rate.add(1010, 10.0)
    assert rate.per_second(10.0) == pytest.approx(2.0)


def test_the_first_battles_to_end_are_no_rate() -> None:
    rate = RecentRate()
    rate.add(0, 0.0)
    rate.add(9, 17.0)
    assert rate.per_second(17.0) is None
    rate.add(10, 20.0)
    assert rate.per_second(20.0) == pytest.approx(0.5)


def test_standing_still_lowers_the_rate() -> None:
    rate = RecentRate()
    rate.add(0, 0.0)
    rate.add(100, 10.0)
    assert rate.per_second(10.0) == pytest.approx(10.0)
    assert rate.per_second(100.0) == pytest.approx(1.0)


def test_hours_of_work_need_little_memory() -> None:
    rate = RecentRate()
    for tick in range(100_000):
        rate.add(tick, tick / 5)
    assert rate.per_second(20_000.0) == pytest.approx(5.0, rel=0.01)
    assert len(rate._marks) < 200
