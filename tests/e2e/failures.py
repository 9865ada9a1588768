"""Saves logs and objects of a cluster on which a test failed."""

import json
import shutil
import subprocess
from pathlib import Path

from e2e.processes import attempt

LOGS = Path(__file__).parent / "logs"
_LINES = "2000"


def collect(namespace: str, test: str) -> Path:
    """Write the objects and logs of the namespace and of Argo's controller; return the folder."""
    folder = LOGS / test
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "pods").mkdir(parents=True)
    for name, command in {
        "objects.txt": ("get", "all,configmaps,pvc,podmonitors,prometheusrules,workflows", "-o", "wide"),
        "events.txt": ("get", "events", "--sort-by=.lastTimestamp"),
        "pods.txt": ("describe", "pods"),
        "workflows.yaml": ("get", "workflows", "-o", "yaml"),
    }.items():
        _write(folder / name, "kubectl", "-n", namespace, *command)
    _write(folder / "release.txt", "helm", "status", "nashdex", "-n", namespace)
    _write(folder / "argo.txt", "argo", "list", "-n", namespace)
    _write(
        folder / "controller.log", "kubectl", "-n", "argo", "logs", "deployment/workflow-controller", "--tail", _LINES
    )
    listed = attempt("kubectl", "-n", namespace, "get", "pods", "-o", "json")
    for pod in json.loads(listed.stdout or '{"items": []}')["items"]:
        for container in [*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]]:
            place = folder / "pods" / f"{pod['metadata']['name']}.{container['name']}.log"
            words = ("logs", pod["metadata"]["name"], "-c", container["name"], "--tail", _LINES)
            _write(place, "kubectl", "-n", namespace, *words)
    return folder


def _write(path: Path, *command: str) -> None:
    try:
        ended = attempt(*command)
    except subprocess.TimeoutExpired as error:  # the rest is worth having all the same
        path.write_text(f"{error}\n")
        return
    path.write_text(ended.stdout + ended.stderr)
