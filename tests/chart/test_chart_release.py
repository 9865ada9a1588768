"""What a release does with the chart: images by digest, and a comparison with the release before."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from helm_python import Chart

from chart.charts import CHART, ROOT, site

NAMES = ("showdown", "collector", "evaluator", "trainer", "control")
REFERENCES = {name: f"ghcr.io/nashdex/nashdex/{name}@sha256:{number:064x}" for number, name in enumerate(NAMES, 1)}


def script(name: str, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    """Run a script of the repository."""
    command = [sys.executable, str(ROOT / "scripts" / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_chart_of_a_release_names_every_image_by_digest(tmp_path: Path) -> None:
    done = script("release_chart.py", tmp_path / "nashdex", *(f"{name}={text}" for name, text in REFERENCES.items()))
    assert done.returncode == 0, done.stderr
    with Chart.load(tmp_path / "nashdex") as chart:
        texts = chart.render({}, name="nashdex", namespace="research")
    found = site([yaml.safe_load(texts["nashdex/templates/site.yaml"])])
    assert {name: found[f"image-{name}"] for name in NAMES} == REFERENCES


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"control": "nashdex/control:1.0"}, "expected an image by digest"),
        ({"other": "x"}, "expected a reference for each"),
    ],
)
def test_a_release_without_a_digest_is_refused(tmp_path: Path, change: dict[str, str], complaint: str) -> None:
    references = REFERENCES | change
    done = script("release_chart.py", tmp_path / "nashdex", *(f"{name}={text}" for name, text in references.items()))
    assert done.returncode == 1
    assert complaint in done.stderr
    assert not (tmp_path / "nashdex").exists()


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Return a copy of the chart, to change."""
    shutil.copytree(CHART, tmp_path / "other")
    return tmp_path / "other"


def replace(path: Path, old: str, new: str) -> None:
    """Replace a text that a file has once."""
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))


@pytest.mark.slow
def test_an_upgrade_that_only_changes_what_can_change_is_shown(other: Path) -> None:
    replace(other / "templates" / "exporter.yaml", "periodSeconds: 10", "periodSeconds: 11")
    done = script("upgrade_diff.py", CHART, other)
    assert done.returncode == 0, done.stderr
    assert "+          periodSeconds: 11" in done.stdout
    assert "AWS_SECRET_ACCESS_KEY:" not in done.stdout


@pytest.mark.slow
def test_an_upgrade_that_a_cluster_refuses_is_found(other: Path) -> None:
    replace(
        other / "templates" / "exporter.yaml",
        '{{- include "nashdex.selector" (list $ "exporter") | nindent 6 }}',
        "app: exporter",
    )
    done = script("upgrade_diff.py", CHART, other)
    assert done.returncode == 1
    assert "default values: Deployment/nashdex-exporter: spec.selector cannot change" in done.stderr


@pytest.mark.slow
def test_an_upgrade_that_loses_a_volume_is_found(other: Path) -> None:
    (other / "templates" / "embedded-store.yaml").write_text("")
    done = script("upgrade_diff.py", CHART, other)
    assert done.returncode == 1
    assert "and its data with it" in done.stderr
