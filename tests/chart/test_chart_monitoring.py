"""Rules and dashboards of several releases beside each other, and the switches of single alerts."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import helm_python
import pytest
import yaml
from helm_python import Chart

from chart.charts import CHART, Object, one, render

RULES = CHART / "files" / "rules" / "nashdex.yaml"
CASES = Path(__file__).parents[1] / "contract" / "alerts.yaml"


def rules(values: Object | None = None, *, namespace: str = "research") -> list[Object]:
    """Return the groups of the PrometheusRule."""
    with Chart.load(CHART) as chart:
        enabled = {"prometheusRule": {"enabled": True, **(values or {}).pop("prometheusRule", {})}, **(values or {})}
        texts = chart.render(enabled, name="nashdex", namespace=namespace)
    documents = [each for each in yaml.safe_load_all(texts["nashdex/templates/monitoring.yaml"]) if each]
    groups: list[Object] = one(documents, "PrometheusRule", "nashdex")["spec"]["groups"]
    return groups


def names(groups: list[Object]) -> set[str]:
    """Return the names of all rules."""
    return {rule.get("alert") or rule["record"] for group in groups for rule in group["rules"]}


def test_every_rule_of_the_file_is_installed() -> None:
    file = yaml.safe_load(RULES.read_text())["groups"]
    assert names(rules()) == names(file)
    assert rules({"prometheusRule": {"allNamespaces": True}}) == file


def test_an_alert_can_be_switched_off_by_itself() -> None:
    left_out = names(rules()) - names(rules({"prometheusRule": {"disabled": {"NashdexKlOutOfBand": True}}}))
    assert left_out == {"NashdexKlOutOfBand"}
    assert names(rules({"prometheusRule": {"disabled": {"NashdexKlOutOfBand": False}}})) == names(rules())


def test_a_switch_of_no_alert_is_refused() -> None:
    with Chart.load(CHART) as chart, pytest.raises(helm_python.HelmError, match="names NashdexTypo, which is"):
        chart.render({"prometheusRule": {"disabled": {"NashdexTypo": True}}}, name="nashdex", namespace="research")


def test_without_the_exporter_no_alert_waits_for_it() -> None:
    left_out = names(rules()) - names(rules({"exporter": {"enabled": False}}))
    assert left_out == {"NashdexExporterDown", "NashdexRunStalled"}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not on this machine: package prometheus")
def test_a_release_alerts_on_the_runs_of_its_own_namespace(tmp_path: Path) -> None:
    """The cases of the plain rules hold in their namespace n, and nothing fires for others."""
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": rules(namespace="n")}))
    cases = yaml.safe_load(CASES.read_text())
    cases["rule_files"] = ["rules.yaml"]
    num_others = 0
    for case in cases["tests"]:
        for asked in case["alert_rule_test"]:
            own = [each for each in asked["exp_alerts"] if each["exp_labels"]["namespace"] == "n"]
            num_others += len(asked["exp_alerts"]) - len(own)
            asked["exp_alerts"] = own
    assert num_others >= 2
    (tmp_path / "cases.yaml").write_text(yaml.safe_dump(cases))
    program = shutil.which("promtool")
    assert program is not None
    command = [program, "test", "rules", str(tmp_path / "cases.yaml")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def dashboards(namespace: str) -> list[dict[str, Any]]:
    """Return the dashboards of a release."""
    with Chart.load(CHART) as chart:
        texts = chart.render({"dashboards": {"enabled": True}}, name="nashdex", namespace=namespace)
    documents = [each for each in yaml.safe_load_all(texts["nashdex/templates/monitoring.yaml"]) if each]
    return [json.loads(text) for each in documents for text in each["data"].values()]


def test_dashboards_of_two_releases_fit_one_grafana() -> None:
    found = [*dashboards("a-namespace-with-a-name-as-long-as-a-label-may-be-63-characters"), *dashboards("research")]
    assert len({dashboard["uid"] for dashboard in found}) == len({dashboard["title"] for dashboard in found}) == 10
    assert all(len(dashboard["uid"]) <= 40 for dashboard in found), "Grafana's limit"


def test_a_dashboard_shows_its_own_namespace_first() -> None:
    for dashboard in dashboards("research"):
        (variable,) = (each for each in dashboard["templating"]["list"] if each["name"] == "namespace")
        assert variable["current"]["value"] == ["research"]
        assert variable["includeAll"]


def test_nothing_is_installed_without_its_switch() -> None:
    kinds = {each["kind"] for each in render()}
    assert not kinds & {"PrometheusRule", "PodMonitor"}


def test_a_monitoring_may_select_by_a_label_that_the_chart_has_too() -> None:
    labels = {"additionalLabels": {"app.kubernetes.io/part-of": "monitoring", "grafana_dashboard": "2"}}
    switched = {key: {"enabled": True, **labels} for key in ("podMonitor", "prometheusRule", "dashboards")}
    found = [each["metadata"] for each in render(switched) if "grafana_dashboard" in each["metadata"]["labels"]]
    assert len(found) == 7
    for each in found:
        assert each["labels"].items() >= labels["additionalLabels"].items()
        assert each["labels"]["app.kubernetes.io/component"] == "monitoring"
