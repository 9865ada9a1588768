"""A release of the chart in its own namespace, its bucket as seen from this machine, and its workflows."""

import base64
import json
import secrets
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from e2e.processes import NASHDEX, attempt, read_json, run, wait_for
from nashdex.core.steps import StepName

Object = dict[str, Any]

RELEASE = "nashdex"
CHART = "helm/nashdex"
_EVENTS_AND_CLUSTERS_OWN = {"Event", "PodMetrics", "EndpointSlice", "Endpoints"}
_OF_EVERY_NAMESPACE = {"ConfigMap/kube-root-ca.crt", "ServiceAccount/default"}
_CONTROLLER_NOTICES_SECONDS = 3
"""Argo's controller watches ConfigMaps; it may be late by a moment."""
_OF_RUNS = ("workflows.argoproj.io", "workflowtaskresults.argoproj.io", "workflowartifactgctasks.argoproj.io")


@dataclass(frozen=True, slots=True)
class Installation:
    """Where nashdex is installed."""

    namespace: str
    image_tag: str

    def kubectl(self, *words: str, seconds: float = 300.0) -> str:
        """Run kubectl in the namespace."""
        return run("kubectl", "--namespace", self.namespace, *words, seconds=seconds)

    def objects(self, kind: str, **labels: str) -> list[Object]:
        """Return the objects of a kind by short label names: ``run`` for ``nashdex.dev/run``."""
        names = {"component": "app.kubernetes.io/component"}
        selector = ",".join(f"{names.get(key, f'nashdex.dev/{key}')}={value}" for key, value in labels.items())
        found = self.kubectl("get", kind, "--output=json", f"--selector={selector}")
        items: list[Object] = json.loads(found)["items"]
        return items

    def helm(self, *words: str, seconds: float = 600.0) -> str:
        """Run helm in the namespace."""
        return run("helm", *words, "--namespace", self.namespace, seconds=seconds)

    def install(self) -> None:
        """Install the chart: small pods, embedded store, monitoring if the cluster has it, two trainers at once."""
        values = [
            f"images.tag={self.image_tag}",
            "podMonitor.enabled=true",
            "podMonitor.interval=5s",
            "podMonitor.additionalLabels.release=monitoring",
            "prometheusRule.enabled=true",
            "prometheusRule.additionalLabels.release=monitoring",
            "dashboards.enabled=true",
            "queueing.semaphore.trainers=2",
        ]
        settings = [word for value in values for word in ("--set-string" if "tag" in value else "--set", value)]
        small = ("--values", f"{CHART}/ci/small-values.yaml")
        self.helm("install", RELEASE, CHART, *small, *settings, "--wait", "--timeout", "5m")

    def site(self) -> dict[str, str]:
        """Return the site's configuration."""
        data: dict[str, str] = json.loads(self.kubectl("get", "configmap", "nashdex-site", "-o", "json"))["data"]
        return data

    @contextmanager
    def site_with(self, key: str, value: str) -> Iterator[None]:
        """Change one key of the site, which pods read when they are created, for the length of a block."""
        before = self.site()[key]
        self._set_site(key, value)
        try:
            yield
        finally:
            self._set_site(key, before)

    def _set_site(self, key: str, value: str) -> None:
        """Change a value as Helm would. A field that another program set makes the next ``helm upgrade`` fail."""
        whole = json.loads(self.kubectl("get", "configmap", "nashdex-site", "-o", "json"))
        described = {name: whole["metadata"][name] for name in ("name", "labels", "annotations")}
        changed = whole | {"metadata": described, "data": whole["data"] | {key: value}}
        as_helm = ("apply", "--server-side", "--field-manager=helm", "--filename=-")
        run("kubectl", "--namespace", self.namespace, *as_helm, given=json.dumps(changed))
        time.sleep(_CONTROLLER_NOTICES_SECONDS)

    def credentials(self) -> dict[str, str]:
        """Return the store's keys, by the variables' names."""
        secret = json.loads(self.kubectl("get", "secret", self.site()["s3-secret"], "-o", "json"))
        return {name: base64.b64decode(value).decode() for name, value in secret["data"].items()}

    @contextmanager
    def bucket(self) -> Iterator[str]:
        """Make the store reachable from this process and its children; yield its URI."""
        site = self.site()
        with forwarded(self.namespace, "service/nashdex-store", 7070) as port, pytest.MonkeyPatch.context() as patch:
            for name, value in self.credentials().items():
                patch.setenv(name, value)
            patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
            patch.setenv("AWS_REGION", site["s3-region"])
            yield site["store"]

    def nashdex(self, *words: str, seconds: float = 600.0) -> str:
        """Run nashdex on this machine."""
        return run(*NASHDEX, *words, seconds=seconds)

    def submit(self, template: str = "nashdex-iteration", **parameters: str) -> str:
        """Submit a Workflow of a template; return its name."""
        words = [word for key, value in parameters.items() for word in ("-p", f"{key.replace('_', '-')}={value}")]
        name = run(
            "argo", "submit", "-n", self.namespace, "--from", f"workflowtemplate/{template}", *words, "-o", "name"
        )
        return name.strip()

    def workflow(self, name: str) -> Object:
        """Return a Workflow."""
        found: Object = json.loads(self.kubectl("get", "workflow", name, "--output=json"))
        return found

    def is_idle(self) -> bool:
        """Say whether every Workflow has ended."""
        workflows = json.loads(self.kubectl("get", "workflows", "--output=json"))["items"]
        return all(workflow.get("status", {}).get("finishedAt") for workflow in workflows)

    def end_of(self, name: str, seconds: float) -> Object:
        """Wait until a Workflow has ended, successfully or not, and return it."""

        def ended() -> Object | None:
            workflow = self.workflow(name)
            return workflow if workflow.get("status", {}).get("finishedAt") else None

        return wait_for(ended, f"the end of workflow {name}", seconds)

    def at_work(self, run_id: str, iteration: int, step: StepName, metric: str, seconds: float) -> str:
        """Wait until a pod of a step exports a metric above 0; return its name."""

        def working() -> str | None:
            for pod in self.objects("pods", run=run_id, iteration=str(iteration), component=step.value):
                name: str = pod["metadata"]["name"]
                if pod["status"]["phase"] == "Running" and self.metric(name, metric) > 0:
                    return name
            return None

        return wait_for(working, f"{step} to be at work", seconds)

    def rejected(self, run_id: str, iteration: int, step: StepName, seconds: float) -> Object:
        """Wait for a pod of a step that no node takes, fail it as a kubelet that rejects it does, and return it."""

        def waiting() -> Object | None:
            pods = self.objects("pods", run=run_id, iteration=str(iteration), component=step.value)
            return next((pod for pod in pods if not pod["spec"].get("nodeName")), None)

        pod = wait_for(waiting, f"a pod of {step} that waits for a node", seconds)
        status = {
            "phase": "Failed",
            "reason": "UnexpectedAdmissionError",
            "message": "Pod was rejected: Allocate failed due to no healthy devices present",
        }
        patch = ("--subresource=status", "--type=merge", "--patch", json.dumps({"status": status}))
        self.kubectl("patch", "pod", pod["metadata"]["name"], *patch)
        return pod

    def shard(self, pod: str) -> str:
        """Return the number of a pod's shard."""
        labels: dict[str, str] = json.loads(self.kubectl("get", "pod", pod, "-o", "json"))["metadata"]["labels"]
        return labels["nashdex.dev/shard"]

    def metric(self, pod: str, name: str) -> float:
        """Return the sum of a pod's samples of a metric; 0 while it does not respond."""
        path = f"/api/v1/namespaces/{self.namespace}/pods/{pod}:9090/proxy/metrics"
        answer = attempt("kubectl", "get", "--raw", path, seconds=120)
        lines = [line for line in answer.stdout.splitlines() if line.startswith((f"{name} ", f"{name}{{"))]
        return sum(float(line.rpartition(" ")[2]) for line in lines)

    def contents(self) -> set[str]:
        """Return all objects of the namespace as kind and name, except events and objects that the cluster creates."""
        kinds = run("kubectl", "api-resources", "--namespaced", "--verbs=list,delete", "-o", "name").split()
        found = read_json("kubectl", "get", ",".join(kinds), "-n", self.namespace, "-o", "json", seconds=300)["items"]
        named = {f"{item['kind']}/{item['metadata']['name']}" for item in found}
        return {each for each in named if each.split("/")[0] not in _EVENTS_AND_CLUSTERS_OWN} - _OF_EVERY_NAMESPACE

    def delete_workflows(self) -> None:
        """Delete what runs leave behind, which no release owns."""
        for kind in _OF_RUNS:
            attempt("kubectl", "-n", self.namespace, "delete", kind, "--all", "--timeout=120s", seconds=150)


@contextmanager
def namespace(image_tag: str) -> Iterator[Installation]:
    """Create a namespace that enforces Restricted pod security; delete it with its content."""
    name = f"nashdex-e2e-{secrets.token_hex(3)}"
    run("kubectl", "create", "namespace", name)
    try:
        run("kubectl", "label", "namespace", name, "pod-security.kubernetes.io/enforce=restricted")
        yield Installation(name, image_tag)
    finally:
        attempt("helm", "uninstall", RELEASE, "-n", name, "--wait", "--timeout", "2m", seconds=150)
        attempt("kubectl", "delete", "namespace", name, "--timeout=180s", seconds=200)


@contextmanager
def kueues_rule(namespace: str) -> Iterator[None]:
    """Refuse pods with an empty name of a queue while the context lasts, as the webhook of Kueue does."""
    label = "kueue.x-k8s.io/queue-name"
    name = f"{namespace}-queue-names"
    has_label = f"has(object.metadata.labels) && '{label}' in object.metadata.labels"
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
                ]
            },
            "validations": [
                {
                    "expression": f"!({has_label}) || object.metadata.labels['{label}'] != ''",
                    "message": f"{label}: a queue's name is not empty",
                }
            ],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {
            "policyName": name,
            "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}},
        },
    }
    with applied(policy, binding):
        yield


@contextmanager
def applied(*objects: Object, namespace: str = "default") -> Iterator[None]:
    """Create objects while the context lasts. ``namespace`` is for those that have one and do not say which."""
    kubectl = ("kubectl", "--namespace", namespace)
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
    run(*kubectl, "apply", "--filename=-", given=listed)
    try:
        yield
    finally:
        attempt(*kubectl, "delete", "--filename=-", given=listed)


@contextmanager
def marked_nodes(verb: Literal["label", "taint"], mark: str, unmark: str) -> Iterator[None]:
    """Label or taint every node while the context lasts. A taint leaves what runs there where it is."""
    run("kubectl", verb, "nodes", "--all", mark)
    try:
        yield
    finally:
        attempt("kubectl", verb, "nodes", "--all", unmark)


@contextmanager
def argo_metrics() -> Iterator[None]:
    """Have Argo's metrics scraped, as a cluster's owner does once; undo it if it was new."""
    manifest = ("--filename", "k8s/prerequisites/argo-metrics.yaml")
    is_ours = attempt("kubectl", "get", *manifest).returncode != 0
    # Refused where the cluster has no prometheus-operator: nothing asks for metrics there.
    attempt("kubectl", "apply", *manifest)
    try:
        yield
    finally:
        if is_ours:
            attempt("kubectl", "delete", "--ignore-not-found", *manifest)


@contextmanager
def forwarded(namespace: str, target: str, port: int) -> Iterator[int]:
    """Forward a port of this machine to one in the cluster; yield it."""
    command = ("kubectl", "port-forward", "-n", namespace, target, f":{port}")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            assert said.startswith("Forwarding from 127.0.0.1:"), f"{' '.join(command)}: {said}"
            yield int(said.split("->")[0].rpartition(":")[2])
        finally:
            process.terminate()
