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
    fact,
    increase,
    quantiles,
    rate,
)

FAILED = f"sum by (run) (increase(nashdex_failed_battles_total{{{RUN}}}[{INTERVAL}]))"
PLAYED = f"sum by (run) (increase(nashdex_battles_total{{{RUN}}}[{INTERVAL}]))"

COLLECTION = Dashboard(
    "nashdex-collection",
    "Nashdex / Collection",
    "How fast battles are played in collect, gate and evaluate, and which of them fail.",
    [
        Row(
            "Throughput",
            [
                rate("Battles", "nashdex_battles_total", BATTLES_PER_SECOND, "run, component"),
                rate("Decisions", "nashdex_decisions_total", DECISIONS_PER_SECOND, "run, component"),
                Panel(
                    "Active pods",
                    "none",
                    [Target(f"count by (run, step) (nashdex_step_progress_ratio{{{RUN}}})", "{{run}} {{step}}")],
                    description="Pods that report progress of a shard.",
                ),
            ],
        ),
        Row(
            "Gateways",
            [
                quantiles("Latency of a batch", "nashdex_gateway_seconds", "s"),
                increase("Gateways recycled", "nashdex_gateway_recycles_total"),
                increase("Rejected choices", "nashdex_rejected_choices_total"),
            ],
        ),
        Row(
            "Failures",
            [
                increase("Failed battles, by cause", "nashdex_failed_battles_total", "run, cause"),
                Panel(
                    "Share of battles that fail",
                    "percentunit",
                    [Target(f"{FAILED} / ({FAILED} + {PLAYED})", "{{run}}")],
                    description="Share of all attempts at a battle. A failed battle is replayed with its own seed.",
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
                            f"max by (run, step) (nashdex_iteration_decisions{{{FACT}}})"
                            f" / (max by (run, step) (nashdex_iteration_step_seconds{{{FACT}}}) > 0)",
                            "{{run}} {{step}}",
                        )
                    ],
                    description="Decisions of all shards over the wall time of the slowest shard.",
                ),
                Panel(
                    "CPU time per battle",
                    "s",
                    [
                        Target(
                            f"max by (run, step) (nashdex_iteration_cpu_seconds{{{FACT}}})"
                            f" / (max by (run, step) (nashdex_iteration_battles{{{FACT}}}) > 0)",
                            "{{run}} {{step}}",
                        )
                    ],
                    description="CPU time of the pods' own processes; that of gateways in sidecars is not included.",
                ),
            ],
        ),
    ],
)
