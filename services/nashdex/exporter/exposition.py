"""Facts as Prometheus metrics. The series of a run end when the run is no longer active."""

from collections.abc import Iterable, Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from nashdex.exporter.watch import RunFacts
from nashdex.telemetry.metric import PROCESS_LABELS

COMPONENT = "exporter"


class FactCollector(Collector):
    """Exports the facts that ``runs`` holds at the moment of a scrape. Replace ``runs`` as a whole."""

    def __init__(self) -> None:
        self.runs: Iterable[RunFacts] = ()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield one family for each metric with a fact."""
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
