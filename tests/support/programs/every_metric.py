"""Serves every metric of the catalogue, with every bounded label, until standard input ends; prints its port.

Takes the component that it plays. One that is no exporter also serves what Argo's controller would.
"""

import itertools
import select
import sys
import time

from prometheus_client import Gauge

from nashdex.telemetry.metric import Metric, identify_process
from nashdex.telemetry.metrics import CATALOGUE, LAST_ADVANCE
from nashdex.telemetry.server import TelemetryServer

VALUES = {
    "policy": ("p0",),
    "statistic": ("lowest", "median", "highest"),
    "step": ("collect", "train", "evaluate"),
    "cause": ("deadline", "gateway_died"),
    "estimator": ("restricted", "best_response_gap", "exact", "legacy_dominance_gap"),
    "bound": ("value", "low", "high"),
    "operation": ("get", "put"),
    "phase": ("running", "succeeded", "failed", "stopped"),
    "reference": ("snapshot",),
    "anchor": ("heuristic",),
    "style": ("greedy", "sampled"),
}


def touch(metric: Metric) -> None:
    """Set a gauge, raise a counter, observe into a histogram: with every combination of its labels."""
    for values in itertools.product(*(VALUES[label] for label in metric.labels)):
        labels = dict(zip(metric.labels, values, strict=True))
        match metric.kind:
            case "gauge":
                metric.set(1.0, **labels)
            case "counter":
                metric.add(1.0, **labels)
            case "histogram":
                metric.observe(0.02, **labels)


def main(component: str) -> None:
    """Serve until nobody holds standard input any more."""
    identify_process(run="run-1", component=component, format="gen1ou")
    if component != "exporter":
        Gauge("argo_workflows_gauge", "Argo's.", ["status"]).labels("Running").set(1)
        Gauge("argo_workflows_pods_gauge", "Argo's.", ["phase"]).labels("Pending").set(1)
        Gauge("argo_workflows_queue_depth_gauge", "Argo's.", ["queue_name"]).labels("workflow_queue").set(1)
        # Argo's counter has no suffix; that of prometheus-client would add one.
        Gauge("argo_workflows_pods_total_count", "Argo's.", ["namespace", "phase"]).labels("n", "Failed").set(1)
    with TelemetryServer(0, stale_seconds=60, host="127.0.0.1") as server:
        sys.stdout.write(f"{server.port}\n")
        sys.stdout.flush()
        while not select.select([sys.stdin], [], [], 0.2)[0]:
            for metric in CATALOGUE:
                touch(metric)
            LAST_ADVANCE.set(time.time())


if __name__ == "__main__":
    main(sys.argv[1])
