"""``nashdex experiment``: stopped by Ctrl-C, it leaves no process and goes on where it was."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.integration

BASE = """
format = "kuhn_poker"
iterations = 2
opponents = "self-play"
population.initial = ["random"]
network = { embedding_size = 4, entity_size = 16, hidden_size = 16, num_hidden_layers = 1 }
collect = { teacher = "random", battles = 300, shards = 1, concurrent_battles = 300 }
train.first = { num_epochs = 1, critic_warmup_epochs = 1 }
evaluate.shards = 1
[train.oracle]
decisions = 1500
round_battles = 200
num_epochs = 1
minibatch_decisions = 128
evaluation = { every_decisions = 1000, battles = 40, anchors = ["random"] }
damping = { preset = "none" }
"""
PLAN = """
hypothesis = "A step size of nearly 0 learns nothing."
base = "base.toml"
seeds = [1]
arms_at_once = 2
measure = { anchors = { random = 0.0 }, battles = 40 }
verdict = { kind = "difference", control = "base" }
[[arms]]
name = "base"
[[arms]]
name = "still"
settings = { "train.oracle.learning_rate" = 1e-9 }
"""


def test_an_experiment_that_is_stopped_goes_on(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(BASE)
    (tmp_path / "plan.toml").write_text(PLAN)
    command = [sys.executable, "-m", "nashdex", "experiment", "run", "plan.toml", "--store", "runs", "--json"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    results = tmp_path / "plan.results.json"
    deadline = time.monotonic() + 200
    while not results.exists() or '"running"' not in results.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=200)
    assert process.returncode == 130
    assert "run the same command again to go on" in said
    assert not [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    assert {one["status"] for one in json.loads(results.read_text())["runs"]} == {"planned"}

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["status"] == "completed"
    assert [arm["judgement"] == "control" for arm in report["arms"]] == [True, False]
    assert all(run["matches"]["random"]["battles"] == 40 for run in report["runs"])
    assert (tmp_path / "plan.md").exists()
    assert (tmp_path / "plan.svg").exists()

    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert json.loads(again.stdout) == report, "nothing is run twice"
    assert "0 of 2 runs to do" in again.stderr


def test_a_run_that_fails_says_why_and_ends_the_command_with_an_error(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(BASE)
    (tmp_path / "plan.toml").write_text('settings = { "train.device" = "cuda" }\n' + PLAN)
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-m", "nashdex", "experiment", "run", "plan.toml", "--store", "runs", "--json"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 75
    assert "error: 2 of 2 runs failed" in done.stderr
    report = json.loads(done.stdout)
    assert report["status"] == "failed"
    assert all("cuda" in run["reason"] for run in report["runs"])
    assert "no result yet" in report["verdict"]
