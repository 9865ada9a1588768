"""The first dashboard to open: how far a run is, how strong its mixture is, and what is wrong."""

from dashboards.panels import (
    BATTLES_PER_SECOND,
    FACT,
    RUN,
    SERIES,
    Dashboard,
    Panel,
    Row,
    Target,
    Thresholds,
    fact,
    increase,
    rate,
)
from dashboards.shared import BEST_RESPONSE_GAP, PROGRESS

RUN_OVERVIEW = Dashboard(
    "nashdex-run",
    "Nashdex / Run overview",
    "How far a run is, how strong its mixture is, and whether anything is wrong.",
    [
        Row(
            "Status",
            [
                Panel(
                    "Phase",
                    "none",
                    [
                        Target(
                            f"max by (namespace, run, phase) (nashdex_run_phase{{{FACT}}}) == 1",
                            f"{SERIES} {{{{phase}}}}",
                        )
                    ],
                    "stat",
                ),
                fact("Iterations reported", "nashdex_iterations", "none", kind="stat"),
                fact("Iterations planned", "nashdex_planned_iterations", "none", kind="stat"),
                fact("Policies", "nashdex_population_size", "none", kind="stat"),
                fact("Policies in the support", "nashdex_meta_strategy_support_size", "none", kind="stat"),
                Panel(
                    "Time since last progress",
                    "s",
                    [
                        Target(
                            "time() - max by (namespace, run) (last_over_time(nashdex_last_advance_timestamp_seconds{"
                            f'component!="exporter", {RUN}}}[1d]))',
                            "{{namespace}}/{{run}}",
                        )
                    ],
                    "stat",
                    "Time since any pod of the run made progress.",
                    thresholds=Thresholds(above=1800),
                ),
            ],
        ),
        Row("Strength", [BEST_RESPONSE_GAP, PROGRESS]),
        Row(
            "Activity",
            [
                Panel(
                    "Progress of steps, slowest shard",
                    "percentunit",
                    [
                        Target(
                            # An actor has no share of work: it plays what the trainer asks for.
                            f'min by (namespace, run, step) (nashdex_step_progress_ratio{{step!="act", {RUN}}})',
                            f"{SERIES} {{{{step}}}}",
                        )
                    ],
                    description="Share of the shard's work that is completed. Actors have no share.",
                ),
                rate("Battles", "nashdex_battles_total", BATTLES_PER_SECOND, "namespace, run, component"),
                rate("Updates", "nashdex_updates_total", "suffix:updates/s"),
            ],
        ),
        Row(
            "Problems",
            [
                Panel(
                    "Alerts",
                    "none",
                    [
                        Target(
                            "count by (namespace, alertname, alertstate, run)"
                            f' (ALERTS{{alertname=~"Nashdex.*", {RUN}}})',
                            "{{alertname}} {{namespace}}/{{run}} ({{alertstate}})",
                        )
                    ],
                    description="Pending and firing alerts of nashdex. The runbook says what to do about each.",
                ),
                increase("Failed battles", "nashdex_failed_battles_total", "namespace, run, cause"),
                increase("Rollbacks", "nashdex_rollbacks_total"),
            ],
        ),
    ],
)
