"""Progress of a step over all its shards: done, total, rate and time left, from the lines that the shards write."""

import json
import math
from dataclasses import dataclass, field

from nashdex.core.steps import StepName
from nashdex.telemetry.progress import RecentRate

_SHOWN_FACTS = {"accuracy": "accuracy", "entropy": "entropy", "kl_reference": "KL from reference"}
"""Facts that the line shows, with their words. The report has the others."""


@dataclass
class _Shard:
    done: int = 0
    total: int = 0
    facts: dict[str, float] = field(default_factory=dict)


@dataclass
class StepProgress:
    """The progress of one step of one iteration. Times are seconds of any one clock."""

    iteration: int
    step: StepName
    num_shards: int
    began: float
    unit: str = ""
    num_finished: int = 0
    """Shards that have a manifest."""
    _shards: dict[int, _Shard] = field(default_factory=dict)
    _advanced: int = 0
    """Units done here, also by failed attempts, because they take time too."""
    _recent: RecentRate = field(default_factory=RecentRate)

    def update(self, line: bytes, now: float) -> None:
        """Read a line of a shard: JSON with ``shard``, ``done``, ``total``, ``unit``, ``facts``.

        Ignores other text, because nothing depends on progress.
        """
        try:
            news = json.loads(line)
            number, done, total, unit = int(news["shard"]), int(news["done"]), int(news["total"]), str(news["unit"])
            facts = {str(name): float(value) for name, value in news["facts"].items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            return
        shard = self._shards.setdefault(number, _Shard(done=done))
        self._advanced += max(0, done - shard.done)
        self._recent.add(self._advanced, now)
        shard.done, shard.total, shard.facts, self.unit = done, total, facts, unit

    @property
    def done(self) -> int:
        """Units done, over all shards."""
        return sum(shard.done for shard in self._shards.values())

    @property
    def total(self) -> int:
        """Total units; a shard that has not reported its total counts as an average one."""
        known = [shard.total for shard in self._shards.values()]
        return round(sum(known) / len(known) * max(self.num_shards, len(known))) if known else 0

    def fact(self, name: str) -> float | None:
        """Return the mean over the shards that report ``name``; None while none does."""
        values = [shard.facts[name] for shard in self._shards.values() if name in shard.facts]
        return math.fsum(values) / len(values) if values else None

    def rate(self, now: float) -> float | None:
        """Return units per second of late; None while too little is done to know."""
        return self._recent.per_second(now)

    def seconds_left(self, now: float) -> float | None:
        """Return the remaining time at the current rate; None while the rate is unknown."""
        rate = self.rate(now)
        return None if rate is None else max(0, self.total - self.done) / rate

    @property
    def did(self) -> str:
        """The units that are done, such as ``1 pair`` or ``200 pairs``; empty before the first report."""
        return f"{self.done:,} {self.unit.removesuffix('s') if self.done == 1 else self.unit}" if self.unit else ""

    def describe(self, now: float) -> str:
        """Return units, rate, time left and the most informative facts in one line; empty before the first report."""
        if not self._shards:
            return ""
        parts = [f"{self.done:,}/{self.total:,} {self.unit}" if self.total else self.did]
        rate, left = self.rate(now), self.seconds_left(now)
        if rate is not None and left is not None:
            parts.append(f"{rate:,.1f} {self.unit}/s")
            if left >= 1:
                parts.append(f"{describe_seconds(left)} left")
        for name, words in _SHOWN_FACTS.items():
            value = self.fact(name)
            if value is not None:
                parts.append(f"{words} {value:.3g}")
        return " · ".join(parts)


def describe_seconds(seconds: float) -> str:
    """Return a time for people: ``8 s``, ``4 min 05 s``, ``2 h 10 min``."""
    whole = round(seconds)
    if whole < 60:  # noqa: PLR2004
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:  # noqa: PLR2004
        return f"{minutes} min {rest:02} s"
    return f"{minutes // 60} h {minutes % 60:02} min"
