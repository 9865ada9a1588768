"""What dashboards and alerts ask of Prometheus: their expressions, and the metrics and labels that those name.

No parser of PromQL: expressions of this project are plain enough for a look at their words. Prometheus itself judges
whether they parse.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DASHBOARDS = sorted((ROOT / "helm" / "nashdex" / "files" / "dashboards").glob("*.json"))
RULES = ROOT / "helm" / "nashdex" / "files" / "rules" / "nashdex.yaml"

_GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
_SELECTOR = re.compile(r'\b([a-zA-Z_:][\w:]*)\b(?!\s*\()\s*(\{(?:[^}"]|"[^"]*")*\})?')
_MATCHER = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"')
_DURATION = re.compile(r"\[[^\]]*\]")
_VARIABLE = re.compile(r"\$\{\w+\}")
_WORDS = {"and", "or", "unless", "bool", "offset", "by", "on", "without", "ignoring", "inf", "nan", "le"}


@dataclass(frozen=True, slots=True)
class Selector:
    """A metric with the labels that it is selected by, as it stands in an expression."""

    metric: str
    labels: frozenset[str]
    text: str


@dataclass(frozen=True, slots=True)
class Expression:
    """What is asked, and where."""

    text: str
    where: str
    legend: str = ""
    alert: bool = False

    @property
    def selectors(self) -> tuple[Selector, ...]:
        """The metrics that it names."""
        bare = _VARIABLE.sub(" ", _DURATION.sub("", _GROUPING.sub(" ", self.text)))
        return tuple(
            Selector(match[1], frozenset(_MATCHER.findall(match[2] or "")), match[1] + (match[2] or ""))
            for match in _SELECTOR.finditer(bare)
            if match[1] not in _WORDS
        )

    @property
    def grouped_by(self) -> frozenset[str]:
        """Labels that it groups or joins by."""
        return frozenset(label.strip() for group in _GROUPING.findall(self.text) for label in group.split(",") if label)


def read_dashboards() -> dict[str, dict[str, Any]]:
    """Return every dashboard by its file's name."""
    return {path.name: json.loads(path.read_text()) for path in DASHBOARDS}


def read_alerts() -> list[dict[str, Any]]:
    """Return every alert."""
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def dashboard_expressions() -> Iterator[Expression]:
    """Yield what every panel asks, with Grafana's variables still in it."""
    for name, dashboard in read_dashboards().items():
        for panel in dashboard["panels"]:
            for target in panel.get("targets", ()):
                yield Expression(target["expr"], f"{name}: {panel['title']}", target["legendFormat"])


def alert_expressions() -> Iterator[Expression]:
    """Yield what every alert asks."""
    for rule in read_alerts():
        yield Expression(rule["expr"], rule["alert"], alert=True)


def with_values(expression: str, *, rate_interval: str = "1m") -> str:
    """Return an expression with every variable of the dashboards in its place: all runs, any price."""
    values = {"$__rate_interval": rate_interval, "$run": ".*", "${pod_hour_price}": "0.05", "${gpu_hour_price}": "2.5"}
    for name, value in values.items():
        expression = expression.replace(name, value)
    return expression
