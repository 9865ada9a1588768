"""``nashdex experiment``: stopped by Ctrl-C, it leaves no process and goes on where it was; also on a cluster."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from nashdex_cluster.bundle import unpack
from support.cluster_server import ClusterState
from support.experiments import BASE, PLAN

pytestmark = pytest.mark.integration


def write_plan(folder: Path, more: str = "") -> Path:
    """Write the plan, with ``more`` after it, and its base settings; return the plan's path."""
    (folder / "base.toml").write_text(BASE)
    path = folder / "plan.toml"
    path.write_text(PLAN + more)
    return path


@pytest.mark.slow
def test_an_experiment_that_is_stopped_goes_on(tmp_path: Path) -> None:
    write_plan(tmp_path, '[[arms]]\nname = "mixture"\nplays = "mixture"\n')
    command = [sys.executable, "-m", "nashdex_cli", "experiment", "run", "plan.toml", "--store", "runs", "--json"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    results = tmp_path / "plan.results.json"
    deadline = time.monotonic() + 900
    while not results.exists() or '"running"' not in results.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=900)
    assert process.returncode == 130
    assert "run the same command again to go on" in said
    assert not [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    assert {one["status"] for one in json.loads(results.read_text())["runs"]} == {"planned"}

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["status"] == "completed"
    assert [one["arm"] for one in report["comparisons"]] == ["still", "mixture"]
    assert not report["registration"]["is_after_runs"]
    assert {run["registration"] for run in report["runs"]} == {report["registration"]["digest"]}
    assert not (tmp_path / "runs" / "plan-mixture-1").exists(), "the arm that plays the mixture shares its run"
    assert all(run["matches"]["random"]["battles"] == 40 for run in report["runs"])
    assert str(tmp_path) not in results.read_text(), "commands hold no folders of this machine"
    assert (tmp_path / "plan.md").exists()
    assert (tmp_path / "plan.svg").exists()

    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert json.loads(again.stdout) == report, "nothing is run twice"
    assert "0 of 3 runs to do" in again.stderr


@pytest.mark.slow
def test_a_run_that_fails_says_why_and_ends_the_command_with_an_error(tmp_path: Path) -> None:
    write_plan(tmp_path)
    (tmp_path / "runs").mkdir()
    for run in ("plan-base-1", "plan-still-1"):
        (tmp_path / "runs" / run).write_text("a file where the run's folder would be")
    command = [sys.executable, "-m", "nashdex_cli", "experiment", "run", "plan.toml", "--store", "runs", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 75
    assert "error: 2 of 2 runs failed" in done.stderr
    assert "the same command tries them again" in done.stderr
    report = json.loads(done.stdout)
    assert report["status"] == "failed"
    assert all("cannot be used as a store" in run["reason"] for run in report["runs"])
    assert report["verdict"][0] == "still and base: no result yet."


@pytest.mark.slow
@pytest.mark.parametrize("nashdex", ["argo server"], indirect=True)
def test_on_a_cluster_every_run_is_a_workflow(
    nashdex: Callable[..., int],
    state: ClusterState,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_plan(tmp_path)
    overrides = {"plan-base-1": ["seed=1"], "plan-still-1": ["train.oracle.learning_rate=1e-9", "seed=1"]}
    # One is running when the experiment begins: it is followed, not submitted.
    changed = [argument for one in overrides["plan-base-1"] for argument in ("--set", one)]
    assert nashdex("submit", "base.toml", "--run", "plan-base-1", *changed) == 0
    capsys.readouterr()
    with ThreadPoolExecutor(1) as pool:
        cluster = pool.submit(_work_through, state, overrides)
        code = nashdex("experiment", "run", "plan.toml", "--cluster", "--store", "runs", "--json")
    cluster.result()
    assert code == 0
    report = json.loads(capsys.readouterr().out)
    assert report["status"] == "completed"
    assert all(run["matches"]["random"]["battles"] == 40 for run in report["runs"])
    assert all(run["command"].startswith("nashdex submit base.toml --run plan-") for run in report["runs"])
    assert len(state.workflows) == 2, "one each"
    bundles = [
        unpack(parameter["value"].encode(), "a bundle").settings.fingerprint()
        for workflow in state.workflows.values()
        for parameter in workflow["spec"]["arguments"]["parameters"]
        if parameter["name"] == "bundle"
    ]
    assert sorted(bundles) == sorted(run["settings"] for run in report["runs"])


def _work_through(state: ClusterState, overrides: dict[str, list[str]]) -> None:
    """Do what a cluster does with each run's Workflow, here.

    Where a run fails, all Workflows fail, so that no command follows them for ever.
    """
    try:
        for run, changed in overrides.items():
            workflow = _workflow_of(state, run)
            sets = [argument for one in changed for argument in ("--set", one)]
            command = [sys.executable, "-m", "nashdex_cli", "run", "base.toml", "--store", "runs", "--run", run, *sets]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            workflow["status"] = {"phase": "Succeeded"}
    except Exception:
        for workflow in list(state.workflows.values()):
            workflow.setdefault("status", {"phase": "Failed", "message": "the stand-in for a cluster failed"})
        raise


def _workflow_of(state: ClusterState, run: str) -> dict[str, Any]:
    """Return a run's Workflow as soon as it is there."""
    deadline = time.monotonic() + 900
    while True:
        for workflow in list(state.workflows.values()):
            if workflow["metadata"]["labels"]["nashdex.dev/run"] == run:
                return workflow
        assert time.monotonic() < deadline, f"nobody submitted {run}"
        time.sleep(0.1)


def test_options_of_a_cluster_need_one(
    nashdex: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = write_plan(tmp_path)
    assert nashdex("experiment", "run", str(plan), "-n", "research") == 64
    assert "-n has no effect without --cluster" in capsys.readouterr().err
    assert not (tmp_path / "plan.results.json").exists()


def test_a_run_that_cannot_work_on_the_cluster_is_refused_before_any_is_submitted(
    nashdex: Callable[..., int], state: ClusterState, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arm = '[[arms]]\nname = "gpu"\nsettings = { "train.device" = "cuda" }\n'
    plan = write_plan(tmp_path, arm)
    assert nashdex("experiment", "run", str(plan), "--cluster", "--store", str(tmp_path)) == 64
    error = capsys.readouterr().err
    assert "arm 'gpu' with seed 1: train.device is 'cuda', but train pods request no GPU" in error
    assert state.workflows == {}


def test_a_store_out_of_reach_is_refused_before_any_run_is_submitted(
    nashdex: Callable[..., int],
    state: ClusterState,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "key")
    plan = write_plan(tmp_path)
    assert nashdex("experiment", "run", str(plan), "--cluster") == 75
    assert "does not reach their store: s3://" in capsys.readouterr().err
    assert state.workflows == {}
    assert not (tmp_path / "plan.results.json").exists()
