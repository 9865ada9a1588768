"""From a bare cluster to runs, some of them disturbed, and back to a bare cluster."""

import json
import random
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from e2e.installation import CHART, RELEASE, Installation, Object, forwarded, marked_nodes
from e2e.ledgers import (
    assert_exact,
    assert_journal_adds_up,
    journal_of,
    longest_chain_seconds,
    manifests,
    newest_policy,
    weights_of,
)
from e2e.processes import NASHDEX, attempt, read_json, run, wait_for
from e2e.prometheus import ask_all
from nashdex.core import keys
from nashdex.core.errors import ExitCode
from nashdex.core.steps import StepName
from nashdex.metagame.analysis.documents import MetaGameAnalysis
from nashdex.metagame.analysis.exploit import ExploitVerdict
from nashdex.runs.creation import open_run
from nashdex.store import open_store
from nashdex.store.documents import read_published
from nashdex.store.verdict import Phase, read_verdict

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]

KUHN = "configs/kuhn.toml"
KUHN_SET = ("--set", "iterations=6")
KUHN_RUN = "kuhn-on-a-cluster"
KUHN_EXPLOITABILITY = (5 / 4, 1 / 2, 1 / 9, 5 / 36, 5 / 36, 23 / 120)
"""Of the exact double oracle from first-action, iteration by iteration: half of NashConv."""
SMALL = "tests/e2e/gen1ou-small.toml"
SMALL_RUN = "gen1ou-small"
OUTSIDE = "tests/e2e/outside.toml"
OUTSIDE_RUN = "outside"
WEBSOCKET_PROGRAM = Path("tests/support/programs/websocket_player.py")
ACTED = "tests/e2e/actors.toml"
ACTED_RUN = "actors"
ENDED_RUN = "ends"
EXPLOIT_RUN = "exploit-uniform-play"
KUHN_UNIFORM_SCORE = 0.5 + 11 / 96
"""Of the best response to uniform play. NashConv is 11/12, half of it for each seat, and the largest payoff 2."""
EXPLOIT_SECONDS = 1800.0
ITERATION_SECONDS = 1800.0
OUTAGE_SECONDS = 120.0


def failed_pods(workflow: Object) -> list[Object]:
    """Return the failed attempts, as Argo reports them."""
    nodes = workflow["status"]["nodes"].values()
    return [node for node in nodes if node["type"] == "Pod" and node["phase"] in {"Failed", "Error"}]


def assert_succeeded(workflow: Object) -> None:
    status = workflow["status"]
    failures = {node["displayName"]: node.get("message") for node in failed_pods(workflow)}
    assert status["phase"] == "Succeeded", f"{status['phase']}: {status.get('message')}; {failures}"


def tries(workflow: Object, step: str) -> int:
    """Return the largest number of attempts at a shard of a step."""
    nodes = workflow["status"]["nodes"].values()
    retried = [node for node in nodes if node["type"] == "Retry" and node["displayName"].startswith(step)]
    return max(len(node["children"]) for node in retried)


def uids(objects: list[Object]) -> set[str]:
    return {each["metadata"]["uid"] for each in objects}


def seconds_between(began: str, ended: str) -> float:
    begin, end = (datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC) for text in (began, ended))
    return (end - begin).total_seconds()


@pytest.mark.timeout(3600)
def test_images_are_there(image_tag: str, measured: dict[str, Any]) -> None:
    assert image_tag
    measured["image_tag"] = image_tag


def test_the_chart_installs_where_pod_security_is_restricted(installed: Installation) -> None:
    enforced = read_json("kubectl", "get", "namespace", installed.namespace, "-o", "json")["metadata"]["labels"]
    assert enforced["pod-security.kubernetes.io/enforce"] == "restricted"
    templates = {each["metadata"]["name"] for each in installed.objects("workflowtemplates")}
    assert {"nashdex-iteration", "nashdex-league"} <= templates
    exporter = json.loads(installed.kubectl("get", "deployment", "nashdex-exporter", "-o", "json"))
    assert exporter["status"]["readyReplicas"] == 1


def test_helm_test_passes(installed: Installation) -> None:
    said = installed.helm("test", RELEASE, "--timeout", "4m")
    assert said.count("Succeeded") >= 2


def test_kueue_would_refuse_an_empty_name_of_a_queue(installed: Installation) -> None:
    """So every run below shows that no pod has one."""
    pod = ("run", "queued", "--image=none", "--dry-run=server", "--labels=kueue.x-k8s.io/queue-name=")
    security = {"runAsNonRoot": True, "runAsUser": 10001, "seccompProfile": {"type": "RuntimeDefault"}}
    container = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    spec = {
        "securityContext": security,
        "containers": [{"name": "queued", "image": "none", "securityContext": container}],
    }
    overrides = f"--overrides={json.dumps({'spec': spec})}"

    def refused() -> bool:
        answer = attempt("kubectl", "--namespace", installed.namespace, *pod, overrides)
        return "a queue's name is not empty" in answer.stderr

    # A policy takes effect some seconds after it is created.
    wait_for(refused, "the policy to refuse the pod", 60)


def test_a_second_release_is_refused(installed: Installation) -> None:
    refused = attempt("helm", "install", "another", CHART, "--namespace", installed.namespace)
    assert refused.returncode != 0
    assert f"already has nashdex, as release {RELEASE}" in refused.stderr


def test_a_run_is_submitted(installed: Installation) -> None:
    """It continues during the following tests and their disturbances."""
    words = ("submit", KUHN, *KUHN_SET, "--run", KUHN_RUN, "-n", installed.namespace)
    said = json.loads(installed.nashdex(*words, "--json"))
    assert said["run"] == KUHN_RUN
    assert said["uri"] == f"{installed.site()['store']}/{KUHN_RUN}"
    again = attempt(*NASHDEX, *words)
    assert again.returncode == ExitCode.CONFIGURATION
    assert "is running already" in again.stderr


@pytest.mark.timeout(1200)
def test_an_iteration_on_real_battles_counts_every_battle(installed: Installation, measured: dict[str, Any]) -> None:
    with installed.bucket() as store:
        installed.nashdex("begin", SMALL, "--store", store)
    workflow = installed.end_of(installed.submit(run=SMALL_RUN, iteration="0"), ITERATION_SECONDS)
    assert_succeeded(workflow)
    with installed.bucket() as store:
        begun = open_run(f"{store}/{SMALL_RUN}")
        assert_exact(begun, 0)
        chain_seconds = longest_chain_seconds(begun, 0)
        archived = installed.nashdex("logs", f"{store}/{SMALL_RUN}", "train").splitlines()
    lines = [json.loads(line.partition(" | ")[2]) for line in archived]
    assert [lines[0]["event"], lines[-1]["event"]] == ["began", "done"]
    assert all(line["run"] == SMALL_RUN and line["iteration"] == 0 and line["attempt"] for line in lines)
    wall_seconds = seconds_between(workflow["status"]["startedAt"], workflow["status"]["finishedAt"])
    measured["gen1ou iteration: wall, steps, overhead (s)"] = [
        wall_seconds,
        round(chain_seconds, 1),
        round(wall_seconds - chain_seconds, 1),
    ]


def test_the_new_policy_loads_and_plays(installed: Installation) -> None:
    with installed.bucket() as store:
        policy = newest_policy(open_run(f"{store}/{SMALL_RUN}"), 0)
        players = ("--p1", f"{store}/{SMALL_RUN}#{policy}", "--p2", "random")
        said = json.loads(
            installed.nashdex("battle", "--format", "gen1ou", *players, "--battles", "10", "--json", seconds=900)
        )
    assert said["wins"] + said["losses"] + said["draws"] == 10


@pytest.mark.timeout(1500)
def test_lost_pods_and_a_killed_controller_lose_and_double_nothing(installed: Installation) -> None:
    """The trainer is evicted, an evaluator is rejected, its successor vanishes, and the controller dies at last."""
    room = "nashdex.dev/room-of-the-test"
    patch = json.loads(installed.site()["evaluate-pod-patch"]) | {"nodeSelector": {room: installed.namespace}}
    evaluators = {"run": SMALL_RUN, "iteration": "1", "component": StepName.EVALUATE.value}
    trainers = evaluators | {"component": StepName.TRAIN.value}
    with ExitStack() as while_evaluating:
        while_evaluating.enter_context(installed.site_with("evaluate-pod-patch", json.dumps(patch)))
        name = installed.submit(run=SMALL_RUN, iteration="1")
        trainer = installed.at_work(SMALL_RUN, 1, StepName.TRAIN, "nashdex_updates_total", 600)
        known = uids(installed.objects("pods", **trainers))
        installed.kubectl("delete", "pod", trainer, "--wait=false")
        # Argo may give a new pod the old one's name, and count it as the same try.
        wait_for(lambda: uids(installed.objects("pods", **trainers)) - known, "another trainer", 300)
        rejected = installed.rejected(SMALL_RUN, 1, StepName.EVALUATE, 600)
        while_evaluating.enter_context(marked_nodes("label", f"{room}={installed.namespace}", f"{room}-"))
        # Only the successor of the rejected pod counts a failed attempt.
        evaluator = installed.at_work(SMALL_RUN, 1, StepName.EVALUATE, "nashdex_step_retries", 300)
        assert evaluator != rejected["metadata"]["name"]
        assert installed.shard(evaluator) == rejected["metadata"]["labels"]["nashdex.dev/shard"]
        known = uids(installed.objects("pods", **evaluators))
        installed.kubectl("delete", "pod", evaluator, "--grace-period=0", "--force")
        wait_for(lambda: uids(installed.objects("pods", **evaluators)) - known, "another evaluator", 300)
    controller = ("delete", "pod", "-n", "argo", "-l", "app=workflow-controller", "--grace-period=0", "--force")
    assert "deleted" in run("kubectl", *controller)

    workflow = installed.end_of(name, ITERATION_SECONDS)
    assert_succeeded(workflow)
    assert tries(workflow, "evaluate") > 1
    with installed.bucket() as store:
        assert_exact(open_run(f"{store}/{SMALL_RUN}"), 1)


def kill_at_random(installed: Installation, step: StepName, metric: str, seconds: float) -> str:
    """Kill a pod of a step at a random moment after it began to work; return its name."""
    pod = installed.at_work(ACTED_RUN, 1, step, metric, seconds)
    time.sleep(random.uniform(0, 8))
    installed.kubectl("delete", "pod", pod, "--grace-period=0", "--force")
    return pod


@pytest.mark.timeout(3000)
def test_actors_and_learner_killed_at_random_reach_the_weights_of_a_laptop(
    installed: Installation, tmp_path: Path, measured: dict[str, Any]
) -> None:
    """Two actors play each round while the learner learns from the one before; both kinds are killed."""
    with installed.bucket() as store:
        installed.nashdex("begin", ACTED, "--store", store)
    assert_succeeded(installed.end_of(installed.submit(run=ACTED_RUN, iteration="0"), ITERATION_SECONDS))
    name = installed.submit(run=ACTED_RUN, iteration="1")
    killed = [
        kill_at_random(installed, StepName.ACT, "nashdex_chunks_total", 600),
        kill_at_random(installed, StepName.TRAIN, "nashdex_updates_total", 600),
        kill_at_random(installed, StepName.ACT, "nashdex_chunks_total", 600),
    ]
    workflow = installed.end_of(name, 2 * ITERATION_SECONDS)
    assert_succeeded(workflow)
    installed.nashdex("run", ACTED, "--run", ACTED_RUN, "--store", str(tmp_path), "--json", seconds=900)
    here = open_run(f"{tmp_path}/{ACTED_RUN}")
    with installed.bucket() as store:
        there = open_run(f"{store}/{ACTED_RUN}")
        assert_exact(there, 1)
        assert_journal_adds_up(there, 1)
        assert weights_of(there, 1) == weights_of(here, 1)
        left = [key for key in there.store.list("iterations/0001/train/") if "/actors/" in key or "/journal/" in key]
        measured["rounds with two actors, played ahead"] = len(journal_of(there, 1).entries)
    assert left == []
    measured["actors and learner that were killed"] = killed


@pytest.mark.timeout(1500)
def test_what_is_wrong_fails_at_once_and_once(installed: Installation) -> None:
    def exit_code(**parameters: str) -> int:
        workflow = installed.end_of(installed.submit(**parameters), 240)
        assert workflow["status"]["phase"] == "Failed", parameters
        (plan,) = (node for node in failed_pods(workflow) if "plan" in node["displayName"])
        assert tries(workflow, "plan") == 1, parameters
        return int(plan["outputs"]["exitCode"])

    assert exit_code(run="nobody-began-this", iteration="0") == ExitCode.DATA
    # Every pod that is created now lacks credentials, so the run in the background has to end first.
    wait_for(installed.is_idle, "the end of every workflow", 900)
    with installed.site_with("s3-secret", "no-such-secret"):
        assert exit_code(run=SMALL_RUN, iteration="0") == ExitCode.CONFIGURATION


def ended(installed: Installation, run_id: str) -> tuple[Phase, int, str]:
    """Return the verdict on a run whose Workflows have ended: its phase, iteration and message."""
    leagues = installed.objects("workflows", run=run_id, component="league")
    iterations = installed.objects("workflows", run=run_id, component="iteration")
    for workflow in (*leagues, *iterations):
        installed.end_of(workflow["metadata"]["name"], 600)
    with installed.bucket() as store:
        found = read_verdict(open_store(f"{store}/{run_id}"))
    assert found is not None
    return found.phase, found.iteration, found.message


@pytest.mark.timeout(1800)
def test_every_end_of_a_run_has_one_verdict(installed: Installation) -> None:
    def pod_of(component: str, iteration: int) -> list[Object]:
        return installed.objects("pods", run=ENDED_RUN, component=component, iteration=str(iteration))

    def workflow_of(iteration: int) -> list[Object]:
        return installed.objects("workflows", run=ENDED_RUN, component="iteration", iteration=str(iteration))

    league = ("-n", installed.namespace, "--no-check")
    installed.nashdex("submit", KUHN, "--set", "iterations=3", "--run", ENDED_RUN, *league)
    wait_for(lambda: workflow_of(0), "the first iteration", 300)
    nowhere = json.loads(installed.site()["league-pod-patch"]) | {"nodeSelector": {"nashdex-test/room": "nowhere"}}
    with installed.site_with("league-pod-patch", json.dumps(nowhere)):
        wait_for(lambda: pod_of("league", 1), "the end of the first iteration", 900)
        installed.nashdex("stop", ENDED_RUN, "-n", installed.namespace)
        phase, iteration, message = ended(installed, ENDED_RUN)
    # A run in the background may have such a pod too: Argo tries it again, with the site as it was.
    installed.kubectl(
        "delete", "pods", "--selector=app.kubernetes.io/component=league", "--field-selector=status.phase=Pending"
    )
    assert (phase, iteration) == (Phase.STOPPED, 1), message
    assert workflow_of(1) == []

    installed.end_of(installed.submit("nashdex-league", run=ENDED_RUN, bundle="no-bundle"), 300)
    phase, iteration, message = ended(installed, ENDED_RUN)
    assert (phase, iteration) == (Phase.FAILED, 1), message
    assert message.startswith("begin(0): ")

    installed.nashdex("resume", ENDED_RUN, *league)
    wait_for(lambda: pod_of("plan", 1), "a step of the second iteration", 300)
    installed.nashdex("stop", ENDED_RUN, "-n", installed.namespace)
    phase, iteration, message = ended(installed, ENDED_RUN)
    assert (phase, iteration) == (Phase.STOPPED, 1), message
    assert not message.startswith("workflow("), "the iteration has said more than its league can"


@pytest.mark.timeout(1800)
def test_a_run_outlives_a_store_that_is_gone_for_two_minutes(installed: Installation, measured: dict[str, Any]) -> None:
    name = installed.submit(run=SMALL_RUN, iteration="2")
    installed.at_work(SMALL_RUN, 2, StepName.EVALUATE, "nashdex_battles_total", 900)
    installed.kubectl("scale", "deployment/nashdex-store", "--replicas=0")
    wait_for(lambda: not installed.objects("pods", component="store"), "the store to be gone", 60)
    began = time.monotonic()
    time.sleep(OUTAGE_SECONDS)
    installed.kubectl("scale", "deployment/nashdex-store", "--replicas=1")
    installed.kubectl("rollout", "status", "deployment/nashdex-store", "--timeout=120s", seconds=150)
    measured["store away (s)"] = round(time.monotonic() - began)

    workflow = installed.end_of(name, ITERATION_SECONDS)
    assert_succeeded(workflow)
    codes = {int(node.get("outputs", {}).get("exitCode", ExitCode.TRY_AGAIN)) for node in failed_pods(workflow)}
    assert codes <= {ExitCode.TRY_AGAIN}
    measured["steps that exited 75 while the store was away"] = len(failed_pods(workflow))
    with installed.bucket() as store:
        assert_exact(open_run(f"{store}/{SMALL_RUN}"), 2)


def _prometheus() -> str | None:
    """Return the namespace of the cluster's Prometheus, if there is one."""
    services = read_json("kubectl", "get", "services", "--all-namespaces", "-o", "json")["items"]
    found = [s["metadata"]["namespace"] for s in services if s["metadata"]["name"] == "prometheus-operated"]
    return found[0] if found else None


WITH_METRICS = ((KUHN_RUN, 0), (SMALL_RUN, 0), (SMALL_RUN, 1))
"""Iterations whose pods export every metric: a tabular one, one that clones, and one that PPO improves with actors."""


def done(installed: Installation, run_id: str, iteration: int) -> bool:
    """Say whether a Workflow of an iteration has succeeded."""
    found = installed.objects("workflows", run=run_id, component="iteration", iteration=str(iteration))
    return any(workflow.get("status", {}).get("phase") == "Succeeded" for workflow in found)


def test_every_dashboard_and_alert_expression_answers(installed: Installation) -> None:
    namespace = _prometheus()
    if namespace is None:
        pytest.skip("the cluster has no Prometheus of the prometheus-operator")
    if missing := [
        f"iteration {number} of {run_id}" for run_id, number in WITH_METRICS if not done(installed, run_id, number)
    ]:
        pytest.skip(f"no metrics of {', '.join(missing)}, which earlier tests of this file run: select them too")
    with forwarded(namespace, "service/prometheus-operated", 9090) as port:
        assert ask_all(f"http://127.0.0.1:{port}") == []
    groups = read_json(
        "kubectl",
        "get",
        "--raw",
        f"/api/v1/namespaces/{namespace}/services/prometheus-operated:9090/proxy/api/v1/rules",
    )["data"]["groups"]
    rules = [rule for group in groups if installed.namespace in group["file"] for rule in group["rules"]]
    assert {rule["name"] for rule in rules} >= {"NashdexRunStalled", "NashdexExporterDown"}
    assert [rule["name"] for rule in rules if rule["health"] != "ok"] == []


@pytest.mark.timeout(2400)
def test_the_submitted_run_comes_to_what_theory_says_and_to_what_it_is_elsewhere(
    installed: Installation, tmp_path: Path, measured: dict[str, Any]
) -> None:
    words = ("status", KUHN_RUN, "--watch", "--json", "-n", installed.namespace)
    status = json.loads(installed.nashdex(*words, seconds=2100))
    assert status["phase"] == "Succeeded"
    local = ("run", KUHN, *KUHN_SET, "--run", KUHN_RUN, "--store", str(tmp_path), "--json")
    installed.nashdex(*local, seconds=600)
    here = open_store(str(tmp_path)).at(KUHN_RUN)
    overheads = []
    exploitability = []
    with installed.bucket() as store:
        kuhn = open_run(f"{store}/{KUHN_RUN}")
        for iteration in range(kuhn.settings.iterations):
            for name in (keys.INTERACTION_MATRIX, keys.META_STRATEGY):
                key = keys.published(iteration, name)
                assert kuhn.store.get(key) == here.get(key), key
            overheads.append(longest_chain_seconds(kuhn, iteration))
            analysis = read_published(kuhn.store, iteration, keys.META_GAME_ANALYSIS, MetaGameAnalysis)
            assert analysis.exploitability.exact is not None
            exploitability.append(analysis.exploitability.exact.value)
    assert exploitability == pytest.approx(KUHN_EXPLOITABILITY, abs=1e-9)
    walls = [
        seconds_between(each["status"]["startedAt"], each["status"]["finishedAt"])
        for each in installed.objects("workflows", run=KUHN_RUN, component="iteration")
    ]
    measured["kuhn iterations: wall (s), sorted"] = sorted(walls)
    measured["kuhn iterations: steps (s), sorted"] = sorted(round(seconds, 1) for seconds in overheads)


def test_an_exploiter_finds_the_exact_value_of_uniform_play(installed: Installation, measured: dict[str, Any]) -> None:
    name = installed.submit("nashdex-exploit", run=EXPLOIT_RUN, policy="random", format="kuhn_poker")
    workflow = installed.end_of(name, EXPLOIT_SECONDS)
    assert_succeeded(workflow)
    with installed.bucket() as store:
        verdict = read_published(open_run(f"{store}/{EXPLOIT_RUN}").store, 0, keys.EXPLOIT, ExploitVerdict)
    found = (verdict.score, verdict.low, verdict.high, verdict.exact)
    assert found == pytest.approx([KUHN_UNIFORM_SCORE] * 4, abs=1e-9)
    assert verdict.target == {"random": 1.0}
    status = workflow["status"]
    measured["exploiter of Kuhn poker: wall (s)"] = seconds_between(status["startedAt"], status["finishedAt"])


def test_an_upgrade_keeps_the_store_its_keys_and_what_is_done(installed: Installation) -> None:
    keys_before = installed.credentials()
    with installed.bucket() as store:
        before = manifests(open_run(f"{store}/{SMALL_RUN}"), 0)
    request = "evaluate.resources.requests.cpu=150m"
    installed.helm("upgrade", RELEASE, CHART, "--reset-then-reuse-values", "--set", request, "--wait")
    assert "150m" in installed.site()["evaluate-pod-patch"]
    assert installed.credentials() == keys_before
    assert_succeeded(installed.end_of(installed.submit(run=SMALL_RUN, iteration="0"), ITERATION_SECONDS))
    with installed.bucket() as store:
        assert manifests(open_run(f"{store}/{SMALL_RUN}"), 0) == before


def test_players_of_other_programs_play_as_sidecars(installed: Installation, measured: dict[str, Any]) -> None:
    """The evaluator's own image, with players of poke-env's: one listens, one is on a Showdown server."""
    shared = {
        "image": f"nashdex/evaluator:{installed.image_tag}",
        "startSeconds": 300,
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}},
    }
    listens = {
        "name": "outside",
        "command": ["python", "-m", "nashdex.games.showdown.external_player"],
        "args": ["poke_env.player:MaxBasePowerPlayer", "--listen", "127.0.0.1:7500"],
        "port": 7500,
    }
    on_a_server = {
        "name": "program",
        # As docs/how-to/external-players.md says: the first process of a container ignores SIGTERM.
        "command": [
            "sh",
            "-c",
            "trap 'kill $!' TERM; \"$@\" & wait",
            "sh",
            "python",
            "-c",
            WEBSOCKET_PROGRAM.read_text(),
        ],
        "args": ["ws://127.0.0.1:8100/showdown/websocket", "Program", "gen1randombattle", "--class=MaxBasePowerPlayer"],
        "port": 8100,
        "username": "Program",
    }
    players = [shared | listens, shared | on_a_server]
    declared = ("--set-json", f"evaluate.players={json.dumps(players)}")
    installed.helm("upgrade", RELEASE, CHART, "--reset-then-reuse-values", *declared, "--wait")
    with installed.bucket() as store:
        installed.nashdex("begin", OUTSIDE, "--store", store)
    workflow = installed.end_of(installed.submit(run=OUTSIDE_RUN, iteration="0"), ITERATION_SECONDS)
    assert_succeeded(workflow)
    with installed.bucket() as store:
        begun = open_run(f"{store}/{OUTSIDE_RUN}")
        assert_exact(begun, 0)
        analysis = read_published(begun.store, 0, keys.META_GAME_ANALYSIS, MetaGameAnalysis)
    for player in players:
        assert analysis.ratings[f"external:{player['name']}"].elo > analysis.ratings["random"].elo
    pods = installed.objects("pods", run=OUTSIDE_RUN, component="evaluate")
    assert {pod["status"]["phase"] for pod in pods} <= {"Succeeded"}, "no sidecar keeps a pod alive"
    status = workflow["status"]
    measured["players as sidecars: wall (s)"] = seconds_between(status["startedAt"], status["finishedAt"])


def test_uninstalling_leaves_nothing(installed: Installation) -> None:
    installed.delete_workflows()
    installed.helm("uninstall", RELEASE, "--wait", "--timeout", "3m")
    wait_for(lambda: not installed.contents(), "everything to be gone", 120)
