"""submit, status, logs, stop and resume do the same through the Kubernetes API and through the Argo server."""

import copy
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nashdex_cli.cli import run_command_line
from nashdex_cluster.bundle import unpack
from support.cluster_server import ClusterState, kubeconfig, serving
from support.cluster_workflows import add_stopped_run, recorded_workflow

pytestmark = pytest.mark.integration

CONFIG = Path(__file__).parents[2] / "configs" / "kuhn.toml"
KUHN_PPO = CONFIG.with_name("kuhn-ppo.toml")
Nashdex = Callable[..., int]


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


def _empty(state: ClusterState) -> None:
    state.templates = {"nashdex-older": "0.0.1"}


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
        (_empty, "nashdex is not installed in namespace research: install it there, or choose another namespace"),
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


def test_collectors_on_gpus_that_the_site_does_not_give_are_refused(
    nashdex: Nashdex, state: ClusterState, capsys: pytest.CaptureFixture[str]
) -> None:
    assert nashdex("submit", str(KUHN_PPO), "--set", "collect.device=cuda") == 64
    assert "collect pods request no GPU" in capsys.readouterr().err
    assert state.workflows == {}
    assert state.site is not None
    gpu = {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}
    state.site["collect-pod-patch"] = json.dumps(gpu)
    assert nashdex("submit", str(KUHN_PPO), "--set", "collect.device=cuda") == 0


def test_gpus_that_a_trainer_would_leave_idle_are_refused(
    nashdex: Nashdex, state: ClusterState, capsys: pytest.CaptureFixture[str]
) -> None:
    assert state.site is not None
    gpus = {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}
    state.site["train-pod-patch"] = json.dumps(gpus)
    assert nashdex("submit", str(CONFIG)) == 64
    assert "train pods request 8 GPUs, but train.device is 'cpu' and train.num_processes 1" in capsys.readouterr().err
    together = ("--set", "train.device=cuda", "--set", "train.oracle.accumulate=16", "--set")
    assert nashdex("submit", str(KUHN_PPO), *together, "train.num_processes=16") == 64
    error = capsys.readouterr().err
    assert (
        "train.num_processes is 16 and train.device 'cuda', one GPU for each process, but train pods request 8" in error
    )
    assert state.workflows == {}
    assert nashdex("submit", str(KUHN_PPO), *together, "train.num_processes=8") == 0


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


def test_a_run_that_is_running_is_attached_to_if_its_settings_are_the_same(
    nashdex: Nashdex, state: ClusterState, capsys: pytest.CaptureFixture[str]
) -> None:
    assert nashdex("submit", str(CONFIG), "--run", "one", "--attach") == 0
    assert "submitted run one" in capsys.readouterr().out
    assert nashdex("submit", str(CONFIG), "--run", "one", "--attach") == 0
    assert "run one is running with" in capsys.readouterr().out
    assert nashdex("submit", str(CONFIG), "--run", "one", "--attach", "--set", "seed=7") == 64
    assert ", with other settings or files than these: restore them" in capsys.readouterr().err
    assert len(state.workflows) == 1


def test_status_is_what_the_workflows_came_to(
    nashdex: Nashdex, state: ClusterState, capsys: pytest.CaptureFixture[str]
) -> None:
    add_stopped_run(state)
    state.add(recorded_workflow("league-succeeded"))
    state.add(recorded_workflow("iteration-succeeded"))
    assert nashdex("status", "one", "--json") == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["phase"], status["last"], len(status["iterations"])) == ("Succeeded", 0, 1)
    steps = {step["step"]: (step["phase"], step["done"], step["shards"]) for step in status["iterations"][0]["steps"]}
    assert (steps.pop("gate"), steps.pop("act")) == (("Skipped", 0, 0), ("Skipped", 0, 0))
    assert set(steps.values()) == {("Succeeded", 1, 1)}
    assert nashdex("status") == 0
    shown = capsys.readouterr().out
    assert "stopped" in shown.splitlines()[-2] + shown.splitlines()[-1]
    assert nashdex("status", "sr") == 0
    assert capsys.readouterr().out.startswith("run sr: stopped")
    assert nashdex("status", "sr", "--watch") == 75
    assert "run sr was stopped; `nashdex resume sr` continues it" in capsys.readouterr().err


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
    add_stopped_run(state)
    for workflow in state.workflows.values():
        workflow["status"]["phase"] = "Running"
    assert nashdex("stop", "sr", *options) == 0
    assert {w["spec"]["shutdown"] for w in state.workflows.values()} == {strategy}


def test_stop_ends_an_iteration_that_its_league_starts_meanwhile(nashdex: Nashdex, state: ClusterState) -> None:
    league, iteration = (recorded_workflow(f"{name}-stopped") for name in ("league", "iteration"))
    for workflow in (league, iteration):
        workflow["status"]["phase"] = "Running"
        workflow["spec"].pop("shutdown", None)
    state.add(league)
    state.late.append(iteration)
    assert nashdex("stop", "sr") == 0
    assert [w["spec"].get("shutdown") for w in state.workflows.values()] == ["Stop", "Stop"]


def test_a_watch_lists_once_and_follows_the_changes(
    nashdex: Nashdex, state: ClusterState, capsys: pytest.CaptureFixture[str]
) -> None:
    league = recorded_workflow("league-succeeded")
    state.coming.append(copy.deepcopy(league))
    league["status"]["phase"] = "Running"
    state.add(league)
    state.add(recorded_workflow("iteration-succeeded"))
    assert nashdex("status", "one", "--watch") == 0
    phases = [line.split(",")[0] for line in capsys.readouterr().out.splitlines()]
    assert phases == ["run one: running", "run one: succeeded"]
    assert (state.lists_of_workflows, state.watches) == (1, 1)


def test_a_watch_begins_again_when_its_list_is_too_old(nashdex: Nashdex, state: ClusterState) -> None:
    league = recorded_workflow("league-succeeded")
    league["status"]["phase"] = "Running"
    state.add(league)
    state.add(recorded_workflow("iteration-succeeded"))

    def finish() -> None:
        deadline = time.monotonic() + 300
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
    add_stopped_run(state)
    assert nashdex("resume", "sr", "--json") == 0
    *_, workflow = state.workflows.values()
    parameters = {p["name"]: p["value"] for p in workflow["spec"]["arguments"]["parameters"]}
    bundle = recorded_workflow("league-stopped")["spec"]["arguments"]["parameters"]
    assert {"name": "bundle", "value": parameters.pop("bundle")} in bundle
    assert parameters == {"run": "sr"}


def test_resume_sends_the_settings_of_the_store_although_a_later_submit_had_others(
    nashdex: Nashdex, state: ClusterState
) -> None:
    add_stopped_run(state)
    refused = recorded_workflow("league-stopped")
    refused["metadata"] |= {"name": "a-later-one", "creationTimestamp": "2031-01-01T00:00:00Z"}
    refused["spec"]["arguments"]["parameters"] = [{"name": "run", "value": "sr"}, {"name": "bundle", "value": "other"}]
    for node in refused["status"]["nodes"].values():
        node.pop("outputs", None)
    state.add(refused)
    assert nashdex("resume", "sr") == 0
    *_, workflow = state.workflows.values()
    bundle = recorded_workflow("league-stopped")["spec"]["arguments"]["parameters"]
    assert workflow["spec"]["arguments"]["parameters"][1] in bundle


def test_a_complete_run_is_not_resumed(
    nashdex: Nashdex, state: ClusterState, capsys: pytest.CaptureFixture[str]
) -> None:
    state.add(recorded_workflow("league-succeeded"))
    state.add(recorded_workflow("iteration-succeeded"))
    assert nashdex("resume", "one") == 0
    assert capsys.readouterr().out == "run one is complete\n"
    assert len(state.workflows) == 2


def test_logs_are_of_the_pods_that_exist(
    nashdex: Nashdex, state: ClusterState, capsys: pytest.CaptureFixture[str]
) -> None:
    state.add(recorded_workflow("iteration-succeeded"))
    for shard in ("0", "1"):
        labels = {"app.kubernetes.io/component": "collect", "nashdex.dev/run": "one", "nashdex.dev/shard": shard}
        metadata = {"name": f"pod-{shard}", "labels": labels, "creationTimestamp": "2026-01-01T00:00:00Z"}
        state.pods.append({"metadata": metadata, "status": {"phase": "Running"}})
        from_argo = 'time="2026-01-01T00:00:00.114Z" level=info msg="sub-process exited" argo=true'
        state.logs[f"pod-{shard}"] = f"first of {shard}\nsecond of {shard}\n{from_argo}\n"
    assert nashdex("logs", "one", "collect", "--shard", "1") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" | ")[2] for line in lines] == ["first of 1", "second of 1"]
    assert nashdex("logs", "one", "train") == 65
    assert "`nashdex logs s3://bucket/runs/one train`" in capsys.readouterr().err


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
