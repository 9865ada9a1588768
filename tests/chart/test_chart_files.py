"""The chart's own files: generated from one model, with a schema that rejects unknown keys."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import helm_python
import pytest
import yaml
from helm_python import Chart
from helm_python.chart import lint

import nashdex
from chart.charts import CHART, CI_VALUES, ROOT
from chart_values import ChartValues


def test_what_is_made_from_code_is_current() -> None:
    result = subprocess.run(
        [sys.executable, ROOT / "scripts" / "make_chart.py", "--check"], check=False, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr


def test_the_chart_is_of_the_version_of_its_images() -> None:
    assert yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"] == nashdex.__version__


def test_values_are_the_defaults_of_the_model() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert ChartValues.model_validate(values) == ChartValues()


@pytest.mark.parametrize("path", CI_VALUES, ids=lambda path: path.name)
def test_lint_finds_nothing_in_any_combination(path: Path) -> None:
    report = lint(CHART, yaml.safe_load(path.read_text()), strict=True, namespace="research")
    info = 1
    assert [each for each in report["messages"] if each["severity"] > info] == []
    assert report["errors"] == []


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"colect": {}}, "'colect' not allowed"),
        ({"train": {"gpu": 1}}, "'gpu' not allowed"),
        ({"objectStore": {"embedded": {"retain": True}}}, "'retain' not allowed"),
        ({"collect": {"showdown": {"resources": {"limit": {}}}}}, "'limit' not allowed"),
        ({"train": {"gpus": "two"}}, "/train/gpus"),
        ({"queueing": {"mode": "slurm"}}, "/queueing/mode"),
        ({"objectStore": {"uri": "bucket"}}, "/objectStore/uri"),
        ({"objectStore": {"uri": "s3://bucket/runs//here"}}, "/objectStore/uri"),
        ({"objectStore": {"uri": "s3://bucket/.runs"}}, "/objectStore/uri"),
        ({"images": {"repository": ""}}, "/images/repository"),
    ],
)
def test_a_mistake_in_values_is_named(values: dict[str, Any], complaint: str) -> None:
    with Chart.load(CHART) as chart, pytest.raises(helm_python.HelmValuesError) as caught:
        chart.validate_schema(chart.merge_values(values))
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"objectStore": {"uri": "s3://bucket"}}, "stored in one place"),
        ({"objectStore": {"endpoint": "http://s3:9000"}}, "the embedded server has its own endpoint"),
        ({"objectStore": {"embedded": {"enabled": False}}}, "set objectStore.uri"),
        ({"queueing": {"mode": "kueue"}}, "set queueing.kueue.localQueue"),
        ({"queueing": {"kueue": {"localQueue": "research"}}}, "Set queueing.mode=kueue"),
        ({"queueing": {"kueue": {"localQueues": {"gpu": "research"}}}}, "Set queueing.mode=kueue"),
        (
            {"queueing": {"mode": "kueue", "kueue": {"localQueue": "cpu", "localQueues": {"control": "cpu"}}}},
            "verdicts would wait behind them",
        ),
    ],
)
def test_values_that_contradict_each_other_are_refused(values: dict[str, Any], complaint: str) -> None:
    with Chart.load(CHART) as chart, pytest.raises(helm_python.HelmRenderError) as caught:
        chart.render(values, name="nashdex", namespace="research")
    assert complaint in str(caught.value)


def test_the_chart_is_whole_without_links() -> None:
    """Flux drops links that lead out of the chart's folder."""
    assert [path for path in CHART.rglob("*") if path.is_symlink()] == []


def test_a_package_holds_the_workflow_templates(tmp_path: Path) -> None:
    with Chart.load(CHART) as chart:
        archive = chart.save(tmp_path)
    with Chart.load(archive) as packed:
        names = {Path(each["name"]).name for each in packed.files if each["name"].startswith("argo/")}
    assert names == {path.name for path in (ROOT / "argo").glob("nashdex-*.yaml")}
