"""``make chaos``: pods of every kind die at random while runs work; nothing is lost, and nothing is done twice."""

import json
import os
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from installation import Installation, Object
from ledgers import assert_exact
from processes import NASHDEX, attempt, read_json, run

from nashdex.runs.creation import open_run
from support.results import published

pytestmark = [pytest.mark.integration, pytest.mark.timeout(0)]

KILLS = int(os.environ.get("NASHDEX_TEST_KILLS", "0"))
SEED = int(os.environ.get("NASHDEX_TEST_SEED", "200"))
RUNS_AT_ONCE = 5
MOST_PAUSE_SECONDS = 4.0
SILENCE_SECONDS = 1200.0
"""Without a kill or the end of a run for so long, something hangs."""
ALWAYS_THERE = {"controller": 0.06, "store": 0.06, "exporter": 0.06}
"""Their shares of the kills; the pods of steps have the rest."""

EXACT = """
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
REAL = """
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
KINDS = {"exact": EXACT, "real": REAL}
ORDER = ("real", "exact", "exact")
"""Kinds of the runs, in turn."""


def running(pods: list[Object]) -> dict[str, list[str]]:
    """Return the names of the pods that run, by component."""
    found: dict[str, list[str]] = {}
    for pod in pods:
        if pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]:
            component = pod["metadata"]["labels"].get("app.kubernetes.io/component", "none")
            found.setdefault(component, []).append(pod["metadata"]["name"])
    return found


def kill_one(installed: Installation, generator: random.Random) -> str | None:
    """Kill a pod, by force or with notice; return its component."""
    namespaces = {"controller": "argo"}
    found = running(json.loads(installed.kubectl("get", "pods", "-o", "json"))["items"])
    draw = generator.random()
    for component, share in ALWAYS_THERE.items():
        if draw < share:
            break
        draw -= share
    else:
        steps = sorted(found.keys() - ALWAYS_THERE.keys())
        if not steps:
            return None
        component = generator.choice(steps)
    if component == "controller":
        controllers = ("get", "pods", "-n", "argo", "-l", "app=workflow-controller", "-o", "json")
        names = [pod["metadata"]["name"] for pod in read_json("kubectl", *controllers)["items"]]
    else:
        names = found.get(component, [])
    if not names:
        return None
    how = generator.choice((("--grace-period=0", "--force"), ("--wait=false",)))
    namespace = namespaces.get(component, installed.namespace)
    ended = attempt("kubectl", "-n", namespace, "delete", "pod", generator.choice(names), *how)
    return component if ended.returncode == 0 else None


class Runs:
    """Runs of both kinds on the cluster: a new one for each that ends, until there were enough kills."""

    def __init__(self, installed: Installation, folder: Path) -> None:
        self.installed = installed
        self.folder = folder
        self.kind_of: dict[str, str] = {}
        self.active: set[str] = set()
        self.num_resumed = 0
        for name, config in KINDS.items():
            (folder / f"{name}.toml").write_text(config)

    def start(self) -> None:
        """Submit another run."""
        kind = ORDER[len(self.kind_of) % len(ORDER)]
        name = f"chaos-{len(self.kind_of)}"
        words = ("submit", str(self.folder / f"{kind}.toml"), "--run", name, "--no-check")
        if attempt(*NASHDEX, *words, "-n", self.installed.namespace, seconds=300).returncode == 0:
            self.kind_of[name] = kind
            self.active.add(name)

    def look(self) -> bool:
        """Resume runs that failed; return whether one has ended."""
        workflows = json.loads(self.installed.kubectl("get", "workflows", "-o", "json"))["items"]
        unfinished = {
            each["metadata"]["labels"].get("nashdex.dev/run")
            for each in workflows
            if not each.get("status", {}).get("finishedAt")
        }
        ended = False
        for name in sorted(self.active - unfinished):
            words = ("resume", name, "--no-check", "--json", "-n", self.installed.namespace)
            resumed = attempt(*NASHDEX, *words, seconds=300)
            if resumed.returncode:
                continue  # the store or the API is away: the next look asks again
            if json.loads(resumed.stdout)["workflow"]:
                self.num_resumed += 1
            else:
                self.active.remove(name)
                ended = True
        return ended


@pytest.mark.skipif(not KILLS, reason="takes an hour; NASHDEX_TEST_KILLS=N kills N pods")
def test_kills_of_every_kind_lose_and_double_nothing(
    installed: Installation, tmp_path: Path, measured: dict[str, Any]
) -> None:
    generator = random.Random(SEED)
    runs = Runs(installed, tmp_path)
    killed: Counter[str] = Counter()
    began = last = time.monotonic()
    while killed.total() < KILLS or runs.active:
        assert time.monotonic() - last < SILENCE_SECONDS, f"{runs.active} hang after {killed}"
        while killed.total() < KILLS and len(runs.active) < RUNS_AT_ONCE:
            runs.start()
        for _ in range(10 if killed.total() < KILLS else 1):
            time.sleep(generator.uniform(0, MOST_PAUSE_SECONDS))
            if killed.total() < KILLS and (component := kill_one(installed, generator)):
                killed[component] += 1
                last = time.monotonic()
        if runs.look():
            last = time.monotonic()
        print(f"{time.monotonic() - began:.0f} s, {killed.total()} kills, {len(runs.kind_of)} runs", dict(killed))
    measured["chaos: seconds"] = round(time.monotonic() - began)
    measured["chaos: kills"] = dict(killed)
    measured["chaos: runs"] = dict(Counter(runs.kind_of.values()))
    measured["chaos: runs resumed by hand"] = runs.num_resumed

    expected = {}
    for kind in KINDS:
        installed.nashdex("run", str(tmp_path / f"{kind}.toml"), "--run", kind, "--store", str(tmp_path), seconds=1800)
        expected[kind] = published(open_run(f"{tmp_path}/{kind}").store, range(2))
    objects = 0
    with installed.bucket() as store:
        for name, kind in runs.kind_of.items():
            verified = json.loads(installed.nashdex("verify", f"{store}/{name}", "--json", seconds=900))
            objects += verified["objects"]
            assert verified["problems"] == []
            here = open_run(f"{store}/{name}")
            assert published(here.store, range(2)) == expected[kind], name
            if kind == "real":
                for iteration in range(2):
                    assert_exact(here, iteration)
    measured["chaos: objects verified"] = objects
    assert killed.keys() >= {*ALWAYS_THERE, "collect", "train", "evaluate"}
    run("kubectl", "get", "--raw", "/readyz")
