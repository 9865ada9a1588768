"""How fast battles are played, and which of them fail."""

from dashboards.panels import (
    BATTLES_PER_SECOND,
    DECISIONS_PER_SECOND,
    FACT,
    INTERVAL,
    RUN,
    Dashboard,
    Panel,
    Row,
    Target,
    Thresholds,
    fact,
    increase,
    quantiles,
    rate,
)

FAILED = f"sum by (namespace, run) (increase(nashdex_failed_battles_total{{{RUN}}}[{INTERVAL}]))"
PLAYED = f"sum by (namespace, run) (increase(nashdex_battles_total{{{RUN}}}[{INTERVAL}]))"

COLLECTION = Dashboard(
    "nashdex-collection",
    "Nashdex / Collection",
    "How fast battles are played in collect, gate and evaluate, and which of them fail.",
    [
        Row(
            "Throughput",
            [
                rate("Battles", "nashdex_battles_total", BATTLES_PER_SECOND, "namespace, run, component"),
                rate("Decisions", "nashdex_decisions_total", DECISIONS_PER_SECOND, "namespace, run, component"),
                Panel(
                    "Active pods",
                    "none",
                    [
                        Target(
                            f"count by (namespace, run, step) (nashdex_step_progress_ratio{{{RUN}}})",
                            "{{namespace}}/{{run}} {{step}}",
                        )
                    ],
                    description="Pods that report progress of a shard.",
                ),
            ],
        ),
        Row(
            "Actors and learner",
            [
                rate("Time that learners wait", "nashdex_learner_waiting_seconds_total", "percentunit"),
                rate(
                    "Time that an actor waits",
                    "nashdex_actor_waiting_seconds_total",
                    "percentunit",
                    "namespace, run, pod",
                ),
                rate("Chunks", "nashdex_chunks_total", "suffix:chunks/s"),
                increase("Chunks dropped", "nashdex_dropped_chunks_total", "namespace, run, cause"),
            ],
        ),
        Row(
            "Gateways",
            [
                quantiles("Latency of a batch", "nashdex_gateway_seconds", "s"),
                increase("Gateways recycled", "nashdex_gateway_recycles_total"),
                increase("Rejected choices", "nashdex_rejected_choices_total"),
                increase("Memories leaked by policies", "nashdex_leaked_states_total"),
            ],
        ),
        Row(
            "Failures",
            [
                increase("Failed battles, by cause", "nashdex_failed_battles_total", "namespace, run, cause"),
                Panel(
                    "Share of battles that fail",
                    "percentunit",
                    [Target(f"{FAILED} / ({FAILED} + {PLAYED})", "{{namespace}}/{{run}}")],
                    description="Share of all attempts at a battle. A failed battle is replayed with its own seed.",
                    thresholds=Thresholds(above=0.05),
                ),
                fact("Failed battles in the newest iteration", "nashdex_iteration_failed_battles", "none", "step"),
            ],
        ),
        Row(
            "Newest iteration",
            [
                fact("Battles", "nashdex_iteration_battles", "none", "step"),
                Panel(
                    "Decisions per second",
                    DECISIONS_PER_SECOND,
                    [
                        Target(
                            f"max by (namespace, run, step) (nashdex_iteration_decisions{{{FACT}}})"
                            f" / (max by (namespace, run, step) (nashdex_iteration_step_seconds{{{FACT}}}) > 0)",
                            "{{namespace}}/{{run}} {{step}}",
                        )
                    ],
                    description="Decisions of all shards over the wall time of the slowest shard.",
                ),
                Panel(
                    "CPU time per battle",
                    "s",
                    [
                        Target(
                            f"max by (namespace, run, step) (nashdex_iteration_cpu_seconds{{{FACT}}})"
                            f" / (max by (namespace, run, step) (nashdex_iteration_battles{{{FACT}}}) > 0)",
                            "{{namespace}}/{{run}} {{step}}",
                        )
                    ],
                    description="CPU time of the pods' own processes, without gateways in sidecars.",
                ),
            ],
        ),
    ],
)
