"""Facts of runs in Prometheus' terms. A run that is no longer active leaves no series behind."""

from collections.abc import Iterable, Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from nashdex.exporter.watch import RunFacts
from nashdex.telemetry.metric import PROCESS_LABELS

COMPONENT = "exporter"


class FactCollector(Collector):
    """Tells a registry what ``runs`` holds at the moment of a scrape; it is replaced as a whole."""

    def __init__(self) -> None:
        self.runs: Iterable[RunFacts] = ()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield a family for each metric that any run has a fact of."""
        families: dict[str, GaugeMetricFamily] = {}
        for run in self.runs:
            for fact in run.facts:
                metric = fact.metric
                if metric.name not in families:
                    labels = (*PROCESS_LABELS, *metric.labels)
                    families[metric.name] = GaugeMetricFamily(metric.name, metric.help, labels=labels)
                values = (run.run, COMPONENT, run.format, *(fact.labels[label] for label in metric.labels))
                families[metric.name].add_metric(values, fact.value)
        yield from families.values()
