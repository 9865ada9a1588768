"""Endless collecting by a fresh network on both seats, everything recorded and written: what benchmarks measure."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import psutil

from nashdex.collector.stopwatch import Stopwatch
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.games.interface import Game
from nashdex.games.registry import game_for
from nashdex.games.showdown.arena import ShowdownArena
from nashdex.games.showdown.game import ShowdownGame
from nashdex.games.showdown.gateway import GatewaySettings
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.networks.actor_critic import make_network
from nashdex.policies.networks.settings import NetworkSettings
from nashdex.policies.networks.slots.settings import SlotsSettings
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment, Rollout
from nashdex.rollout.sizing import BATTLES_PER_GATEWAY
from nashdex.store import open_store
from nashdex.trajectory.shard import ShardWriter

WARM_UP_SHARE = 0.5
"""Of a measurement's time, before counting begins: Node compiles what runs often while it runs."""
_POLICY = PolicyId("bench")


def showdown_game(format_id: str) -> ShowdownGame:
    """Return the game of ``format_id``.

    Raises:
        ConfigurationError: it is none of Showdown's.
    """
    game = game_for(format_id)
    if not isinstance(game, ShowdownGame):
        raise ConfigurationError(
            f"{format_id} has no simulator to compare with; expected a Showdown format, such as gen1ou"
        )
    return game


@dataclass(frozen=True, slots=True)
class Load:
    """What is collected, and how many battles at once."""

    game: Game
    """One of Showdown's."""
    concurrent_battles: int = BATTLES_PER_GATEWAY
    num_gateways: int = 1
    seed: int = 0
    network: NetworkSettings = field(default_factory=SlotsSettings)
    profile_directory: Path | None = None
    """Where gateways leave their CPU profiles when they end."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The state of a collector at one moment. Times are since it began."""

    at_seconds: float
    cpu_seconds: float
    """Of this process, user and system, all threads."""
    gateway_cpu_seconds: float
    """Of all its gateways."""
    collector_waited_seconds: float
    gateways_waited_seconds: float
    decisions: int
    battles: int
    rejected_choices: int
    failed_battles: int
    turns: int
    collector_bytes: int
    """Resident memory of this process."""
    gateway_bytes: int
    """Resident memory of its gateways."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a collector did between two readings. A decision is one choice of one seat."""

    num_parameters: int
    seconds: float
    cpu_seconds: float
    gateway_cpu_seconds: float
    collector_waited_seconds: float
    gateways_waited_seconds: float
    decisions: int
    battles: int
    rejected_choices: int
    failed_battles: int
    latencies_seconds: tuple[float, float, float]
    """50th, 90th and 99th percentile over the decisions: from arrival until the answer left."""
    collector_bytes: int
    gateway_bytes: int

    @property
    def decisions_per_second(self) -> float:
        """By wall time."""
        return self.decisions / self.seconds

    @property
    def decisions_per_cpu_second(self) -> float:
        """By the CPU time of all processes, user and system."""
        return self.decisions / (self.cpu_seconds + self.gateway_cpu_seconds)


class SelfPlay:
    """One collector at work."""

    def __init__(self, load: Load, arena: Stopwatch, writer: ShardWriter) -> None:
        network = make_network(arena.space, load.network)
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
        counts = self._rollout.counts
        return Reading(
            at_seconds=time.monotonic(),
            cpu_seconds=time.process_time(),
            gateway_cpu_seconds=self._arena.cpu_seconds(),
            collector_waited_seconds=self._arena.collector_waited_seconds,
            gateways_waited_seconds=self._arena.gateways_waited_seconds,
            decisions=counts.decisions,
            battles=counts.battles,
            rejected_choices=counts.rejected_choices,
            failed_battles=counts.failures.total(),
            turns=self._arena.num_turns,
            collector_bytes=psutil.Process().memory_info().rss,
            gateway_bytes=self._arena.resident_bytes(),
        )

    def measure(self, seconds: float) -> Measured:
        """Play for ``seconds`` of wall time and measure all but the first ``WARM_UP_SHARE`` of them."""
        begin, warm = time.monotonic(), None
        for _ in self.battles():
            passed = time.monotonic() - begin
            if warm is None and passed > seconds * WARM_UP_SHARE:
                warm = self.read()
            elif warm is not None and passed > seconds and self._arena.num_turns > warm.turns:
                break
        assert warm is not None
        return self._between(warm, self.read())

    def _between(self, begin: Reading, end: Reading) -> Measured:
        p50, p90, p99 = np.percentile(self._arena.latencies_seconds(begin.turns), [50, 90, 99]).tolist()
        return Measured(
            num_parameters=self.num_parameters,
            seconds=end.at_seconds - begin.at_seconds,
            cpu_seconds=end.cpu_seconds - begin.cpu_seconds,
            gateway_cpu_seconds=end.gateway_cpu_seconds - begin.gateway_cpu_seconds,
            collector_waited_seconds=end.collector_waited_seconds - begin.collector_waited_seconds,
            gateways_waited_seconds=end.gateways_waited_seconds - begin.gateways_waited_seconds,
            decisions=end.decisions - begin.decisions,
            battles=end.battles - begin.battles,
            rejected_choices=end.rejected_choices - begin.rejected_choices,
            failed_battles=end.failed_battles - begin.failed_battles,
            latencies_seconds=(p50, p90, p99),
            collector_bytes=end.collector_bytes,
            gateway_bytes=end.gateway_bytes,
        )

    def _assignments(self) -> Iterator[Assignment]:
        for number in count():
            yield replace(self._battles.assignment(number, (_POLICY, _POLICY)), record=(True, True))


@contextmanager
def self_play(load: Load) -> Iterator[SelfPlay]:
    """Open a collector whose trajectories go to a temporary folder.

    Raises:
        ConfigurationError: Node or the gateway's package is missing.
    """
    settings = GatewaySettings(profile_directory=load.profile_directory)
    arena = ShowdownArena(load.game.format, load.num_gateways, settings)
    try:
        with TemporaryDirectory() as folder:
            store = open_store(str(Path(folder)))
            writer = ShardWriter(store.put, arena.space)
            try:
                yield SelfPlay(load, Stopwatch(arena, load.num_gateways), writer)
            finally:
                writer.close()
    finally:
        arena.close()
