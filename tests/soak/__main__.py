"""``python -m soak [--minutes M] [--out FILE]``: sample every process of three runs and of an exporter while they work.

One process works through short runs of real battles, one after another; one run collects all the time; one trains all
the time, with its actors. Each process is sampled every few seconds: resident memory, file descriptors, threads; and
the files under the temporary folder. A process that lives less than half of the time is a step of an iteration: its
samples count for its kind.

The first quarter is warm-up. Prints the medians of the second and the last quarter, and the slope between: the median
of the slopes of all pairs of samples (Theil and Sen), which single peaks do not move. Exits with 1 if a median or a
slope shows growth beyond the tolerance.
"""

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import psutil

SAMPLE_SECONDS = 5.0
MEMORY_TOLERANCE = 0.1
"""Share of the early median by which memory may grow, in all or in an hour. Allocators keep what they once had."""
COUNT_TOLERANCE = 2
"""Descriptors, threads or files that may join, in all or in an hour."""
FILES = "temporary files"
"""They count as descriptors of a process by this name."""
SLOPE_SAMPLES = 200
"""Samples whose pairs give a slope: enough, and 20,000 pairs."""
LONG_LIVED = 0.5
"""Share of the time; processes that live less are the steps of one iteration, which end by themselves."""

SHORT = """
format = "gen1randombattle"
iterations = 6
opponents = "self-play"
[arena]
deadline_seconds = 3600
[collect]
battles = 100
[train.oracle]
decisions = 8000
round_battles = 100
[evaluate]
battles_per_pair = 4
replays_per_pair = 0
[solve]
num_draws = 100
unplayed = "bradley-terry"
"""
COLLECTING = """
format = "gen1ou"
iterations = 1
[arena]
concurrent_battles = 16
deadline_seconds = 3600
[collect]
battles = 10_000_000
shards = 1
"""
TRAINING = """
format = "gen1randombattle"
iterations = 2
opponents = "self-play"
[arena]
deadline_seconds = 3600
[collect]
battles = 50
[train]
first = { num_epochs = 1 }
[train.oracle]
decisions = 1_000_000_000
round_battles = 40
[evaluate]
battles_per_pair = 2
replays_per_pair = 0
[solve]
num_draws = 100
"""


class Sample(NamedTuple):
    """What one process has."""

    seconds: float
    """Since the beginning."""
    memory_mebibytes: float
    descriptors: int
    threads: int


class Growth(NamedTuple):
    """A quantity's median in the second and the last quarter of the time, and its slope from the one to the other."""

    process: str
    quantity: str
    early: float
    late: float
    per_hour: float

    @property
    def is_growth(self) -> bool:
        """Whether it is more than noise."""
        tolerance = self.early * MEMORY_TOLERANCE if self.quantity == "memory_mebibytes" else COUNT_TOLERANCE
        return self.late > self.early + tolerance or self.per_hour > tolerance

    def __str__(self) -> str:
        return f"{self.process}: {self.quantity} {self.early:.0f} → {self.late:.0f}, {self.per_hour:+.1f} an hour"


@contextmanager
def working(folder: Path) -> Iterator[dict[str, psutil.Process]]:
    """Start the programs; yield their processes by name."""
    environment = os.environ | {"TMPDIR": str(folder / "tmp"), "NASHDEX_GATEWAY_START_SECONDS": "600"}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    (folder / "tmp").mkdir()
    nashdex = [sys.executable, "-m", "nashdex_cli"]
    commands = {"exporter": [*nashdex, "exporter", "--store", "store", "--every", "2"]}
    for name, settings in {"short": SHORT, "collecting": COLLECTING, "training": TRAINING}.items():
        (folder / f"{name}.toml").write_text(settings)
        commands[name] = [*nashdex, "run", f"{name}.toml", "--store", "store", "--run", name]
    commands["short"] = [sys.executable, str(Path(__file__).with_name("runs.py")), "short.toml", "store"]
    started = []
    for name, command in commands.items():
        with (folder / f"{name}.log").open("w") as log:
            its = environment | ({"NASHDEX_METRICS_PORT": port} if name == "exporter" else {})
            started.append(subprocess.Popen(command, cwd=folder, env=its, stdout=log, stderr=log))
    try:
        yield {name: psutil.Process(process.pid) for name, process in zip(commands, started, strict=True)}
    finally:
        for process in started:
            process.send_signal(signal.SIGTERM)
        for process in started:
            process.wait(timeout=120)


def family(program: str, root: psutil.Process) -> Iterator[tuple[str, psutil.Process]]:
    """Yield every process of a program, each with its kind."""
    own = root.cmdline()
    for process in (root, *root.children(recursive=True)):
        try:
            words = process.cmdline()
        except psutil.Error:
            continue  # it ended meanwhile
        if process != root and (words == own or any("warm_server" in word for word in words)):
            kind = "server of steps" if process.ppid() == root.pid else "step"
        elif any("resource_tracker" in word for word in words):
            kind = "resource tracker"
        else:
            kind = " ".join(Path(word).name for word in words[:4] if not word.startswith("-"))
        yield f"{program}: {kind}", process


def sample(programs: Mapping[str, psutil.Process], began: float) -> dict[tuple[str, int], Sample]:
    """Return what every process has now, by kind and process id."""
    found = {}
    for program, root in programs.items():
        for kind, process in family(program, root):
            try:
                with process.oneshot():
                    memory = process.memory_info().rss / 2**20
                    now = time.monotonic() - began
                    found[kind, process.pid] = Sample(now, memory, process.num_fds(), process.num_threads())
            except psutil.Error:
                continue  # it ended meanwhile
    return found


def slope(samples: Sequence[tuple[float, float]]) -> float:
    """Return the median slope of all pairs of (x, y): Sen 1968."""
    kept = samples[:: -(-len(samples) // SLOPE_SAMPLES)]
    return statistics.median((b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(kept, 2) if b[0] > a[0])


def by_life(series: Mapping[tuple[str, int], Sequence[Sample]], seconds: float) -> dict[str, list[Sample]]:
    """Return the samples of each process that lived long, and those of all others of a kind together."""
    pooled: dict[str, list[Sample]] = defaultdict(list)
    for (kind, process), samples in series.items():
        lived = samples[-1].seconds - samples[0].seconds
        pooled[f"{kind} #{process}" if lived >= LONG_LIVED * seconds else f"{kind}, each for a short time"] += samples
    return {name: sorted(samples) for name, samples in pooled.items()}


def growths(series: Mapping[tuple[str, int], Sequence[Sample]], seconds: float) -> Iterator[Growth]:
    """Yield every quantity of every process that lived long, and of every kind."""
    for name, samples in by_life(series, seconds).items():
        second = [each for each in samples if seconds / 4 <= each.seconds < seconds / 2]
        last = [each for each in samples if each.seconds >= 3 * seconds / 4]
        if not second or not last:
            continue
        for quantity in Sample._fields[1:]:
            early, late = (statistics.median(getattr(each, quantity) for each in part) for part in (second, last))
            warm = [(each.seconds, getattr(each, quantity)) for each in samples if each.seconds >= seconds / 4]
            yield Growth(name, quantity, early, late, 3600 * slope(warm))


def watch(
    folder: Path, programs: Mapping[str, psutil.Process], seconds: float
) -> tuple[dict[tuple[str, int], list[Sample]], str | None]:
    """Return the samples of every process, and the program that ended before its time."""
    series: dict[tuple[str, int], list[Sample]] = defaultdict(list)
    began = time.monotonic()
    while (left := began + seconds - time.monotonic()) > 0:
        time.sleep(min(SAMPLE_SECONDS, left))
        for program, root in programs.items():
            if root.status() == psutil.STATUS_ZOMBIE:
                return series, program
        files = sum(1 for _ in (folder / "tmp").rglob("*"))
        series[FILES, 0].append(Sample(time.monotonic() - began, 0.0, files, 0))
        for process, has in sample(programs, began).items():
            series[process].append(has)
        show_progress(
            f"{len(series) - 1} processes so far, {left / 60:.1f} min left",
            is_last_of_minute=left % 60 < SAMPLE_SECONDS,
        )
    return series, None


def show_progress(line: str, *, is_last_of_minute: bool) -> None:
    """Rewrite one line of a terminal; a log gets a line each minute."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{line} ")
    elif is_last_of_minute:
        sys.stderr.write(f"{line}\n")


def main() -> int:
    """Soak, and print what every process has and what grew."""
    parser = argparse.ArgumentParser(prog="soak")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--out", type=Path, help="file for every median, slope and sample, as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nashdex-soak-") as name:
        folder = Path(name)
        with working(folder) as programs:
            series, ended = watch(folder, programs, 60 * options.minutes)
        if ended:
            sys.stderr.write(f"\n{(folder / f'{ended}.log').read_text()[-2000:]}")
            sys.stderr.write(f"\n{ended} ended before its time; this is the end of its log\n")
        iterations = len(list((folder / "store").glob("short-*/iterations/*/report.json")))
    seconds = max((samples[-1].seconds for samples in series.values()), default=0.0)
    measured = [*growths(series, seconds)]
    if options.out:
        samples = {name: each for name, each in by_life(series, seconds).items() if len(each) > 1}
        written = {"growth": [each._asdict() for each in measured], "samples": samples}
        options.out.write_text(json.dumps(written) + "\n")
    sys.stderr.write("\n")
    for each in measured:
        sys.stdout.write(f"{each}{', grew' if each.is_growth else ''}\n")
    grown = [each for each in measured if each.is_growth]
    counted = f"{iterations} iterations, {len(series) - 1} processes, {len(grown)} quantities grew"
    sys.stdout.write(f"{seconds / 60:.1f} min, {counted}\n")
    return 1 if grown or ended else 0


if __name__ == "__main__":
    sys.exit(main())
