"""``make chaos``: pods of every kind die at random while runs work; nothing is lost, and nothing is done twice."""

import json
import math
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from installation import Installation, Object
from ledgers import assert_exact
from processes import NASHDEX, attempt, run

from nashdex.runs.creation import open_run
from support.results import published
from support.run_files import SMALL_GEN1OU

pytestmark = [pytest.mark.integration, pytest.mark.timeout(0)]

KILLS = int(os.environ.get("NASHDEX_TEST_KILLS", "0"))
SEED = int(os.environ.get("NASHDEX_TEST_SEED", "200"))
RUNS_AT_ONCE = 6
DOOMED_SHARE = 0.5
"""Of the pods of steps. The others end by themselves, so that runs go on."""
MOST_LIFE_SECONDS = 20.0
"""Seconds after which a doomed pod has died, from the moment when it was seen to run."""
CALM_SECONDS = 60.0
"""Mean time between kills of each of the pods that are always there."""
MOST_SHARE = 0.2
"""Of the kills, for the pods that are always there: without them nothing else goes on."""
LOOK_SECONDS = 10.0
SILENCE_SECONDS = 1200.0
"""Without a kill or the end of a run for so long, something hangs."""
ALWAYS_THERE = ("controller", "store", "exporter")

EXACT = """
format = "kuhn_poker"
iterations = 5
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
KINDS = {"exact": EXACT, "real": SMALL_GEN1OU}
ORDER = ("real", "exact", "exact")
"""Kinds of the runs, in turn."""


def items(*command: str) -> list[Object]:
    """Return the objects that kubectl lists; none while the API server is too busy."""
    try:
        answer = attempt(*command)
    except subprocess.TimeoutExpired:
        return []
    found: list[Object] = json.loads(answer.stdout)["items"] if answer.returncode == 0 else []
    return found


class Killer:
    """Kills pods: of steps a share, each at a random moment of its life; of what is always there now and then."""

    def __init__(self, installed: Installation, generator: random.Random) -> None:
        self.installed = installed
        self.generator = generator
        self.killed: Counter[str] = Counter()
        self._doom: dict[str, float] = {}
        """When each pod dies, by uid."""

    def look(self) -> None:
        """Kill the pods whose time has come."""
        steps = ("kubectl", "get", "pods", "-n", self.installed.namespace, "-o", "json")
        controllers = ("kubectl", "get", "pods", "-n", "argo", "-l", "app=workflow-controller", "-o", "json")
        for pod in [*items(*steps), *items(*controllers)]:
            if pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]:
                self._look_at(pod)

    def _look_at(self, pod: Object) -> None:
        metadata = pod["metadata"]
        component = metadata["labels"].get("app.kubernetes.io/component", "controller")
        now = time.monotonic()
        if metadata["uid"] not in self._doom:
            self._doom[metadata["uid"]] = now + self._life_seconds(component)
        if self._doom[metadata["uid"]] > now or self.killed.total() >= KILLS:
            return
        if component in ALWAYS_THERE and sum(self.killed[each] for each in ALWAYS_THERE) > self._most_of_these():
            return
        how = self.generator.choice((("--grace-period=0", "--force"), ("--wait=false",)))
        if not attempt("kubectl", "-n", metadata["namespace"], "delete", "pod", metadata["name"], *how).returncode:
            self.killed[component] += 1

    def _most_of_these(self) -> float:
        return len(ALWAYS_THERE) + MOST_SHARE * self.killed.total()

    def _life_seconds(self, component: str) -> float:
        if component in ALWAYS_THERE:
            return self.generator.expovariate(1 / CALM_SECONDS)
        if self.generator.random() < DOOMED_SHARE:
            return self.generator.uniform(0, MOST_LIFE_SECONDS)
        return math.inf


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
        listed = ("kubectl", "get", "workflows", "-n", self.installed.namespace, "-o", "json")
        workflows = items(*listed)
        if not workflows:
            return False
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
    killer, runs = Killer(installed, random.Random(SEED)), Runs(installed, tmp_path)
    killed = killer.killed
    began = time.monotonic()
    progress, looked = (began, 0), -math.inf
    while killed.total() < KILLS or runs.active:
        if killed.total() < KILLS and len(runs.active) < RUNS_AT_ONCE:
            runs.start()
        killer.look()
        if time.monotonic() - looked > LOOK_SECONDS:
            ended, looked = runs.look(), time.monotonic()
            if ended or killed.total() > progress[1]:
                progress = (looked, killed.total())
            sys.stderr.write(
                f"{looked - began:.0f} s, {len(runs.kind_of)} runs, {killed.total()} kills {dict(killed)}\n"
            )
            assert looked - progress[0] < SILENCE_SECONDS, f"{runs.active} hang"
        time.sleep(1)
    measured["chaos: seconds"] = round(time.monotonic() - began)
    measured["chaos: kills"] = dict(killed)
    measured["chaos: runs"] = dict(Counter(runs.kind_of.values()))
    measured["chaos: runs resumed by hand"] = runs.num_resumed

    expected = {}
    for kind in KINDS:
        installed.nashdex("run", str(tmp_path / f"{kind}.toml"), "--run", kind, "--store", str(tmp_path), seconds=1800)
        here = open_run(f"{tmp_path}/{kind}")
        expected[kind] = published(here.store, range(here.settings.iterations))
    objects = 0
    with installed.bucket() as store:
        for name, kind in runs.kind_of.items():
            verified = json.loads(installed.nashdex("verify", f"{store}/{name}", "--json", seconds=900))
            objects += verified["objects"]
            assert verified["problems"] == []
            there = open_run(f"{store}/{name}")
            assert published(there.store, range(there.settings.iterations)) == expected[kind], name
            if kind == "real":
                for iteration in range(there.settings.iterations):
                    assert_exact(there, iteration)
    measured["chaos: objects verified"] = objects
    assert killed.keys() >= {*ALWAYS_THERE, "collect", "train", "evaluate"}
    run("kubectl", "get", "--raw", "/readyz")
