"""A cluster to test on: the one that KUBECONFIG names, one that CLUSTER_UP starts, or kind's.

CLUSTER_UP is a command. Its folder may also have the programs ``env``, which prints variables that point kubectl and
docker at the cluster; ``down``, which stops it; ``images NAME…``, which loads images; ``base-images``, which creates
the base images without a registry. CLUSTER_LOAD names another command that loads images.
"""

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e.processes import ROOT, attempt, run

_PROGRAMS = ("kubectl", "helm", "argo", "docker")
_START_SECONDS = 900.0
_REQUEUE_TIME = "2s"


@dataclass(frozen=True, slots=True)
class Cluster:
    """How to reach a cluster, and to load images into it."""

    variables: Mapping[str, str]
    """Its environment variables."""
    load: tuple[str, ...]
    """Command that loads images, given as its arguments."""
    down: tuple[str, ...] | None = None
    """Command that stops it, if the test started it."""
    base_images: tuple[str, ...] | None = None
    """Command that creates the base images."""


@contextmanager
def open_cluster() -> Iterator[Cluster]:
    """Find or start a cluster and point this process at it; stop what was started. Skips without a cluster."""
    cluster = _find()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in cluster.variables.items():
            patch.setenv(name, value)
        try:
            missing = [program for program in _PROGRAMS if shutil.which(program) is None]
            assert not missing, f"the tests of a cluster need {', '.join(missing)} on PATH"
            run("kubectl", "get", "--raw", "/readyz", seconds=120)
            if cluster.down:
                _quicken_argo()
            yield cluster
        finally:
            if cluster.down:
                run(*cluster.down, seconds=300)


def _quicken_argo() -> None:
    """Let Argo reconcile after 2 s instead of 10, as the runbook advises; it saves minutes here."""
    controller = ("--namespace", "argo", "deployment/workflow-controller")
    run("kubectl", "set", "env", *controller, f"DEFAULT_REQUEUE_TIME={_REQUEUE_TIME}")
    run("kubectl", "rollout", "status", *controller, "--timeout=120s", seconds=150)


def _find() -> Cluster:
    if os.environ.get("KUBECONFIG"):
        return Cluster({}, _load_command(None))
    if command := shlex.split(os.environ.get("CLUSTER_UP", "")):
        return _start(command)
    if shutil.which("kind") and attempt("docker", "info").returncode == 0:
        down = None if "nashdex" in run("kind", "get", "clusters").split() else (str(ROOT / "k8s/kind/down"),)
        run(str(ROOT / "k8s/kind/up"), seconds=_START_SECONDS)
        return Cluster({}, _load_command(None), down)
    pytest.skip("no cluster: set KUBECONFIG, or CLUSTER_UP to a command that starts one, or install kind and Docker")


def _start(command: list[str]) -> Cluster:
    folder = (ROOT / command[0]).parent
    ran = _answers(_variables(folder))
    if attempt(*command, seconds=_START_SECONDS).returncode != 0:
        run(
            *command, seconds=_START_SECONDS
        )  # once more: on a busy machine a part may not be there when it is waited for
    return Cluster(
        _variables(folder),
        _load_command(folder),
        None if ran else _program(folder, "down"),
        _program(folder, "base-images"),
    )


def _answers(variables: Mapping[str, str]) -> bool:
    """Return whether the cluster runs already: a slow one does, one that refuses connections does not."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        if not shutil.which("kubectl") or not Path(os.environ.get("KUBECONFIG", "/nowhere")).is_file():
            return False
        try:
            return attempt("kubectl", "get", "--raw", "/livez", "--request-timeout=60s", seconds=90).returncode == 0
        except subprocess.TimeoutExpired:
            return True


def _variables(folder: Path) -> dict[str, str]:
    """Return what ``env`` exports."""
    if not (program := _program(folder, "env")):
        return {}
    script = f'eval "$({shlex.quote(program[0])})"; env -0'
    exported = dict(line.split("=", 1) for line in run("bash", "-c", script).split("\0") if "=" in line)
    return {name: value for name, value in exported.items() if os.environ.get(name) != value and name != "_"}


def _load_command(folder: Path | None) -> tuple[str, ...]:
    if named := os.environ.get("CLUSTER_LOAD"):
        return tuple(shlex.split(named))
    if folder and (program := _program(folder, "images")):
        return program
    return ("kind", "load", "docker-image", "--name", "nashdex")


def _program(folder: Path, name: str) -> tuple[str, ...] | None:
    path = folder / name
    return (str(path),) if path.is_file() and os.access(path, os.X_OK) else None
