"""How fast collecting is, beside how fast the bare simulator is, in one command on one machine."""

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from statistics import median

import psutil
from pydantic import Field, NonNegativeInt, PositiveFloat

from nashdex.collector.step import MAX_PART_BYTES
from nashdex.core.documents import Model
from nashdex.core.errors import TryAgainError
from nashdex.core.ids import PolicyId
from nashdex.core.settings import NetworkSettings
from nashdex.games.interface import Arena, Game
from nashdex.games.registry import game_for
from nashdex.games.showdown.gateway import NODE_FLAGS, GatewaySettings, find_node
from nashdex.policies.network import ActorCritic, NetworkPolicy
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment, Rollout
from nashdex.store import open_store
from nashdex.trajectory.shard import ShardWriter

_POLICY = PolicyId("bench")
_WARM_UP_SHARE = 0.3
"""Of a measurement's time, spent before counting begins: both simulators compile as they run."""


class BenchResult(Model):
    """Medians over the repetitions. A decision is one choice of one seat."""

    format: str
    repetitions: NonNegativeInt
    decisions_per_second: PositiveFloat = Field(description="Collector, wall time.")
    decisions_per_cpu_second: PositiveFloat = Field(description="Collector, all processes, user and system.")
    raw_decisions_per_cpu_second: PositiveFloat = Field(description="Bare simulator, random legal choices.")
    efficiency: PositiveFloat = Field(description="Median of the ratio of the two, repetition by repetition.")
    efficiencies: tuple[PositiveFloat, ...]
    resident_bytes: NonNegativeInt = Field(description="Collector and gateways together, at the end.")
    num_parameters: NonNegativeInt = Field(description="Of the network on both seats.")
    battles: NonNegativeInt
    trajectory_bytes: NonNegativeInt


@dataclass(frozen=True, slots=True)
class _Measured:
    decisions: int
    battles: int
    seconds: float
    cpu_seconds: float
    resident_bytes: int
    num_parameters: int
    trajectory_bytes: int


def run_bench(
    format_id: str,
    *,
    seconds: float = 20.0,
    repetitions: int = 3,
    concurrent_battles: int = 64,
    num_gateways: int = 1,
    seed: int = 0,
    network: NetworkSettings | None = None,
) -> BenchResult:
    """Measure collecting and the bare simulator in turn, ``seconds`` each, ``repetitions`` times.

    A fresh network of the default size plays both seats and every decision is recorded and written. CPU time is that
    of all processes; starting them, and the first part of each measurement, do not count, on either side.

    Raises:
        ConfigurationError: the format is unknown.
        TryAgainError: the bare simulator could not be run.
    """
    game = game_for(format_id)
    collected, raw = [], []
    for repetition in range(repetitions):
        raw.append(measure_raw(game, seconds, seed + repetition))
        collected.append(
            measure_collector(
                game,
                seconds=seconds,
                concurrent_battles=concurrent_battles,
                num_gateways=num_gateways,
                seed=seed + repetition,
                network=network or NetworkSettings(),
            )
        )
    rates = [m.decisions / m.cpu_seconds for m in collected]
    efficiencies = tuple(rate / raw_rate for rate, raw_rate in zip(rates, raw, strict=True))
    return BenchResult(
        format=format_id,
        repetitions=repetitions,
        decisions_per_second=median(m.decisions / m.seconds for m in collected),
        decisions_per_cpu_second=median(rates),
        raw_decisions_per_cpu_second=median(raw),
        efficiency=median(efficiencies),
        efficiencies=efficiencies,
        resident_bytes=max(m.resident_bytes for m in collected),
        num_parameters=collected[0].num_parameters,
        battles=sum(m.battles for m in collected),
        trajectory_bytes=sum(m.trajectory_bytes for m in collected),
    )


def measure_collector(
    game: Game, *, seconds: float, concurrent_battles: int, num_gateways: int, seed: int, network: NetworkSettings
) -> _Measured:
    """Collect for ``seconds`` and return what was done after the warm-up."""
    arena = game.open_arena(num_gateways=num_gateways)
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(folder)
        try:
            policy = NetworkPolicy(_POLICY, ActorCritic(arena.space, network))
            rollout = Rollout(arena, {_POLICY: policy}, concurrent_battles)
            writer = ShardWriter(store.put, arena.space, MAX_PART_BYTES)
            begin = _Snapshot.take(arena, rollout)
            started, warm = begin.at_seconds, False
            for finished in rollout.play(_endless(PairedBattles(seed, game.teams(), deadline_seconds=300.0))):
                for episode in finished.episodes:
                    writer.add(episode)
                elapsed = time.monotonic() - started
                if not warm and elapsed > seconds * _WARM_UP_SHARE:
                    begin, warm = _Snapshot.take(arena, rollout), True
                elif elapsed > seconds:
                    break
            writer.close()
            end = _Snapshot.take(arena, rollout)
            resident_bytes = arena.resident_bytes() + psutil.Process().memory_info().rss
        finally:
            arena.close()
        trajectory_bytes = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    return _Measured(
        decisions=end.decisions - begin.decisions,
        battles=end.battles - begin.battles,
        seconds=end.at_seconds - begin.at_seconds,
        cpu_seconds=end.cpu_seconds - begin.cpu_seconds,
        resident_bytes=resident_bytes,
        num_parameters=policy.num_parameters,
        trajectory_bytes=trajectory_bytes,
    )


def measure_raw(game: Game, seconds: float, seed: int) -> float:
    """Return the bare simulator's decisions per CPU-second with random legal choices.

    Raises:
        TryAgainError: it ended badly.
    """
    settings = GatewaySettings()
    with tempfile.TemporaryDirectory() as folder:
        command = [find_node(settings), *NODE_FLAGS, str(settings.directory / "src" / "raw.js")]
        command += ["--format", game.format, "--seconds", str(seconds), "--seed", str(seed)]
        if game.teams():
            teams = Path(folder) / "teams.txt"
            teams.write_text("\n".join(game.teams()), encoding="utf-8")
            command += ["--teams", str(teams)]
        ended = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 our own program
    if ended.returncode:
        raise TryAgainError(f"the bare simulator ended with {ended.returncode}: {ended.stderr.decode().strip()}")
    return float(json.loads(ended.stdout)["decisions_per_cpu_second"])


@dataclass(frozen=True, slots=True)
class _Snapshot:
    at_seconds: float
    cpu_seconds: float
    decisions: int
    battles: int

    @classmethod
    def take(cls, arena: Arena, rollout: Rollout) -> "_Snapshot":
        cpu_seconds = time.process_time() + arena.cpu_seconds()
        return cls(time.monotonic(), cpu_seconds, rollout.counts.decisions, rollout.counts.battles)


def _endless(battles: PairedBattles) -> Iterator[Assignment]:
    for number in count():
        assignment = battles.assignment(number, (_POLICY, _POLICY))
        yield replace(assignment, record=(True, True))
