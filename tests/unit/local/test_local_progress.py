"""What is shown of a step: sums over shards, rates, time left, plain lines."""

import io
import json
import time

import pytest

from nashdex.core.steps import StepName
from nashdex.local.display import Lines, open_display
from nashdex.local.step_progress import StepProgress, describe_seconds


def _line(shard: int, done: int, total: int = 100, **facts: float) -> bytes:
    return json.dumps(
        {"step": "collect", "shard": shard, "done": done, "total": total, "unit": "battles", "facts": facts}
    ).encode()


@pytest.fixture
def progress() -> StepProgress:
    return StepProgress(1, StepName.COLLECT, 2, began=0.0)


def test_sums_over_shards_and_takes_the_silent_ones_to_be_like_the_others(progress: StepProgress) -> None:
    progress.update(_line(0, 0), now=10.0)
    progress.update(_line(0, 30), now=20.0)
    assert (progress.done, progress.total) == (30, 200)
    progress.update(_line(1, 10, total=50), now=20.0)
    assert (progress.done, progress.total) == (40, 150)


def test_rate_and_time_left_count_what_was_done_while_watching(progress: StepProgress) -> None:
    progress.update(_line(0, 40), now=10.0)
    progress.update(_line(1, 0), now=10.0)
    assert progress.rate(now=11.0) is None, "what an earlier attempt did is no rate"
    progress.update(_line(0, 60), now=20.0)
    assert progress.rate(now=20.0) == pytest.approx(2.0)
    assert progress.seconds_left(now=20.0) == pytest.approx(70.0)
    progress.update(_line(0, 0), now=21.0)
    progress.update(_line(0, 20), now=30.0)
    assert progress.rate(now=30.0) == pytest.approx(2.0), "a retried shard's second time took time too"


def test_one_unit_has_no_plural(progress: StepProgress) -> None:
    assert progress.did == ""
    progress.update(_line(0, 1), now=10.0)
    assert progress.did == "1 battle"
    progress.update(_line(0, 2), now=20.0)
    assert progress.did == "2 battles"


def test_says_little_and_the_most_telling(progress: StepProgress) -> None:
    assert progress.describe(now=0.0) == ""
    progress.update(_line(0, 0), now=0.0)
    progress.update(_line(0, 50, entropy=1.0, learning_rate=0.1), now=10.0)
    progress.update(_line(1, 0, entropy=2.0), now=10.0)
    assert progress.describe(now=10.0) == "50/200 battles · 5.0 battles/s · 30 s left · entropy 1.5"


@pytest.mark.parametrize("garbage", [b"", b"\xff", b"null", b"[]", b'{"shard": 0}', _line(0, 1)[:-5]])
def test_garbage_is_dropped(progress: StepProgress, garbage: bytes) -> None:
    progress.update(garbage, now=0.0)
    assert progress.done == 0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min 00 s"), (245.0, "4 min 05 s"), (7800, "2 h 10 min")],
)
def test_times_read_well(seconds: float, text: str) -> None:
    assert describe_seconds(seconds) == text


def test_plain_lines_are_few(progress: StepProgress, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    stream = io.StringIO()
    with open_display(stream) as display:
        assert isinstance(display, Lines)
        display.step_began(progress)
        for tick in range(25):
            now = 1000.0 + tick
            progress.update(_line(0, tick), now)
            display.step_moved(progress)
        display.step_ended(progress, 25.0)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("iteration 1 collect: 10/200 battles · 1.0 battles/s")
    assert lines[-1] == "iteration 1 collect: done in 25 s, 24 battles"
