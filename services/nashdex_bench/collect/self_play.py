"""The load of the collecting benchmarks: a fresh network plays itself without end, recorded and written."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import psutil
from numpy.typing import NDArray

from nashdex.core.ids import PolicyId
from nashdex.games.interface import Arena, Events, Game, RunningBattle
from nashdex.games.showdown.arena import ShowdownArena
from nashdex.games.showdown.gateway import GatewaySettings
from nashdex.games.space import Space
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.networks.actor_critic import make_network
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.session import Session
from nashdex.rollout.sizing import BATTLES_PER_GATEWAY
from nashdex.settings.networks import NetworkSettings
from nashdex.store import open_store
from nashdex.trajectory.shard import ShardWriter
from nashdex_bench.networks import default_network


class Stopwatch:
    """Plays on ``arena`` and reads the clock before and after each poll. Implements ``games.interface.Arena``.

    A poll sends the answers and then waits, so a turn of the collector lasts from the end of one poll to the start of
    the next. Every turn is kept: use it for measurements, not for long runs.
    """

    def __init__(self, arena: Arena, num_gateways: int) -> None:
        self._arena = arena
        self._num_gateways = num_gateways
        self._ended = 0.0
        self._events = Events([], [], [])
        self._turns: list[tuple[int, float]] = []
        self.collector_waited_seconds = 0.0
        """Wall time in polls minus their CPU time."""
        self.gateways_waited_seconds = 0.0
        """Wall time between a gateway's decisions and their answers, mean over the gateways. With several gateways, the
        wait of one while another is answered is not counted."""

    @property
    def space(self) -> Space:
        """The arena's space."""
        return self._arena.space

    @property
    def versions(self) -> dict[str, str]:
        """The arena's versions."""
        return self._arena.versions

    @property
    def draws_choices(self) -> bool:
        """Whether the arena plays seats whose choices are only drawn."""
        return self._arena.draws_choices

    def latencies_seconds(self, since: int = 0) -> NDArray[np.float64]:
        """Return each decision's time from its arrival until its answer was sent, from turn ``since`` on."""
        turns = self._turns[since:]
        return np.repeat([seconds for _, seconds in turns], [num for num, _ in turns])

    @property
    def num_turns(self) -> int:
        """The number of turns so far."""
        return len(self._turns)

    def start(self, battles: Sequence[RunningBattle]) -> None:
        """Start battles."""
        self._arena.start(battles)

    def poll(self) -> Events:
        """Poll; add its waiting time and the time since the last poll."""
        began, began_cpu = time.monotonic(), time.thread_time()
        if self._events.decisions:
            seconds = began - self._ended
            self._turns.append((sum(len(decisions) for decisions in self._events.decisions), seconds))
            self.gateways_waited_seconds += seconds * len(self._events.decisions) / self._num_gateways
        self._events = self._arena.poll()
        self._ended = time.monotonic()
        worked = time.thread_time() - began_cpu
        self.collector_waited_seconds += max(0.0, self._ended - began - worked)
        return self._events

    def act(self, battle: NDArray[np.int64], seat: NDArray[np.int8], action: NDArray[np.int64]) -> None:
        """Answer decisions."""
        self._arena.act(battle, seat, action)

    def stop(self, battle: int, num_open: int) -> None:
        """Forget a battle."""
        self._arena.stop(battle, num_open)

    def resident_bytes(self) -> int:
        """Return the arena's."""
        return self._arena.resident_bytes()

    def cpu_seconds(self) -> float:
        """Return the arena's."""
        return self._arena.cpu_seconds()

    def close(self) -> None:
        """Close the arena."""
        self._arena.close()


WARM_UP_SHARE = 0.5
"""Share of a measurement's time before counting begins: Node compiles hot code while it runs."""
_POLICY = PolicyId("bench")


@dataclass(frozen=True, slots=True)
class Load:
    """The game, and the sizes that it is collected with."""

    game: Game
    """A Showdown format."""
    concurrent_battles: int = BATTLES_PER_GATEWAY
    num_gateways: int = 1
    seed: int = 0
    network: NetworkSettings | None = None
    """None: the plainest one that fits, at its default size."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A collector's counters at one moment. Times are since its start."""

    at_seconds: float
    cpu_seconds: float
    """CPU time of this process, user and system, all threads."""
    gateway_cpu_seconds: float
    """CPU time of its gateways."""
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
    """Work between two readings. A decision is one choice of one seat."""

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
    """One running collector."""

    def __init__(self, load: Load, arena: Stopwatch, session: Session, writer: ShardWriter) -> None:
        network = make_network(arena.space, load.network or default_network(arena.space))
        self.num_parameters = network.num_parameters
        self._arena = arena
        self._writer = writer
        self._battles = PairedBattles(load.seed, load.game.teams())
        self._session = session
        session.policies[_POLICY] = NetworkPolicy(_POLICY, network)

    def battles(self) -> Iterator[int]:
        """Play without end, yielding the number of battles so far after each."""
        for finished in self._session.play(self._battles.self_play(_POLICY)):
            for episode in finished.episodes:
                self._writer.add(episode)
            yield self._session.counts.battles

    def read(self) -> Reading:
        """Return the current counters."""
        counts = self._session.counts
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
        """Play for ``seconds`` of wall time and measure all but the first ``WARM_UP_SHARE`` of them.

        On a slow machine it plays on until the measured part has a decision and its latency.
        """
        begin, warm = time.monotonic(), None
        for _ in self.battles():
            passed = time.monotonic() - begin
            if warm is None and passed > seconds * WARM_UP_SHARE:
                warm = self.read()
            elif warm is not None and passed > seconds and self._has_decisions_since(warm):
                break
        assert warm is not None
        return self._between(warm, self.read())

    def _has_decisions_since(self, begin: Reading) -> bool:
        """Return whether there is a rate and a latency. A decision has its latency when the next poll begins."""
        return self._session.counts.decisions > begin.decisions and self._arena.num_turns > begin.turns

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


@contextmanager
def self_play(load: Load) -> Iterator[SelfPlay]:
    """Open a collector that writes its trajectories to a temporary folder.

    Raises:
        ConfigurationError: Node or the gateway's package is missing.
    """
    arena = Stopwatch(ShowdownArena(load.game.format, load.num_gateways, GatewaySettings()), load.num_gateways)
    with Session(arena, load.concurrent_battles) as session, TemporaryDirectory() as folder:
        store = open_store(str(Path(folder)))
        with ShardWriter(store.put, arena.space) as writer:
            yield SelfPlay(load, arena, session, writer)
