"""Real battles with the same seed give the same policies and payoffs, whatever dies, waits or plays them."""

import os
import random
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import torch

from nashdex.core.steps import StepName
from nashdex.store import open_store
from support.killing import family, kill_one
from support.results import published

SMALLEST = """
format = "gen1ou"
iterations = 2
seed = 3
[population]
initial = ["random", "heuristic"]
[arena]
concurrent_battles = 6
[collect]
battles = 12
shards = 2
[train.oracle]
decisions = 900
round_battles = 8
[train.first]
num_epochs = 2
[evaluate]
battles_per_pair = 2
[solve]
num_draws = 100
"""
FINISH_SECONDS = 3600 if os.environ.get("NASHDEX_TEST_REPEATS") else 1200
REPEATS = int(os.environ.get("NASHDEX_TEST_REPEATS", "0"))
MOST_LIFE_SECONDS = 20.0
KILLS = 4
"""The largest number of kills of one run."""


def start(folder: Path, *options: str, config: str = SMALLEST) -> "subprocess.Popen[str]":
    (folder / "small.toml").write_text(config)
    command = [sys.executable, "-m", "nashdex_cli", "run", "small.toml", "--store", "store", *options]
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
    killed = family(run.pid)
    for process in reversed(killed):
        process.kill()
    psutil.wait_procs(killed, timeout=10)


def hold_up(run: "subprocess.Popen[str]") -> None:
    """Until the run ends, stop one of its processes after another for a moment, as a busy machine does."""
    generator = random.Random(7)
    deadline = time.monotonic() + FINISH_SECONDS
    while run.poll() is None and time.monotonic() < deadline:
        with suppress(psutil.Error):
            process = generator.choice(family(run.pid))
            process.suspend()
            try:
                time.sleep(generator.uniform(0.0, 0.5))
            finally:
                process.resume()
        time.sleep(0.1)


@pytest.mark.slow
def test_a_killed_run_without_actors_on_a_busy_machine_gives_the_same_policies(tmp_path: Path) -> None:
    finish(start(tmp_path, "--run", "whole"))
    options = ("--run", "killed", "--set", "actors.shards=0")
    killed = start(tmp_path, *options)
    kill_in_the_second_training(killed, tmp_path)
    killed.communicate(timeout=FINISH_SECONDS)
    goes_on = start(tmp_path, *options)
    hold_up(goes_on)
    finish(goes_on)
    assert results(tmp_path, "killed") == results(tmp_path, "whole")


@pytest.mark.slow
@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA device")
@pytest.mark.parametrize("network", ["pointer", "transformer"])
def test_a_killed_run_on_a_gpu_gives_the_same_policies(tmp_path: Path, network: str) -> None:
    options = [f"network.kind={network}", "train.device=cuda", "collect.device=cuda", "actors.shards=1"]
    sets = [part for option in options for part in ("--set", option)]
    finish(start(tmp_path, "--run", "whole", *sets))
    killed = start(tmp_path, "--run", "killed", *sets)
    kill_in_the_second_training(killed, tmp_path)
    killed.communicate(timeout=FINISH_SECONDS)
    finish(start(tmp_path, "--run", "killed", *sets))
    assert results(tmp_path, "killed") == results(tmp_path, "whole")


@pytest.mark.skipif(not REPEATS, reason="takes minutes; NASHDEX_TEST_REPEATS=N repeats a run N times")
@pytest.mark.timeout(0)
def test_every_repeat_of_a_run_that_is_killed_at_random_gives_the_same_policies(tmp_path: Path) -> None:
    """Any process dies, at any moment; actors and shards of evaluation differ in number from run to run."""
    finish(start(tmp_path, "--run", "whole"))
    expected = results(tmp_path, "whole")
    generator = random.Random(20)
    equal = kills = 0
    for repeat in range(REPEATS):
        name = f"repeat-{repeat}"
        options = ["--run", name, "--set", f"actors.shards={repeat % 3}", "--set", f"evaluate.shards={1 + repeat % 2}"]
        left = generator.randint(1, KILLS)
        while True:
            run = start(tmp_path, *options)
            while left and run.poll() is None:
                time.sleep(generator.uniform(0, MOST_LIFE_SECONDS))
                if kill_one(run, generator):
                    left, kills = left - 1, kills + 1
            _, errors = run.communicate(timeout=FINISH_SECONDS)
            if run.returncode == 0:
                break
            assert run.returncode in {75, -9}, errors
        is_equal = results(tmp_path, name) == expected
        equal += is_equal
        sys.stdout.write(f"{name}: {'equal' if is_equal else 'DIFFERENT'} after {kills} kills in all\n")
        sys.stdout.flush()
        shutil.rmtree(tmp_path / "store" / name)
    assert equal == REPEATS
