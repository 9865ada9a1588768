"""Dashboards are current, work with any data source, and use only metrics and labels that exist."""

import re
import subprocess
import sys

import pytest

from nashdex.telemetry.metric import PROCESS_LABELS
from nashdex.telemetry.metrics import CATALOGUE
from support.promql import (
    ROOT,
    Expression,
    alert_expressions,
    dashboard_expressions,
    read_alerts,
    read_dashboards,
    read_records,
)

pytestmark = pytest.mark.contract

TARGET_LABELS = {"namespace", "pod", "container", "job", "instance"}
"""Labels that Prometheus adds to everything it scrapes in a cluster."""
EXTERNAL = {
    # Argo Workflows 3.7 and 4, docs/reference/metrics.md; checked on a controller of 3.7.18.
    "argo_workflows_gauge": {"status"},
    "argo_workflows_pods_gauge": {"phase"},
    "argo_workflows_pods_total_count": {"namespace", "phase"},
    "argo_workflows_queue_depth_gauge": {"queue_name"},
    # Prometheus' own, of pending and firing alerts, with the labels of each.
    "ALERTS": {"alertname", "alertstate", "severity", "namespace", "run"},
    # NVIDIA's dcgm-exporter, etc/default-counters.csv.
    "DCGM_FI_DEV_GPU_UTIL": {"gpu"},
}
"""Metrics of other exporters, with the labels that expressions use."""
OWN = {metric.name: {*PROCESS_LABELS, *TARGET_LABELS, *metric.labels} for metric in CATALOGUE}
RECORDS = {rule["record"]: set(rule["record"].partition(":")[0].split("_")) for rule in read_records()}
"""Recording rules, with the labels that their names begin with."""
HISTOGRAMS = {metric.name for metric in CATALOGUE if metric.kind == "histogram"}
EXPRESSIONS = [*dashboard_expressions(), *alert_expressions()]
UIDS = {
    "run-overview.json": "nashdex-run",
    "training-stability.json": "nashdex-training",
    "metagame.json": "nashdex-metagame",
    "collection.json": "nashdex-collection",
    "operations.json": "nashdex-operations",
}


def labels_of(metric: str) -> set[str]:
    """Return the labels of a metric; fails if there is no such metric."""
    if metric in EXTERNAL:
        return EXTERNAL[metric]
    if metric in RECORDS:
        return RECORDS[metric]
    stem = re.sub(r"_(bucket|sum|count)$", "", metric)
    if stem in HISTOGRAMS and stem != metric:
        return OWN[stem] | ({"le"} if metric.endswith("_bucket") else set())
    assert metric in OWN, f"{metric} is neither in the catalogue nor a known metric of another exporter"
    assert metric not in HISTOGRAMS, f"{metric} is a histogram: use its _bucket, _sum or _count"
    return OWN[metric]


def test_the_files_are_current() -> None:
    script = ROOT / "scripts" / "make_dashboards.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda expression: expression.where)
def test_every_expression_uses_metrics_and_labels_that_exist(expression: Expression) -> None:
    assert expression.selectors
    known: set[str] = set()
    for selector in expression.selectors:
        labels = labels_of(selector.metric)
        assert selector.labels <= labels, f"{selector.metric} has no label {selector.labels - labels}"
        known |= labels
    assert expression.grouped_by <= known, f"nothing has the label {expression.grouped_by - known}"


@pytest.mark.parametrize("expression", list(dashboard_expressions()), ids=lambda expression: expression.where)
def test_a_legend_names_only_labels_that_the_answer_has(expression: Expression) -> None:
    assert set(re.findall(r"{{(\w+)}}", expression.legend)) <= expression.grouped_by


@pytest.mark.parametrize("expression", list(dashboard_expressions()), ids=lambda expression: expression.where)
def test_own_metrics_are_selected_by_run(expression: Expression) -> None:
    """The exporter's own metrics belong to no run."""
    own = [s for s in expression.selectors if re.match(r"nashdex_(?!exporter_)", s.metric)]
    assert all('run=~"$run"' in selector.text for selector in own)


@pytest.mark.parametrize("expression", list(dashboard_expressions()), ids=lambda expression: expression.where)
def test_equal_runs_of_two_namespaces_stay_apart(expression: Expression) -> None:
    own = [s for s in expression.selectors if s.metric.startswith("nashdex_")]
    assert all('namespace=~"$namespace"' in selector.text for selector in own)
    if "run" in expression.grouped_by:
        assert "namespace" in expression.grouped_by
    if "{{run}}" in expression.legend:
        assert "{{namespace}}/{{run}}" in expression.legend


ALERTING_PANELS = {
    "NashdexPolicyEntropyCollapsed": ("training-stability.json", "Policy entropy"),
    "NashdexKlOutOfBand": ("training-stability.json", "KL from the round's start"),
    "NashdexNonFiniteLoss": ("training-stability.json", "Non-finite updates"),
    "NashdexExploitabilityNotFalling": ("metagame.json", "Iterations since exploitability was lowest"),
    "NashdexRunStalled": ("run-overview.json", "Time since last progress"),
    "NashdexFailedBattles": ("collection.json", "Share of battles that fail"),
    "NashdexShardRetries": ("operations.json", "Failed attempts at a shard"),
    "NashdexExporterDown": ("operations.json", "Age of its facts"),
}


@pytest.mark.parametrize("alert", ALERTING_PANELS)
def test_a_panel_shows_where_its_alert_fires(alert: str) -> None:
    name, title = ALERTING_PANELS[alert]
    (panel,) = (panel for panel in read_dashboards()[name]["panels"] if panel["title"] == title)
    (edge,) = (
        step["value"] for step in panel["fieldConfig"]["defaults"]["thresholds"]["steps"] if step["value"] is not None
    )
    (rule,) = (rule for rule in read_alerts() if rule["alert"] == alert)
    compared = {float(number) for number in re.findall(r"[<>]=? ([0-9.]+)", rule["expr"])}
    assert edge in compared


def test_dashboards_are_the_five_with_uids_that_links_hold() -> None:
    assert {name: dashboard["uid"] for name, dashboard in read_dashboards().items()} == UIDS


@pytest.mark.parametrize("name", UIDS)
def test_a_dashboard_works_with_any_datasource(name: str) -> None:
    dashboard = read_dashboards()[name]
    variables = {variable["name"]: variable for variable in dashboard["templating"]["list"]}
    assert {"datasource", "namespace", "run"} <= variables.keys()
    assert variables["datasource"]["query"] == "prometheus"
    holders = [variables["namespace"], variables["run"], *(p for p in dashboard["panels"] if p["type"] != "row")]
    holders += [target for panel in dashboard["panels"] for target in panel.get("targets", ())]
    assert {holder["datasource"]["uid"] for holder in holders} == {"${datasource}"}
    assert "id" not in dashboard, "Grafana gives it"


@pytest.mark.parametrize("name", UIDS)
def test_every_panel_has_a_unit_and_a_description_and_room_of_its_own(name: str) -> None:
    panels = read_dashboards()[name]["panels"]
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert place["x"] + place["w"] <= 24
        assert not cells & taken, panel["title"]
        taken |= cells
        if panel["type"] != "row":
            assert panel["description"], panel["title"]
        if "targets" in panel:
            assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
    assert len({panel["id"] for panel in panels}) == len(panels)


def test_every_metric_is_on_a_dashboard_or_in_an_alert() -> None:
    """A metric that no dashboard and no alert uses is one that nobody sees."""
    used = {re.sub(r"_(bucket|sum|count)$", "", s.metric) for e in EXPRESSIONS for s in e.selectors}
    used |= {s.metric for e in EXPRESSIONS for s in e.selectors}
    assert OWN.keys() - used == set()
