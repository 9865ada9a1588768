"""Chooses how many gateways a shard starts and how many battles it plays at once, if its settings leave that open.

Sizes do not change what is played: every battle's seeds, and every draw, follow from the run's seed alone. They affect
speed and memory only, so each machine may choose its own. A batch holds at most both seats of every battle of a
gateway, so that its size follows.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from nashdex.core.machine import usable_cores
from nashdex.settings.run import ArenaSettings

BATTLES_PER_GATEWAY = 64
"""Enough to fill batches, few enough for the caches (docs/research/collecting-throughput.md)."""
TRIED_BATTLES_PER_GATEWAY = (128, 32)
MIN_BATTLES_FOR_A_TRIAL = 2000
"""A smaller shard finishes in about the time that a trial takes."""
_WORTHWHILE = 1.05
"""A size replaces a simpler one only if it is this many times as fast: trials are short and noisy."""
_CPU_QUOTA = Path("/sys/fs/cgroup/cpu.max")

Trial: TypeAlias = Callable[[int, int], float]
"""Measures decisions per second, given the number of gateways and of concurrent battles."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a shard."""

    gateways: int
    concurrent_battles: int
    reason: str


def choose_sizes(settings: ArenaSettings, num_battles: int, num_cores: int, trial: Trial | None = None) -> Sizes:
    """Return the sizes for a shard of ``num_battles`` that has ``num_cores`` to itself. Sizes that are set are kept.

    Tries 2, 4, … gateways up to the cores as long as each doubling gains 5 %, then other numbers of battles. Without a
    ``trial``, or with few battles, returns one gateway per core with ``BATTLES_PER_GATEWAY`` battles each.
    """
    if settings.gateways and settings.concurrent_battles:
        return Sizes(settings.gateways, settings.concurrent_battles, "as set")
    if trial is not None and num_battles >= MIN_BATTLES_FOR_A_TRIAL:
        return _by_trial(settings, num_cores, trial)
    gateways = settings.gateways or num_cores
    battles = settings.concurrent_battles or BATTLES_PER_GATEWAY * gateways
    why = "no gateways to try" if trial is None else f"{num_battles} battles are too few for a trial"
    return Sizes(gateways, battles, f"by the cores, {num_cores}: {why}")


def _by_trial(settings: ArenaSettings, num_cores: int, trial: Trial) -> Sizes:
    rates: dict[tuple[int, int], float] = {}

    def rate(size: tuple[int, int]) -> float:
        if size not in rates:
            rates[size] = trial(*size)
        return rates[size]

    def size_of(gateways: int, battles_each: int = BATTLES_PER_GATEWAY) -> tuple[int, int]:
        return gateways, settings.concurrent_battles or battles_each * gateways

    gateways = settings.gateways or 1
    if not settings.gateways:
        while gateways * 2 <= num_cores and rate(size_of(gateways * 2)) > rate(size_of(gateways)) * _WORTHWHILE:
            gateways *= 2
    best = size_of(gateways)
    if not settings.concurrent_battles:
        for other in (size_of(gateways, battles_each) for battles_each in TRIED_BATTLES_PER_GATEWAY):
            if rate(other) > rate(best) * _WORTHWHILE:
                best = other
    measured = ", ".join(f"{g} × {b / g:.0f}: {rate:,.0f}" for (g, b), rate in rates.items()) or "one size to choose"
    return Sizes(*best, f"decisions/s on {num_cores} cores, by gateways × battles of each: {measured}")


def cores_of_shard(num_shards: int, quota_file: Path = _CPU_QUOTA) -> int:
    """Return the number of cores that each of ``num_shards`` shards may use, at least 1.

    A container's CPU quota belongs to the shard alone. Without a quota, all shards share the machine's cores.
    """
    try:
        quota, period = quota_file.read_text(encoding="ascii").split()
        if quota != "max":
            return max(1, min(usable_cores(), math.floor(int(quota) / int(period))))
    except (OSError, ValueError):
        pass  # this system has no such control group
    return max(1, usable_cores() // num_shards)
