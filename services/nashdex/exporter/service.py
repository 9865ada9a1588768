"""The exporter's loop: read the store, publish the facts, wait."""

import time

import prometheus_client
import structlog

from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.core.stopping import wait_for_stop
from nashdex.exporter.exposition import FactCollector
from nashdex.exporter.watch import Watch
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry import metrics
from nashdex.telemetry.progress import beat, beat_without_advance

_PUBLISH_EVERY_SECONDS = 5.0
"""During a scan. The first one of a large store takes minutes, and its first runs need not wait for the last."""

_log = structlog.get_logger()


def export(store: ObjectStore, *, every_seconds: float, active_seconds: float) -> None:
    """Follow the store's runs until the process is asked to stop.

    If the store is unreachable, retry and keep serving the last facts.

    Raises:
        ConfigurationError: the store refuses the first request, because the URI or the credentials are wrong.
        StoppedError: the process was asked to stop during a scan.
    """
    watch = Watch(store, active_seconds)
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
