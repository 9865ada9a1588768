"""The chart, rendered by Helm's own library without a cluster."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from helm_python import Chart
from kubernetes import client

ROOT = Path(__file__).parents[2]
CHART = ROOT / "helm" / "nashdex"
CI_VALUES = sorted((CHART / "ci").glob("*-values.yaml"))
NAMESPACE = "research"

Object = dict[str, Any]

_API = client.ApiClient()


class _Loader(yaml.CSafeLoader):
    """Refuses a mapping with a key twice, as Flux and kustomize do."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - yaml's signature
        names = [key.value for key, _ in node.value]
        assert len(names) == len(set(names)), f"a key is there twice: {names}"
        return super().construct_mapping(node, deep)


def ci_values(name: str) -> Object:
    """Return the values of a feature combination."""
    values: Object = yaml.safe_load((CHART / "ci" / f"{name}-values.yaml").read_text())
    return values


def render(values: Object | None = None) -> list[Object]:
    """Return every object that the chart renders from ``values``, with its tests."""
    with Chart.load(CHART) as chart:
        texts = chart.render(values or {}, name="nashdex", namespace=NAMESPACE)
    manifests = [text for path, text in sorted(texts.items()) if path.endswith(".yaml")]
    return [document for text in manifests for document in yaml.load_all(text, _Loader) if document]


def notes(values: Object | None = None) -> str:
    """Return the notes that Helm prints after the installation."""
    with Chart.load(CHART) as chart:
        return chart.render(values or {}, name="nashdex", namespace=NAMESPACE)["nashdex/templates/NOTES.txt"]


def one(objects: list[Object], kind: str, name: str) -> Object:
    """Return the object of a kind and name."""
    (found,) = (each for each in objects if (each["kind"], each["metadata"]["name"]) == (kind, name))
    return found


def typed(document: Object, model: str) -> Any:  # noqa: ANN401 - a model of the Kubernetes client, which has no types
    """Return part of a manifest as the Kubernetes client's model of that name."""
    return _API.deserialize(json.dumps(document), model, "application/json")


def pod_specs(objects: list[Object]) -> Iterator[tuple[str, Any]]:
    """Yield every pod spec with its place: of pods, Deployments and each WorkflowTemplate's templates."""
    for each in objects:
        place = f"{each['kind']}/{each['metadata']['name']}"
        if each["kind"] == "Pod":
            yield place, typed(each["spec"], "V1PodSpec")
        elif each["kind"] == "Deployment":
            yield place, typed(each["spec"]["template"]["spec"], "V1PodSpec")
        elif each["kind"] == "WorkflowTemplate":
            for template in each["spec"]["templates"]:
                if "container" in template:
                    yield f"{place}/{template['name']}", typed(_as_pod(each["spec"], template), "V1PodSpec")


def _as_pod(spec: Object, template: Object) -> Object:
    """Return the pod that Argo creates from a template, without Argo's own containers."""
    main = {"name": "main", **template["container"]}
    return {
        "containers": [main, *template.get("sidecars", [])],
        "securityContext": template.get("securityContext", spec.get("securityContext")),
        "serviceAccountName": template.get("serviceAccountName", spec.get("serviceAccountName")),
        "volumes": [*spec.get("volumes", []), *template.get("volumes", [])],
    }


def site(objects: list[Object]) -> dict[str, str]:
    """Return the data of the site's ConfigMap."""
    data: dict[str, str] = one(objects, "ConfigMap", "nashdex-site")["data"]
    return data


def patch(objects: list[Object], step: str) -> Object:
    """Return a step's podSpecPatch."""
    found: Object = json.loads(site(objects)[f"{step}-pod-patch"])
    return found


def container(patched: Object, name: str) -> Object:
    """Return a container's part of a podSpecPatch."""
    (found,) = (each for each in patched["containers"] if each["name"] == name)
    return dict(found)
