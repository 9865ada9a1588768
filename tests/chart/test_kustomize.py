"""k8s/, without a cluster: files exist, and patches match their objects."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from chart.charts import ROOT, Object

K8S = ROOT / "k8s"
OVERLAYS = sorted(path.parent for path in (K8S / "overlays").glob("*/kustomization.yaml"))


def objects(folder: Path) -> Iterator[Object]:
    """Yield every object of a kustomization, unpatched."""
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    for name in [*kustomization["resources"], *kustomization.get("components", [])]:
        place = folder / name
        if place.is_dir():
            yield from objects(place)
        else:
            yield from yaml.safe_load_all(place.read_text())


def patches(folder: Path) -> Iterator[Object]:
    """Yield every patch of a kustomization and of its components."""
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    for component in kustomization.get("components", []):
        yield from patches(folder / component)
    for each in kustomization.get("patches", []):
        yield yaml.safe_load((folder / each["path"]).read_text() if "path" in each else each["patch"])


def identity(each: Object) -> tuple[str, str]:
    """Return what a patch finds its object by."""
    return each["kind"], each["metadata"]["name"]


@pytest.mark.parametrize("overlay", OVERLAYS, ids=lambda path: path.name)
def test_every_patch_finds_its_object_and_changes_what_is_there(overlay: Path) -> None:
    there = {identity(each): each for each in objects(overlay)}
    found = list(patches(overlay))
    assert found
    for each in found:
        if "data" in each:
            assert each["data"].keys() <= there[identity(each)]["data"].keys()
        else:
            assert identity(each) in there


@pytest.mark.parametrize("overlay", OVERLAYS, ids=lambda path: path.name)
def test_pod_patches_are_json_of_known_containers(overlay: Path) -> None:
    for each in [*objects(overlay), *patches(overlay)]:
        for key, text in each.get("data", {}).items():
            if key.endswith("-pod-patch"):
                names = {container["name"] for container in json.loads(text)["containers"]}
                assert names <= {"main", "showdown", "wait"}, key


@pytest.mark.parametrize("overlay", OVERLAYS, ids=lambda path: path.name)
def test_exporter_and_steps_have_one_store(overlay: Path) -> None:
    site, exporter = ("ConfigMap", "nashdex-site"), ("Deployment", "nashdex-exporter")
    store, args = "", []
    for each in [*objects(overlay), *patches(overlay)]:
        if identity(each) == site:
            store = each["data"].get("store", store)
        elif identity(each) == exporter:
            args = each["spec"]["template"]["spec"]["containers"][0]["args"]
    assert args[:2] == ["exporter", f"--store={store}"]


@pytest.mark.parametrize("overlay", OVERLAYS, ids=lambda path: path.name)
def test_namespaces_enforce_restricted_pod_security(overlay: Path) -> None:
    (namespace,) = (each for each in objects(overlay) if each["kind"] == "Namespace")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def test_kinds_node_is_pinned_by_digest() -> None:
    cluster = yaml.safe_load((K8S / "kind" / "cluster.yaml").read_text())
    (node,) = cluster["nodes"]
    assert "@sha256:" in node["image"]
