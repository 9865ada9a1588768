"""submit, status, logs, stop and resume do the same through the Kubernetes API and through the Argo server."""

import copy
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from nashdex.cli import run_command_line
from nashdex.cluster.connection import connect
from nashdex.cluster.site_check import check_with_pods
from nashdex.runs.bundle import unpack
from support.cluster_server import ClusterState, kubeconfig, serving

pytestmark = pytest.mark.integration

DATA = Path(__file__).parents[1] / "data" / "workflows"
CONFIG = Path(__file__).parents[2] / "configs" / "kuhn.toml"
Nashdex = Callable[..., int]


def recorded(name: str, **labels: str) -> dict[str, Any]:
    """Return a Workflow as a real cluster had it."""
    workflow: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    workflow["metadata"]["labels"] |= labels
    return workflow


@pytest.fixture
def state() -> ClusterState:
    return ClusterState()


@pytest.fixture(params=["kubernetes", "argo server"])
def nashdex(
    request: pytest.FixtureRequest, state: ClusterState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Nashdex]:
    for name in ("ARGO_SERVER", "ARGO_TOKEN", "ARGO_NAMESPACE", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)
    with serving(state) as url:
        (tmp_path / "kubeconfig").write_text(kubeconfig(url))
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
        server = ["--server", url] if request.param == "argo server" else []

        def call(*arguments: str) -> int:
            return run_command_line([*arguments, *server])

        yield call


def failing(state: ClusterState, run: str = "sr") -> None:
    state.add(recorded("league-stopped"))
    state.add(recorded("iteration-stopped"))
    assert all(w["metadata"]["labels"]["nashdex.dev/run"] == run for w in state.workflows.values())


def test_submit_makes_a_league_that_holds_the_run(
    nashdex: Nashdex, state: ClusterState, capsys: pytest.CaptureFixture[str]
) -> None:
    assert nashdex("submit", str(CONFIG), "--run", "mine.v2", "--set", "iterations=3", "--json") == 0
    ((name, workflow),) = state.workflows.items()
    assert json.loads(capsys.readouterr().out) == {
        "run": "mine.v2",
        "uri": "s3://bucket/runs/mine.v2",
        "workflow": name,
        "namespace": "research",
        "iterations": 3,
    }
    assert workflow["metadata"]["generateName"] == "mine-v2-"
    assert workflow["metadata"]["labels"]["nashdex.dev/run"] == "mine.v2"
    assert workflow["spec"]["workflowTemplateRef"] == {"name": "nashdex-league"}
    parameters = {p["name"]: p["value"] for p in workflow["spec"]["arguments"]["parameters"]}
    assert unpack(parameters.pop("bundle").encode(), "bundle").settings.iterations == 3
    assert parameters == {"run": "mine.v2"}


def test_a_run_that_has_begun_is_sent_without_its_settings(nashdex: Nashdex, state: ClusterState) -> None:
    assert nashdex("submit", str(CONFIG), "--begun") == 0
    ((_, workflow),) = state.workflows.items()
    assert {"name": "bundle", "value": ""} in workflow["spec"]["arguments"]["parameters"]


def _old(state: ClusterState) -> None:
    state.templates["nashdex-train"] = "0.0.9"


def _incomplete(state: ClusterState) -> None:
    del state.templates["nashdex-league"]


def _old_argo(state: ClusterState) -> None:
    state.argo_version = "v3.6.12"


def _no_secret(state: ClusterState) -> None:
    state.secrets.clear()


def _no_site(state: ClusterState) -> None:
    state.site = None


def _half_a_site(state: ClusterState) -> None:
    assert state.site is not None
    del state.site["image-trainer"]


def _other_site(state: ClusterState) -> None:
    assert state.site is not None
    state.site["template-version"] = "9.9.9"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_old, "has the templates of nashdex 0.0.9, but this is"),
        (_incomplete, "has no WorkflowTemplate nashdex-league: install nashdex there"),
        (_old_argo, "Argo Workflows v3.6.12; nashdex needs 3.7"),
        (_no_secret, "has no Secret nashdex-store"),
        (_no_site, "has no ConfigMap nashdex-site"),
        (_half_a_site, "image-trainer"),
        (_other_site, "has the templates of nashdex 9.9.9"),
    ],
)
def test_what_cannot_run_there_is_refused_before_anything_is_created(
    nashdex: Nashdex,
    state: ClusterState,
    capsys: pytest.CaptureFixture[str],
    spoil: Callable[[ClusterState], None],
    said: str,
) -> None:
    spoil(state)
    assert nashdex("submit", str(CONFIG)) == 64
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert state.workflows == {}


def test_a_gpu_that_the_site_does_not_give_is_refused(
    nashdex: Nashdex, state: ClusterState, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "gpu.toml"
    config.write_text('format = "leduc_poker"\n[population]\ninitial = ["random"]\n[collect]\nteacher = "random"\n')
    assert nashdex("submit", str(config), "--set", "train.device=cuda") == 64
    assert "train pods request no GPU" in capsys.readouterr().err
    assert state.site is not None
    gpu = {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}
    state.site["train-pod-patch"] = json.dumps(gpu)
    assert nashdex("submit", str(config), "--set", "train.device=cuda") == 0


def test_gpus_that_a_trainer_would_leave_idle_are_refused(
    nashdex: Nashdex, state: ClusterState, capsys: pytest.CaptureFixture[str]
) -> None:
    assert state.site is not None
    gpus = {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}
    state.site["train-pod-patch"] = json.dumps(gpus)
    assert nashdex("submit", str(CONFIG)) == 64
    assert "train pods request 8 GPUs, but a trainer computes on one" in capsys.readouterr().err
    assert state.workflows == {}


def test_actors_that_would_leave_no_room_for_a_trainer_are_refused(
    nashdex: Nashdex, state: ClusterState, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "actors.toml"
    config.write_text('format = "gen1randombattle"\n[train.oracle]\ndecisions = 100000\n[actors]\nshards = 8\n')
    state.parallelism = 8
    assert nashdex("submit", str(config)) == 64
    assert "actors.shards is 8, but an iteration runs at most 8 pods at once" in capsys.readouterr().err
    assert state.workflows == {}
    state.parallelism = 9
    assert nashdex("submit", str(config)) == 0


def test_what_may_not_be_read_is_not_held_against_the_cluster(nashdex: Nashdex, state: ClusterState) -> None:
    state.forbidden = {"deployments", "configmaps", "secrets"}
    assert nashdex("submit", str(CONFIG)) == 0


def test_an_identity_in_place_of_a_secret_is_enough(nashdex: Nashdex, state: ClusterState) -> None:
    assert state.site is not None
    state.site["s3-secret"] = "none"
    state.secrets.clear()
    assert nashdex("submit", str(CONFIG)) == 0


@pytest.mark.parametrize("run", ["ends-with-dash-", "dot."])
def test_a_run_id_that_is_no_label_is_refused(nashdex: Nashdex, run: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert nashdex("submit", str(CONFIG), "--run", run) == 64
    assert "not a valid Kubernetes label" in capsys.readouterr().err


def test_a_run_is_not_submitted_twice_at_once(
    nashdex: Nashdex, state: ClusterState, capsys: pytest.CaptureFixture[str]
) -> None:
    assert nashdex("submit", str(CONFIG), "--run", "one") == 0
    assert nashdex("submit", str(CONFIG), "--run", "one") == 64
    assert "is running already" in capsys.readouterr().err
    assert nashdex("resume", "one") == 64
    assert len(state.workflows) == 1


def test_status_is_what_the_workflows_came_to(
    nashdex: Nashdex, state: ClusterState, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(state)
    state.add(recorded("league-succeeded"))
    state.add(recorded("iteration-succeeded"))
    assert nashdex("status", "one", "--json") == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["phase"], status["last"], len(status["iterations"])) == ("Succeeded", 0, 1)
    steps = {step["step"]: (step["phase"], step["done"], step["shards"]) for step in status["iterations"][0]["steps"]}
    assert (steps.pop("gate"), steps.pop("act")) == (("Skipped", 0, 0), ("Skipped", 0, 0))
    assert set(steps.values()) == {("Succeeded", 1, 1)}
    assert nashdex("status") == 0
    shown = capsys.readouterr().out
    assert "failed" in shown.splitlines()[-2] + shown.splitlines()[-1]
    assert nashdex("status", "sr") == 0
    assert "workflow shutdown with strategy" in capsys.readouterr().out
    assert nashdex("status", "sr", "--watch") == 75
    assert "collect of iteration 0, shard 0: workflow shutdown with strategy" in capsys.readouterr().err


def test_an_unknown_run_is_named(nashdex: Nashdex, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("status", "logs", "stop"):
        assert nashdex(command, "nobody") == 65
        assert "run nobody has no workflow" in capsys.readouterr().err
    assert nashdex("status") == 0
    assert "namespace research has no runs" in capsys.readouterr().out


@pytest.mark.parametrize(("options", "strategy"), [((), "Stop"), (("--terminate",), "Terminate")])
def test_stop_ends_the_league_and_its_iteration(
    nashdex: Nashdex, state: ClusterState, options: tuple[str, ...], strategy: str
) -> None:
    failing(state)
    for workflow in state.workflows.values():
        workflow["status"]["phase"] = "Running"
    assert nashdex("stop", "sr", *options) == 0
    assert {w["spec"]["shutdown"] for w in state.workflows.values()} == {strategy}


def test_a_watch_lists_once_and_follows_the_changes(
    nashdex: Nashdex, state: ClusterState, capsys: pytest.CaptureFixture[str]
) -> None:
    league = recorded("league-succeeded")
    state.coming.append(copy.deepcopy(league))
    league["status"]["phase"] = "Running"
    state.add(league)
    state.add(recorded("iteration-succeeded"))
    assert nashdex("status", "one", "--watch") == 0
    phases = [line.split(",")[0] for line in capsys.readouterr().out.splitlines()]
    assert phases == ["run one: running", "run one: succeeded"]
    assert (state.lists_of_workflows, state.watches) == (1, 1)


def test_a_watch_begins_again_when_its_list_is_too_old(nashdex: Nashdex, state: ClusterState) -> None:
    league = recorded("league-succeeded")
    league["status"]["phase"] = "Running"
    state.add(league)
    state.add(recorded("iteration-succeeded"))

    def finish() -> None:
        deadline = time.monotonic() + 20
        while state.watches == 0 and time.monotonic() < deadline:
            time.sleep(0.01)
        league["status"]["phase"] = "Succeeded"

    with ThreadPoolExecutor() as pool:
        pool.submit(finish)
        assert nashdex("status", "one", "--watch") == 0
    assert state.lists_of_workflows == 2


def test_resume_needs_no_workflow_of_an_earlier_try(nashdex: Nashdex, state: ClusterState) -> None:
    """Argo deletes Workflows after some days; the store says what is done."""
    assert nashdex("resume", "sr") == 0
    ((_, workflow),) = state.workflows.items()
    parameters = {p["name"]: p["value"] for p in workflow["spec"]["arguments"]["parameters"]}
    assert parameters == {"run": "sr", "bundle": ""}


def test_resume_sends_the_settings_again(nashdex: Nashdex, state: ClusterState) -> None:
    failing(state)
    assert nashdex("resume", "sr", "--json") == 0
    *_, workflow = state.workflows.values()
    parameters = {p["name"]: p["value"] for p in workflow["spec"]["arguments"]["parameters"]}
    bundle = recorded("league-stopped")["spec"]["arguments"]["parameters"]
    assert {"name": "bundle", "value": parameters.pop("bundle")} in bundle
    assert parameters == {"run": "sr"}


def test_a_complete_run_is_not_resumed(
    nashdex: Nashdex, state: ClusterState, capsys: pytest.CaptureFixture[str]
) -> None:
    state.add(recorded("league-succeeded"))
    state.add(recorded("iteration-succeeded"))
    assert nashdex("resume", "one") == 0
    assert capsys.readouterr().out == "run one is complete\n"
    assert len(state.workflows) == 2


def test_logs_are_of_the_pods_that_exist(
    nashdex: Nashdex, state: ClusterState, capsys: pytest.CaptureFixture[str]
) -> None:
    state.add(recorded("iteration-succeeded"))
    for shard in ("0", "1"):
        labels = {"app.kubernetes.io/component": "collect", "nashdex.dev/run": "one", "nashdex.dev/shard": shard}
        metadata = {"name": f"pod-{shard}", "labels": labels, "creationTimestamp": "2026-01-01T00:00:00Z"}
        state.pods.append({"metadata": metadata, "status": {"phase": "Running"}})
        state.logs[f"pod-{shard}"] = f"first of {shard}\nsecond of {shard}\n"
    assert nashdex("logs", "one", "collect", "--shard", "1") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" | ")[2] for line in lines] == ["first of 1", "second of 1"]
    assert nashdex("logs", "one", "train") == 65
    assert "succeeded and were deleted" in capsys.readouterr().err


def test_rejected_credentials_are_reported_and_not_shown(
    nashdex: Nashdex, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(path.read_text().replace("right", "wrong-secret"))
    assert nashdex("status") == 64
    error = capsys.readouterr().err
    assert "rejected the credentials" in error
    assert "wrong-secret" not in error


def test_without_a_kubeconfig_the_error_says_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.delenv("ARGO_SERVER", raising=False)
    assert run_command_line(["status"]) == 64
    assert "set KUBECONFIG" in capsys.readouterr().err


def test_an_unreachable_server_in_the_environment_is_ignored(
    state: ClusterState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(state) as url:
        (tmp_path / "kubeconfig").write_text(kubeconfig(url))
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
        monkeypatch.setenv("ARGO_SERVER", "http://127.0.0.1:1")
        assert run_command_line(["status"]) == 0
        assert run_command_line(["status", "--server", "http://127.0.0.1:1"]) == 75
        assert "does not respond" in capsys.readouterr().err


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
    failing(state)
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
