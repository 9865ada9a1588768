"""Steps, workflows, the store, GPUs and costs."""

from dashboards.panels import (
    FACT,
    INTERVAL,
    NAMESPACE,
    RUN,
    SERIES,
    Dashboard,
    Panel,
    Price,
    Row,
    Target,
    Thresholds,
    alerting,
    fact,
    increase,
    live,
    quantiles,
    rate,
)

_PRICED = "CPU time of all steps at the price of a pod's hour, and GPU time at the price of a GPU's hour,"
_NOT_PRICED = "CPU time of gateways in sidecars and of waiting pods is not included."


def _price(of: str) -> str:
    """Return what the time in the metrics of ``of`` (run or iteration) costs, at the prices above."""
    return (
        f"(${{pod_hour_price}} / 3600 * sum by (namespace, run) (nashdex_{of}_cpu_seconds{{{FACT}}})"
        f" + ${{gpu_hour_price}} / 3600 * sum by (namespace, run) (nashdex_{of}_gpu_seconds{{{FACT}}}))"
    )


OPERATIONS = Dashboard(
    "nashdex-operations",
    "Nashdex / Operations",
    "Steps, workflows, the store, GPUs and costs. Argo's metrics come from its workflow controller, GPU metrics "
    "from NVIDIA's DCGM exporter, if Prometheus scrapes them.",
    [
        Row(
            "Steps",
            [
                live("Wall time of running steps", "nashdex_step_seconds", "s", "step"),
                fact("Wall time in the newest iteration", "nashdex_iteration_step_seconds", "s", "step"),
                alerting(live("Failed attempts at a shard", "nashdex_step_retries", "none", "step"), above=3),
                Panel(
                    "Time since a step made progress",
                    "s",
                    [
                        Target(
                            "time() - max by (namespace, run, component) (nashdex_last_advance_timestamp_seconds{"
                            f'component!="exporter", {RUN}}})',
                            "{{namespace}}/{{run}} {{component}}",
                        )
                    ],
                    description="Time since the process last made progress.",
                ),
            ],
        ),
        Row(
            "Workflows in the whole cluster",
            [
                Panel(
                    "Workflows, by status",
                    "none",
                    [Target("sum by (status) (argo_workflows_gauge)", "{{status}}")],
                    description="Argo's argo_workflows_gauge.",
                ),
                Panel(
                    "Pods, by phase",
                    "none",
                    [Target("sum by (phase) (argo_workflows_pods_gauge)", "{{phase}}")],
                    description="Argo's argo_workflows_pods_gauge. Pending pods wait for a node.",
                ),
                Panel(
                    "Finished pods, by phase",
                    "none",
                    [
                        Target(
                            f"sum by (phase) (increase(argo_workflows_pods_total_count[{INTERVAL}]))",
                            "{{phase}}",
                        )
                    ],
                    description="Argo's argo_workflows_pods_total_count. A failed pod is a failed attempt at a shard.",
                ),
                Panel(
                    "Controller queues",
                    "none",
                    [Target("sum by (queue_name) (argo_workflows_queue_depth_gauge)", "{{queue_name}}")],
                    description="Argo's argo_workflows_queue_depth_gauge: work that the controller has not started.",
                ),
            ],
        ),
        Row(
            "Store",
            [
                quantiles("Latency", "nashdex_store_operation_seconds", "s", "operation"),
                rate("Bytes", "nashdex_store_bytes_total", "Bps", "namespace, run, operation"),
                increase("Errors", "nashdex_store_errors_total", "namespace, run, operation"),
            ],
        ),
        Row(
            "Exporter",
            [
                Panel(
                    "Runs",
                    "none",
                    [
                        Target(f"sum by (namespace) (nashdex_exporter_runs{{{NAMESPACE}}})", "{{namespace}} active"),
                        Target(
                            f"sum by (namespace) (nashdex_exporter_unreadable_runs{{{NAMESPACE}}})",
                            "{{namespace}} unreadable",
                        ),
                    ],
                ),
                Panel(
                    "Age of its facts",
                    "s",
                    [
                        Target(
                            "time() - max by (namespace) "
                            f"(nashdex_exporter_last_scan_timestamp_seconds{{{NAMESPACE}}})",
                            "{{namespace}}",
                        )
                    ],
                    description="Time since the exporter last scanned the store.",
                    thresholds=Thresholds(above=600),
                ),
                Panel(
                    "Duration of a scan",
                    "s",
                    [Target(f"max by (namespace) (nashdex_exporter_scan_seconds{{{NAMESPACE}}})", "{{namespace}}")],
                ),
                Panel(
                    "Scans of the store",
                    "suffix:per minute",
                    [
                        Target(
                            f"60 * sum by (namespace) (rate(nashdex_exporter_scans_total{{{NAMESPACE}}}[{INTERVAL}]))",
                            "{{namespace}} completed",
                        ),
                        Target(
                            "60 * sum by (namespace) "
                            f"(rate(nashdex_exporter_failed_scans_total{{{NAMESPACE}}}[{INTERVAL}]))",
                            "{{namespace}} failed",
                        ),
                    ],
                ),
            ],
        ),
        Row(
            "GPUs",
            [
                live("Peak GPU memory", "nashdex_gpu_memory_bytes", "bytes"),
                Panel(
                    "GPU utilisation",
                    "percent",
                    [Target("avg by (gpu) (DCGM_FI_DEV_GPU_UTIL)", "GPU {{gpu}}")],
                    description="DCGM_FI_DEV_GPU_UTIL of NVIDIA's DCGM exporter: share of time in which a kernel ran.",
                ),
            ],
        ),
        Row(
            "Cost, at the prices above",
            [
                Panel(
                    "Per battle, now",
                    "currencyUSD",
                    [
                        Target(
                            "${pod_hour_price} / 3600"
                            f" * count by (namespace, run, component) (nashdex_battles_total{{{RUN}}})"
                            " / (sum by (namespace, run, component)"
                            f" (rate(nashdex_battles_total{{{RUN}}}[{INTERVAL}])) > 0)",
                            "{{namespace}}/{{run}} {{component}}",
                        )
                    ],
                    description="Active pods times the price of a pod's hour, over battles per hour.",
                ),
                Panel(
                    "The newest iteration",
                    "currencyUSD",
                    [Target(_price("iteration"), SERIES)],
                    description=f"{_PRICED} of the newest iteration.",
                ),
                Panel(
                    "The whole run so far",
                    "currencyUSD",
                    [Target(_price("run"), SERIES)],
                    description=f"{_PRICED} of all iterations. {_NOT_PRICED}",
                ),
            ],
        ),
        Row(
            "What it bought",
            [
                Panel(
                    "100 Elo",
                    "currencyUSD",
                    [
                        Target(
                            f"100 * {_price('run')} / max by (namespace, run) (nashdex_gained_elo{{{FACT}}})",
                            SERIES,
                        )
                    ],
                    description="The cost of the whole run for each 100 Elo of its progress. Empty without progress.",
                ),
                Panel(
                    ".01 of exploitability",
                    "currencyUSD",
                    [
                        Target(
                            f"0.01 * {_price('run')}"
                            f" / max by (namespace, run) (nashdex_lowered_exploitability{{{FACT}}})",
                            SERIES,
                        )
                    ],
                    description="The cost of the whole run for each .01 that exploitability fell, exact where it is "
                    "known, else the best-response gap. Empty where it did not fall.",
                ),
                fact(
                    "Bottleneck: each step's share of the wall time",
                    "nashdex_iteration_step_share_ratio",
                    "percentunit",
                    "step",
                ),
            ],
        ),
    ],
    prices=[
        Price("pod_hour_price", "Price of a pod's hour (USD)", "0.05"),
        Price("gpu_hour_price", "Price of a GPU's hour (USD)", "2.5"),
    ],
)
