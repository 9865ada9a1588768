"""The expressions of dashboards and alerts, with the metrics and labels that each one names."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import promql_parser
import yaml
from promql_parser import AggregateExpr, BinaryExpr, Expr, VectorSelector

ROOT = Path(__file__).parents[2]
DASHBOARDS = sorted((ROOT / "helm" / "nashdex" / "files" / "dashboards").glob("*.json"))
RULES = ROOT / "helm" / "nashdex" / "files" / "rules" / "nashdex.yaml"


@dataclass(frozen=True, slots=True)
class Selector:
    """A metric with its label matchers."""

    metric: str
    labels: frozenset[str]
    text: str


@dataclass(frozen=True)
class Expression:
    """One expression and where it is.

    Raises:
        ValueError: it is not PromQL.
    """

    text: str
    where: str
    legend: str = ""
    alert: bool = False

    @cached_property
    def nodes(self) -> tuple[Expr, ...]:
        """Every node of the syntax tree. Grafana's variables have values, but for those in strings."""
        found: list[Expr] = []
        text = with_values(self.text, run="$run", namespace="$namespace")
        promql_parser.walk(promql_parser.parse(text), found.append)
        return tuple(found)

    @property
    def selectors(self) -> tuple[Selector, ...]:
        """The metrics that it names."""
        return tuple(
            Selector(node.name or "", frozenset(m.name for m in node.matchers.matchers), node.prettify())
            for node in self.nodes
            if isinstance(node, VectorSelector)
        )

    @property
    def grouped_by(self) -> frozenset[str]:
        """Labels that it groups or joins by."""
        labels: set[str] = set()
        for node in self.nodes:
            if isinstance(node, AggregateExpr | BinaryExpr) and node.modifier is not None:
                joined = node.modifier.matching if isinstance(node, BinaryExpr) else node.modifier
                labels.update(joined.labels if joined is not None else ())
                labels.update((isinstance(node, BinaryExpr) and node.modifier.group_labels) or ())
        return frozenset(labels)


def read_dashboards() -> dict[str, dict[str, Any]]:
    """Return every dashboard by file name."""
    return {path.name: json.loads(path.read_text()) for path in DASHBOARDS}


def read_alerts() -> list[dict[str, Any]]:
    """Return every alert."""
    return [rule for rule in _rules() if "alert" in rule]


def read_records() -> list[dict[str, Any]]:
    """Return every recording rule."""
    return [rule for rule in _rules() if "record" in rule]


def _rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def dashboard_expressions() -> Iterator[Expression]:
    """Yield the expressions of every panel, with Grafana's variables still in them."""
    for name, dashboard in read_dashboards().items():
        for panel in dashboard["panels"]:
            for target in panel.get("targets", ()):
                yield Expression(target["expr"], f"{name}: {panel['title']}", target["legendFormat"])


def alert_expressions() -> Iterator[Expression]:
    """Yield the expression of every alert and recording rule."""
    for rule in (*read_alerts(), *read_records()):
        yield Expression(rule["expr"], rule.get("alert") or rule["record"], alert=True)


def with_values(expression: str, *, rate_interval: str = "1m", run: str = ".*", namespace: str = ".*") -> str:
    """Return an expression with a value for each of Grafana's variables: all namespaces and runs, any price."""
    values = {"$__rate_interval": rate_interval, "$run": run, "$namespace": namespace}
    values |= {"${pod_hour_price}": "0.05", "${gpu_hour_price}": "2.5"}
    for name, value in values.items():
        expression = expression.replace(name, value)
    return expression
