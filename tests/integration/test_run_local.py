"""Whole runs on real battles: from nothing to a report, killed and interrupted, and going on where they stopped."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import psutil
import pytest
import torch
from torch import Tensor

from nashdex.core import keys
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.core.steps import StepName
from nashdex.planning.dag import num_shards
from nashdex.policies.archive import load_network
from nashdex.policies.document import read_document
from nashdex.runs.creation import open_run
from nashdex.store import open_store
from nashdex.store.attempt import read_manifest
from support.once import made_once

pytestmark = [pytest.mark.integration, pytest.mark.slow]

CONFIG = """
format = "gen1randombattle"
run = "tiny"
iterations = 2
seed = 7
[network]
kind = "slots"
embedding_size = 4
entity_size = 8
hidden_size = 16
num_hidden_layers = 1
[arena]
concurrent_battles = 4
[collect]
battles = 9
shards = 2
[train]
checkpoint_every_updates = 2
[train.oracle]
decisions = 1
round_battles = 9
num_epochs = 2
minibatch_decisions = 64
[train.first]
num_epochs = 2
[actors]
shards = 0
[evaluate]
battles_per_pair = 5
shards = 2
[solve]
num_draws = 100
"""
BATTLES_PER_PAIR = 5
FINISH_SECONDS = 1200.0


def _start(folder: Path, *more: str, text: str = CONFIG) -> "subprocess.Popen[str]":
    config = folder / "tiny.toml"
    config.write_text(text)
    command = [sys.executable, "-m", "nashdex_cli", "run", str(config), "--store", str(folder / "runs"), *more]
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _finish(process: "subprocess.Popen[str]") -> str:
    out, err = process.communicate(timeout=FINISH_SECONDS)
    assert process.returncode == 0, err
    return out


def _published(folder: Path, iteration: int, name: str) -> dict[str, Any]:
    document = json.loads(open_store(str(folder / "runs" / "tiny")).get(keys.published(iteration, name)))
    assert isinstance(document, dict)
    return document


def _networks(folder: Path) -> list[str]:
    """Return the ids of the trained policies, by iteration."""
    policies = _published(folder, 1, keys.POPULATION)["policies"]
    return [entry["id"] for entry in policies if entry["kind"] == "network"]


def _weights(folder: Path, policy: str) -> dict[str, Tensor]:
    store, bare = open_store(str(folder / "runs" / "tiny")), BarePolicyId(PolicyId(policy))
    weights: dict[str, Tensor] = load_network(store, bare, read_document(store, bare).space).state_dict()
    return weights


def _assert_exact(folder: Path) -> None:
    """Check that every cell of both ledgers holds the planned battles, and every collector its own."""
    for iteration, size in ((0, 4), (1, 5)):
        games = _published(folder, iteration, keys.INTERACTION_MATRIX)["games"]
        assert games == [[BATTLES_PER_PAIR * (i != j) for j in range(size)] for i in range(size)]
    run = open_run(str(folder / "runs" / "tiny"))
    for iteration, new_pairs in ((0, 6), (1, 4)):
        collected = 0 if iteration else 9  # later trainings play their own
        for step, battles in ((StepName.COLLECT, collected), (StepName.EVALUATE, new_pairs * BATTLES_PER_PAIR)):
            shards = range(num_shards(run.settings, step))
            counts = [read_manifest(run.store, iteration, step, shard).counts["battles"] for shard in shards]
            assert sum(counts) == battles


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Do a run that nothing disturbs; return its folder and what it printed."""

    def make(folder: Path) -> None:
        (folder / "printed").write_text(_finish(_start(folder)))

    folder = made_once(tmp_path_factory, "whole", make)
    return folder, (folder / "printed").read_text()


def test_a_run_goes_from_nothing_to_a_report(whole: tuple[Path, str]) -> None:
    folder, out = whole
    _assert_exact(folder)
    kinds = [(entry["kind"], entry["iteration"]) for entry in _published(folder, 1, keys.POPULATION)["policies"]]
    assert kinds == [("scripted", None)] * 3 + [("network", 0), ("network", 1)]
    for iteration in range(2):
        strategy = _published(folder, iteration, keys.META_STRATEGY)["meta_strategy"]
        assert sum(strategy.values()) == pytest.approx(1.0)
    address = out.splitlines()[-1].removeprefix("report: ")
    page = Path(unquote(urlsplit(address).path)).read_text()
    assert page.lstrip().lower().startswith("<!doctype html>")


def test_each_iteration_is_summed_up(whole: tuple[Path, str]) -> None:
    _, out = whole
    assert "iteration 0 (1 of 2): 9 battles collected, 30 evaluated" in out
    assert "iteration 1 (2 of 2): 20 evaluated" in out, "PPO plays its own rounds and collects nothing"
    assert len(re.findall(r"its win rates .*random [01]\.\d\d \[0\.\d\d, [01]\.\d\d\]", out)) == 2
    assert "no gap: the first policy answers no meta-strategy" in out
    assert len(re.findall(r"best response +gap -?[01]\.\d\d \[", out)) == 1
    assert out.count("meta-strategy ") == 2


def test_a_best_response_begins_from_another_runs_policy_and_keeps_what_is_frozen(
    whole: tuple[Path, str], tmp_path: Path
) -> None:
    """The first network is the other policy itself; training on battles moves all but the frozen parameters."""
    folder, _ = whole
    source = _networks(folder)[-1]
    frozen = ("embeddings.", "encoders.")
    network = f'[network]\nfreeze = {json.dumps(frozen)}\ninit_from = {{ policy = "{folder}/runs/tiny#{source}" }}\n'
    fresh = CONFIG.replace("[train.first]\nnum_epochs = 2", '[train.first]\nkind = "fresh"')
    _finish(_start(tmp_path, text=fresh.replace("[network]\n", network)))

    first, response = _networks(tmp_path)
    assert first == source
    given, trained = (_weights(at, policy) for at, policy in ((folder, source), (tmp_path, response)))
    held = {name for name in given if name.startswith(frozen)}
    assert held
    assert {name for name in given if torch.equal(given[name], trained[name])} == held


def test_running_again_does_nothing_and_answers_the_same(whole: tuple[Path, str]) -> None:
    folder, _ = whole
    store = open_store(str(folder / "runs" / "tiny"))
    before = {key: store.get(key) for key in store.list("")}
    answer = json.loads(_finish(_start(folder, "--json")))
    assert answer["run"] == "tiny"
    assert answer["uri"] == str(folder / "runs" / "tiny")
    assert answer["store"] == str(folder / "runs")
    assert answer["iterations"] == 2
    assert answer["final"] == _published(folder, 1, keys.REPORT)
    assert {key: store.get(key) for key in store.list("")} == before


def _steps_of(process: "subprocess.Popen[str]") -> list[tuple[psutil.Process, str]]:
    """Return the running steps of a runner with "NAME iteration shard", by the log that each writes to."""
    found = []
    for child in _children(process):
        try:
            log = Path(f"/proc/{child.pid}/fd/1").readlink()
            leads = os.getpgid(child.pid) == child.pid  # and is no gateway of the step's
        except OSError:
            continue
        if leads and log.suffix == ".log":
            iteration, name, shard = log.stem.split("-")
            found.append((child, f"{name} {int(iteration)} {int(shard)}"))
    return found


def _children(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def _wait_until(condition: Callable[[], object], what: str, seconds: float = 300.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)


def _gone(processes: list[psutil.Process]) -> bool:
    return not psutil.wait_procs(processes, timeout=0)[1]


def test_killed_steps_and_a_killed_runner_lose_and_double_nothing(whole: tuple[Path, str], tmp_path: Path) -> None:
    """Every shard of collect, train and evaluate is killed once, at a random moment; the runner too, at the end.

    The first shard of each step is killed at once: a step may be done before its random moment.
    """
    draw = random.Random(20)
    moments: dict[str, float] = {}
    killed: set[str] = set()
    process = _start(tmp_path)
    runner_dies_at = None
    while process.poll() is None:
        now = time.monotonic()
        for child, shard in _steps_of(process):
            step = shard.split()[0]
            if step not in {"collect", "train", "evaluate"}:
                continue
            is_first = step not in {other.split()[0] for other in moments}
            moment = moments.setdefault(shard, now if is_first else now + draw.uniform(0.0, 0.5))
            if shard not in killed and now >= moment:
                child.kill()
                killed.add(shard)
            if shard.startswith("evaluate 1") and runner_dies_at is None:
                runner_dies_at = now + 1.0
        if runner_dies_at is not None and now >= runner_dies_at:
            left = _children(process)
            process.kill()
            _wait_until(lambda: _gone(left), "steps and gateways to end with their runner")  # noqa: B023 - same turn
        time.sleep(0.02)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert {shard.split()[0] for shard in killed} == {"collect", "train", "evaluate"}
    _finish(_start(tmp_path))
    _assert_exact(tmp_path)
    undisturbed, _ = whole
    for iteration in range(2):
        for name in (keys.POPULATION, keys.INTERACTION_MATRIX, keys.META_STRATEGY):
            assert _published(tmp_path, iteration, name) == _published(undisturbed, iteration, name)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_no_process(number: signal.Signals, code: int, tmp_path: Path) -> None:
    process = _start(tmp_path)
    _wait_until(lambda: any("node" in Path(child.name()).name for child in _children(process)), "a gateway")
    descendants = _children(process)
    os.kill(process.pid, number)
    _, err = process.communicate()
    assert process.returncode == code
    assert err == "error: stopped; every process has ended; run the same command again to go on\n"
    assert _gone(descendants)
