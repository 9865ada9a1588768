"""A metric as data. The prometheus-client object behind it is made when the metric is first used.

Each carries the labels ``run``, ``component`` and ``format`` of the process beside its own. Labels stay few and
bounded: an iteration or a policy is a value, and a pod is none of a metric's business.
"""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from prometheus_client import Counter, Gauge, Histogram

Kind = Literal["counter", "gauge", "histogram"]

PROCESS_LABELS = ("run", "component", "format")
LABELS = {
    "run": "Id of the run.",
    "component": "What the process does: the name of its step, or of a service.",
    "format": "Showdown format, or the name of another game.",
    "step": "Step of the iteration.",
    "cause": "Why a battle failed: deadline, simulator_error, tracker_error, illegal_team, bad_start, "
    "gateway_died, gateway_hung.",
    "estimator": "How an exploitability was estimated: restricted, best_response_gap, exact or legacy_dominance_gap.",
    "bound": "value, or low and high of the 95 % interval.",
    "operation": "Operation of the store.",
    "reference": "What a KL is measured from: snapshot, ema, uniform, league or portfolio.",
}
"""Every label there may be."""

UNITS = ("seconds", "bytes", "ratio", "nats")
"""Units that a name must end with. What is counted (battles, decisions) stands in the name itself."""

_process_labels = dict.fromkeys(PROCESS_LABELS, "")


def identify_process(*, run: str, component: str, format: str) -> None:  # noqa: A002 - the label's name
    """Say once whose metrics these are. What was counted before has empty labels."""
    _process_labels.update(run=run, component=component, format=format)


@dataclass(frozen=True, slots=True)
class Metric:
    """One entry of the catalogue.

    Raises:
        ValueError: its name or labels break the naming rules.
    """

    name: str
    kind: Kind
    help: str
    """One sentence, for ``# HELP`` and for docs/metrics.md."""
    labels: tuple[str, ...] = ()
    """Beside those of the process."""
    unit: str = ""
    """Empty for a count or a number without a unit."""
    fact: str = ""
    """The name under which steps report it to Progress. A counter's fact is a running total of the step."""
    buckets: tuple[float, ...] = ()
    """Upper bounds of a histogram's buckets."""
    _made: "list[Counter | Gauge | Histogram]" = field(default_factory=list, repr=False, compare=False)

    def __post_init__(self) -> None:
        stem = self.name.removesuffix("_total")
        problems = [
            problem
            for wrong, problem in [
                (not re.fullmatch(r"nashdex(_[a-z0-9]+)+", self.name), "expected nashdex_ and words joined by '_'"),
                (
                    (self.kind == "counter") != self.name.endswith("_total"),
                    "a counter, and nothing else, ends in _total",
                ),
                (self.unit not in {"", *UNITS}, f"unit {self.unit!r} is none of {UNITS}"),
                (
                    self.unit != next((unit for unit in UNITS if stem.endswith(f"_{unit}")), ""),
                    f"the name must end with the unit {self.unit!r}",
                ),
                (not set(self.labels) <= LABELS.keys() - set(PROCESS_LABELS), f"labels must be of {sorted(LABELS)}"),
                ((self.kind == "histogram") != bool(self.buckets), "a histogram, and nothing else, has buckets"),
                (bool(self.fact and self.labels), "a fact has no labels"),
                (not self.help.endswith("."), "the help is a sentence"),
            ]
            if wrong
        ]
        if problems:
            raise ValueError(f"metric {self.name!r}: {'; '.join(problems)}")

    def add(self, amount: float = 1.0, **labels: str) -> None:
        """Raise a counter."""
        self._labelled(labels).inc(amount)  # type: ignore[union-attr]

    def set(self, value: float, **labels: str) -> None:
        """Set a gauge."""
        self._labelled(labels).set(value)  # type: ignore[union-attr]

    def observe(self, value: float, **labels: str) -> None:
        """Count a value into a histogram."""
        self._labelled(labels).observe(value)  # type: ignore[union-attr]

    def _labelled(self, labels: dict[str, str]) -> "Counter | Gauge | Histogram":
        if not self._made:
            self._made.append(self._make())
        return self._made[0].labels(**_process_labels, **labels)

    def _make(self) -> "Counter | Gauge | Histogram":
        import prometheus_client  # noqa: PLC0415 - many commands never measure anything, and it takes a while

        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
        names = (*PROCESS_LABELS, *self.labels)
        match self.kind:
            case "counter":
                return prometheus_client.Counter(self.name, self.help, names)
            case "gauge":
                return prometheus_client.Gauge(self.name, self.help, names)
            case "histogram":
                return prometheus_client.Histogram(self.name, self.help, names, buckets=self.buckets)
