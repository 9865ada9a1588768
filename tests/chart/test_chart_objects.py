"""The chart's objects, in every combination of features: valid, restricted, without credentials."""

import json
import re
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from chart.charts import CI_VALUES, Object, ci_values, notes, one, patch, pod_specs, render, site

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
KUBERNETES = "1.29"
"""The oldest supported version."""
OURS = {"argoproj.io/v1alpha1", "monitoring.coreos.com/v1"}
"""Custom resources, whose schemas only the cluster has."""


@pytest.fixture(scope="module", params=CI_VALUES, ids=lambda path: path.name.removesuffix("-values.yaml"))
def objects(request: pytest.FixtureRequest) -> list[Object]:
    """Return the chart's objects for a combination of features."""
    return render(yaml.safe_load(request.param.read_text()))


def test_objects_are_valid(objects: list[Object]) -> None:
    for each in objects:
        if each["apiVersion"] not in OURS:
            kubernetes_validate.validate(each, KUBERNETES, strict=True)


def test_no_two_objects_have_one_name(objects: list[Object]) -> None:
    names = [(each["kind"], each["metadata"]["name"]) for each in objects]
    assert len(names) == len(set(names))


def test_every_object_says_whose_it_is(objects: list[Object]) -> None:
    for each in objects:
        assert each["metadata"]["labels"]["app.kubernetes.io/name"] == "nashdex", each["metadata"]["name"]
        assert each["metadata"]["labels"]["app.kubernetes.io/component"], each["metadata"]["name"]


def test_every_pod_is_restricted(objects: list[Object]) -> None:
    """The Restricted level of the pod security standards, and a read-only root besides."""
    specs = dict(pod_specs(objects))
    assert {"Pod/nashdex-test-store", "WorkflowTemplate/nashdex-train/train"} <= specs.keys()
    for place, spec in specs.items():
        pod = spec.security_context
        assert pod.run_as_non_root, place
        assert pod.run_as_user == 10001, place
        assert pod.seccomp_profile.type == "RuntimeDefault", place
        assert [spec.host_network, spec.host_pid, spec.host_ipc] == [None, None, None], place
        for each in [*spec.containers, *(spec.init_containers or [])]:
            context = each.security_context
            assert context.allow_privilege_escalation is False, (place, each.name)
            assert context.read_only_root_filesystem, (place, each.name)
            assert context.capabilities.drop == ["ALL"], (place, each.name)
            assert not context.capabilities.add, (place, each.name)
            assert not context.privileged, (place, each.name)
            assert not any(port.host_port for port in each.ports or []), (place, each.name)
        assert not any(volume.host_path for volume in spec.volumes or []), place


def test_every_container_requests_what_it_needs_and_has_a_limit_of_memory(objects: list[Object]) -> None:
    specs = dict(pod_specs(objects))
    assert "Deployment/nashdex-exporter" in specs or "WorkflowTemplate/nashdex-train/train" in specs
    for place, spec in specs.items():
        for each in [*spec.containers, *(spec.init_containers or [])]:
            assert each.resources.requests.keys() >= {"cpu", "memory"}, (place, each.name)
            assert "memory" in each.resources.limits, (place, each.name)
    for step in ("collect", "train", "evaluate", "control", "league"):
        patched = patch(objects, step)
        for each in (*patched["containers"], *patched["initContainers"]):
            assert each["resources"]["requests"].keys() >= {"cpu", "memory"}, (step, each["name"])
            assert "memory" in each["resources"]["limits"], (step, each["name"])


def test_credentials_come_from_secrets_alone(objects: list[Object]) -> None:
    for place, spec in pod_specs(objects):
        for each in spec.containers:
            for variable in each.env or []:
                if re.search("KEY|SECRET|TOKEN|PASSWORD", variable.name):
                    assert variable.value is None, (place, variable.name)
                    assert variable.value_from.secret_key_ref, (place, variable.name)
    assert not [key for key in site(objects) if re.search("access|key|token|password", key)]


def test_every_service_account_that_a_pod_names_is_there(objects: list[Object]) -> None:
    there = {each["metadata"]["name"] for each in objects if each["kind"] == "ServiceAccount"}
    named = {spec.service_account_name for _, spec in pod_specs(objects)} - {None}
    assert named <= there


def test_whatever_the_templates_read_of_the_site_is_there(objects: list[Object]) -> None:
    data = site(objects)
    templates = [json.dumps(each, sort_keys=True) for each in objects if each["kind"] == "WorkflowTemplate"]
    reads = r'"configMapKeyRef": \{"key": "([^"]+)", "name": "nashdex-site"'
    read = {key for text in templates for key in re.findall(reads, text)}
    assert read
    assert read <= data.keys()
    label = one(objects, "ConfigMap", "nashdex-site")["metadata"]["labels"]["workflows.argoproj.io/configmap-type"]
    assert label == "Parameter"


def test_keys_of_the_embedded_store_are_drawn() -> None:
    first, second = (one(render(), "Secret", "nashdex-store")["data"] for _ in range(2))
    assert first.keys() == {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
    assert not set(first.values()) & set(second.values())


@pytest.mark.parametrize("bucket", ["1234567", "1e5", "nashdex"])
def test_a_bucket_may_have_any_name(bucket: str) -> None:
    deployment = one(render({"objectStore": {"embedded": {"bucket": bucket}}}), "Deployment", "nashdex-store")
    kubernetes_validate.validate(deployment, KUBERNETES, strict=True)
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["volumeMounts"][1] == {"name": "data", "mountPath": "/bucket", "subPath": bucket}


def test_no_secret_is_made_for_a_store_of_ones_own() -> None:
    for name in ("existing-secret", "workload-identity"):
        assert [each for each in render(ci_values(name)) if each["kind"] == "Secret"] == []


def test_where_the_store_is() -> None:
    embedded = site(render())
    assert embedded["store"] == "s3://nashdex"
    assert embedded["s3-endpoint"] == "http://nashdex-store.research.svc:7070"
    external = site(render(ci_values("existing-secret")))
    assert external["store"] == "s3://research/nashdex"
    assert external["s3-endpoint"] == "https://s3.example.org:9000"
    assert site(render(ci_values("workload-identity")))["s3-endpoint"] == ""


@pytest.mark.parametrize(
    ("values", "secret"),
    [
        (ci_values("existing-secret"), "s3-keys"),
        (ci_values("workload-identity"), "none"),
        (ci_values("embedded"), "nashdex-store"),
    ],
)
def test_steps_and_exporter_are_told_of_the_same_secret(values: Object, secret: str) -> None:
    objects = render(values)
    assert site(objects)["s3-secret"] == secret
    for name in ("Deployment/nashdex-exporter", "Pod/nashdex-test-store"):
        ((source,),) = (each.env_from for each in dict(pod_specs(objects))[name].containers)
        assert (source.secret_ref.name, source.secret_ref.optional) == (secret, True)


def test_images() -> None:
    data = site(render(ci_values("existing-secret")))
    assert data["image-collector"].startswith("registry.example.org/nashdex/collector:")
    assert data["image-trainer"].startswith("registry.example.org/nashdex/trainer@sha256:")
    tagged = site(render({"images": {"tag": "1.2.3"}}))
    assert tagged["image-control"] == "nashdex/control:1.2.3"


def queues(objects: list[Object], label: str = QUEUE_LABEL) -> dict[str, str | None]:
    """Return a label of Kueue of each pod template of a WorkflowTemplate."""
    return {
        f"{each['metadata']['name']}/{template['name']}": template["metadata"]["labels"].get(label)
        for each in objects
        if each["kind"] == "WorkflowTemplate"
        for template in each["spec"]["templates"]
        if "container" in template
    }


def test_steps_wait_in_one_queue() -> None:
    by_semaphore = render(ci_values("gpu"))
    assert site(by_semaphore)["gpu-semaphore"] == "2"
    by_kueue = render(ci_values("kueue"))
    assert int(site(by_kueue)["gpu-semaphore"]) > 64 * 200, "it must never hold a pod back"
    assert {name: queue for name, queue in queues(by_kueue).items() if queue} == {
        "nashdex-check/collect": "research",
        "nashdex-check/evaluate": "research",
        "nashdex-check/train": "research",
        "nashdex-collect/act": "research",
        "nashdex-collect/collect": "research",
        "nashdex-evaluate/evaluate": "research",
        "nashdex-evaluate/gate": "research",
        "nashdex-train/train": "research",
    }


def test_each_kind_of_pods_has_a_queue_and_a_priority() -> None:
    kueue = {
        "localQueue": "any",
        "localQueues": {"gpu": "gpus", "control": "any"},
        "priorityClasses": {"gpu": "high", "control": "urgent"},
    }
    objects = render({"queueing": {"mode": "kueue", "kueue": kueue}})
    found = queues(objects)
    assert {found[f"nashdex-{name}"] for name in ("check/train", "train/train")} == {"gpus"}
    assert {found[f"nashdex-{name}"] for name in ("collect/collect", "solve/verdict", "league/begin")} == {"any"}
    priorities = queues(objects, label="kueue.x-k8s.io/priority-class")
    assert priorities["nashdex-collect/collect"] is None
    assert priorities["nashdex-train/train"] == "high"
    assert {priorities[f"nashdex-{name}"] for name in ("solve/verdict", "solve/plan", "league/begin")} == {"urgent"}


def test_a_verdict_never_waits_behind_collectors() -> None:
    """Neither in Kueue's queue nor, with a PriorityClass of the control pods, for a node."""
    assert queues(render(ci_values("kueue")))["nashdex-solve/verdict"] is None
    objects = render({"control": {"priorityClassName": "urgent"}})
    (verdict,) = (
        each
        for each in one(objects, "WorkflowTemplate", "nashdex-solve")["spec"]["templates"]
        if each["name"] == "verdict"
    )
    assert verdict["podSpecPatch"] == "{{inputs.parameters.control-pod-patch}}"
    assert patch(objects, "control")["priorityClassName"] == "urgent"
    assert "priorityClassName" not in patch(objects, "collect")


def test_no_pod_has_a_label_of_kueue_without_kueue() -> None:
    """Kueue's webhook rejects pods with an empty queue name."""
    by_semaphore = queues(render(ci_values("gpu")))
    assert len(by_semaphore) == 16
    assert set(by_semaphore.values()) == {None}


def test_kueue_changes_nothing_else_in_the_workflow_templates() -> None:
    def templates(values: Object) -> list[Object]:
        return [each for each in render(values) if each["kind"] == "WorkflowTemplate"]

    labelled = templates(ci_values("kueue"))
    for each in labelled:
        for template in each["spec"]["templates"]:
            template.get("metadata", {}).get("labels", {}).pop(QUEUE_LABEL, None)
    assert labelled == templates({})


def test_rights() -> None:
    objects = render(ci_values("workload-identity"))
    rules = one(objects, "Role", "nashdex-workflow")["rules"]
    assert rules == [{"apiGroups": ["argoproj.io"], "resources": ["workflowtaskresults"], "verbs": ["create", "patch"]}]
    bound = {each["roleRef"]["name"] for each in objects if each["kind"] == "RoleBinding"}
    assert bound == {"nashdex-workflow", "nashdex-league", "nashdex-submitter"}
    assert not [each for each in objects if each["kind"].startswith("ClusterRole")]
    asked = {
        resource
        for each in objects
        if each["kind"] == "Role"
        for rule in each["rules"]
        for resource in rule["resources"]
    }
    assert not asked & {"secrets", "*", "pods/exec"}
    submitters = one(objects, "RoleBinding", "nashdex-submitter")["subjects"]
    assert {"kind": "Group", "name": "research", "apiGroup": "rbac.authorization.k8s.io"} in submitters


def test_only_what_needs_the_kubernetes_api_has_a_token() -> None:
    specs = dict(pod_specs(render(ci_values("everywhere"))))
    for name in ("exporter", "showdown-server", "store"):
        assert specs[f"Deployment/nashdex-{name}"].automount_service_account_token is False


@pytest.mark.parametrize(("values", "policy"), [({}, None), (ci_values("embedded"), "keep")])
def test_the_volume_goes_with_the_release_unless_it_is_kept(values: Object, policy: str | None) -> None:
    annotations = one(render(values), "PersistentVolumeClaim", "nashdex-store")["metadata"].get("annotations", {})
    assert annotations.get("helm.sh/resource-policy") == policy


def test_network_policies() -> None:
    objects = render(ci_values("closed"))
    everyone = one(objects, "NetworkPolicy", "nashdex")["spec"]
    (metrics,) = everyone["ingress"]
    assert metrics["from"] == ci_values("closed")["networkPolicy"]["metricsFrom"]
    ports = {port["port"] for rule in everyone["egress"] for port in rule["ports"]}
    assert ports == {53, 443, 6443, 7070, 3128}
    (api,) = (rule for rule in everyone["egress"] if {"port": 443} in rule["ports"])
    assert api["to"] == [{"ipBlock": {"cidr": cidr}} for cidr in ci_values("closed")["networkPolicy"]["apiCidrs"]]
    assert everyone["egress"][-1:] == ci_values("closed")["networkPolicy"]["extraEgress"]
    assert one(objects, "NetworkPolicy", "nashdex-store")
    players = one(objects, "NetworkPolicy", "nashdex-showdown-server")["spec"]["ingress"]
    assert players == [{"ports": [{"port": 8000}], "from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]


@pytest.mark.parametrize(
    ("endpoint", "port"), [("https://s3.example.org:9000", 9000), ("http://minio", 80), ("", 443), ("https://s3", 443)]
)
def test_pods_may_reach_the_store_that_is_named(endpoint: str, port: int) -> None:
    store = {"uri": "s3://research", "endpoint": endpoint, "existingSecret": "keys", "embedded": {"enabled": False}}
    objects = render({"networkPolicy": {"apiPorts": [16443]}, "objectStore": store})
    egress = one(objects, "NetworkPolicy", "nashdex")["spec"]["egress"]
    assert {each["port"] for rule in egress for each in rule["ports"]} == {53, 16443, port}


def test_pods_with_workload_identity_may_reach_what_gives_them_credentials() -> None:
    egress = one(render(ci_values("workload-identity")), "NetworkPolicy", "nashdex")["spec"]["egress"]
    assert {"to": [{"ipBlock": {"cidr": "169.254.0.0/16"}}], "ports": [{"port": 80}, {"port": 988}]} in egress
    assert {"ports": [{"port": 443}]} in egress


def test_network_policies_can_be_left_out() -> None:
    kinds = [each["kind"] for each in render({"networkPolicy": {"enabled": False}})]
    assert "NetworkPolicy" in [each["kind"] for each in render()]
    assert "NetworkPolicy" not in kinds


def test_monitoring_is_off_until_asked_for() -> None:
    kinds = {each["kind"] for each in render()}
    assert not kinds & {"PodMonitor", "PrometheusRule"}
    assert not [each for each in render() if "grafana_dashboard" in each["metadata"]["labels"]]


def test_monitoring() -> None:
    objects = render(ci_values("monitoring"))
    monitor = one(objects, "PodMonitor", "nashdex")
    assert monitor["metadata"]["labels"]["release"] == "monitoring"
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    assert (endpoint["port"], endpoint["interval"]) == ("metrics", "30s")
    dashboards = [each for each in objects if each["metadata"]["labels"].get("grafana_dashboard") == "1"]
    assert len(dashboards) == len(_files("dashboards", "json")) == 5
    for each in dashboards:
        assert each["metadata"]["annotations"] == {"grafana_folder": "nashdex"}
        ((name, text),) = each["data"].items()
        file = json.loads((Path(_files("dashboards", "json")[0]).parent / name).read_text())
        assert json.loads(text)["panels"] == file["panels"]


def test_notes_say_how_to_go_on() -> None:
    text = notes(ci_values("closed"))
    assert "helm test nashdex -n research" in text
    assert "nashdex submit configs/kuhn.toml -n research" in text
    assert "argo submit -n research --from workflowtemplate/nashdex-iteration -p run=RUN -p iteration=0" in text
    assert "service/nashdex-showdown-server" in text
    assert "removes the volume with all runs" in text
    assert "nashdex-exporter" not in text
    assert "keeps the volume" in notes(ci_values("embedded"))


def _files(folder: str, ending: str) -> list[Path]:
    return sorted((Path(__file__).parents[2] / "helm" / "nashdex" / "files" / folder).glob(f"*.{ending}"))
