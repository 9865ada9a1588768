"""The five images, tagged by a hash of their inputs: built and loaded only if that is new."""

import hashlib
import os
import shlex

import pytest

from e2e.clusters import Cluster
from e2e.processes import ROOT, attempt, read_json, run

NAMES = ("control", "collector", "evaluator", "trainer", "showdown")
_INPUTS = (
    "images",
    "services",
    "pyproject.toml",
    "requirements",
    "README.md",
    "LICENSE",
    ":!services/showdown/test",
)
_BASES = ("python:3.11-slim-bookworm", "node:20-bookworm-slim")
_BUILD_SECONDS = 1800.0
_LOAD_SECONDS = 900.0


def provide(cluster: Cluster) -> str:
    """Build and load the images that the cluster lacks; return their tag.

    NASHDEX_TEST_IMAGES names the tag of images that the cluster has or can pull; nothing is built then.
    """
    if given := os.environ.get("NASHDEX_TEST_IMAGES"):
        return given
    tag = f"e2e-{_digest_of_inputs()}"
    lacking = [name for name in NAMES if f"nashdex/{name}:{tag}" not in _on_nodes()]
    if not lacking:
        return tag
    if cluster.base_images and any(attempt("docker", "image", "inspect", base).returncode for base in _BASES):
        run(*cluster.base_images, seconds=_LOAD_SECONDS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IMAGE_TAG", tag)
        patch.setenv("TORCH", "cpu")
        patch.setenv("CLUSTER_LOAD", shlex.join(cluster.load))
        for name in lacking:
            if attempt("docker", "image", "inspect", f"nashdex/{name}:{tag}").returncode:
                run(str(ROOT / "scripts/build-images"), name, seconds=_BUILD_SECONDS)
        run(str(ROOT / "scripts/load-images"), *lacking, seconds=_LOAD_SECONDS)
    return tag


def _digest_of_inputs() -> str:
    """Return 12 digits of a hash over all input files of the images."""
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *_INPUTS)
    digest = hashlib.sha256(os.environ.get("TORCH_INDEX", "").encode())
    for name in sorted(filter(None, listed.split("\0"))):
        path = ROOT / name
        if path.is_file():
            digest.update(f"{name}\0{path.stat().st_mode & 0o111}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _on_nodes() -> set[str]:
    """Return the names of the images that every node has, without the registry."""
    nodes = read_json("kubectl", "get", "nodes", "-o", "json")["items"]
    held = [
        {
            name.removeprefix("docker.io/")
            for image in node["status"].get("images", ())
            for name in image.get("names") or ()
        }
        for node in nodes
    ]
    return set.intersection(*held)
