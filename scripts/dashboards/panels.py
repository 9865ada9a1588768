"""A dashboard as data: rows of panels, each with a title, a unit and PromQL expressions.

The description of a panel is by default the help of its metrics (nashdex.telemetry.metrics). ``$namespace`` and
``$run`` are what the reader selects. Facts of iterations come from the exporter alone (``component="exporter"``),
because the pods that computed them are gone.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nashdex.telemetry.metrics import CATALOGUE

NAMESPACE = 'namespace=~"$namespace"'
RUN = f'{NAMESPACE}, run=~"$run"'
FACT = f'component="exporter", {RUN}'
"""Selects what the newest report of the run says."""
INTERVAL = "$__rate_interval"
SERIES = "{{namespace}}/{{run}}"
"""Legend of a run: two namespaces may have runs with the same id."""

NATS, SCORE, BATTLES_PER_SECOND, DECISIONS_PER_SECOND = "suffix:nats", "none", "suffix:battles/s", "suffix:decisions/s"

_HELP = {metric.name: metric.help for metric in CATALOGUE}


@dataclass(frozen=True)
class Target:
    """One expression; ``legend`` names its series by their labels."""

    expression: str
    legend: str


@dataclass(frozen=True)
class Thresholds:
    """Where an alert fires: drawn as lines, and as the colour of a number."""

    below: float | None = None
    above: float | None = None


@dataclass(frozen=True)
class Panel:
    """One panel. ``unit`` is Grafana's name of it, or ``suffix:text``."""

    title: str
    unit: str
    targets: Sequence[Target]
    kind: str = "timeseries"
    """Or ``stat``, for one number."""
    description: str = ""
    logarithmic: bool = False
    thresholds: Thresholds | None = None

    @property
    def help(self) -> str:
        """The panel's description, by default its metrics' descriptions."""
        names = re.findall(r"nashdex_\w+", " ".join(target.expression for target in self.targets))
        stems = [re.sub(r"_(bucket|sum|count)$", "", name) if name not in _HELP else name for name in names]
        return self.description or "\n\n".join(_HELP[name] for name in dict.fromkeys(stems))


@dataclass(frozen=True)
class Row:
    """Panels side by side, all of the same width."""

    title: str
    panels: Sequence[Panel]


@dataclass(frozen=True)
class Price:
    """A price that the reader can change at the top of the dashboard."""

    name: str
    label: str
    usd: str


@dataclass(frozen=True)
class Dashboard:
    """One dashboard. Its uid never changes, because links contain it."""

    uid: str
    title: str
    description: str
    rows: Sequence[Row]
    prices: Sequence[Price] = ()


def live(title: str, metric: str, unit: str, by: str = "", *, logarithmic: bool = False, scale: str = "max") -> Panel:
    """Return a panel of a gauge that pods export while they run."""
    expression = f"{scale} by ({_labels(by)}) ({metric}{{{RUN}}})"
    return Panel(title, unit, [Target(expression, _legend(_labels(by)))], logarithmic=logarithmic)


def fact(title: str, metric: str, unit: str, by: str = "", *, kind: str = "timeseries") -> Panel:
    """Return a panel of a gauge of the newest iteration, from the exporter."""
    return Panel(title, unit, [Target(f"max by ({_labels(by)}) ({metric}{{{FACT}}})", _legend(_labels(by)))], kind)


def rate(title: str, metric: str, unit: str, by: str = "namespace, run", matching: str = RUN) -> Panel:
    """Return a panel of a counter's rate per second."""
    return Panel(title, unit, [Target(f"sum by ({by}) (rate({metric}{{{matching}}}[{INTERVAL}]))", _legend(by))])


def increase(title: str, metric: str, by: str = "namespace, run", matching: str = RUN) -> Panel:
    """Return a panel of a counter's increase within each interval."""
    return Panel(title, "none", [Target(f"sum by ({by}) (increase({metric}{{{matching}}}[{INTERVAL}]))", _legend(by))])


def quantiles(title: str, metric: str, unit: str, by: str = "", matching: str = RUN) -> Panel:
    """Return a panel of a histogram's median and 99 % quantile."""
    labels, legend = (f"le, {by}", f"{{{{{by}}}}} ") if by else ("le", "")
    rates = f"sum by ({labels}) (rate({metric}_bucket{{{matching}}}[{INTERVAL}]))"
    targets = [
        Target(f"histogram_quantile({q}, {rates})", f"{legend}{name}") for q, name in ((0.5, "median"), (0.99, "99 %"))
    ]
    return Panel(title, unit, targets, logarithmic=True)


def exploitability(estimator: str, title: str, description: str) -> Panel:
    """Return a panel of one estimator with its interval. Estimators are never mixed."""
    expression = f'max by (namespace, run, bound) (nashdex_exploitability{{{FACT}, estimator="{estimator}"}})'
    return Panel(title, SCORE, [Target(expression, "{{namespace}}/{{run}} {{bound}}")], description=description)


def alerting(panel: Panel, *, below: float | None = None, above: float | None = None) -> Panel:
    """Return a panel with the thresholds of the alert on what it shows."""
    return replace(panel, thresholds=Thresholds(below, above))


def _labels(by: str) -> str:
    return f"namespace, run, {by}" if by else "namespace, run"


def _legend(labels: str) -> str:
    """Return the legend of an answer grouped by ``labels``: equal runs of two namespaces stay apart."""
    return " ".join(f"{{{{{label}}}}}" for label in labels.split(", ")).replace("{{namespace}} {{run}}", SERIES)
