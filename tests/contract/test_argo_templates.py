"""The WorkflowTemplates in argo/ follow the plan, call commands that exist, and read what a site sets."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
import yaml

import nashdex
from nashdex.core.errors import ExitCode
from nashdex.core.steps import StepName
from nashdex.planning.dag import fan_out, iteration_steps, num_shards
from nashdex.settings.run import ActorSettings, RunSettings
from nashdex_cli.cli import app
from nashdex_cluster.site import CONFIG_MAP, Site
from nashdex_cluster.submission import TEMPLATES
from nashdex_cluster.workflow_state import CHECK_TEMPLATE

pytestmark = pytest.mark.contract

ARGO = Path(__file__).parents[2] / "argo"
ARGO_PROGRAM = shutil.which("argo")
FILES = sorted(path.stem for path in ARGO.glob("nashdex-*.yaml"))
DOCUMENTS: dict[str, dict[str, Any]] = {name: yaml.safe_load((ARGO / f"{name}.yaml").read_text()) for name in FILES}
TASKS = {
    task["name"]: task
    for template in DOCUMENTS["nashdex-iteration"]["spec"]["templates"]
    if template["name"] == "iteration"
    for task in template["dag"]["tasks"]
}
SITE_KEYS = {field.alias for field in Site.model_fields.values()}
SETTINGS = {
    "plain": RunSettings(),
    "without actors": RunSettings.model_validate({"actors": {"shards": 0}}),
    "many": RunSettings.model_validate({"collect": {"shards": 7}, "train": {"seeds": 3}, "evaluate": {"shards": 5}}),
    "gated": RunSettings.model_validate({"gate": {"test": "sprt"}, "train": {"seeds": 3}}),
}
NODE_SHUTDOWN = "Pod was rejected as the node is shutting down."
NO_DEVICE = "Pod was rejected: Allocate failed due to no healthy devices present, which is unexpected"
OUT_OF_MEMORY = "OOMKilled (exit code 137)"
ENDS = [
    # status, Argo's exit code, message, failed attempts before it, retried
    ("Error", "-1", "pod deleted", 0, True),
    ("Error", "64", "cannot save the outputs", 0, True),
    ("Failed", "64", "main: Error (exit code 64): context canceled", 0, True),  # the executor of an evicted pod
    ("Failed", "0", "showdown: Error (exit code 2)", 0, True),  # a sidecar that Argo stops while it starts
    ("Failed", "2", "main: Error (exit code 2)", 0, True),  # an executor that is stopped while it starts
    ("Failed", "-1", NODE_SHUTDOWN, 0, True),
    ("Failed", "-1", NO_DEVICE, 7, True),
    ("Failed", "-1", "The node was low on resource: ephemeral-storage.", 0, True),
    ("Failed", str(int(ExitCode.TRY_AGAIN)), "the store does not respond", 0, True),
    ("Failed", str(int(ExitCode.STOPPED)), "stopped", 3, True),
    ("Failed", "137", "Error (exit code 137)", 7, True),
    ("Failed", "137", OUT_OF_MEMORY, 0, True),
    ("Failed", "137", OUT_OF_MEMORY, 1, True),
    ("Failed", "137", OUT_OF_MEMORY, 2, False),
    *(
        ("Failed", str(int(code)), "error", 0, False)
        for code in (ExitCode.CONFIGURATION, ExitCode.DATA, ExitCode.INTERNAL)
    ),
]
"""How pods end on a cluster, and what is retried."""


def templates() -> Iterator[tuple[str, dict[str, Any]]]:
    for file, document in DOCUMENTS.items():
        for template in document["spec"]["templates"]:
            yield file, template


PODS = {f"{file}/{t['name']}": t for file, t in templates() if "container" in t or "resource" in t}
CONTAINERS = {
    f"{name}/{container.get('name')}": container
    for name, template in PODS.items()
    if "container" in template
    for container in (template["container"], *template.get("sidecars", []))
}


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


def config_map_keys(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if "configMapKeyRef" in value:
            assert value["configMapKeyRef"]["name"] == CONFIG_MAP
            yield value["configMapKeyRef"]["key"]
        for part in value.values():
            yield from config_map_keys(part)
    elif isinstance(value, list):
        for part in value:
            yield from config_map_keys(part)


def edges_of_dag(outputs: dict[str, int]) -> set[tuple[str, str]]:
    """Return the DAG's edges once tasks that are skipped have let through what comes before them."""
    skipped = {name for name, task in TASKS.items() if "when" in task and not holds(task["when"], outputs)}

    def before(name: str) -> Iterator[str]:
        for earlier in re.findall(r"[a-z]+", TASKS[name].get("depends", "")):
            if earlier in skipped:
                yield from before(earlier)
            else:
                yield earlier

    return {(earlier, name) for name in TASKS if name not in skipped for earlier in before(name)}


def with_implied(edges: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the edges, and every one that follows from them."""
    further = {(a, d) for a, b in edges for c, d in edges if b == c}
    return edges if further <= edges else with_implied(edges | further)


def is_true(expression: str, status: str, exit_code: str, message: str, retries: int) -> bool:
    """Evaluate a retry's expression in Argo's language, which is nearly Python's."""
    python = re.sub(r'([\w.]+) contains ("[^"]*")', r"\2 in \1", expression)
    for theirs, ours in (("||", " or "), ("&&", " and "), ("!(", " not (")):
        python = python.replace(theirs, ours)
    last = SimpleNamespace(status=status, exitCode=exit_code, message=message)
    names = {"lastRetry": last, "retries": str(retries), "asInt": int, "__builtins__": {}}
    return bool(eval(python, names))  # noqa: S307 - the repository's own expression


def holds(when: str, outputs: dict[str, int]) -> bool:
    match = re.fullmatch(r"\{\{tasks\.plan\.outputs\.parameters\.([a-z-]+)\}\} > 0", when)
    assert match, when
    return outputs[match[1]] > 0


@pytest.mark.parametrize("name", SETTINGS)
def test_the_dag_is_the_plan(name: str) -> None:
    settings = SETTINGS[name]
    planned = {(str(earlier), str(step.name)) for step in iteration_steps(settings) for earlier in step.after}
    assert with_implied(edges_of_dag(fan_out(settings))) == with_implied(planned)


@pytest.mark.parametrize("name", SETTINGS)
def test_each_step_fans_out_as_the_plan_does(name: str) -> None:
    settings = SETTINGS[name]
    outputs = fan_out(settings)
    for step in StepName:
        count = TASKS[step].get("withSequence", {}).get("count")
        if count is None:
            assert num_shards(settings, step) == 1
        else:
            match = re.fullmatch(r"\{\{tasks\.plan\.outputs\.parameters\.([a-z-]+)\}\}", count)
            assert match
            assert outputs[match[1]] == num_shards(settings, step)
            assert TASKS[step]["arguments"]["parameters"] == [{"name": "shard", "value": "{{item}}"}]


def test_added_actors_are_those_of_the_plan_under_other_shards() -> None:
    """An added actor of a shard that the plan has would share that actor's work."""
    spec = DOCUMENTS["nashdex-actors"]["spec"]
    assert spec["entrypoint"] == "actors"
    (task,) = next(t for t in spec["templates"] if t["name"] == "actors")["dag"]["tasks"]
    planned = TASKS[StepName.ACT]
    assert (task["templateRef"], task["arguments"]) == (planned["templateRef"], planned["arguments"])
    assert task["withSequence"] == {
        "start": "{{workflow.parameters.first}}",
        "count": "{{workflow.parameters.count}}",
    }
    values = {parameter["name"]: parameter.get("value") for parameter in spec["arguments"]["parameters"]}
    (most,) = (bound.le for bound in ActorSettings.model_fields["shards"].metadata if hasattr(bound, "le"))
    assert int(values["first"]) >= most
    assert values["count"] == "1"
    assert {name for name, value in values.items() if value is None} == {"run", "iteration", "store"}
    # A pod is found, counted and removed by its run and iteration, as one of the iteration's Workflow.
    assert spec["workflowMetadata"]["labelsFrom"].keys() == {"nashdex.dev/run", "nashdex.dev/iteration"}


def test_the_plan_step_writes_what_the_dag_reads() -> None:
    plan = PODS["nashdex-solve/plan"]
    paths = {p["name"]: p["valueFrom"]["path"] for p in plan["outputs"]["parameters"]}
    assert paths.keys() == fan_out(SETTINGS["plain"]).keys()
    folder = next(a.removeprefix("--outputs=") for a in plan["container"]["args"] if a.startswith("--outputs="))
    assert paths == {name: f"{folder}/{name}" for name in paths}


@pytest.mark.parametrize("name", [name for name in PODS if "container" in PODS[name]])
def test_commands_are_those_of_the_command_line(name: str) -> None:
    container = PODS[name]["container"]
    assert container["command"] == ["nashdex"]
    if container["args"] == ["--version"]:
        return
    arguments = [
        re.sub(r"\{\{[^}]*(iteration|shard|gpus|decisions|seeds|battles|creationTimestamp\.s)\}\}", "30", argument)
        for argument in container["args"]
    ]
    group = typer.main.get_command(app)
    context = group.make_context("nashdex", list(arguments))
    command_name, command, rest = group.resolve_command(context, arguments)  # type: ignore[attr-defined]
    parsed = command.make_context(command_name, rest, parent=context).params
    if command_name == "step":
        assert parsed["name"] == name.partition("/")[2]
        assert parsed["iteration"] == 30
        assert parsed["run"] == "{{workflow.parameters.store}}/{{workflow.parameters.run}}"


def test_the_files_are_current() -> None:
    script = ARGO.parent / "scripts" / "make_argo.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_tasks_call_the_templates_of_their_names() -> None:
    for name, task in TASKS.items():
        reference = task["templateRef"]
        assert reference["template"] == name
        assert f"{reference['name']}/{name}" in PODS


@pytest.mark.parametrize("file", FILES)
def test_every_parameter_is_declared_by_every_workflow_that_uses_it(file: str) -> None:
    spec = DOCUMENTS[file]["spec"]
    used_files = {file, *(name for name in FILES if f"'name': '{name}', 'template'" in str(spec["templates"]))}
    used_texts: object = spec
    if file in {"nashdex-iteration", "nashdex-actors"}:
        used_texts = [DOCUMENTS[name]["spec"]["templates"] for name in used_files]
    if file == "nashdex-exploit":  # which has its own begin, and takes a league's iterations
        league = DOCUMENTS["nashdex-league"]["spec"]["templates"]
        used_texts = [spec, *(template for template in league if template["name"] not in {"league", "begin"})]
    texts = strings(used_texts)
    used = {name for text in texts for name in re.findall(r"workflow\.parameters\.([a-z0-9-]+)", text)}
    declared = {parameter["name"] for parameter in spec["arguments"]["parameters"]}
    assert used <= declared
    assert declared - used <= {"shard"}  # taken by the entrypoint as its input


@pytest.mark.parametrize("file", FILES)
def test_whoever_submits_cannot_choose_images_credentials_or_patches(file: str) -> None:
    """A parameter of the Workflow can be overridden; an input whose value is a ConfigMap's key cannot."""
    parameters = {parameter["name"] for parameter in DOCUMENTS[file]["spec"]["arguments"]["parameters"]}
    assert parameters & SITE_KEYS <= {"store"}
    for name, template in PODS.items():
        inputs = {each["name"]: each for each in template["inputs"]["parameters"]}
        used = set(re.findall(r"inputs\.parameters\.([a-z0-9-]+)", str(template)))
        assert used - {"shard", "iteration", "status", "failures"} <= SITE_KEYS, name
        for key in used & SITE_KEYS:
            assert inputs[key] == {
                "name": key,
                "valueFrom": {"configMapKeyRef": {"name": CONFIG_MAP, "key": key}},
            }


def test_a_site_sets_all_that_is_read_and_nothing_else() -> None:
    read = {key for document in DOCUMENTS.values() for key in config_map_keys(document)}
    assert read == SITE_KEYS - {"template-version"}  # which nashdex submit reads


def test_the_site_of_kustomize_fits() -> None:
    documents = yaml.safe_load_all((ARGO.parent / "k8s" / "base" / "nashdex.yaml").read_text())
    data = next(d["data"] for d in documents if d["kind"] == "ConfigMap" and d["metadata"]["name"] == CONFIG_MAP)
    assert data.keys() == SITE_KEYS
    assert Site.parse(data, "nashdex").template_version == nashdex.__version__


def test_templates_carry_the_version_that_submit_asks_for() -> None:
    assert sorted(TEMPLATES) == FILES
    for document in DOCUMENTS.values():
        assert document["metadata"]["labels"]["app.kubernetes.io/version"] == nashdex.__version__


def test_the_kustomization_has_every_file() -> None:
    listed = yaml.safe_load((ARGO / "kustomization.yaml").read_text())["resources"]
    assert sorted(listed) == [f"{name}.yaml" for name in FILES]


@pytest.mark.parametrize("file", FILES)
def test_workflows_end_and_are_cleaned_up(file: str) -> None:
    spec = DOCUMENTS[file]["spec"]
    assert spec["serviceAccountName"] == "nashdex-workflow"
    assert spec["activeDeadlineSeconds"] > 0
    # What failed has something to say for longer, but for a check, whose message its caller has.
    ttl = spec["ttlStrategy"]
    if file == CHECK_TEMPLATE:
        assert spec["podGC"] == {"strategy": "OnPodCompletion", "deleteDelayDuration": "120s"}
        assert ttl["secondsAfterSuccess"] >= ttl["secondsAfterFailure"] > 0
    else:
        assert spec["podGC"] == {"strategy": "OnPodSuccess", "deleteDelayDuration": "120s"}
        assert ttl["secondsAfterFailure"] >= ttl["secondsAfterSuccess"] > 0
    assert spec["templateDefaults"]["securityContext"] == spec["securityContext"]


@pytest.mark.parametrize("name", [name for name in PODS if not name.startswith(CHECK_TEMPLATE)])
def test_pods_end_are_tried_again_by_exit_code_and_are_labelled(name: str) -> None:
    template = PODS[name]
    assert 0 < template["activeDeadlineSeconds"] <= DOCUMENTS[name.partition("/")[0]]["spec"]["activeDeadlineSeconds"]
    retry = template["retryStrategy"]
    assert "affinity" not in retry
    assert "maxDuration" not in retry["backoff"]
    assert [end for end in ENDS if is_true(retry["expression"], *end[:4]) is not end[4]] == []
    labels = template["metadata"]["labels"]
    assert labels["app.kubernetes.io/component"] == template["name"] or name == "nashdex-league/workflow"
    assert labels["nashdex.dev/run"] == "{{workflow.parameters.run}}"


RETRIED_STEPS = [
    name
    for name, pod in PODS.items()
    if "container" in pod and "retryStrategy" in pod and not name.startswith(CHECK_TEMPLATE)
]


@pytest.mark.parametrize("name", RETRIED_STEPS)
def test_pods_that_are_retried_know_how_often(name: str) -> None:
    """The metric that NashdexShardRetries reads comes from it."""
    assert {"name": "NASHDEX_RETRY", "value": "{{retries}}"} in PODS[name]["container"]["env"]


@pytest.mark.parametrize(
    "name", [name for name, pod in PODS.items() if "step" in pod.get("container", {}).get("args", [])]
)
def test_steps_archive_their_logs_before_their_pods_are_deleted(name: str) -> None:
    assert {"name": "NASHDEX_ARCHIVE_LOGS", "value": "true"} in PODS[name]["container"]["env"]


def test_a_check_starts_every_image_as_its_step_is_started_and_retries_only_stopped_sidecars() -> None:
    """With the patch of the step, so with its nodes and its GPUs, and with every container that the patch speaks of."""
    steps = {"control": "nashdex-solve/solve"} | {n: f"nashdex-{n}/{n}" for n in ("collect", "train", "evaluate")}
    images = set()
    for name, step in steps.items():
        check = PODS[f"{CHECK_TEMPLATE}/{name}"]
        assert ("retryStrategy" in check) == ("sidecars" in check)
        if retry := check.get("retryStrategy"):
            assert [end for end in ENDS if is_true(retry["expression"], *end[:4]) and end[1] not in ("0", "2")] == []
        assert 0 < check["activeDeadlineSeconds"] <= DOCUMENTS[CHECK_TEMPLATE]["spec"]["activeDeadlineSeconds"]
        assert check["podSpecPatch"] == PODS[step]["podSpecPatch"]
        started, meant = ([t["container"], *t.get("sidecars", [])] for t in (check, PODS[step]))
        for field in ("name", "image", "imagePullPolicy", "command"):
            assert [each[field] for each in started] == [each[field] for each in meant]
        images |= {each["image"] for each in started}
    assert images == {f"{{{{inputs.parameters.{key}}}}}" for key in SITE_KEYS if re.match("image-(?!pull)", str(key))}


def test_the_check_of_the_trainer_computes_where_the_site_trains() -> None:
    args = PODS[f"{CHECK_TEMPLATE}/train"]["container"]["args"]
    assert args == ["check-device", "--gpus={{inputs.parameters.train-gpus}}"]


@pytest.mark.parametrize("name", [name for name in PODS if "container" in PODS[name]])
def test_pods_say_why_they_failed(name: str) -> None:
    """Argo shows the termination log as the node's message, and `nashdex submit` prints it."""
    assert {"name": "NASHDEX_TERMINATION_LOG", "value": "/dev/termination-log"} in PODS[name]["container"]["env"]


def test_the_leagues_own_pods_go_where_the_site_sends_them() -> None:
    """Tainted nodes and quotas apply to every pod of a run."""
    for name, template in PODS.items():
        assert re.fullmatch(r"\{\{inputs\.parameters\.[a-z]+-pod-patch\}\}", template["podSpecPatch"]), name
    assert PODS["nashdex-league/workflow"]["podSpecPatch"] == "{{inputs.parameters.league-pod-patch}}"


@pytest.mark.parametrize("name", ["nashdex-iteration", "nashdex-league", "nashdex-exploit"])
def test_a_run_ends_with_a_verdict_whose_list_of_failures_fits_an_argument(name: str) -> None:
    """Linux limits an argument to 128 KiB, and Argo passes the template, with its quotes escaped, in one variable."""
    spec = DOCUMENTS[name]["spec"]
    (handler,) = (t for t in spec["templates"] if t["name"] == spec["onExit"])
    (task,) = handler["dag"]["tasks"]
    assert task.get("templateRef", task)["template"] == "verdict"
    # The last iteration has written that the run succeeded; a league would need a pod to say it again.
    assert task.get("when") == (None if name == "nashdex-iteration" else "{{workflow.status}} != Succeeded")
    values = {each["name"]: each["value"] for each in task["arguments"]["parameters"]}
    limit = re.fullmatch(r"\{\{=sprig\.trunc\((\d+), workflow\.failures\)\}\}", values["failures"])
    assert limit
    assert 2 * int(limit[1]) < 128 * 1024


def test_a_check_tries_the_store_as_a_step_finds_it() -> None:
    check, step = PODS[f"{CHECK_TEMPLATE}/control"]["container"], PODS["nashdex-solve/solve"]["container"]
    assert check["args"] == ["check-store", "--store={{workflow.parameters.store}}"]
    assert check["envFrom"] == step["envFrom"]
    assert all(variable in step["env"] for variable in check["env"])


@pytest.mark.parametrize("name", PODS)
def test_pods_are_restricted(name: str) -> None:
    security = PODS[name]["securityContext"]
    assert security["runAsNonRoot"] is True
    assert security["runAsUser"] == 10001
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers_are_restricted_and_ask_for_what_they_need(name: str) -> None:
    container = CONTAINERS[name]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["requests"].keys() == {"cpu", "memory"}
    assert container["resources"]["limits"].keys() == {"memory"}
    if container["name"] == "main" and not name.startswith(CHECK_TEMPLATE):
        assert {"name": "metrics", "containerPort": 9090} in container["ports"]
    # Argo asks a registry for the entrypoint of an image without one, and there may be none to ask.
    assert container["command"]


def test_learners_have_shared_memory_and_take_turns_on_gpus() -> None:
    train = PODS["nashdex-train/train"]
    assert {"name": "shm", "mountPath": "/dev/shm"} in train["container"]["volumeMounts"]  # noqa: S108 - in a pod
    assert next(v for v in train["volumes"] if v["name"] == "shm")["emptyDir"]["medium"] == "Memory"
    assert train["synchronization"]["semaphores"] == [{"configMapKeyRef": {"name": CONFIG_MAP, "key": "gpu-semaphore"}}]


def test_battles_find_their_gateway_beside_them() -> None:
    for name in (
        "nashdex-collect/collect",
        "nashdex-collect/act",
        "nashdex-evaluate/evaluate",
        "nashdex-evaluate/gate",
    ):
        (sidecar,) = PODS[name]["sidecars"]
        address = sidecar["args"][sidecar["args"].index("--listen") + 1]
        assert {"name": "NASHDEX_GATEWAY_ADDRESS", "value": address} in PODS[name]["container"]["env"]


@pytest.mark.skipif(ARGO_PROGRAM is None, reason="argo's command line is not on PATH")
def test_argo_lint_finds_nothing() -> None:
    assert ARGO_PROGRAM is not None
    done = subprocess.run([ARGO_PROGRAM, "lint", "--offline", str(ARGO)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
