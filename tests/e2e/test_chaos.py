"""``make chaos``: pods of every kind die at random while runs work; nothing is lost, and nothing is done twice."""

import json
import math
import os
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import ApiException, CoreV1Api, CustomObjectsApi
from kubernetes.config import new_client_from_config
from urllib3.exceptions import HTTPError

from e2e.installation import Installation, Object
from e2e.ledgers import assert_exact
from e2e.processes import NASHDEX, attempt, run, wait_for
from nashdex.core.errors import ExitCode
from nashdex.runs.creation import open_run
from support.results import published

pytestmark = [pytest.mark.integration, pytest.mark.timeout(0)]

KILLS = int(os.environ.get("NASHDEX_TEST_KILLS", "0"))
ENOUGH_FOR_EVERY_KIND = 100
MOST_SECONDS = 60 * float(os.environ.get("NASHDEX_TEST_MINUTES", "inf"))
"""Then kills end, even if they are too few: the runs still end and are compared."""
SEED = int(os.environ.get("NASHDEX_TEST_SEED", "200"))
RUNS_AT_ONCE = 6
DOOMED_SHARE = 0.6
"""Of the pods of steps. The others end by themselves, so that runs go on."""
MEAN_LIFE_SECONDS = 6.0
"""Mean of the exponential time until a doomed pod dies, from when it was seen to run. Short steps take 3 s."""
CALM_SECONDS = 120.0
"""Mean time between kills of each of the pods that are always there."""
MOST_SHARE = 0.2
"""Of the kills, for the pods that are always there: without them nothing else goes on."""
LOOK_SECONDS = 10.0
SILENCE_SECONDS = 1200.0
"""Without a kill or the end of a run for so long, something hangs."""
VERIFY_SECONDS = 1800.0
API_SECONDS = 60
API_ERRORS = (ApiException, HTTPError)
ARGO = ("argoproj.io", "v1alpha1")
NOT_COMPLETED = "workflows.argoproj.io/completed!=true"
CONTROLLER = "workflow-controller"
ALWAYS_THERE = ("controller", "store", "exporter")
STEPS = ("plan", "collect", "train", "evaluate", "solve", "report")

EXACT = """
format = "kuhn_poker"
iterations = 3
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
[arena]
concurrent_battles = 8
[collect]
battles = 16
shards = 2
[train.oracle]
decisions = 1000
round_battles = 16
[train.first]
num_epochs = 2
[evaluate]
battles_per_pair = 4
[solve]
num_draws = 100
"""
KINDS = {"exact": EXACT, "real": REAL}
ORDER = ("real", "exact", "exact")
"""Kinds of the runs, in turn."""


class Cluster:
    """The API server, asked by this process: kubectl takes a second of a busy machine to start."""

    def __init__(self) -> None:
        # Named, because the library reads the variable when it is imported, before a cluster is started.
        connection = new_client_from_config(os.environ.get("KUBECONFIG"))
        self._pods: Any = CoreV1Api(connection)  # types of answers fit no caller
        self._workflows: Any = CustomObjectsApi(connection)

    def running_pods(self, namespace: str) -> list[Object]:
        """Return the pods that run and are not being deleted; none while the API server is too busy."""
        try:
            answer = self._pods.list_namespaced_pod(
                namespace, field_selector="status.phase=Running", _preload_content=False, _request_timeout=API_SECONDS
            )
        except API_ERRORS:
            return []
        found: list[Object] = json.loads(answer.data)["items"]
        return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]

    def unfinished_workflows(self, namespace: str) -> list[Object] | None:
        """Return the workflows that have not ended; None while the API server is too busy."""
        try:
            answer = self._workflows.list_namespaced_custom_object(
                *ARGO, namespace, "workflows", label_selector=NOT_COMPLETED, _request_timeout=API_SECONDS
            )
        except API_ERRORS:
            return None
        return [each for each in answer["items"] if not each.get("status", {}).get("finishedAt")]

    def delete(self, pod: Object, grace_seconds: int | None) -> bool:
        """Delete a pod, by force if ``grace_seconds`` is 0; return whether the API server has agreed."""
        metadata = pod["metadata"]
        try:
            self._pods.delete_namespaced_pod(
                metadata["name"],
                metadata["namespace"],
                grace_period_seconds=grace_seconds,
                _request_timeout=API_SECONDS,
            )
        except API_ERRORS:
            return False
        return True


class Killer:
    """Kills pods: of steps a share, each at a random moment of its life; of what is always there now and then."""

    def __init__(self, cluster: Cluster, namespace: str, generator: random.Random) -> None:
        self.cluster = cluster
        self.namespace = namespace
        self.generator = generator
        self.killed: Counter[str] = Counter()
        self._doom: dict[str, float] = {}
        """When each pod dies, by uid."""

    def look(self) -> None:
        """Kill the pods whose time has come."""
        for pod in [*self.cluster.running_pods(self.namespace), *self.cluster.running_pods("argo")]:
            self._look_at(pod)

    def _look_at(self, pod: Object) -> None:
        metadata = pod["metadata"]
        labels = metadata["labels"]
        component = "controller" if labels.get("app") == CONTROLLER else labels.get("app.kubernetes.io/component")
        if component is None:
            return  # Argo's server
        now = time.monotonic()
        if metadata["uid"] not in self._doom:
            self._doom[metadata["uid"]] = now + self._life_seconds(component)
        if self._doom[metadata["uid"]] > now or self.killed.total() == KILLS:
            return
        if component in ALWAYS_THERE and sum(self.killed[each] for each in ALWAYS_THERE) > self._most_of_these():
            return
        if self.cluster.delete(pod, self.generator.choice((0, None))):
            self.killed[component] += 1

    def _most_of_these(self) -> float:
        return len(ALWAYS_THERE) + MOST_SHARE * self.killed.total()

    def _life_seconds(self, component: str) -> float:
        if component in ALWAYS_THERE:
            return self.generator.expovariate(1 / CALM_SECONDS)
        if self.generator.random() < DOOMED_SHARE:
            return self.generator.expovariate(1 / MEAN_LIFE_SECONDS)
        return math.inf


class Runs:
    """Runs of both kinds on the cluster: a new one for each that ends, until there were enough kills."""

    def __init__(self, cluster: Cluster, installed: Installation, folder: Path) -> None:
        self.cluster = cluster
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
        workflows = self.cluster.unfinished_workflows(self.installed.namespace)
        if workflows is None:
            return False
        unfinished = {each["metadata"]["labels"].get("nashdex.dev/run") for each in workflows}
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


def verify(run: str) -> Object:
    """Return what ``nashdex verify`` finds, once the store answers."""

    def found() -> Object | None:
        ended = attempt(*NASHDEX, "verify", run, "--json", seconds=900)
        assert ended.returncode in {ExitCode.OK, ExitCode.DATA, ExitCode.TRY_AGAIN}, ended.stderr
        return json.loads(ended.stdout) if ended.stdout else None

    return wait_for(found, f"a verification of {run}", VERIFY_SECONDS)


def compare(runs: Runs) -> tuple[int, list[str]]:
    """Verify every run and compare it with an undisturbed one on this machine; return objects read, and problems."""
    installed, expected = runs.installed, {}
    for kind in KINDS:
        words = ("run", str(runs.folder / f"{kind}.toml"), "--run", kind, "--store", str(runs.folder))
        installed.nashdex(*words, seconds=1800)
        here = open_run(f"{runs.folder}/{kind}")
        expected[kind] = published(here.store, range(here.settings.iterations))
    objects, problems = 0, []
    for name, kind in runs.kind_of.items():
        with installed.bucket() as store:
            verified = verify(f"{store}/{name}")
            there = open_run(f"{store}/{name}")
            found = published(there.store, range(there.settings.iterations))
            if kind == "real":
                for iteration in range(there.settings.iterations):
                    assert_exact(there, iteration)
        objects += verified["objects"]
        problems += verified["problems"]
        if found != expected[kind]:
            problems.append(f"{name} differs from an undisturbed {kind} run")
        sys.stderr.write(f"{name}, {kind}: {verified['objects']} objects, {len(problems)} problems so far\n")
    return objects, problems


@pytest.mark.skipif(not KILLS, reason="takes an hour; NASHDEX_TEST_KILLS=N kills N pods")
def test_kills_of_every_kind_lose_and_double_nothing(
    installed: Installation, tmp_path: Path, measured: dict[str, Any]
) -> None:
    cluster = Cluster()
    killer, runs = Killer(cluster, installed.namespace, random.Random(SEED)), Runs(cluster, installed, tmp_path)
    killed = killer.killed
    began = time.monotonic()
    progress, looked = (began, 0), -math.inf
    while (kills := killed.total() < KILLS and time.monotonic() - began < MOST_SECONDS) or runs.active:
        if kills and len(runs.active) < RUNS_AT_ONCE:
            runs.start()
        if kills:
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

    objects, problems = compare(runs)
    measured["chaos: objects verified"] = objects
    assert problems == []
    assert killed.total() >= KILLS
    if KILLS >= ENOUGH_FOR_EVERY_KIND:
        assert killed.keys() >= {*ALWAYS_THERE, *STEPS}
    run("kubectl", "get", "--raw", "/readyz")
