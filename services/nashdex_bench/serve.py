"""``nashdex serve`` measured on the stock server: two clients that play each other, in processes of their own.

Every battle has two records, one of each client, and a result that the server announces in the room's log. A battle
counts if all three agree.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import psutil
from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt

from nashdex.core.documents import Model
from nashdex.core.errors import DataError, TryAgainError
from nashdex.core.stopping import check_stop
from nashdex.games.showdown.stock_server import StockServer, stock_server
from nashdex.serve.lines import to_id
from nashdex.serve.record import BATTLES
from nashdex.serve.room import ServedBattle

_OPPOSITE: Final = {"win": "loss", "loss": "win", "tie": "tie"}
_POLL_SECONDS: Final = 0.2
_SAMPLE_SECONDS: Final = 5.0
_STALLED_SECONDS: Final = 300.0
"""Longest time without a finished battle."""
_NAMES: Final = ("bench one", "bench two")
_POLICIES: Final = ("max-power", "random")


class ServedPart(Model):
    """Battles of one part of the benchmark."""

    battles: NonNegativeInt
    """Wanted; those that were played, where time ends a part."""
    finished: NonNegativeInt
    """Battles that both clients recorded with a result."""
    agreed: NonNegativeInt
    """Battles whose two records and the server's announced result agree."""
    void: NonNegativeInt
    refused: NonNegativeInt
    """Choices that the server refused."""
    untracked: NonNegativeInt
    """Decisions that a client's tracker could not follow."""
    kills: NonNegativeInt = 0
    """Times that a client was killed in the middle of battles and started again."""
    seconds: NonNegativeFloat


class ServeBench(Model):
    """All parts: battles by search, battles with kills, and memory over time."""

    format: str
    at_once: PositiveInt
    search: ServedPart
    restarts: ServedPart
    endurance: ServedPart
    resident_mib: tuple[NonNegativeFloat, ...]
    """Median resident memory of a client with its gateway in each quarter of the endurance part's second half."""


def bench_serve(
    format_id: str,
    *,
    battles: int,
    restart_battles: int,
    kills: int,
    minutes: float,
    at_once: int,
    on_part: Callable[[str], None] = lambda _: None,
) -> ServeBench:
    """Measure all three parts on a stock server of their own.

    Raises:
        ConfigurationError: the format is unknown, or Node is missing.
        TryAgainError: the server does not start, or battles stop ending.
        DataError: a client ended with an error; quotes it.
    """
    with stock_server() as server, TemporaryDirectory(prefix="nashdex-bench-serve-") as folder:
        on_part(f"{battles} battles by search")
        search = _play(_Pair(server, format_id, Path(folder) / "search", at_once), battles=battles)
        on_part(f"{restart_battles} battles, in which a client is killed {kills} times")
        restarts = _play(_Pair(server, format_id, Path(folder) / "restarts", at_once), restart_battles, kills)
        on_part(f"{at_once} at once for {minutes:g} minutes")
        pair = _Pair(server, format_id, Path(folder) / "endurance", at_once)
        endurance, samples = _endure(pair, minutes * 60)
    second_half = samples[len(samples) // 2 :]
    quarters = [second_half[len(second_half) * part // 4 : len(second_half) * (part + 1) // 4] for part in range(4)]
    return ServeBench(
        format=format_id,
        at_once=at_once,
        search=search,
        restarts=restarts,
        endurance=endurance,
        resident_mib=tuple(statistics.median(quarter) for quarter in quarters if quarter),
    )


def lines(bench: ServeBench) -> Iterator[str]:
    """Yield the result as text."""
    parts = {"by search": bench.search, "with kills": bench.restarts, "endurance": bench.endurance}
    for name, part in parts.items():
        killed = f", {part.kills} kills" if part.kills else ""
        yield (
            f"{name}: {part.finished} of {part.battles} battles finished, {part.agreed} agree with the server, "
            f"{part.void} void, {part.refused} choices refused, {part.untracked} decisions not followed{killed}, "
            f"{part.seconds:.0f} s"
        )
    memory = ", ".join(f"{mib:.0f}" for mib in bench.resident_mib)
    yield f"memory of a client and its gateway, quarters of the endurance part's second half: {memory} MiB"


@dataclass
class _Pair:
    """Two clients that search for each other."""

    server: StockServer
    format_id: str
    folder: Path
    at_once: int
    started: float = field(default_factory=time.monotonic)

    def record(self, client: int) -> Path:
        """Return the folder of a client's record."""
        return self.folder / str(client)

    @contextmanager
    def client(self, number: int, *more: str) -> Iterator[subprocess.Popen[str]]:
        """Run a client; it is killed at the end of the block."""
        command = [sys.executable, "-m", "nashdex_cli", "serve", _POLICIES[number], "--format", self.format_id]
        command += ["--name", _NAMES[number], "--server", f"{self.server.host}:{self.server.port}", "--search"]
        command += ["--at-once", str(self.at_once), "--record", str(self.record(number)), *more]
        self.folder.mkdir(parents=True, exist_ok=True)
        with (
            (self.folder / f"{number}.log").open("a") as output,
            subprocess.Popen(command, stdout=output, stderr=output, text=True) as process,  # noqa: S603 - ourselves
        ):
            try:
                yield process
            finally:
                _kill_tree(process.pid)

    def battles(self, client: int) -> dict[str, ServedBattle]:
        """Return a client's record by room."""
        path = self.record(client) / BATTLES
        found = path.read_text("utf-8").splitlines() if path.exists() else []
        return {battle.room: battle for battle in (ServedBattle.model_validate(json.loads(line)) for line in found)}

    def wait(self, is_over: Callable[[], bool], *processes: subprocess.Popen[str]) -> None:
        """Wait until ``is_over`` while the clients work.

        Raises:
            TryAgainError: no battle ends for long.
            DataError: a client ended with an error.
        """
        num_ended, ended_at = -1, time.monotonic()
        while not is_over():
            check_stop()
            now_ended = sum(len(self.battles(client)) for client in range(2))
            if now_ended != num_ended:
                num_ended, ended_at = now_ended, time.monotonic()
            if time.monotonic() - ended_at > _STALLED_SECONDS:
                raise TryAgainError(f"no battle ended for {_STALLED_SECONDS:.0f} s; {self._last_words()}")
            for process in processes:
                if process.poll():
                    raise DataError(f"a client ended with {process.returncode}; {self._last_words()}")
            time.sleep(_POLL_SECONDS)

    def part(self, battles: int | None, kills: int = 0) -> ServedPart:
        """Return what the two records and the server's logs say; ``battles`` None: every battle that began."""
        records: tuple[Mapping[str, ServedBattle], ...] = (self.battles(0), self.battles(1))
        finished = [
            room
            for room in records[0].keys() & records[1].keys()
            if all(record[room].result is not None for record in records)
        ]
        every = [battle for record in records for battle in record.values()]
        return ServedPart(
            battles=len(records[0].keys() | records[1].keys()) if battles is None else battles,
            finished=len(finished),
            agreed=sum(self._agrees(records[0][room], records[1][room]) for room in finished),
            void=sum(battle.void is not None for battle in every),
            refused=sum(battle.refused for battle in every),
            untracked=sum(battle.untracked for battle in every),
            kills=kills,
            seconds=time.monotonic() - self.started,
        )

    def _agrees(self, one: ServedBattle, other: ServedBattle) -> bool:
        log = (self.record(0) / "logs" / f"{one.room}.log").read_text("utf-8").splitlines()
        winner = next((line.removeprefix("|win|") for line in log if line.startswith("|win|")), None)
        announced = "tie" if winner is None else ("win" if to_id(winner) == to_id(_NAMES[0]) else "loss")
        return one.result == announced and other.result == _OPPOSITE[announced]

    def _last_words(self) -> str:
        texts = (path.read_text("utf-8").strip().splitlines()[-1:] for path in sorted(self.folder.glob("*.log")))
        return "; ".join(f"it says {text[0][:300]!r}" for text in texts if text)


def _play(pair: _Pair, battles: int, kills: int = 0) -> ServedPart:
    """Play a number of battles; kill the first client ``kills`` times, evenly, in the middle of battles."""
    wanted = ("--battles", str(battles))
    with pair.client(1, *wanted) as other:
        for kill in range(kills):
            with pair.client(0, *wanted) as victim:
                enough = battles * (kill + 1) // (kills + 2)
                pair.wait(lambda enough=enough: len(pair.battles(1)) >= enough, victim, other)  # type: ignore[misc]
        with pair.client(0, *wanted) as one:
            pair.wait(lambda: one.poll() is not None and other.poll() is not None, one, other)
    return pair.part(battles, kills)


def _endure(pair: _Pair, seconds: float) -> tuple[ServedPart, list[float]]:
    """Play for a time; return the battles and the first client's memory in MiB, with its gateway's, in order."""
    samples: list[float] = []
    stop = pair.folder / "stop"
    with pair.client(0, "--stop-file", str(stop)) as one, pair.client(1, "--stop-file", str(stop)) as other:
        sampled_at = ends_at = time.monotonic()
        ends_at += seconds

        def is_over() -> bool:
            nonlocal sampled_at
            if time.monotonic() - sampled_at > _SAMPLE_SECONDS:
                sampled_at = time.monotonic()
                samples.append(_resident_mib(one.pid))
            return time.monotonic() > ends_at

        pair.wait(is_over, one, other)
        stop.touch()
        pair.wait(lambda: one.poll() is not None and other.poll() is not None)
    return pair.part(None), samples


def _resident_mib(process_id: int) -> float:
    process = psutil.Process(process_id)
    every = [process, *process.children(recursive=True)]
    return float(sum(each.memory_info().rss for each in every) / 2**20)


def _kill_tree(process_id: int) -> None:
    try:
        process = psutil.Process(process_id)
        every = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for each in every:
        try:
            each.kill()
        except psutil.NoSuchProcess:
            continue
