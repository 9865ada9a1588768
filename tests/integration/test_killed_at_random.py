"""A run whose processes are killed at random, of every kind, goes on to the results of an undisturbed one."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nashdex.store import open_store
from support.killing import kill_one
from support.results import published

CONFIG = """
format = "kuhn_poker"
iterations = 2
[population]
initial = ["random"]
[collect]
shards = 2
[train]
oracle = "exact"
[evaluate]
shards = 2
[solve]
num_draws = 100
"""
KILLS = int(os.environ.get("NASHDEX_TEST_KILLS", "0"))
FINISH_SECONDS = 1200.0


def start(folder: Path) -> "subprocess.Popen[str]":
    folder.mkdir(exist_ok=True)
    (folder / "kuhn.toml").write_text(CONFIG)
    command = [sys.executable, "-m", "nashdex_cli", "run", "kuhn.toml", "--store", "store", "--run", "kuhn"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def results(folder: Path) -> dict[tuple[int, str], bytes]:
    return published(open_store(str(folder / "store" / "kuhn")), range(2))


@pytest.mark.skipif(not KILLS, reason="takes a minute; NASHDEX_TEST_KILLS=N kills N processes")
@pytest.mark.skipif(sys.platform != "linux", reason="steps have another parent elsewhere")
def test_kills_of_every_kind_lose_and_double_nothing(tmp_path: Path) -> None:
    whole = start(tmp_path / "whole")
    _, errors = whole.communicate(timeout=FINISH_SECONDS)
    assert whole.returncode == 0, errors
    expected = results(tmp_path / "whole")
    generator = random.Random(75)
    killed: list[str] = []
    deadline = time.monotonic() + FINISH_SECONDS
    code = None
    while code != 0:
        run = start(tmp_path / "killed")
        while run.poll() is None and time.monotonic() < deadline:
            time.sleep(generator.uniform(0.3, 1.5))
            if len(killed) < KILLS and (name := kill_one(run, generator)):
                killed.append(name)
        out, err = run.communicate()
        code = run.returncode
        assert code in {0, 75, -9}, f"{code} after killing {killed}: {err or out}"
    assert results(tmp_path / "killed") == expected
    assert killed
