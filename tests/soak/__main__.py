"""``python -m soak [--minutes M] [--out FILE]``: sample every process of a run and of an exporter while they work.

Runs iterations of real battles one after another, with the exporter beside them, and one long collection, whose
collector and gateway live as long. Each process is sampled every few seconds: resident memory, file descriptors,
threads; and the files under the temporary folder. Exits with 1 if one of them is larger in the last quarter of the
time than in the second one by more than the tolerance. The first quarter is warm-up.
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
from pathlib import Path
from typing import NamedTuple

import psutil

SAMPLE_SECONDS = 5.0
MEMORY_TOLERANCE = 1.1
"""Ratio of medians. Allocators keep what they once had."""
COUNT_TOLERANCE = 2
"""Descriptors, threads or files by which medians may differ."""
LONG_LIVED = 0.5
"""Share of the time; processes that live less are the steps of one iteration, which end by themselves."""

SHORT = """
format = "gen1randombattle"
iterations = 9999
opponents = "self-play"
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
LONG = """
format = "gen1ou"
iterations = 1
[collect]
battles = 10_000_000
"""


class Sample(NamedTuple):
    """What one process has."""

    memory_mebibytes: float
    descriptors: int
    threads: int


class Growth(NamedTuple):
    """A quantity's median in the second and the last quarter of the time."""

    process: str
    quantity: str
    early: float
    late: float

    @property
    def is_growth(self) -> bool:
        """Whether it is more than noise."""
        if self.quantity == "memory_mebibytes":
            return self.late > self.early * MEMORY_TOLERANCE
        return self.late > self.early + COUNT_TOLERANCE


@contextmanager
def working(folder: Path) -> Iterator[dict[str, psutil.Process]]:
    """Start the programs; yield their processes by name."""
    environment = os.environ | {"TMPDIR": str(folder / "tmp")}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    (folder / "tmp").mkdir()
    (folder / "short.toml").write_text(SHORT)
    (folder / "long.toml").write_text(LONG)
    nashdex = [sys.executable, "-m", "nashdex"]
    commands = {
        "short": [*nashdex, "run", "short.toml", "--store", "store", "--run", "short"],
        "long": [*nashdex, "run", "long.toml", "--store", "store", "--run", "long"],
        "exporter": [*nashdex, "exporter", "--store", "store", "--every", "2"],
    }
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


def family(processes: Sequence[psutil.Process]) -> Iterator[tuple[str, psutil.Process]]:
    """Yield every process with a name that tells it from the others."""
    for root in processes:
        for process in (root, *root.children(recursive=True)):
            try:
                words = [Path(word).name for word in process.cmdline()[:6]]
            except psutil.Error:
                continue  # it ended meanwhile
            yield f"{' '.join(words)[:60]} #{process.pid}", process


def sample(processes: Sequence[psutil.Process]) -> dict[str, Sample]:
    """Return what every process has now."""
    found = {}
    for name, process in family(processes):
        try:
            with process.oneshot():
                memory = process.memory_info().rss / 2**20
                found[name] = Sample(memory, process.num_fds(), process.num_threads())
        except psutil.Error:
            continue  # it ended meanwhile
    return found


def growths(series: Mapping[str, Sequence[Sample]]) -> Iterator[Growth]:
    """Yield every quantity of every process that lived long."""
    most = max(map(len, series.values()), default=0)
    for name, samples in series.items():
        if len(samples) < max(LONG_LIVED * most, 4):
            continue
        quarter = len(samples) // 4
        for quantity in Sample._fields:
            values = [float(getattr(each, quantity)) for each in samples]
            early, late = statistics.median(values[quarter : 2 * quarter]), statistics.median(values[-quarter:])
            yield Growth(name, quantity, early, late)


def main() -> int:
    """Soak, and print what grew."""
    parser = argparse.ArgumentParser(prog="soak")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--out", type=Path, help="file for every median, as JSON")
    options = parser.parse_args()
    series: dict[str, list[Sample]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="nashdex-soak-") as name:
        folder = Path(name)
        with working(folder) as processes:
            until = time.monotonic() + 60 * options.minutes
            while (left := until - time.monotonic()) > 0:
                time.sleep(min(SAMPLE_SECONDS, left))
                for program, root in processes.items():
                    if root.status() == psutil.STATUS_ZOMBIE:
                        sys.stderr.write(f"\n{(folder / f'{program}.log').read_text()[-2000:]}")
                        sys.stderr.write(f"\n{program} ended before its time; this is the end of its log\n")
                        return 1
                files = sum(1 for _ in (folder / "tmp").rglob("*"))
                series["temporary files"].append(Sample(0.0, files, 0))
                for process, has in sample(list(processes.values())).items():
                    series[process].append(has)
                sys.stderr.write(f"\r{len(series)} processes so far, {left / 60:.1f} min left ")
        iterations = len(list((folder / "store" / "short" / "iterations").glob("*/report.json")))
    measured = [*growths(series)]
    if options.out:
        options.out.write_text(json.dumps([each._asdict() for each in measured], indent=1) + "\n")
    sys.stderr.write("\n")
    grown = [each for each in measured if each.is_growth]
    for each in grown:
        sys.stdout.write(f"{each.process}: {each.quantity} {each.early:.0f} → {each.late:.0f}\n")
    lived = len({each.process for each in measured})
    sys.stdout.write(
        f"{iterations} iterations, {len(series) - 1} processes, {lived - 1} long-lived, {len(grown)} grew\n"
    )
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
