"""Rates of collecting and of the bare simulator, measured in turn on one machine."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat

from nashdex.core.documents import Model
from nashdex.core.errors import TryAgainError
from nashdex.games.registry import showdown_game
from nashdex.games.showdown.game import ShowdownGame
from nashdex.games.showdown.gateway import NODE_FLAGS, GatewaySettings, find_node
from nashdex.settings.networks import NetworkSettings
from nashdex_bench.collect.self_play import WARM_UP_SHARE, Load, Measured, self_play

Peer = Literal["poke-env"]
_PEER_PATIENCE_SECONDS = 240.0
"""Extra time: the stock server starts slowly, and its last battles are finished."""


class LatencyPercentiles(Model):
    """Latencies of decisions, in milliseconds."""

    p50: PositiveFloat
    p90: PositiveFloat
    p99: PositiveFloat


class BenchResult(Model):
    """Medians over the repetitions. A decision is one choice of one seat."""

    format: str
    repetitions: NonNegativeInt
    decisions_per_second: PositiveFloat = Field(description="Collector, wall time.")
    decisions_per_cpu_second: PositiveFloat = Field(description="Collector, all processes, user and system.")
    raw_decisions_per_cpu_second: PositiveFloat = Field(
        description="Bare simulator as published, random legal choices."
    )
    raw_accelerated_decisions_per_cpu_second: PositiveFloat = Field(
        description="That of the simulator accelerated as in the gateway."
    )
    efficiency: PositiveFloat = Field(
        description="Median over the repetitions of the collector's rate over the published simulator's."
    )
    efficiencies: tuple[PositiveFloat, ...]
    efficiency_accelerated: PositiveFloat = Field(description="Rate divided by the accelerated simulator's rate.")
    efficiencies_accelerated: tuple[PositiveFloat, ...]
    peer: Peer | None = None
    peer_decisions_per_cpu_second: PositiveFloat | None = Field(None, description="Server and client, user and system.")
    peer_ratio: PositiveFloat | None = Field(
        None, description="Median over the repetitions of the collector's rate over the peer's."
    )
    peer_ratios: tuple[PositiveFloat, ...] = ()
    collector_cpu_microseconds: PositiveFloat = Field(description="CPU time of this process per decision.")
    gateway_cpu_microseconds: PositiveFloat = Field(description="CPU time of its gateways per decision.")
    decision_latency_milliseconds: LatencyPercentiles = Field(
        description="From a decision's arrival at the collector until its answer is sent."
    )
    collector_waiting_share: NonNegativeFloat = Field(
        description="Share of wall time in which the collector waits for gateways."
    )
    gateway_waiting_share: NonNegativeFloat = Field(
        description="Share of wall time in which gateways wait for answers."
    )
    collector_resident_bytes: NonNegativeInt = Field(description="Largest at a repetition's end.")
    gateway_resident_bytes: NonNegativeInt = Field(description="Resident memory of all gateways together.")
    resident_bytes: NonNegativeInt = Field(description="Largest sum of the two.")
    num_parameters: NonNegativeInt = Field(description="Parameters of the network on both seats.")
    battles: NonNegativeInt
    rejected_choices: NonNegativeInt = Field(description="Choices that the simulator rejected and asked for again.")
    failed_battles: NonNegativeInt = Field(description="Tries that failed and were replayed.")


def run_bench(
    format_id: str,
    *,
    seconds: float = 20.0,
    repetitions: int = 3,
    peer: Peer | None = None,
    network: NetworkSettings | None = None,
) -> BenchResult:
    """Measure the bare simulator as published and accelerated, collecting, and the peer in turn, ``repetitions`` times.

    Each takes ``seconds``. A fresh network (None: the plainest one, of its default size) plays both seats, and every
    decision is recorded and written. CPU time covers all processes. Their start and the first part of each
    measurement do not count.

    Raises:
        ConfigurationError: it is not a Showdown format, or Node or the gateway's package is missing.
        TryAgainError: the bare simulator or the peer could not be run.
    """
    game = showdown_game(format_id)
    raw, accelerated, peers, measured = [], [], [], []
    for repetition in range(repetitions):
        raw.append(measure_raw(game, seconds, repetition))
        accelerated.append(measure_raw(game, seconds, repetition, is_accelerated=True))
        if peer is not None:
            peers.append(measure_peer(game, seconds, repetition))
        with self_play(Load(game, seed=repetition, network=network)) as collecting:
            measured.append(collecting.measure(seconds))
    return _result(game, measured, raw, accelerated, peer, peers)


def lines(result: BenchResult) -> Iterator[str]:
    """Yield the result as text."""
    yield (
        f"{result.format}: {result.decisions_per_cpu_second:,.0f} decisions per CPU-second while collecting "
        f"({result.collector_cpu_microseconds:.0f} µs each in the collector, {result.gateway_cpu_microseconds:.0f} µs "
        f"in the gateway), {result.decisions_per_second:,.0f} per second of wall time"
    )
    yield f"bare simulator: {result.raw_decisions_per_cpu_second:,.0f}; efficiency {result.efficiency:.2f}"
    yield (
        f"accelerated simulator: {result.raw_accelerated_decisions_per_cpu_second:,.0f}; efficiency "
        f"{result.efficiency_accelerated:.2f}"
    )
    if result.peer_ratio is not None:
        yield (
            f"{result.peer}: {result.peer_decisions_per_cpu_second:,.0f}; collecting is {result.peer_ratio:.1f} times "
            "as fast"
        )
    latency = result.decision_latency_milliseconds
    yield f"latency: median {latency.p50:.1f} ms, 90 % within {latency.p90:.1f}, 99 % within {latency.p99:.1f}"
    yield f"waiting: collector {result.collector_waiting_share:.0%}, gateway {result.gateway_waiting_share:.0%}"
    yield (
        f"resident: collector {result.collector_resident_bytes / 2**20:,.0f} MiB, "
        f"gateway {result.gateway_resident_bytes / 2**20:,.0f} MiB"
    )


def _result(
    game: ShowdownGame,
    measured: Sequence[Measured],
    raw: Sequence[float],
    accelerated: Sequence[float],
    peer: Peer | None,
    peers: Sequence[float],
) -> BenchResult:
    def middle(value: Callable[[Measured], float]) -> float:
        return median(map(value, measured))

    def ratios(others: Sequence[float]) -> tuple[float, ...]:
        return tuple(m.decisions_per_cpu_second / other for m, other in zip(measured, others, strict=True))

    p50, p90, p99 = (median(column) * 1e3 for column in zip(*(m.latencies_seconds for m in measured), strict=True))
    return BenchResult(
        format=game.format,
        repetitions=len(measured),
        decisions_per_second=middle(lambda m: m.decisions_per_second),
        decisions_per_cpu_second=middle(lambda m: m.decisions_per_cpu_second),
        raw_decisions_per_cpu_second=median(raw),
        raw_accelerated_decisions_per_cpu_second=median(accelerated),
        efficiency=median(ratios(raw)),
        efficiencies=ratios(raw),
        efficiency_accelerated=median(ratios(accelerated)),
        efficiencies_accelerated=ratios(accelerated),
        peer=peer,
        peer_decisions_per_cpu_second=median(peers) if peers else None,
        peer_ratio=median(ratios(peers)) if peers else None,
        peer_ratios=ratios(peers) if peers else (),
        collector_cpu_microseconds=middle(lambda m: m.cpu_seconds / m.decisions * 1e6),
        gateway_cpu_microseconds=middle(lambda m: m.gateway_cpu_seconds / m.decisions * 1e6),
        decision_latency_milliseconds=LatencyPercentiles(p50=p50, p90=p90, p99=p99),
        collector_waiting_share=middle(lambda m: m.collector_waited_seconds / m.seconds),
        gateway_waiting_share=middle(lambda m: m.gateways_waited_seconds / m.seconds),
        collector_resident_bytes=max(m.collector_bytes for m in measured),
        gateway_resident_bytes=max(m.gateway_bytes for m in measured),
        resident_bytes=max(m.collector_bytes + m.gateway_bytes for m in measured),
        num_parameters=measured[-1].num_parameters,
        battles=sum(m.battles for m in measured),
        rejected_choices=sum(m.rejected_choices for m in measured),
        failed_battles=sum(m.failed_battles for m in measured),
    )


def measure_raw(game: ShowdownGame, seconds: float, seed: int, *, is_accelerated: bool = False) -> float:
    """Return the bare simulator's decisions per CPU-second with random legal choices.

    Raises:
        TryAgainError: it failed.
    """
    settings = GatewaySettings()
    warm_up_seconds = seconds * WARM_UP_SHARE
    with tempfile.TemporaryDirectory() as folder:
        command = [find_node(settings), *NODE_FLAGS, str(settings.directory / "bench" / "raw.js")]
        command += ["--format", game.format, "--seed", str(seed)]
        command += ["--warm-up", str(warm_up_seconds), "--seconds", str(seconds - warm_up_seconds)]
        if is_accelerated:
            command.append("--accelerated")
        if game.teams():
            teams = Path(folder) / "teams.txt"
            teams.write_text("\n".join(game.teams()), encoding="utf-8")
            command += ["--teams", str(teams)]
        ended = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 our own program
    if ended.returncode:
        raise TryAgainError(f"the bare simulator ended with {ended.returncode}: {ended.stderr.decode().strip()}")
    return float(json.loads(ended.stdout)["decisions_per_cpu_second"])


def measure_peer(game: ShowdownGame, seconds: float, seed: int) -> float:
    """Return the decisions per CPU-second of poke-env's websocket players (``nashdex_bench.collect.poke_env``).

    Raises:
        TryAgainError: they failed or did not end.
    """
    command = [sys.executable, "-m", "nashdex_bench.collect.poke_env", "--format", game.format]
    command += ["--seconds", str(seconds), "--seed", str(seed)]
    try:
        ended = subprocess.run(  # noqa: S603 our own program
            command, capture_output=True, check=False, timeout=seconds + _PEER_PATIENCE_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise TryAgainError(f"poke-env's players did not end within {error.timeout:.0f} s; try again") from error
    if ended.returncode:
        raise TryAgainError(f"poke-env's players ended with {ended.returncode}: {ended.stderr.decode().strip()}")
    return float(json.loads(ended.stdout)["decisions_per_cpu_second"])
