"""Stands in for a cluster as far as nashdex talks to one: Kubernetes API and Argo server, over one set of objects.

Workflows do not run here: tests put them in the state that they want to see.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml

import nashdex
from nashdex_cluster.submission import TEMPLATES
from nashdex_cluster.workflow_state import CHECK_TEMPLATE
from support.http_servers import JsonHandler, served_by

Answer = tuple[int, Any]
KUBERNETES = "/apis/argoproj.io/v1alpha1/namespaces"
TOKEN = "right"  # noqa: S105 - of a server that holds nothing
SITE = {
    "store": "s3://bucket/runs",
    "s3-secret": "nashdex-store",
    **{f"image-{name}": f"nashdex/{name}" for name in ("showdown", "collector", "evaluator", "trainer", "control")},
    "image-pull-policy": "IfNotPresent",
    "template-version": nashdex.__version__,
    "train-pod-patch": "{}",
    "gpu-semaphore": "1",
}


@dataclass
class ClusterState:
    """What is in its one namespace."""

    templates: dict[str, str] = field(default_factory=lambda: dict.fromkeys(TEMPLATES, nashdex.__version__))
    """Version labels by name; None of them, and no CRD either, where it is empty."""
    site: dict[str, str] | None = field(default_factory=lambda: dict(SITE))
    secrets: set[str] = field(default_factory=lambda: {"nashdex-store"})
    forbidden: set[str] = field(default_factory=set)
    """Resources that may not be read."""
    argo_version: str = "v3.7.18"
    parallelism: int = 64
    """Of the iterations' WorkflowTemplate."""
    workflows: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Of runs."""
    check_status: dict[str, Any] = field(default_factory=lambda: {"phase": "Succeeded"})
    """The result of a check of the site, as soon as it is created."""
    checks: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Workflows that check the site."""
    coming: list[dict[str, Any]] = field(default_factory=list)
    """Workflows as they will be: each watch reports the next one."""
    late: list[dict[str, Any]] = field(default_factory=list)
    """Workflows that appear with the first request to stop one."""
    lists_of_workflows: int = 0
    watches: int = 0
    pods: list[dict[str, Any]] = field(default_factory=list)
    logs: dict[str, str] = field(default_factory=dict)
    """By pod."""

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: dict[str, Any]) -> Answer:
        """Return the status and document that a request is answered with."""
        parts = [part for part in path.split("/") if part]
        resource = next((part for part in ("deployments", "configmaps", "secrets", "pods") if part in parts), "")
        if resource in self.forbidden:
            return 403, _status(f"{resource} is forbidden")
        if resource:
            return self._core(resource, parts, query)
        if path == "/api/v1/version":
            return 200, {"version": self.argo_version}
        return self._argo(method, path, query, body)

    def _core(self, resource: str, parts: list[str], query: dict[str, list[str]]) -> Answer:
        if resource == "deployments":
            image = f"quay.io/argoproj/workflow-controller:{self.argo_version}"
            spec = {"selector": {}, "template": {"spec": {"containers": [{"name": "c", "image": image}]}}}
            return 200, {"items": [{"metadata": {"name": "workflow-controller"}, "spec": spec}]}
        if resource == "configmaps":
            return (200, {"data": self.site}) if self.site is not None else (404, _status("not found"))
        if resource == "secrets":
            found = parts[-1] in self.secrets
            return (200, {"data": {}}) if found else (404, _status("not found"))
        if parts[-1] == "log":
            return 200, self.logs[parts[-2]].encode()
        return 200, {"items": _selected(self.pods, query)}

    def _argo(  # noqa: PLR0911 - one for each kind of request
        self, method: str, path: str, query: dict[str, list[str]], body: dict[str, Any]
    ) -> Answer:
        if "templates" in path:
            items = [
                {
                    "metadata": {"name": name, "labels": {"app.kubernetes.io/version": version}},
                    "spec": {"parallelism": self.parallelism} if name == "nashdex-iteration" else {},
                }
                for name, version in self.templates.items()
            ]
            return (200, {"items": items}) if items or path.startswith("/api/") else (404, b"404 page not found\n")
        if path.startswith("/api/v1/workflow-events/") or query.get("watch"):
            return 200, self._watch(wrapped=path.startswith("/api/"))
        match = re.fullmatch(
            rf"(?:{KUBERNETES}|/api/v1/workflows)/([^/]+)(?:/workflows)?(?:/([^/]+))?(?:/(\w+))?", path
        )
        assert match, path
        name, verb = match[2], match[3]
        if method == "POST" and name is None:
            return 200 if "/api/v1/" in path else 201, self.add(body.get("workflow", body))
        there = self.workflows | self.checks
        if method == "PATCH" or verb in {"stop", "terminate"}:
            while self.late:
                self.add(self.late.pop())
        if method == "PATCH":
            there[name]["spec"] |= body["spec"]
            return 200, there[name]
        if verb in {"stop", "terminate"}:
            there[name]["spec"]["shutdown"] = verb.capitalize()
            return 200, there[name]
        if verb == "log":
            names = [pod["metadata"]["name"] for pod in _selected(self.pods, {"labelSelector": query["selector"]})]
            lines = [{"result": {"podName": n, "content": t}} for n in names for t in self.logs[n].splitlines()]
            return 200, "".join(json.dumps(line) + "\n" for line in lines).encode()
        self.lists_of_workflows += 1
        return 200, {"metadata": {"resourceVersion": "7"}, "items": _selected(list(there.values()), query)}

    def _watch(self, *, wrapped: bool) -> bytes:
        """Return a stream with one event, then its end: the next Workflow as it will be."""
        self.watches += 1
        if not self.coming:
            event = {"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old"}}
        else:
            changed = self.coming.pop(0)
            self.workflows[changed["metadata"]["name"]] = changed
            event = {"type": "MODIFIED", "object": changed}
        return json.dumps({"result": event} if wrapped else event).encode() + b"\n"

    def add(self, workflow: dict[str, Any]) -> dict[str, Any]:
        """Put a Workflow there; return it."""
        metadata = workflow["metadata"]
        metadata.setdefault("name", f"{metadata.get('generateName')}{len(self.workflows) + len(self.checks):05d}")
        metadata.setdefault("creationTimestamp", f"2026-01-01T00:00:{len(self.workflows):02d}Z")
        if workflow["spec"].get("workflowTemplateRef", {}).get("name") == CHECK_TEMPLATE:
            self.checks[metadata["name"]] = workflow | {"status": self.check_status}
        else:
            self.workflows[metadata["name"]] = workflow
        return workflow


def _selected(items: list[dict[str, Any]], query: dict[str, list[str]]) -> list[dict[str, Any]]:
    selector = (query.get("labelSelector") or query.get("listOptions.labelSelector") or [""])[0]
    wanted = dict(part.split("=") for part in selector.split(",") if part)
    return [item for item in items if wanted.items() <= item["metadata"].get("labels", {}).items()]


def _status(message: str) -> dict[str, Any]:
    return {"kind": "Status", "message": message}


@contextmanager
def serving(state: ClusterState) -> Iterator[str]:
    """Serve it while the context lasts; yield the URL."""

    class Handler(JsonHandler):
        def handle_any(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else {}
            url = urlsplit(self.path)
            if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                code, document = 401, _status("Unauthorized")
            else:
                code, document = state.answer(self.command, url.path, parse_qs(url.query), body)
            data = document if isinstance(document, bytes) else json.dumps(document).encode()
            self.answer(code, data)

        do_GET = do_POST = do_PUT = do_PATCH = handle_any  # noqa: N815 - the base class's names

    with served_by(Handler) as url:
        yield url


def kubeconfig(url: str, token: str = TOKEN) -> str:
    """Return a kubeconfig for it."""
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": url}}],
            "users": [{"name": "u", "user": {"token": token}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "research"}}],
            "current-context": "x",
        }
    )
