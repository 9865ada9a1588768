"""A stub of a Kubernetes API server, with the objects that Helm reads before an installation."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from support.http_servers import JsonHandler, served_by

_CORE = {"v1": {"configmaps": "ConfigMap", "secrets": "Secret"}}
_GROUPS = {
    "apps/v1": {"deployments": "Deployment"},
    "apiregistration.k8s.io/v1": {"apiservices": "APIService"},
}
ARGO = {"argoproj.io/v1alpha1": {f"{kind.lower()}s": kind for kind in ("Workflow", "WorkflowTemplate")}}
ARGO["argoproj.io/v1alpha1"]["workflowtaskresults"] = "WorkflowTaskResult"


@dataclass
class Cluster:
    """The cluster's content."""

    kinds: dict[str, dict[str, str]] = field(default_factory=lambda: ARGO)
    """Custom resources: plural and kind, by group and version."""
    objects: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Objects by path, such as ``/api/v1/namespaces/research/secrets/keys``."""

    def answer(self, path: str) -> dict[str, Any] | None:
        """Return the response to a GET of ``path``; None for 404."""
        groups = _GROUPS | self.kinds
        fixed: dict[str, Any] = {
            "/version": {"major": "1", "minor": "36", "gitVersion": "v1.36.0"},
            "/api": {"kind": "APIVersions", "versions": list(_CORE)},
            "/apis": {"kind": "APIGroupList", "groups": [_group(name) for name in groups]},
            **{f"/api/{name}": _resources(name, kinds) for name, kinds in _CORE.items()},
            **{f"/apis/{name}": _resources(name, kinds) for name, kinds in groups.items()},
        }
        return fixed.get(path) or self.objects.get(path)


def _group(name: str) -> dict[str, Any]:
    version = {"groupVersion": name, "version": name.partition("/")[2]}
    return {"name": name.partition("/")[0], "versions": [version], "preferredVersion": version}


def _resources(name: str, kinds: dict[str, str]) -> dict[str, Any]:
    verbs = ["get", "list", "create"]
    resources = [
        {"name": plural, "singularName": "", "namespaced": True, "kind": kind, "verbs": verbs}
        for plural, kind in kinds.items()
    ]
    return {"kind": "APIResourceList", "groupVersion": name, "resources": resources}


@contextmanager
def serving(cluster: Cluster) -> Iterator[str]:
    """Serve it while the context lasts; yield the URL."""

    class Handler(JsonHandler):
        def do_GET(self) -> None:  # noqa: N802 - the base class's name
            found = cluster.answer(self.path.partition("?")[0])
            missing = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}
            body = json.dumps(missing if found is None else found).encode()
            self.answer(404 if found is None else 200, body)

    with served_by(Handler) as url:
        yield url
