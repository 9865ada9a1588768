"""How fast collecting is, beside how fast the bare simulator is, in one command on one machine."""

import json
import subprocess
import tempfile
from pathlib import Path
from statistics import median

from pydantic import Field, NonNegativeInt, PositiveFloat

from nashdex.collector.self_play import Load, Reading, self_play
from nashdex.core.documents import Model
from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.games.interface import Game
from nashdex.games.registry import game_for, is_tabular
from nashdex.games.showdown.gateway import NODE_FLAGS, GatewaySettings, find_node

_WARM_UP_SHARE = 0.3
"""Of a measurement's time, before counting begins: Node compiles what runs often while it runs."""


class BenchResult(Model):
    """Medians over the repetitions. A decision is one choice of one seat."""

    format: str
    repetitions: NonNegativeInt
    decisions_per_second: PositiveFloat = Field(description="Collector, wall time.")
    decisions_per_cpu_second: PositiveFloat = Field(description="Collector, all processes, user and system.")
    raw_decisions_per_cpu_second: PositiveFloat = Field(description="Bare simulator, random legal choices.")
    efficiency: PositiveFloat = Field(description="Median of the ratio of the two, repetition by repetition.")
    efficiencies: tuple[PositiveFloat, ...]
    resident_bytes: NonNegativeInt = Field(description="Largest, collector and gateways together.")
    num_parameters: NonNegativeInt = Field(description="Of the network on both seats.")
    battles: NonNegativeInt


def run_bench(format_id: str, *, seconds: float = 20.0, repetitions: int = 3, num_gateways: int = 1) -> BenchResult:
    """Measure the bare simulator and collecting in turn, ``seconds`` each, ``repetitions`` times.

    A fresh network of the default size plays both seats, and every decision is recorded and written. CPU time is that
    of all processes; their start, and the first part of each measurement, count on neither side.

    Raises:
        ConfigurationError: the format is unknown, or no simulator plays it.
        TryAgainError: the bare simulator could not be run.
    """
    if is_tabular(format_id):
        raise ConfigurationError(f"{format_id} has no simulator to compare with; expected a Showdown format")
    game = game_for(format_id)
    raw, begun, ended, num_parameters = [], [], [], 0
    for repetition in range(repetitions):
        raw.append(measure_raw(game, seconds, seed=repetition))
        with self_play(Load(game, num_gateways=num_gateways, seed=repetition)) as collecting:
            num_parameters = collecting.num_parameters
            start, warm = collecting.read(), None
            for _ in collecting.battles():
                now = collecting.read()
                if warm is None and now.at_seconds - start.at_seconds > seconds * _WARM_UP_SHARE:
                    warm = now
                elif warm is not None and now.at_seconds - start.at_seconds > seconds:
                    break
            assert warm is not None
            begun.append(warm)
            ended.append(now)
    rates = [_rate(begin, end) for begin, end in zip(begun, ended, strict=True)]
    efficiencies = tuple(rate / raw_rate for rate, raw_rate in zip(rates, raw, strict=True))
    return BenchResult(
        format=format_id,
        repetitions=repetitions,
        decisions_per_second=median(
            (end.decisions - begin.decisions) / (end.at_seconds - begin.at_seconds)
            for begin, end in zip(begun, ended, strict=True)
        ),
        decisions_per_cpu_second=median(rates),
        raw_decisions_per_cpu_second=median(raw),
        efficiency=median(efficiencies),
        efficiencies=efficiencies,
        resident_bytes=max(end.collector_bytes + end.gateway_bytes for end in ended),
        num_parameters=num_parameters,
        battles=sum(end.battles - begin.battles for begin, end in zip(begun, ended, strict=True)),
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


def _rate(begin: Reading, end: Reading) -> float:
    """Return decisions per CPU-second between two readings."""
    return (end.decisions - begin.decisions) / (end.cpu_seconds - begin.cpu_seconds)
