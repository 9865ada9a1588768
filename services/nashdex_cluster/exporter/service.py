"""The exporter's loop: read the store, publish the facts, wait."""

import time
from collections.abc import Iterable, Iterator

import prometheus_client
import structlog
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.core.stopping import wait_for_stop
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry import metrics
from nashdex.telemetry.metric import PROCESS_LABELS
from nashdex.telemetry.progress import beat, beat_without_advance
from nashdex_cluster.exporter.watch import RunFacts, Watch

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


_PUBLISH_EVERY_SECONDS = 5.0
"""During a scan. The first one of a large store takes minutes, and its first runs need not wait for the last."""

_log = structlog.get_logger()


def export(store: ObjectStore, *, every_seconds: float, active_seconds: float, num_policies: int) -> None:
    """Follow the store's runs until the process is asked to stop.

    If the store is unreachable, retry and keep serving the last facts.

    Raises:
        ConfigurationError: the store refuses the first request, because the URI or the credentials are wrong.
        StoppedError: the process was asked to stop during a scan.
    """
    watch = Watch(store, active_seconds, num_policies=num_policies)
    collector = FactCollector()
    prometheus_client.REGISTRY.register(collector)
    metrics.EXPORTER_FAILED_SCANS.add(0)
    has_scanned = False
    published_seconds = 0.0

    def publish() -> None:
        nonlocal published_seconds
        collector.runs = watch.active()
        metrics.EXPORTER_RUNS.set(len(collector.runs))
        metrics.EXPORTER_UNREADABLE_RUNS.set(watch.num_unreadable)
        published_seconds = time.monotonic()

    def on_run() -> None:
        beat()
        if time.monotonic() - published_seconds > _PUBLISH_EVERY_SECONDS:
            publish()

    try:
        while True:
            began_seconds = time.monotonic()
            try:
                watch.scan(on_run)
                has_scanned = True
                metrics.EXPORTER_SCANS.add()
                metrics.EXPORTER_LAST_SCAN.set(time.time())
                metrics.EXPORTER_SCAN_SECONDS.set(time.monotonic() - began_seconds)
                beat()
            except (TryAgainError, ConfigurationError) as error:
                if isinstance(error, ConfigurationError) and not has_scanned:
                    raise
                metrics.EXPORTER_FAILED_SCANS.add()
                beat_without_advance()
                _log.warning(f"{error}")
            publish()
            if wait_for_stop(every_seconds):
                return
    finally:
        prometheus_client.REGISTRY.unregister(collector)
