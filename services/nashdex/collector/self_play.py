"""Endless collecting by a fresh network on both seats, everything recorded and written: what benchmarks measure."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from nashdex.collector.step import MAX_PART_BYTES
from nashdex.core.ids import PolicyId
from nashdex.core.settings import NetworkSettings
from nashdex.games.interface import Arena, Game
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.network import ActorCritic
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment, Rollout
from nashdex.store import open_store
from nashdex.trajectory.shard import ShardWriter

_POLICY = PolicyId("bench")


@dataclass(frozen=True, slots=True)
class Load:
    """What is collected, and how many battles at once."""

    game: Game
    concurrent_battles: int = 64
    num_gateways: int = 1
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """The state of a collector at one moment."""

    at_seconds: float
    cpu_seconds: float
    """Of all processes since they began, user and system."""
    decisions: int
    battles: int
    collector_bytes: int
    """Resident memory of this process."""
    gateway_bytes: int
    """Resident memory of its gateways."""


class SelfPlay:
    """One collector at work."""

    def __init__(self, load: Load, arena: Arena, writer: ShardWriter) -> None:
        network = ActorCritic(arena.space, NetworkSettings())
        self.num_parameters = network.num_parameters
        self._arena = arena
        self._writer = writer
        self._battles = PairedBattles(load.seed, load.game.teams(), deadline_seconds=300.0)
        self._rollout = Rollout(arena, {_POLICY: NetworkPolicy(_POLICY, network)}, load.concurrent_battles)

    def battles(self) -> Iterator[int]:
        """Play for ever, yielding the number of battles so far after each."""
        for finished in self._rollout.play(self._assignments()):
            for episode in finished.episodes:
                self._writer.add(episode)
            yield self._rollout.counts.battles

    def read(self) -> Reading:
        """Return the present state."""
        return Reading(
            at_seconds=time.monotonic(),
            cpu_seconds=time.process_time() + self._arena.cpu_seconds(),
            decisions=self._rollout.counts.decisions,
            battles=self._rollout.counts.battles,
            collector_bytes=psutil.Process().memory_info().rss,
            gateway_bytes=self._arena.resident_bytes(),
        )

    def _assignments(self) -> Iterator[Assignment]:
        for number in count():
            yield replace(self._battles.assignment(number, (_POLICY, _POLICY)), record=(True, True))


@contextmanager
def self_play(load: Load) -> Iterator[SelfPlay]:
    """Open a collector whose trajectories go to a temporary folder.

    Raises:
        ConfigurationError: the format is unknown, or Node or the gateway's package is missing.
    """
    arena = load.game.open_arena(num_gateways=load.num_gateways)
    try:
        with TemporaryDirectory() as folder:
            store = open_store(str(Path(folder)))
            writer = ShardWriter(store.put, arena.space, MAX_PART_BYTES)
            yield SelfPlay(load, arena, writer)
            writer.close()
    finally:
        arena.close()
