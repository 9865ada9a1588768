"""Measures the exporter's first scan of a large store: ``many_reports.py RUNS REPORTS [LATENCY_SECONDS]``.

Makes RUNS runs with REPORTS reports each (at most 9,998) in a temporary folder, copies of one small report. Prints the
scan's time, its requests, and the longest time between two beats. Each request takes LATENCY_SECONDS
longer, as with a distant S3.
"""

import itertools
import logging
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from nashdex.core import keys
from nashdex.core.ids import RunId
from nashdex.report import step as report_step
from nashdex.runs.creation import PreparedRun, create_run
from nashdex.store import open_store
from nashdex_cluster.exporter.watch import Watch
from support.made_runs import copy_reports, made_settings, make_iteration


def make_store(root: Path, num_runs: int, num_reports: int) -> None:
    """Make a store whose runs are all unfinished."""
    settings = made_settings(iterations=num_reports + 1).model_copy(update={"run": RunId("run-00000")})
    first = create_run(str(root), PreparedRun(settings, {})).store
    make_iteration(first, settings, 0)
    report_step.run(first, settings, 0, 0)
    for path in (root / "run-00000" / "iterations" / "0000").iterdir():
        if path.name not in {keys.REPORT, keys.META_GAME_ANALYSIS}:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    copy_reports(first, num_reports)
    for number in range(1, num_runs):
        shutil.copytree(root / "run-00000", root / f"run-{number:05d}")


def main(num_runs: int, num_reports: int, latency_seconds: float) -> None:
    """Make the store and scan it."""
    logging.disable()
    requests: Counter[str] = Counter()
    beats = [0.0]

    def observe(operation: str, *_: object) -> None:
        requests[operation] += 1
        time.sleep(latency_seconds)

    with tempfile.TemporaryDirectory() as folder:
        make_store(Path(folder), num_runs, num_reports)
        watch = Watch(open_store(folder, observe), 86_400.0)
        began = beats[0] = time.monotonic()
        watch.scan(lambda: beats.append(time.monotonic()))
        seconds = time.monotonic() - began
        idle = max((later - earlier for earlier, later in itertools.pairwise(beats)), default=0.0)
        sys.stdout.write(
            f"{num_runs} runs, {num_runs * num_reports} reports: {seconds:.1f} s, {dict(requests)}, "
            f"at most {idle:.2f} s between beats\n"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 0.0)
