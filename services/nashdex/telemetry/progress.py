"""Progress of a step: one call updates the local runner's bars, the log, the metrics and the health check."""

import json
import math
import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Self

import structlog

from nashdex.core.steps import StepName
from nashdex.settings.process import load_telemetry_settings
from nashdex.telemetry import metrics

_last_seconds = time.monotonic()


@contextmanager
def timed(step: StepName) -> Iterator[None]:
    """Export the wall time of one shard of a step, whenever somebody asks, and the failed attempts before this one."""
    began, ended = time.monotonic(), math.inf
    metrics.STEP_RETRIES.set(load_telemetry_settings().retry, step=step)
    metrics.STEP_SECONDS.follow(lambda: min(time.monotonic(), ended) - began, step=step)
    try:
        yield
    finally:
        ended = time.monotonic()


def beat() -> None:
    """Record progress."""
    beat_without_advance()
    metrics.LAST_ADVANCE.set(time.time())


def beat_without_advance() -> None:
    """Stay healthy without progress, because a restart would not help."""
    global _last_seconds  # noqa: PLW0603 - a process has one heart
    _last_seconds = time.monotonic()


def seconds_since_beat() -> float:
    """Return the time since the last progress, or since the process started, in seconds."""
    return time.monotonic() - _last_seconds


_LEAST_UNITS: Final = 10
"""Battles start together, so the first ones to finish say nothing about the rate."""
_LEAST_SECONDS: Final = 10.0
_SHARE: Final = 1 / 3
"""Share of the time so far. Training works in bursts, a round each, and more rounds need a longer window."""
_MARKS_A_WINDOW: Final = 50


class RecentRate:
    """Units per second over the last third of the time, and over ten seconds at least. Times are of any one clock."""

    def __init__(self) -> None:
        self._began: float | None = None
        self._first_done = 0.0
        self._marks: deque[tuple[float, float]] = deque()
        """Times, and the units done by then; the first is at or before the window's beginning."""

    def add(self, done: float, now: float) -> None:
        """Record that ``done`` units are done by ``now``."""
        if self._began is None:
            self._began, self._first_done = now, done
        window = max(_LEAST_SECONDS, _SHARE * (now - self._began))
        if len(self._marks) > 1 and self._marks[-1][0] - self._marks[-2][0] < window / _MARKS_A_WINDOW:
            self._marks.pop()
        self._marks.append((now, done))
        while len(self._marks) > 1 and self._marks[1][0] <= now - window:
            self._marks.popleft()

    def per_second(self, now: float) -> float | None:
        """Return the rate; None while fewer than ten units have been done, or no time has passed."""
        if not self._marks or self._marks[-1][1] - self._first_done < _LEAST_UNITS:
            return None
        since, before = self._marks[0]
        done = self._marks[-1][1] - before
        return done / (now - since) if done > 0 and now > since else None


_LINE_EVERY_SECONDS = 0.2
_LOG_EVERY_SECONDS = 10.0

_log = structlog.get_logger()


class Progress:
    """Counts one shard's work: ``done`` of ``total`` units, such as battles or updates. Use as a context manager.

    If NASHDEX_PROGRESS_FD names a file descriptor, JSON lines {step, shard, done, total, unit, facts} go there, at
    most five per second, and always the first and the last. Otherwise progress is logged every ten seconds, with rate
    and time left. Every call records progress for the health check and sets the metrics whose ``fact`` is the unit or
    one of the facts. ``done`` is the work of an earlier attempt.
    """

    def __init__(self, step: StepName, shard: int, total: int, unit: str, *, done: int = 0) -> None:
        self._step = step
        self._shard = shard
        self._total = total
        self._unit = unit
        self._done = done
        self._recent = RecentRate()
        self._facts: dict[str, float] = {}
        self._reported_seconds = time.monotonic()
        self._descriptor = load_telemetry_settings().progress_fd

    def __enter__(self) -> Self:
        self._reported_seconds = time.monotonic()
        self._measure()
        if self._descriptor is not None:
            self._report()
        return self

    def __exit__(self, *exception: object) -> None:
        self._measure()
        self._report()

    def advance(self, n: int = 1, **facts: float) -> None:
        """Count ``n`` more units as done. ``facts`` are current values of gauges and running totals of counters."""
        self._done += n
        if self._unit not in facts and self._unit in metrics.FACTS:
            metrics.FACTS[self._unit].add(n)
        for name, value in facts.items():
            if metric := metrics.FACTS.get(name):
                if metric.kind == "counter":
                    metric.add(max(0.0, value - self._facts.get(name, 0.0)))
                else:
                    metric.set(value)
        self._facts |= facts
        self._measure()
        due = _LOG_EVERY_SECONDS if self._descriptor is None else _LINE_EVERY_SECONDS
        if time.monotonic() - self._reported_seconds >= due:
            self._report()

    def expect(self, total: int) -> None:
        """Correct the total, if the amount of work becomes known on the way."""
        self._total = total

    def _measure(self) -> None:
        beat()
        self._recent.add(self._done, time.monotonic())
        metrics.STEP_PROGRESS.set(self._done / self._total if self._total else 1.0, step=self._step)

    def _report(self) -> None:
        self._reported_seconds = time.monotonic()
        if self._descriptor is None:
            self._log_line()
        else:
            self._write_line(self._descriptor)

    def _write_line(self, descriptor: int) -> None:
        line = {
            "step": self._step,
            "shard": self._shard,
            "done": self._done,
            "total": self._total,
            "unit": self._unit,
            "facts": self._facts,
        }
        try:
            # Shorter than PIPE_BUF, so lines from several writers do not mix.
            os.write(descriptor, json.dumps(line).encode() + b"\n")
        except OSError:
            # The reader is gone: continue, and log from now on.
            self._descriptor = None

    def _log_line(self) -> None:
        rate = self._recent.per_second(self._reported_seconds) or 0.0
        left = {"seconds_left": round((self._total - self._done) / rate)} if rate > 0 else {}
        _log.info(
            f"{self._step} {self._done}/{self._total} {self._unit}",
            shard=self._shard,
            per_second=round(rate, 1),
            **left,
            **{name: float(f"{value:.4g}") for name, value in self._facts.items()},
        )
