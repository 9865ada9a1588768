"""The catalogue, its page and the code that sets it say the same."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from nashdex.games.showdown.arena import FAILURE_CAUSES
from nashdex.games.showdown.external_causes import CAUSES
from nashdex.learning.actors.protocol import DROP_CAUSES
from nashdex.telemetry import metrics
from nashdex.telemetry.metric import LABELS, PROCESS_LABELS, Metric

pytestmark = pytest.mark.contract

ROOT = Path(__file__).parents[2]
UNITS = ("seconds", "bytes", "ratio", "nats")
"""Units that end a name. A count names the counted things (battles, decisions)."""


def test_the_page_is_current() -> None:
    script = ROOT / "scripts" / "docs" / "metrics_page.py"
    page = subprocess.run([sys.executable, str(script)], check=True, capture_output=True).stdout
    assert (ROOT / "docs" / "reference" / "metrics.md").read_bytes() == page, "run 'make docs'"


@pytest.mark.parametrize("metric", metrics.CATALOGUE, ids=lambda metric: metric.name)
def test_every_metric_keeps_the_naming_rules(metric: Metric) -> None:
    stem = metric.name.removesuffix("_total")
    assert re.fullmatch(r"nashdex(_[a-z0-9]+)+", metric.name), "nashdex_ and lower-case words joined by '_'"
    assert (metric.kind == "counter") == metric.name.endswith("_total"), "counters end in _total, and only counters"
    assert metric.unit == next((unit for unit in UNITS if stem.endswith(f"_{unit}")), ""), "the unit ends the name"
    assert set(metric.labels) <= LABELS.keys() - set(PROCESS_LABELS), "LABELS describes each label"
    assert (metric.kind == "histogram") == bool(metric.buckets), "histograms have buckets, and only histograms"
    assert not (metric.fact and metric.labels), "a fact has no labels"
    assert metric.help.endswith(".")


def test_every_metric_is_set_somewhere() -> None:
    """A metric is set by its name in code, or by a step that reports its fact."""
    telemetry = ROOT / "services" / "nashdex" / "telemetry"
    declared = telemetry / "metrics.py"
    sources = [path.read_text() for path in (ROOT / "services").glob("nashdex*/**/*.py") if path != declared]
    steps = [path.read_text() for path in (ROOT / "services").glob("nashdex*/**/*.py") if telemetry not in path.parents]
    names = {id(value): name for name, value in vars(metrics).items()}
    by_observer = {metrics.STORE_SECONDS.name, metrics.STORE_BYTES.name, metrics.STORE_ERRORS.name}
    unset = [
        metric.name
        for metric in metrics.CATALOGUE
        if metric.name not in by_observer
        and not any(re.search(rf"\bmetrics\.{names[id(metric)]}\b", text) for text in sources)
        and not (metric.fact and any(metric.fact in text for text in steps))
    ]
    assert unset == []


def test_the_label_describes_every_cause_of_a_failed_battle_and_of_a_dropped_chunk() -> None:
    battles, players, chunks = ", ".join(FAILURE_CAUSES), ", ".join(CAUSES), ", ".join(DROP_CAUSES)
    assert LABELS["cause"] == (
        f"Why a battle failed: {battles}; of a player from outside: {players}. Why a chunk was dropped: {chunks}."
    )
