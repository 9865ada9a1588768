"""submit and resume try the site with pods first, and say which pod cannot start or fails, and why."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nashdex_cluster.connection import connect
from nashdex_cluster.site_check import check_with_pods
from support.cluster_server import ClusterState
from support.cluster_workflows import add_stopped_run

pytestmark = pytest.mark.integration

CONFIG = Path(__file__).parents[2] / "configs" / "kuhn.toml"
Nashdex = Callable[..., int]


def checked(state: ClusterState, phase: str, **pods: dict[str, Any]) -> None:
    """Let checks of the site end in a phase, with Argo's nodes of their pods by template."""
    nodes = {name: {"type": "Pod", "templateName": name, "phase": "Succeeded"} | pod for name, pod in pods.items()}
    state.check_status = {"phase": phase, "nodes": nodes}


def failed(code: str, message: str) -> dict[str, Any]:
    return {"phase": "Failed", "message": f"Error (exit code {code}): {message}", "outputs": {"exitCode": code}}


NO_GPU = "Unschedulable: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
PENDING = {
    "the trainer's image": ({"train": "ErrImagePull: pull access denied"}, 64, "an image of the train pod cannot be"),
    "backing off": ({"control": 'ImagePullBackOff: Back-off pulling image "x"'}, 64, "an image of the control pod"),
    "no image's name": ({"collect": "InvalidImageName: Failed to apply default image tag"}, 64, "images.repository"),
    "never pulled": ({"evaluate": "ErrImageNeverPull: Container image is not present"}, 64, "ErrImageNeverPull"),
    "no GPU": ({"collect": "ContainerCreating", "train": NO_GPU}, 75, "no node has room for the train pod after 1 s"),
    "a queue": ({"evaluate": ""}, 75, "the evaluate pod is still waiting after 1 s (Pending)"),
    "no controller": ({}, 75, "Argo has not started check nashdex-check-00000"),
}


@pytest.mark.parametrize(("waiting", "code", "said"), PENDING.values(), ids=PENDING)
def test_a_pod_that_cannot_start_is_refused_and_its_check_stopped(
    nashdex: Nashdex,
    state: ClusterState,
    waiting: dict[str, str],
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    checked(state, "Running", **{name: {"phase": "Pending", "message": text} for name, text in waiting.items()})
    assert nashdex("submit", str(CONFIG), "--check-timeout", "1") == code
    *_, error = capsys.readouterr().err.splitlines()
    assert said in error
    assert state.workflows == {}
    assert [check["spec"]["shutdown"] for check in state.checks.values()] == ["Terminate"]


FAILED = {
    "the store": (failed("64", "s3://b refused (404 NoSuchBucket); make it"), 64, "cannot use the store: Error"),
    "no store": (failed("75", "s3://b cannot be reached"), 75, "s3://b cannot be reached"),
    "killed": (failed("137", "OOMKilled"), 75, "OOMKilled"),
    "a lost pod": ({"phase": "Error", "message": "pod deleted"}, 75, "the control pod failed: pod deleted"),
    "no right": (
        {"phase": "Error", "message": "pods x is forbidden: violates PodSecurity"},
        64,
        "violates PodSecurity",
    ),
}


@pytest.mark.parametrize(("pod", "code", "said"), FAILED.values(), ids=FAILED)
def test_a_pod_that_fails_says_why_the_run_is_refused(
    nashdex: Nashdex,
    state: ClusterState,
    pod: dict[str, Any],
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    checked(state, "Running", control=pod, train={"phase": "Running"})
    assert nashdex("submit", str(CONFIG)) == code
    assert said in capsys.readouterr().err
    assert state.workflows == {}


STOPPED_SIDECAR = {
    "phase": "Failed",
    "message": "showdown: Error (exit code 2)",
    "outputs": {"exitCode": "0"},
}
"""Argo stops a sidecar that starts after the main container ended, and takes its exit code for a failure of the pod."""


def test_a_sidecar_that_argo_stops_too_early_is_tried_again(nashdex: Nashdex, state: ClusterState) -> None:
    checked(state, "Succeeded", collect=STOPPED_SIDECAR, evaluate={})
    assert nashdex("submit", str(CONFIG)) == 0


def test_a_sidecar_that_keeps_failing_says_so(
    nashdex: Nashdex, state: ClusterState, capsys: pytest.CaptureFixture[str]
) -> None:
    checked(state, "Failed", collect=STOPPED_SIDECAR)
    assert nashdex("submit", str(CONFIG)) == 64
    assert "the collect pod failed: showdown: Error (exit code 2)" in capsys.readouterr().err


def test_a_check_is_remembered_while_the_site_stays_the_same(nashdex: Nashdex, state: ClusterState) -> None:
    for run in ("one", "two"):
        assert nashdex("submit", str(CONFIG), "--run", run) == 0
    assert len(state.checks) == 1
    assert state.site is not None
    state.site["image-trainer"] += ":other"
    assert nashdex("submit", str(CONFIG), "--run", "three") == 0
    assert len(state.checks) == 2


def test_a_check_that_failed_is_not_remembered(nashdex: Nashdex, state: ClusterState) -> None:
    checked(state, "Failed", control=failed("64", "wrong keys"))
    assert nashdex("submit", str(CONFIG)) == 64
    checked(state, "Succeeded")
    assert nashdex("submit", str(CONFIG)) == 0
    assert len(state.checks) == 2


def test_a_site_that_may_not_be_read_is_checked_every_time(nashdex: Nashdex, state: ClusterState) -> None:
    state.forbidden = {"configmaps"}
    for run in ("one", "two"):
        assert nashdex("submit", str(CONFIG), "--run", run) == 0
    assert len(state.checks) == 2


def test_nothing_is_checked_where_that_is_not_wanted_or_the_run_is_refused_anyway(
    nashdex: Nashdex, state: ClusterState
) -> None:
    assert nashdex("submit", str(CONFIG), "--run", "one", "--no-check") == 0
    assert nashdex("submit", str(CONFIG), "--run", "one") == 64
    assert state.checks == {}


def test_resume_checks_too(nashdex: Nashdex, state: ClusterState) -> None:
    add_stopped_run(state)
    checked(state, "Running", train={"phase": "Pending", "message": "ErrImagePull: not found"})
    assert nashdex("resume", "sr") == 64
    assert len(state.workflows) == 2
    assert nashdex("resume", "sr", "--no-check") == 0


@pytest.mark.usefixtures("nashdex")
def test_a_check_that_is_interrupted_is_stopped(state: ClusterState) -> None:
    checked(state, "Running")

    def interrupt(line: str) -> None:
        raise KeyboardInterrupt(line)

    with pytest.raises(KeyboardInterrupt):
        check_with_pods(connect(), interrupt, timeout_seconds=60)
    assert [check["spec"]["shutdown"] for check in state.checks.values()] == ["Terminate"]


def test_a_check_does_not_count_as_a_run(nashdex: Nashdex, capsys: pytest.CaptureFixture[str]) -> None:
    assert nashdex("submit", str(CONFIG), "--run", "one") == 0
    capsys.readouterr()
    assert nashdex("status", "--json") == 0
    assert [run["run"] for run in json.loads(capsys.readouterr().out)["runs"]] == ["one"]
