"""Progress as the local runner reads it, and what it does for metrics and health."""

import json
import os
import time
from collections.abc import Iterator
from typing import Any

import prometheus_client
import pytest
import structlog

from nashdex.core.errors import ConfigurationError
from nashdex.core.steps import StepName
from nashdex.telemetry.metric import identify_process
from nashdex.telemetry.progress import Progress, seconds_since_beat, timed

IDENTITY = {"run": "run-1", "component": "tests", "format": "gen1ou"}


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Return the reading end of a pipe whose other end is NASHDEX_PROGRESS_FD."""
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    monkeypatch.setenv("NASHDEX_PROGRESS_FD", str(write_end))
    yield read_end
    os.close(read_end)
    os.close(write_end)


def lines(pipe: int) -> list[dict[str, Any]]:
    return [json.loads(line) for line in os.read(pipe, 1 << 20).splitlines()]


def sample(name: str, **labels: str) -> float:
    return prometheus_client.REGISTRY.get_sample_value(name, IDENTITY | labels) or 0.0


def test_first_and_last_lines_always_come_and_few_between(pipe: int) -> None:
    began = time.monotonic()
    with Progress(StepName.COLLECT, 3, 1000, "battles") as progress:
        for number in range(1000):
            progress.advance(decisions=number * 50)
    seconds = time.monotonic() - began
    first, *_, last = found = lines(pipe)
    assert first == {"step": "collect", "shard": 3, "done": 0, "total": 1000, "unit": "battles", "facts": {}}
    assert last == first | {"done": 1000, "facts": {"decisions": 49_950}}
    assert len(found) <= 2 + 1 + 5 * seconds


def test_about_five_lines_a_second(pipe: int) -> None:
    began = time.monotonic()
    with Progress(StepName.TRAIN, 0, 100, "updates") as progress:
        for _ in range(50):
            time.sleep(0.02)
            progress.advance()
    assert 4 <= len(lines(pipe)) <= 2 + 1 + 5 * (time.monotonic() - began)


def test_the_last_line_comes_also_when_the_step_fails(pipe: int) -> None:
    def fail() -> None:
        with Progress(StepName.TRAIN, 0, 10, "updates") as progress:
            progress.advance(4, loss=0.5)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert lines(pipe)[-1]["done"] == 4


def test_a_reader_that_went_away_does_not_stop_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    monkeypatch.setenv("NASHDEX_PROGRESS_FD", str(write_end))
    with Progress(StepName.TRAIN, 0, 2, "updates") as progress:
        progress.advance()
        progress.advance()
    os.close(write_end)


def test_without_a_descriptor_it_logs_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NASHDEX_PROGRESS_FD", raising=False)
    with structlog.testing.capture_logs() as logs, Progress(StepName.EVALUATE, 1, 200, "battles", done=100) as progress:
        for _ in range(10):
            time.sleep(0.005)
            progress.advance(5)
    (entry,) = logs
    assert entry["event"] == "evaluate 150/200 battles"
    assert entry["shard"] == 1
    assert 0 < entry["per_second"] <= 1000
    assert entry["seconds_left"] == round(50 / entry["per_second"])


def test_facts_set_metrics_and_units_and_totals_raise_counters(pipe: int) -> None:
    del pipe
    identify_process(**IDENTITY)
    battles, decisions = sample("nashdex_battles_total"), sample("nashdex_decisions_total")
    with Progress(StepName.COLLECT, 0, 4, "battles") as progress:
        progress.advance(decisions=30, entropy=1.5, failures=2)
        assert sample("nashdex_step_progress_ratio", step="collect") == 0.25
        progress.advance(2, decisions=90, entropy=0.5)
    assert sample("nashdex_battles_total") - battles == 3
    assert sample("nashdex_decisions_total") - decisions == 90
    assert sample("nashdex_policy_entropy_nats") == 0.5
    assert sample("nashdex_step_progress_ratio", step="collect") == 0.75


def test_every_advance_is_a_heartbeat(pipe: int) -> None:
    del pipe
    with Progress(StepName.COLLECT, 0, 4, "battles") as progress:
        time.sleep(0.05)
        assert seconds_since_beat() >= 0.05
        began = time.monotonic()
        progress.advance()
        assert seconds_since_beat() <= time.monotonic() - began


def test_a_wrong_descriptor_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NASHDEX_PROGRESS_FD", "three")
    with pytest.raises(ConfigurationError, match=r"progress_fd.*'three'"):
        Progress(StepName.COLLECT, 0, 1, "battles")


def test_a_step_shows_its_wall_time_whether_or_not_it_advances_and_keeps_it_at_its_end() -> None:
    identify_process(**IDENTITY)
    began = time.monotonic()
    with timed(StepName.REPORT):
        time.sleep(0.05)
        first = sample("nashdex_step_seconds", step="report")
        time.sleep(0.05)
        second = sample("nashdex_step_seconds", step="report")
    total = sample("nashdex_step_seconds", step="report")
    time.sleep(0.05)
    assert 0.05 <= first <= second - 0.05
    assert second <= total <= time.monotonic() - began - 0.05
    assert sample("nashdex_step_seconds", step="report") == total
    with timed(StepName.REPORT):
        assert sample("nashdex_step_seconds", step="report") < total


def test_the_runner_may_tell_how_many_tries_failed_before(monkeypatch: pytest.MonkeyPatch) -> None:
    identify_process(**IDENTITY)
    with timed(StepName.PLAN):
        assert sample("nashdex_step_retries", step="plan") == 0
    monkeypatch.setenv("NASHDEX_RETRY", "3")
    with timed(StepName.SOLVE):
        assert sample("nashdex_step_retries", step="solve") == 3
