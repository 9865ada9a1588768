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

OPERATIONS = Dashboard(
    "nashdex-operations",
    "Nashdex / Operations",
    "Steps, workflows, the store, GPUs and costs. Argo's metrics come from its workflow controller and those of GPUs "
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
                    "Training of the newest iteration",
                    "currencyUSD",
                    [
                        Target(
                            f"${{gpu_hour_price}} / 3600"
                            f' * max by (namespace, run) (nashdex_iteration_step_seconds{{{FACT}, step="train"}})',
                            "{{namespace}}/{{run}}",
                        )
                    ],
                    description="Wall time of the slowest seed times the price of a GPU's hour.",
                ),
                Panel(
                    "Of the whole run so far",
                    "currencyUSD",
                    [
                        Target(
                            f"${{pod_hour_price}} / 3600 * sum by (namespace, run) (nashdex_run_cpu_seconds{{{FACT}}})"
                            f" + ${{gpu_hour_price}} / 3600"
                            f" * sum by (namespace, run) (nashdex_run_training_seconds{{{FACT}}})",
                            SERIES,
                        )
                    ],
                    description="CPU time of all battles at the price of a pod's hour, and wall time of every seed's "
                    "training at the price of a GPU's hour, over all iterations. CPU time of gateways in sidecars and "
                    "of waiting pods is not included.",
                ),
            ],
        ),
    ],
    prices=[
        Price("pod_hour_price", "Price of a pod's hour (USD)", "0.05"),
        Price("gpu_hour_price", "Price of a GPU's hour (USD)", "2.5"),
    ],
)
