"""What is built and run is named by digest, as far as it can be, and a release refuses anything else."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.contract

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
DIGEST = f"sha256:{'a' * 64}"
COMMIT = "b" * 40


def pin(root: Path, *arguments: str, path: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """Run scripts/pin.py on a folder, with the programs of ``path`` before all others."""
    environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"} if path else None
    command = [sys.executable, str(ROOT / "scripts" / "pin.py"), *arguments, str(root)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def program(path: Path, text: str) -> None:
    """Write a program."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a folder with one base image and one action, both by tag."""
    root = tmp_path / "repository"
    (root / "images" / "control").mkdir(parents=True)
    (root / "images" / "control" / "Dockerfile").write_text(
        "ARG PYTHON_IMAGE=python:3.11-slim\n\nFROM ${PYTHON_IMAGE}\n"
    )
    (root / ".github" / "workflows").mkdir(parents=True)
    (root / ".github" / "workflows" / "ci.yml").write_text("      - uses: actions/checkout@v4\n      - uses: ./local\n")
    return root


def test_every_action_is_pinned() -> None:
    """Base images wait for `make pin`, where their registry is reachable: a release refuses them before."""
    problems = pin(ROOT, "--check").stderr
    assert ".github/actions" not in problems
    assert [line for line in problems.splitlines() if "@" in line.split(" has ")[0]] == []


def test_what_is_not_pinned_is_named(repository: Path) -> None:
    done = pin(repository, "--check")
    assert done.returncode == 1
    assert [line.split(";")[0] for line in done.stderr.splitlines()] == [
        "images/control/Dockerfile:1: python:3.11-slim has no digest",
        ".github/workflows/ci.yml:1: actions/checkout@v4 has no digest",
    ]


def test_pinning_asks_registry_and_github_and_keeps_the_tags(repository: Path, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    program(programs / "docker", f'[ "$4" = python:3.11-slim ] && echo {DIGEST}')
    program(programs / "git", f"echo '{'0' * 40} refs/tags/v4'; echo '{COMMIT} refs/tags/v4^{{}}'")
    assert pin(repository, path=programs).returncode == 0
    assert (repository / "images" / "control" / "Dockerfile").read_text().splitlines() == [
        f"ARG PYTHON_IMAGE=python:3.11-slim@{DIGEST}",
        "",
        "FROM ${PYTHON_IMAGE}",
    ]
    assert (repository / ".github" / "workflows" / "ci.yml").read_text().splitlines() == [
        f"      - uses: actions/checkout@{COMMIT} # v4",
        "      - uses: ./local",
    ]
    assert pin(repository, "--check").returncode == 0


def test_a_registry_that_does_not_answer_changes_nothing(repository: Path, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    program(programs / "docker", "echo 'no such host' >&2; exit 1")
    done = pin(repository, path=programs)
    assert done.returncode == 1
    assert "no such host" in done.stderr
    assert "FROM ${PYTHON_IMAGE}" in (repository / "images" / "control" / "Dockerfile").read_text()
    assert "@sha256" not in (repository / "images" / "control" / "Dockerfile").read_text()


def test_workflows_have_no_more_rights_than_they_need() -> None:
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text())
        assert workflow["permissions"] == {"contents": "read"}, path.name
        jobs = workflow["jobs"].items()
        writing = {
            (name, right) for name, job in jobs for right, kind in job.get("permissions", {}).items() if kind == "write"
        }
        expected = {("chart", "contents")} | {
            (job, right) for job in ("images", "chart") for right in ("id-token", "packages")
        }
        assert writing == (expected if path.name == "release.yml" else set())


def test_a_release_signs_what_it_scanned() -> None:
    """Everything after the build names the image by digest, never by a tag that may move."""
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]
    assert (jobs["images"]["needs"], jobs["chart"]["needs"]) == ("check", "images")
    steps = {step["name"]: step["run"] for step in jobs["images"]["steps"] if "name" in step}
    names = list(steps)
    assert names.index("Scan for vulnerabilities that have a fix") < names.index("Sign")
    assert "@$digest" in steps["Build and push, with an SBOM and provenance"]
    assert all("$REFERENCE" in steps[name] for name in ("Scan for vulnerabilities that have a fix", "Sign"))


def test_every_image_has_a_dependabot_entry() -> None:
    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text())["updates"]
    assert {update["package-ecosystem"] for update in updates} == {"github-actions", "docker", "pip", "npm"}
