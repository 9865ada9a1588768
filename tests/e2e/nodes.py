"""Nodes as clusters of GPUs have them, by hand: `make e2e-nodes`. A GPU that is none, a taint, and a quota.

Nothing computes on a GPU here: the node advertises one that does not exist, so pods are scheduled as if it did.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from e2e.installation import CHART, RELEASE, Installation, Object, applied, marked_nodes
from e2e.processes import NASHDEX, attempt, read_json, run, wait_for
from nashdex.core import keys
from nashdex.core.errors import ExitCode
from nashdex.core.steps import StepName
from nashdex.metagame.population import Population
from nashdex.runs.creation import open_run
from nashdex.store.documents import read_published

pytestmark = [pytest.mark.integration, pytest.mark.timeout(1800)]

KUHN = "configs/kuhn.toml"
LEARNED = "configs/kuhn-ppo.toml"
GPU = "nvidia.com/gpu"
TAINT = "dedicated=games"
SECONDS = 900.0
STEP_PODS = ("collect", "train", "evaluate", "control")


def nodes() -> list[str]:
    """Return the names of the cluster's nodes."""
    return [node["metadata"]["name"] for node in read_json("kubectl", "get", "nodes", "-o", "json")["items"]]


@contextmanager
def fake_gpus(number: int) -> Iterator[None]:
    """Have every node advertise GPUs while the context lasts."""
    key = f"/status/capacity/{GPU.replace('/', '~1')}"
    for node in nodes():
        _patch_status(node, [{"op": "add", "path": key, "value": str(number)}])
    try:
        yield
    finally:
        for node in nodes():
            _patch_status(node, [{"op": "remove", "path": key}])


def _patch_status(node: str, changes: list[dict[str, str]]) -> None:
    run("kubectl", "patch", "node", node, "--subresource=status", "--type=json", f"--patch={json.dumps(changes)}")


@contextmanager
def values(installed: Installation, *settings: str) -> Iterator[None]:
    """Upgrade the release while the context lasts."""
    upgrade = ("upgrade", RELEASE, CHART, "--reset-then-reuse-values", "--wait")
    installed.helm(*upgrade, *(word for setting in settings for word in ("--set-json", setting)))
    try:
        yield
    finally:
        installed.helm("rollback", RELEASE, "--wait")


def submitted(installed: Installation, name: str, *words: str) -> str:
    """Submit a short run of Kuhn poker; return what is said on standard error."""
    short = ("--set", "iterations=1", "--run", name, "-n", installed.namespace, "--check-timeout", "60")
    answer = attempt(*NASHDEX, "submit", *(words or (KUHN,)), *short, seconds=300)
    return f"{answer.returncode}: {answer.stderr.strip().splitlines()[-1] if answer.returncode else ''}"


def assert_runs_to_its_end(installed: Installation, name: str) -> None:
    assert submitted(installed, name) == "0: "
    words = ("status", name, "--watch", "--json", "-n", installed.namespace)
    assert json.loads(installed.nashdex(*words, seconds=SECONDS))["phase"] == "Succeeded"


def train_pods(installed: Installation, name: str) -> tuple[int, int]:
    """Return how many trainers run, and how many wait for a GPU."""
    pods = installed.objects("pods", run=name, component=StepName.TRAIN.value)
    running = sum(pod["status"]["phase"] == "Running" for pod in pods)
    said = [each.get("message", "") for pod in pods for each in pod["status"].get("conditions", ())]
    return running, sum(f"Insufficient {GPU}" in message for message in said)


def test_two_trainers_take_turns_on_one_gpu(installed: Installation, measured: dict[str, Any]) -> None:
    name = "turns"
    settings = ("iterations=1", "train.seeds=2", "train.oracle.decisions=20000")
    with installed.bucket() as store:
        words = [word for setting in settings for word in ("--set", setting)]
        installed.nashdex("begin", LEARNED, "--run", name, "--store", store, *words)
    with fake_gpus(1), values(installed, "train.gpus=1"):
        workflow = installed.submit(run=name, iteration="0")
        seen: set[tuple[int, int]] = set()

        def ended() -> bool:
            seen.add(train_pods(installed, name))
            return bool(installed.workflow(workflow).get("status", {}).get("finishedAt"))

        wait_for(ended, "both trainers to end", SECONDS)
    assert installed.workflow(workflow)["status"]["phase"] == "Succeeded"
    measured["trainers that run, and that wait for a GPU"] = sorted(seen)
    assert max(running for running, _ in seen) == 1
    assert (1, 1) in seen, "one waits while the other one trains"
    with installed.bucket() as store:
        population = read_published(open_run(f"{store}/{name}").store, 0, keys.POPULATION, Population)
    assert sum(policy.kind == "network" for policy in population.policies) == 2


def test_a_gpu_that_does_not_compute_is_refused_in_one_line(installed: Installation) -> None:
    with fake_gpus(1), values(installed, "train.gpus=1"):
        said = submitted(installed, "no-cuda", LEARNED, "--set", "train.device=cuda")
    assert said.startswith(f"{ExitCode.CONFIGURATION:d}: error: the train pod failed"), said
    assert "CUDA" in said


def test_a_tainted_node_is_named_and_tolerations_are_enough(installed: Installation) -> None:
    with marked_nodes("taint", f"{TAINT}:NoSchedule", f"{TAINT}:NoSchedule-"):
        said = submitted(installed, "tainted")
        assert said.startswith(f"{ExitCode.TRY_AGAIN:d}: error: no node has room"), said
        assert "untolerated taint" in said
        assert "tolerations" in said
        key, value = TAINT.split("=")
        tolerations = json.dumps([{"key": key, "operator": "Equal", "value": value, "effect": "NoSchedule"}])
        with values(installed, *(f"{pod}.tolerations={tolerations}" for pod in STEP_PODS)):
            assert_runs_to_its_end(installed, "tainted")


def test_a_quota_lets_a_run_wait_or_is_named(installed: Installation) -> None:
    running = ("get", "pods", "-o", "json", "--field-selector=status.phase=Running")
    there = len(json.loads(installed.kubectl(*running))["items"])
    few = _quota("few-pods", {"pods": str(there + 3)})
    with applied(few, namespace=installed.namespace):
        assert_runs_to_its_end(installed, "few-pods")
    sized = _quota("sized", {"limits.cpu": "64"})
    with applied(sized, namespace=installed.namespace), values(installed, 'train.resources.requests.cpu="110m"'):
        said = submitted(installed, "unsized")
        assert "must specify limits.cpu" in said, said
        assert said.startswith(f"{ExitCode.CONFIGURATION:d}: error: "), said


def _quota(name: str, hard: dict[str, str]) -> Object:
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": {"hard": hard}}
