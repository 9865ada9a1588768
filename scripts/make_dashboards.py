"""Write Grafana's dashboards, helm/nashdex/files/dashboards: ``make dashboards``.

A dashboard is a list of rows, a row a list of panels, a panel a title, a unit and expressions in PromQL. To change one,
change it here and run this; a test fails while the files are not current, and another asks every expression's metrics
and labels of the catalogue. A panel's description is by default what the catalogue says of its metrics.

``$run`` is the run that is looked at, or several. What reports say of iterations comes from the exporter alone
(``component="exporter"``): the pods that computed it are gone.
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nashdex.telemetry.metrics import CATALOGUE

FOLDER = Path(__file__).parents[1] / "helm" / "nashdex" / "files" / "dashboards"

RUN = 'run=~"$run"'
FACT = f'component="exporter", {RUN}'
"""What the newest report of the run says."""
PER_SECOND = "$__rate_interval"
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH, ROW_HEIGHT, STAT_HEIGHT = 24, 8, 4
HELP = {metric.name: metric.help for metric in CATALOGUE}

NATS, SCORE, BATTLES_A_SECOND, DECISIONS_A_SECOND = "suffix:nats", "none", "suffix:battles/s", "suffix:decisions/s"


@dataclass(frozen=True)
class Target:
    """One expression; ``legend`` names its series by their labels."""

    expression: str
    legend: str


@dataclass(frozen=True)
class Panel:
    """One picture. ``unit`` is Grafana's name of it, or ``suffix:text``."""

    title: str
    unit: str
    targets: Sequence[Target]
    kind: str = "timeseries"
    description: str = ""
    logarithmic: bool = False

    @property
    def height(self) -> int:
        """In units of Grafana's grid."""
        return STAT_HEIGHT if self.kind == "stat" else ROW_HEIGHT

    def what_it_shows(self) -> str:
        """Return the panel's own description, or that of its metrics."""
        names = re.findall(r"nashdex_\w+", " ".join(target.expression for target in self.targets))
        stems = [re.sub(r"_(bucket|sum|count)$", "", name) if name not in HELP else name for name in names]
        return self.description or "\n\n".join(HELP[name] for name in dict.fromkeys(stems))


@dataclass(frozen=True)
class Row:
    """Panels side by side, each as wide as the others."""

    title: str
    panels: Sequence[Panel]


@dataclass(frozen=True)
class Dashboard:
    """One page. Its uid never changes: links hold it."""

    uid: str
    title: str
    description: str
    rows: Sequence[Row]
    variables: Sequence[dict[str, Any]] = ()


def live(title: str, metric: str, unit: str, by: str = "", *, logarithmic: bool = False, scale: str = "max") -> Panel:
    """Return a panel of a gauge that pods tell while they run."""
    labels = f"run, {by}" if by else "run"
    legend = "{{run}} " + " ".join(f"{{{{{label}}}}}" for label in by.split(", ") if label)
    expression = f"{scale} by ({labels}) ({metric}{{{RUN}}})"
    return Panel(title, unit, [Target(expression, legend.strip())], logarithmic=logarithmic)


def fact(title: str, metric: str, unit: str, by: str = "", *, kind: str = "timeseries", matching: str = "") -> Panel:
    """Return a panel of what the newest iteration came to."""
    labels = f"run, {by}" if by else "run"
    legend = "{{run}} " + " ".join(f"{{{{{label}}}}}" for label in by.split(", ") if label)
    selector = f"{FACT}, {matching}" if matching else FACT
    return Panel(title, unit, [Target(f"max by ({labels}) ({metric}{{{selector}}})", legend.strip())], kind)


def rate(title: str, metric: str, unit: str, by: str = "run", matching: str = RUN) -> Panel:
    """Return a panel of how fast a counter grows."""
    legend = " ".join(f"{{{{{label}}}}}" for label in by.split(", "))
    return Panel(title, unit, [Target(f"sum by ({by}) (rate({metric}{{{matching}}}[{PER_SECOND}]))", legend)])


def new_ones(title: str, metric: str, by: str = "run", matching: str = RUN) -> Panel:
    """Return a panel of how many were counted within each interval."""
    legend = " ".join(f"{{{{{label}}}}}" for label in by.split(", "))
    return Panel(title, "none", [Target(f"sum by ({by}) (increase({metric}{{{matching}}}[{PER_SECOND}]))", legend)])


def quantiles(title: str, metric: str, by: str = "", matching: str = RUN) -> Panel:
    """Return a panel of a histogram's median and 99 % quantile, in seconds."""
    labels, legend = (f"le, {by}", f"{{{{{by}}}}} ") if by else ("le", "")
    rates = f"sum by ({labels}) (rate({metric}_bucket{{{matching}}}[{PER_SECOND}]))"
    return Panel(
        title,
        "s",
        [
            Target(f"histogram_quantile({q}, {rates})", f"{legend}{name}")
            for q, name in ((0.5, "median"), (0.99, "99 %"))
        ],
        logarithmic=True,
    )


def exploitability(estimator: str, title: str, description: str) -> Panel:
    """Return a panel of one estimator's value within its interval; estimators are never mixed."""
    return Panel(
        title,
        SCORE,
        [
            Target(
                f'max by (run, bound) (nashdex_exploitability{{{FACT}, estimator="{estimator}"}})', "{{run}} {{bound}}"
            )
        ],
        description=description,
    )


GAP = exploitability(
    "best_response_gap",
    "Exploitability: best response gap",
    "What a best response trained against the meta-strategy wins above ½ on fresh battles, with its 95 % interval: a "
    "lower bound of the true value.",
)
PROGRESS = fact("Progress: Elo above the first network", "nashdex_progress_elo", "suffix:Elo", "bound")
POD_HOUR_PRICE, GPU_HOUR_PRICE = "${pod_hour_price}", "${gpu_hour_price}"

RUN_OVERVIEW = Dashboard(
    "nashdex-run",
    "Nashdex / Run overview",
    "How far a run is, how good its mixture is, and whether anything is wrong.",
    [
        Row(
            "Where it is",
            [
                fact("Iterations reported", "nashdex_iterations", "none", kind="stat"),
                fact("Iterations planned", "nashdex_planned_iterations", "none", kind="stat"),
                fact("Policies", "nashdex_population_size", "none", kind="stat"),
                fact("Policies played", "nashdex_meta_strategy_support_size", "none", kind="stat"),
                Panel(
                    "Since anything advanced",
                    "s",
                    [
                        Target(
                            "time() - max by (run) (last_over_time(nashdex_last_advance_timestamp_seconds{"
                            f'component!="exporter", {RUN}}}[1d]))',
                            "{{run}}",
                        )
                    ],
                    "stat",
                ),
            ],
        ),
        Row("How good it is", [GAP, PROGRESS]),
        Row(
            "What it does now",
            [
                live(
                    "Progress of steps, slowest shard",
                    "nashdex_step_progress_ratio",
                    "percentunit",
                    "step",
                    scale="min",
                ),
                rate("Battles", "nashdex_battles_total", BATTLES_A_SECOND, "run, component"),
                rate("Updates", "nashdex_updates_total", "suffix:updates/s"),
            ],
        ),
        Row(
            "What is wrong",
            [
                Panel(
                    "Alerts",
                    "none",
                    [
                        Target(
                            f'count by (alertname, alertstate, run) (ALERTS{{alertname=~"Nashdex.*", {RUN}}})',
                            "{{alertname}} {{run}} ({{alertstate}})",
                        )
                    ],
                    description="Alerts of nashdex that are pending or firing: docs/runbook.md says what to do.",
                ),
                new_ones("Failed battles", "nashdex_failed_battles_total", "run, cause"),
                new_ones("Times a checkpoint was restored", "nashdex_rollbacks_total"),
            ],
        ),
    ],
)

TRAINING = Dashboard(
    "nashdex-training",
    "Nashdex / Training stability",
    "Whether the learner learns, and stays near enough to where it came from.",
    [
        Row(
            "Choice",
            [
                live("Entropy of the policy", "nashdex_policy_entropy_nats", NATS),
                live("Entropy coefficient", "nashdex_entropy_coefficient", "none"),
                live("Explained variance", "nashdex_explained_variance_ratio", "percentunit"),
            ],
        ),
        Row(
            "Distance",
            [
                live("KL from the data's policy", "nashdex_kl_behaviour_nats", NATS),
                live("KL from the reference", "nashdex_kl_reference_nats", NATS, "reference"),
                live("KL from the iteration's start", "nashdex_kl_iteration_start_nats", NATS),
            ],
        ),
        Row(
            "Damping",
            [
                live("β, coefficient of the KL from the reference", "nashdex_beta_reference", "none"),
                live("β: the controller's part", "nashdex_beta_multiplier", "none"),
                Panel(
                    "β: the schedule's part",
                    "none",
                    [
                        Target(
                            f"max by (run) (nashdex_beta_reference{{{RUN}}} / nashdex_beta_multiplier{{{RUN}}})",
                            "{{run}}",
                        )
                    ],
                    description="β over what the controller multiplied it by: the schedule with its warm-up, within "
                    "floor and cap.",
                ),
                live("Learning rate", "nashdex_learning_rate", "sci", logarithmic=True),
            ],
        ),
        Row(
            "Steps",
            [
                live("Share of clipped ratios", "nashdex_clip_ratio", "percentunit"),
                live("Norm of the gradient", "nashdex_gradient_norm", "none", logarithmic=True),
                live("Loss of the policy", "nashdex_policy_loss", "none"),
                live("Loss of the critic", "nashdex_value_loss", "none"),
            ],
        ),
        Row(
            "Data",
            [
                live("Advantages: mean", "nashdex_advantage_mean", "none"),
                live("Advantages: standard deviation", "nashdex_advantage_standard_deviation", "none"),
                live("Advantages: share clipped", "nashdex_advantage_clip_ratio", "percentunit"),
                live("Staleness", "nashdex_staleness_updates", "suffix:updates"),
            ],
        ),
        Row(
            "The guard",
            [
                new_ones("Times a checkpoint was restored", "nashdex_rollbacks_total"),
                new_ones("Updates that were not finite", "nashdex_nonfinite_updates_total"),
                fact("Restored in the newest iteration", "nashdex_iteration_rollbacks", "none"),
            ],
        ),
        Row(
            "Cloning, in iteration 0",
            [
                live("Cross-entropy to the teacher", "nashdex_cloning_loss_nats", NATS),
                live("The teacher's actions hit", "nashdex_cloning_accuracy_ratio", "percentunit"),
                rate("Updates", "nashdex_updates_total", "suffix:updates/s"),
            ],
        ),
    ],
)

METAGAME = Dashboard(
    "nashdex-metagame",
    "Nashdex / Metagame",
    "What the newest solved iteration says of the empirical game. Estimators of exploitability are never mixed.",
    [
        Row(
            "Exploitability, by estimator",
            [
                GAP,
                exploitability(
                    "restricted",
                    "Exploitability: restricted to the population",
                    "What the best member wins above ½ against the meta-strategy: 0 by construction for the Nash "
                    "mixture of the same payoffs.",
                ),
                exploitability(
                    "exact",
                    "Exploitability: exact, of tabular games",
                    "NashConv over the number of players, by best responses on the whole tree, in the game's units.",
                ),
                exploitability(
                    "legacy_dominance_gap",
                    "Legacy dominance gap",
                    "How badly the weakest member loses. No exploitability: it stays high for ever once a weak policy "
                    "is in the population.",
                ),
            ],
        ),
        Row(
            "Improvement",
            [
                fact(
                    "Iterations since exploitability was lowest",
                    "nashdex_iterations_since_lowest_exploitability",
                    "none",
                    "estimator",
                ),
                PROGRESS,
                fact("NashConv, of tabular games", "nashdex_nash_conv", "none"),
            ],
        ),
        Row(
            "The meta-strategy",
            [
                fact("Entropy of the meta-strategy", "nashdex_meta_strategy_entropy_nats", NATS),
                Panel(
                    "Population, and who of it is played",
                    "none",
                    [
                        Target(f"max by (run) (nashdex_population_size{{{FACT}}})", "{{run}} in the population"),
                        Target(f"max by (run) (nashdex_meta_strategy_support_size{{{FACT}}})", "{{run}} played"),
                    ],
                ),
                fact("Stability of the support", "nashdex_support_stability_ratio", "percentunit"),
            ],
        ),
        Row(
            "The payoffs",
            [
                Panel(
                    "Intransitivity",
                    "none",
                    [
                        Target(f"max by (run) (nashdex_intransitivity{{{FACT}}})", "{{run}}"),
                        Target(f"max by (run) (nashdex_intransitivity_by_chance{{{FACT}}})", "{{run}} by chance"),
                    ],
                ),
                fact("Pairs that have played", "nashdex_payoff_coverage_ratio", "percentunit"),
                fact("Widest interval of a payoff", "nashdex_payoff_interval_width_ratio", "none"),
            ],
        ),
    ],
)

FAILED = f"sum by (run) (increase(nashdex_failed_battles_total{{{RUN}}}[{PER_SECOND}]))"
PLAYED = f"sum by (run) (increase(nashdex_battles_total{{{RUN}}}[{PER_SECOND}]))"

COLLECTION = Dashboard(
    "nashdex-collection",
    "Nashdex / Collection",
    "How fast battles are played, in collect, gate and evaluate, and which of them fail.",
    [
        Row(
            "Now",
            [
                rate("Battles", "nashdex_battles_total", BATTLES_A_SECOND, "run, component"),
                rate("Decisions", "nashdex_decisions_total", DECISIONS_A_SECOND, "run, component"),
                Panel(
                    "Pods at work",
                    "none",
                    [Target(f"count by (run, step) (nashdex_step_progress_ratio{{{RUN}}})", "{{run}} {{step}}")],
                    description="Pods that tell of a shard's progress.",
                ),
            ],
        ),
        Row(
            "Gateways",
            [
                quantiles("Latency of a batch", "nashdex_gateway_seconds"),
                new_ones("Gateways replaced for their memory", "nashdex_gateway_recycles_total"),
                new_ones("Choices refused", "nashdex_rejected_choices_total"),
            ],
        ),
        Row(
            "Failures",
            [
                new_ones("Failed battles, by cause", "nashdex_failed_battles_total", "run, cause"),
                Panel(
                    "Share of battles that fail",
                    "percentunit",
                    [Target(f"{FAILED} / ({FAILED} + {PLAYED})", "{{run}}")],
                    description="Of all tries at a battle. Each that fails is played again with its own seed.",
                ),
                fact("Failed in the newest iteration", "nashdex_iteration_failed_battles", "none", "step"),
            ],
        ),
        Row(
            "The newest iteration",
            [
                fact("Battles", "nashdex_iteration_battles", "none", "step"),
                Panel(
                    "Decisions a second",
                    DECISIONS_A_SECOND,
                    [
                        Target(
                            f"max by (run, step) (nashdex_iteration_decisions{{{FACT}}})"
                            f" / (max by (run, step) (nashdex_iteration_step_seconds{{{FACT}}}) > 0)",
                            "{{run}} {{step}}",
                        )
                    ],
                    description="Of all shards, over the slowest one's wall time.",
                ),
                Panel(
                    "CPU time of a battle",
                    "s",
                    [
                        Target(
                            f"max by (run, step) (nashdex_iteration_cpu_seconds{{{FACT}}})"
                            f" / (max by (run, step) (nashdex_iteration_battles{{{FACT}}}) > 0)",
                            "{{run}} {{step}}",
                        )
                    ],
                    description="Of the pods' own processes; a gateway that is a sidecar counts its own.",
                ),
            ],
        ),
    ],
)

OPERATIONS = Dashboard(
    "nashdex-operations",
    "Nashdex / Operations",
    "Steps, workflows, the store, GPUs and what it costs. Argo's own metrics come from its workflow controller, those "
    "of GPUs from NVIDIA's DCGM exporter, where they are scraped.",
    [
        Row(
            "Steps",
            [
                live("Wall time of the steps under way", "nashdex_step_seconds", "s", "step"),
                fact("Wall time in the newest iteration", "nashdex_iteration_step_seconds", "s", "step"),
                live("Tries at a shard that failed before", "nashdex_step_retries", "none", "step"),
                Panel(
                    "Since a step advanced",
                    "s",
                    [
                        Target(
                            "time() - max by (run, component) (nashdex_last_advance_timestamp_seconds{"
                            f'component!="exporter", {RUN}}})',
                            "{{run}} {{component}}",
                        )
                    ],
                ),
            ],
        ),
        Row(
            "Workflows, of all the cluster",
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
                    description="Argo's argo_workflows_pods_gauge: Pending pods wait for a node.",
                ),
                Panel(
                    "Pods that ended, by phase",
                    "none",
                    [
                        Target(
                            f"sum by (phase) (increase(argo_workflows_pods_total_count[{PER_SECOND}]))",
                            "{{phase}}",
                        )
                    ],
                    description="Argo's argo_workflows_pods_total_count: a pod that failed is a try that failed.",
                ),
                Panel(
                    "The controller's queues",
                    "none",
                    [Target("sum by (queue_name) (argo_workflows_queue_depth_gauge)", "{{queue_name}}")],
                    description="Argo's argo_workflows_queue_depth_gauge: work that the controller has not looked at.",
                ),
            ],
        ),
        Row(
            "The store",
            [
                quantiles("Latency", "nashdex_store_operation_seconds", "operation"),
                rate("Bytes", "nashdex_store_bytes_total", "Bps", "run, operation"),
                new_ones("Errors", "nashdex_store_errors_total", "run, operation"),
            ],
        ),
        Row(
            "The exporter",
            [
                Panel(
                    "Runs",
                    "none",
                    [
                        Target("sum (nashdex_exporter_runs)", "told of"),
                        Target("sum (nashdex_exporter_unreadable_runs)", "unreadable"),
                    ],
                ),
                Panel(
                    "Age of what it tells",
                    "s",
                    [
                        Target(
                            "time() - max by (namespace) (nashdex_exporter_last_scan_timestamp_seconds)",
                            "{{namespace}}",
                        )
                    ],
                ),
                Panel(
                    "Time to read the store",
                    "s",
                    [Target("max by (namespace) (nashdex_exporter_scan_seconds)", "{{namespace}}")],
                ),
                Panel(
                    "Readings of the store",
                    "suffix:a minute",
                    [
                        Target(f"60 * sum (rate(nashdex_exporter_scans_total[{PER_SECOND}]))", "done"),
                        Target(f"60 * sum (rate(nashdex_exporter_failed_scans_total[{PER_SECOND}]))", "failed"),
                    ],
                ),
            ],
        ),
        Row(
            "GPUs",
            [
                live("GPU memory, at most", "nashdex_gpu_memory_bytes", "bytes"),
                Panel(
                    "GPU use",
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
                    "A battle, now",
                    "currencyUSD",
                    [
                        Target(
                            f"{POD_HOUR_PRICE} / 3600 * count by (run, component) (nashdex_battles_total{{{RUN}}})"
                            f" / (sum by (run, component) (rate(nashdex_battles_total{{{RUN}}}[{PER_SECOND}])) > 0)",
                            "{{run}} {{component}}",
                        )
                    ],
                    description="Pods at work times the price of a pod's hour, over battles an hour.",
                ),
                Panel(
                    "The newest iteration's training",
                    "currencyUSD",
                    [
                        Target(
                            f"{GPU_HOUR_PRICE} / 3600"
                            f' * max by (run) (nashdex_iteration_step_seconds{{{FACT}, step="train"}})',
                            "{{run}}",
                        )
                    ],
                    description="Wall time of the slowest seed times the price of a GPU's hour.",
                ),
            ],
        ),
    ],
    variables=[
        {
            "type": "textbox",
            "name": name,
            "label": label,
            "query": price,
            "current": {"text": price, "value": price},
            "options": [{"selected": True, "text": price, "value": price}],
        }
        for name, label, price in (
            ("pod_hour_price", "Price of a pod's hour (USD)", "0.05"),
            ("gpu_hour_price", "Price of a GPU's hour (USD)", "2.5"),
        )
    ],
)

DASHBOARDS = {
    "run-overview": RUN_OVERVIEW,
    "training-stability": TRAINING,
    "metagame": METAGAME,
    "collection": COLLECTION,
    "operations": OPERATIONS,
}


def placed(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Yield Grafana's panels, each row below the one before."""
    number, top = 0, 0
    for row in rows:
        number += 1
        yield {
            "id": number,
            "type": "row",
            "title": row.title,
            "collapsed": False,
            "gridPos": {"x": 0, "y": top, "w": WIDTH, "h": 1},
            "panels": [],
        }
        top += 1
        edges = [round(WIDTH * index / len(row.panels)) for index in range(len(row.panels) + 1)]
        for panel, left, right in zip(row.panels, edges, edges[1:], strict=False):
            number += 1
            place = {"x": left, "y": top, "w": right - left, "h": panel.height}
            yield {"id": number, "gridPos": place, **grafana_panel(panel)}
        top += max(panel.height for panel in row.panels)


def grafana_panel(panel: Panel) -> dict[str, Any]:
    """Return a panel as Grafana reads it, but for its place."""
    head = {"type": panel.kind, "title": panel.title, "description": panel.what_it_shows()}
    drawing: dict[str, Any] = {}
    options: dict[str, Any] = {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "none"}
    if panel.kind == "timeseries":
        scale = {"type": "log", "log": 10} if panel.logarithmic else {"type": "linear"}
        drawing = {
            "lineWidth": 1,
            "fillOpacity": 0,
            "showPoints": "auto",
            "spanNulls": False,
            "scaleDistribution": scale,
        }
        options = {
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
            "tooltip": {"mode": "multi", "sort": "desc"},
        }
    return {
        **head,
        "datasource": DATASOURCE,
        "fieldConfig": {
            "defaults": {"unit": panel.unit, "custom": drawing},
            "overrides": [],
        },
        "options": options,
        "targets": [
            {
                "refId": "ABCDEFGH"[index],
                "datasource": DATASOURCE,
                "expr": target.expression,
                "legendFormat": target.legend,
                "range": True,
                "editorMode": "code",
            }
            for index, target in enumerate(panel.targets)
        ],
    }


def grafana_dashboard(dashboard: Dashboard) -> dict[str, Any]:
    """Return a dashboard as Grafana 11 reads it."""
    every_run = {"selected": True, "text": "All", "value": "$__all"}
    return {
        "uid": dashboard.uid,
        "title": dashboard.title,
        "description": dashboard.description,
        "tags": ["nashdex"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "annotations": {"list": []},
        "links": [
            {
                "type": "dashboards",
                "tags": ["nashdex"],
                "title": "Nashdex",
                "asDropdown": True,
                "includeVars": True,
                "keepTime": True,
            }
        ],
        "templating": {
            "list": [
                {
                    "type": "datasource",
                    "name": "datasource",
                    "label": "Prometheus",
                    "query": "prometheus",
                    "refresh": 1,
                    "current": {},
                    "options": [],
                },
                {
                    "type": "query",
                    "name": "run",
                    "label": "Run",
                    "datasource": DATASOURCE,
                    "query": {
                        "query": 'label_values({__name__=~"nashdex_iterations|nashdex_step_progress_ratio"}, run)',
                        "refId": "run",
                    },
                    "refresh": 2,
                    "sort": 2,
                    "multi": True,
                    "includeAll": True,
                    "allValue": ".*",
                    "current": every_run,
                    "options": [],
                },
                *dashboard.variables,
            ]
        },
        "panels": list(placed(dashboard.rows)),
    }


def files() -> dict[str, str]:
    """Return the text of every dashboard's file, by its name."""
    return {
        f"{name}.json": json.dumps(grafana_dashboard(dashboard), indent=1, ensure_ascii=False) + "\n"
        for name, dashboard in DASHBOARDS.items()
    }


def main() -> None:
    """Write the files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (FOLDER / name).write_text(text)
        sys.stdout.write(f"{(FOLDER / name).relative_to(Path.cwd())}\n")


if __name__ == "__main__":
    main()
