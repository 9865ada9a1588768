"""``nashdex bench scale`` through shards of a cluster: a substitute whose shards collect on this machine."""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from structlog.testing import capture_logs

from nashdex.collector import step
from nashdex.core.results import COLLECT_RESULT, CollectResult
from nashdex.runs.creation import open_run
from nashdex.store.documents import read_written
from nashdex_cli.cli import run_command_line
from support.cluster_server import Answer, ClusterState, kubeconfig, serving

pytestmark = pytest.mark.integration

COMMAND = ("bench", "scale", "--format", "gen1randombattle", "-n", "research", "--battles", "4")


class CollectingCluster(ClusterState):
    """Does what its Workflows ask for: each shard in turn, and each begins 10 s after the one before, as they tell."""

    def __init__(self) -> None:
        super().__init__()
        self.exit_code = 0
        self.signal: signal.Signals | None = None
        """What the command gets as soon as it follows the Workflow, which then does not end."""
        self.results: list[CollectResult] = []
        self.at_work: list[Thread] = []

    def add(self, workflow: dict[str, Any]) -> dict[str, Any]:
        """Put a Workflow there and begin it."""
        workflow["status"] = {"phase": "Running", "startedAt": "2026-01-01T00:00:00Z", "nodes": {}}
        if self.signal is None:
            self.at_work.append(Thread(target=self._do, args=(workflow,)))
            self.at_work[-1].start()
        return super().add(workflow)

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: dict[str, Any]) -> Answer:
        """Answer a request; send the command its signal with its first look at its Workflow."""
        if method == "GET" and self.workflows and self.signal is not None:
            number, self.signal = self.signal, None
            os.kill(os.getpid(), number)
        return super().answer(method, path, query, body)

    def _do(self, workflow: dict[str, Any]) -> None:
        ((task,),) = [template["dag"]["tasks"] for template in workflow["spec"]["templates"]]
        phase = "Error"
        try:
            for shard in range(int(task["withSequence"]["count"])):
                if not self.exit_code:
                    self._collect(workflow, shard)
                workflow["status"]["nodes"] |= self._nodes(task, shard)
            phase = "Failed" if self.exit_code else "Succeeded"
        finally:
            workflow["status"]["phase"] = phase

    def _collect(self, workflow: dict[str, Any], shard: int) -> None:
        values = {p["name"]: p.get("value") for p in workflow["spec"]["arguments"]["parameters"]}
        assert self.site is not None
        run = open_run(f"{self.site['store']}/{values['run']}")
        with capture_logs():
            manifest = step.run(run.store, run.settings, int(values["iteration"]), shard)
        self.results.append(read_written(run.store, manifest, COLLECT_RESULT, CollectResult))

    def _nodes(self, task: dict[str, Any], shard: int) -> dict[str, Any]:
        pod = {
            "type": "Pod",
            "displayName": f"{task['name']}({shard}:{shard})(0)",
            "templateRef": task["templateRef"],
            "inputs": {"parameters": [{"name": "shard", "value": str(shard)}]},
            "outputs": {"exitCode": str(self.exit_code)},
            "message": "main: gone" if self.exit_code else "",
            "phase": "Failed" if self.exit_code else "Succeeded",
            "startedAt": f"2026-01-01T00:00:{10 * shard:02d}Z",
            "finishedAt": f"2026-01-01T00:01:{10 * shard:02d}Z",
        }
        # It ends when Argo looks again.
        retry = pod | {"type": "Retry", "children": [f"pod-{shard}"], "finishedAt": "2026-01-01T00:09:00Z"}
        return {f"pod-{shard}": pod, f"retry-{shard}": retry}


@pytest.fixture
def state(tmp_path: Path) -> Iterator[CollectingCluster]:
    state = CollectingCluster()
    assert state.site is not None
    state.site["store"] = str(tmp_path / "runs")
    (tmp_path / "runs").mkdir()
    yield state
    for thread in state.at_work:
        thread.join()


@pytest.fixture(autouse=True)
def served(state: ClusterState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("ARGO_SERVER", "ARGO_TOKEN", "ARGO_NAMESPACE", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)
    with serving(state) as url:
        (tmp_path / "kubeconfig").write_text(kubeconfig(url))
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
        yield


@pytest.mark.slow
def test_every_number_of_shards_is_a_run_that_is_removed(
    state: CollectingCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line([*COMMAND, "--json"]) == 0
    printed = capsys.readouterr()
    result = json.loads(printed.out)
    assert (result["format"], result["namespace"], result["battles_per_shard"]) == ("gen1randombattle", "research", 4)
    # From the first pod's beginning to the last one's end.
    assert [(row["shards"], row["seconds"]) for row in result["rows"]] == [(1, 60), (2, 70), (4, 90)]
    # As on one machine: a network against itself, everything recorded; the same for all.
    assert len({result.learner for result in state.results}) == 1
    assert [result.battles for result in state.results] == [4] * 7
    assert all(result.recorded_decisions == result.decisions for result in state.results)
    last = result["rows"][-1]
    assert last["decisions"] == sum(result.decisions for result in state.results[3:])
    assert last["decisions_per_second"] == pytest.approx(sum(r.decisions / r.seconds for r in state.results[3:]))
    runs = [workflow["metadata"]["labels"]["nashdex.dev/run"] for workflow in state.workflows.values()]
    assert [run.rpartition("-")[0] for run in runs] == [f"scale-gen1randombattle-{number}" for number in (1, 2, 4)]
    assert all(f"run {run}: succeeded" in printed.err for run in runs)
    assert [path for path in (tmp_path / "runs").rglob("*") if path.is_file()] == []


def test_a_shard_that_fails_ends_it_and_leaves_its_run(
    state: CollectingCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state.exit_code = 65
    assert run_command_line(list(COMMAND)) == 65
    ((run,),) = [[path.name for path in (tmp_path / "runs").iterdir()]]
    assert f"error: run {run}: collect of iteration 0, shard 0: main: gone\n" in capsys.readouterr().err
    assert len(state.workflows) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_the_workflow(
    number: signal.Signals, code: int, state: CollectingCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as the command line does
    state.signal = number
    assert run_command_line(list(COMMAND)) == code
    (workflow,) = state.workflows.values()
    assert workflow["spec"]["shutdown"] == "Stop"
    assert "is stopping; its objects in" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--format", "nothing", "-n", "research"), "unknown format 'nothing'"),
        (("--format", "kuhn_poker", "-n", "research"), "'kuhn_poker' is not a Showdown format"),
        (("--format", "gen1ou", "-n", "research", "--seconds", "3"), "--seconds has no effect on a cluster"),
        (("--format", "gen1ou", "--battles", "4"), "--battles has no effect on this machine"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    state: ClusterState, options: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["bench", "scale", *options]) == 64
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert state.workflows == {}


def _away(state: ClusterState) -> None:
    assert state.site is not None
    state.site |= {"store": "s3://bucket/runs", "s3-endpoint": "http://nashdex-store.research.svc:7070"}


def _hidden(state: ClusterState) -> None:
    state.forbidden = {"configmaps"}


def _other_version(state: ClusterState) -> None:
    assert state.site is not None
    state.site["template-version"] = "9.9.9"


@pytest.mark.parametrize(
    ("spoil", "code", "said"),
    [
        (
            _away,
            75,
            "this machine cannot use the store of namespace research (at http://nashdex-store.research.svc:7070 there)",
        ),
        (_hidden, 64, "ConfigMap nashdex-site of namespace research cannot be read from here"),
        (_other_version, 64, "has the templates of nashdex 9.9.9"),
    ],
)
def test_a_cluster_that_cannot_be_measured_is_refused_before_anything_is_made(
    state: ClusterState,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    spoil: Callable[[ClusterState], None],
    code: int,
    said: str,
) -> None:
    for name, value in {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_MAX_ATTEMPTS": "1",
    }.items():
        monkeypatch.setenv(name, value)
    spoil(state)
    assert run_command_line(list(COMMAND)) == code
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert state.workflows == {}
