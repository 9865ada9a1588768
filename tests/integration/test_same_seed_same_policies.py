"""Real battles with the same seed give the same policies and payoffs, whatever dies, waits or plays them."""

import subprocess
import sys
import time
from pathlib import Path

import psutil

from nashdex.core.steps import StepName
from nashdex.store import open_store
from support.results import published

CONFIG = """
format = "gen1ou"
iterations = 2
seed = 3
[collect]
battles = 24
shards = 2
concurrent_battles = 12
[train.oracle]
decisions = 2000
round_battles = 16
[evaluate]
battles_per_pair = 4
[solve]
num_draws = 100
"""
FINISH_SECONDS = 400


def start(folder: Path, *options: str) -> "subprocess.Popen[str]":
    (folder / "small.toml").write_text(CONFIG)
    command = [sys.executable, "-m", "nashdex", "run", "small.toml", "--store", "store", *options]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(run: "subprocess.Popen[str]") -> None:
    _, errors = run.communicate(timeout=FINISH_SECONDS)
    assert run.returncode == 0, errors


def results(folder: Path, run: str) -> dict[tuple[int, str], bytes]:
    documents = published(open_store(str(folder / "store" / run)), [1], {StepName.SOLVE})
    assert b'"games"' in b"".join(documents.values())
    return documents


def kill_in_the_second_training(run: "subprocess.Popen[str]", folder: Path) -> None:
    """Kill the run and all its processes when the best response's training has begun."""
    training = folder / "store" / "killed" / "iterations" / "0001" / "train"
    deadline = time.monotonic() + FINISH_SECONDS
    while not training.exists() and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert training.exists(), "the training never began"
    family = [*psutil.Process(run.pid).children(recursive=True), psutil.Process(run.pid)]
    for process in family:
        process.kill()
    psutil.wait_procs(family, timeout=10)


def test_a_killed_run_without_actors_on_a_busy_machine_gives_the_same_policies(tmp_path: Path) -> None:
    finish(start(tmp_path, "--run", "whole"))
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        options = ("--run", "killed", "--set", "actors.shards=0")
        killed = start(tmp_path, *options)
        kill_in_the_second_training(killed, tmp_path)
        killed.communicate(timeout=FINISH_SECONDS)
        finish(start(tmp_path, *options))
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert results(tmp_path, "killed") == results(tmp_path, "whole")
