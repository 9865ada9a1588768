"""A metric as data. Its prometheus-client object is created on first use.

Each metric has the labels ``run``, ``component`` and ``format`` of the process besides its own. Labels have few values:
an iteration is never a label, a policy only on gauges for a bounded number of them, and Prometheus adds the pod.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Literal

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics

Kind = Literal["counter", "gauge", "histogram"]

PROCESS_LABELS = ("run", "component", "format")
LABELS = {
    "run": "Id of the run.",
    "component": "Name of the process's step or service.",
    "format": "Showdown format, or name of another game.",
    "step": "Step of the iteration.",
    "cause": "Why a battle failed: deadline, simulator_error, tracker_error, illegal_team, bad_start, "
    "gateway_died, gateway_hung; of a player from outside: external_crash, external_deadline, external_error, "
    "external_forfeit, external_garbage, external_unavailable. Why a chunk was dropped: altered, space, stale, twice.",
    "estimator": "Estimator of exploitability: restricted, best_response_gap, exact or legacy_dominance_gap.",
    "anchor": "Fixed opponent of an evaluation: a scripted policy, or start for what the training began from.",
    "style": "How the evaluated network plays: greedy or sampled.",
    "bound": "The estimate (value) or an end of its 95 % interval (low, high).",
    "operation": "Store operation: get, exists, put, put_if_absent, delete or list.",
    "phase": "Phase of the run: running, succeeded, failed or stopped.",
    "policy": "Id of a policy; `nashdex exporter --policies` bounds how many a run has.",
    "statistic": "Statistic over the policies without series of their own: lowest, median or highest.",
    "reference": "Reference policy of the KL: snapshot, ema, uniform, hierarchical, league or portfolio.",
}
"""Every label that a metric may have."""

_process_labels = dict.fromkeys(PROCESS_LABELS, "")
_creation = Lock()


def identify_process(*, run: str, component: str, format: str) -> None:  # noqa: A002 - the label's name
    """Set the process's labels. Call once, before the first metric is set."""
    _process_labels.update(run=run, component=component, format=format)


@dataclass(frozen=True, slots=True)
class Metric:
    """One entry of the catalogue. A contract test has the rules for its name and labels."""

    name: str
    kind: Kind
    help: str
    """One sentence, for ``# HELP`` and for docs/reference/metrics.md."""
    labels: tuple[str, ...] = ()
    """Labels besides the process's own."""
    unit: str = ""
    """Empty for a count or a number without a unit."""
    fact: str = ""
    """Name under which steps report the metric to Progress. For a counter, steps report their running total."""
    buckets: tuple[float, ...] = ()
    """Upper bounds of a histogram's buckets."""
    _made: list[Counter | Gauge | Histogram] = field(default_factory=list, repr=False, compare=False)
    _series: dict[tuple[object, ...], Counter | Gauge | Histogram] = field(
        default_factory=dict, repr=False, compare=False
    )
    """What ``prometheus_client`` found by labels, which takes it longer than to count."""

    def add(self, amount: float = 1.0, **labels: str) -> None:
        """Raise a counter."""
        self._labelled(labels).inc(amount)  # type: ignore[union-attr]

    def set(self, value: float, **labels: str) -> None:
        """Set a gauge."""
        self._labelled(labels).set(value)  # type: ignore[union-attr]

    def follow(self, value: Callable[[], float], **labels: str) -> None:
        """Let a gauge call ``value`` whenever it is read."""
        self._labelled(labels).set_function(value)  # type: ignore[union-attr]

    def observe(self, value: float, **labels: str) -> None:
        """Add a value to a histogram."""
        self._labelled(labels).observe(value)  # type: ignore[union-attr]

    def _labelled(self, labels: dict[str, str]) -> Counter | Gauge | Histogram:
        key = (*_process_labels.values(), *labels.items())
        if key not in self._series:
            with _creation:  # threads of one process may set the same metric first, and a name registers only once
                if not self._made:
                    self._made.append(self._make())
            self._series[key] = self._made[0].labels(**_process_labels, **labels)
        return self._series[key]

    def _make(self) -> Counter | Gauge | Histogram:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        names = (*PROCESS_LABELS, *self.labels)
        match self.kind:
            case "counter":
                return Counter(self.name, self.help, names)
            case "gauge":
                return Gauge(self.name, self.help, names)
            case "histogram":
                return Histogram(self.name, self.help, names, buckets=self.buckets)
