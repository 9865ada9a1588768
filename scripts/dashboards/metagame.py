"""The empirical game of the newest solved iteration."""

from dashboards.panels import FACT, NATS, Dashboard, Panel, Row, Target, alerting, exploitability, fact
from dashboards.shared import BEST_RESPONSE_GAP, PROGRESS

METAGAME = Dashboard(
    "nashdex-metagame",
    "Nashdex / Metagame",
    "The empirical game of the newest solved iteration. Estimators of exploitability are never mixed.",
    [
        Row(
            "Exploitability, by estimator",
            [
                BEST_RESPONSE_GAP,
                exploitability(
                    "restricted",
                    "Exploitability: restricted to the population",
                    "How much the best member of the population scores above ½ against the meta-strategy. 0 by "
                    "construction for the Nash mixture of the same payoffs.",
                ),
                exploitability(
                    "exact",
                    "Exploitability: exact, of tabular games",
                    "NashConv over the number of players, by best responses over the whole game tree, in the game's "
                    "units.",
                ),
                exploitability(
                    "legacy_dominance_gap",
                    "Legacy dominance gap",
                    "How badly the weakest member loses. Not an exploitability: it stays high once a weak policy is in "
                    "the population.",
                ),
            ],
        ),
        Row(
            "Improvement",
            [
                alerting(
                    fact(
                        "Iterations since exploitability was lowest",
                        "nashdex_iterations_since_lowest_exploitability",
                        "none",
                        "estimator",
                    ),
                    above=5,
                ),
                PROGRESS,
                fact("NashConv, of tabular games", "nashdex_nash_conv", "none"),
            ],
        ),
        Row(
            "Meta-strategy",
            [
                fact("Entropy of the meta-strategy", "nashdex_meta_strategy_entropy_nats", NATS),
                Panel(
                    "Population and support",
                    "none",
                    [
                        Target(
                            f"max by (namespace, run) (nashdex_population_size{{{FACT}}})",
                            "{{namespace}}/{{run}} population",
                        ),
                        Target(
                            f"max by (namespace, run) (nashdex_meta_strategy_support_size{{{FACT}}})",
                            "{{namespace}}/{{run}} support",
                        ),
                    ],
                ),
                fact("Stability of the support", "nashdex_support_stability_ratio", "percentunit"),
            ],
        ),
        Row(
            "Policies",
            [
                Panel(
                    "Share of the meta-strategy",
                    "percentunit",
                    [
                        Target(
                            f"max by (namespace, run, policy) (nashdex_policy_meta_strategy_ratio{{{FACT}}})",
                            "{{namespace}}/{{run}} {{policy}}",
                        ),
                        Target(
                            f"max by (namespace, run) (nashdex_other_policies_meta_strategy_ratio{{{FACT}}})",
                            "{{namespace}}/{{run}} all others",
                        ),
                    ],
                ),
                Panel(
                    "Elo",
                    "none",
                    [
                        Target(
                            f"max by (namespace, run, policy) (nashdex_policy_elo{{{FACT}}})",
                            "{{namespace}}/{{run}} {{policy}}",
                        ),
                        Target(
                            f"max by (namespace, run, statistic) (nashdex_other_policies_elo{{{FACT}}})",
                            "{{namespace}}/{{run}} {{statistic}} of the others",
                        ),
                    ],
                ),
                fact("Policies without series of their own", "nashdex_other_policies", "none"),
            ],
        ),
        Row(
            "Payoffs",
            [
                Panel(
                    "Intransitivity",
                    "none",
                    [
                        Target(f"max by (namespace, run) (nashdex_intransitivity{{{FACT}}})", "{{namespace}}/{{run}}"),
                        Target(
                            f"max by (namespace, run) (nashdex_intransitivity_by_chance{{{FACT}}})",
                            "{{namespace}}/{{run}} by chance",
                        ),
                    ],
                ),
                fact("Share of pairs played", "nashdex_payoff_coverage_ratio", "percentunit"),
                fact("Widest payoff interval", "nashdex_payoff_interval_width_ratio", "none"),
            ],
        ),
    ],
)
