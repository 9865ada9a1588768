"""Whether the learner learns, and stays close enough to its starting point."""

from dashboards.panels import (
    NATS,
    RUN,
    SCORE,
    SERIES,
    Dashboard,
    Panel,
    Row,
    Target,
    alerting,
    fact,
    increase,
    live,
    rate,
)


def _score(title: str, style: str) -> Panel:
    """Return a panel of the newest evaluation in one style, with its interval."""
    expression = f'max by (namespace, run, anchor, bound) (nashdex_evaluation_score{{{RUN}, style="{style}"}})'
    return Panel(title, SCORE, [Target(expression, f"{SERIES} {{{{anchor}}}} {{{{bound}}}}")])


TRAINING = Dashboard(
    "nashdex-training",
    "Nashdex / Training stability",
    "Whether the learner learns, and stays close enough to its starting point.",
    [
        Row(
            "Strength",
            [
                _score("Score against fixed anchors: greedy play", "greedy"),
                _score("Score against fixed anchors: sampled play", "sampled"),
            ],
        ),
        Row(
            "Exploration",
            [
                alerting(live("Policy entropy", "nashdex_policy_entropy_nats", NATS), below=0.05),
                live("Entropy coefficient", "nashdex_entropy_coefficient", "none"),
            ],
        ),
        Row(
            "Distance",
            [
                alerting(live("KL from the round's start", "nashdex_kl_round_start_nats", NATS), above=0.1),
                live("KL from the reference", "nashdex_kl_reference_nats", NATS, "reference"),
                live("KL from the iteration's start", "nashdex_kl_iteration_start_nats", NATS),
            ],
        ),
        Row(
            "Damping",
            [
                live("β, coefficient of the reference KL", "nashdex_beta_reference", "none"),
                live("β: factor of the controller", "nashdex_beta_multiplier", "none"),
                Panel(
                    "β: value of the schedule",
                    "none",
                    [
                        Target(
                            "max by (namespace, run)"
                            f" (nashdex_beta_reference{{{RUN}}} / nashdex_beta_multiplier{{{RUN}}})",
                            "{{namespace}}/{{run}}",
                        )
                    ],
                    description="β divided by the controller's factor: the schedule with its warm-up, between floor "
                    "and cap.",
                ),
                live("Learning rate", "nashdex_learning_rate", "sci", logarithmic=True),
            ],
        ),
        Row(
            "Updates",
            [
                live("Clip fraction", "nashdex_clip_ratio", "percentunit"),
                live("Gradient norm", "nashdex_gradient_norm", "none", logarithmic=True),
                live("Policy loss", "nashdex_policy_loss", "none"),
            ],
        ),
        Row(
            "Critic",
            [
                live("Explained variance", "nashdex_explained_variance_ratio", "percentunit"),
                live("Rank of the features", "nashdex_critic_rank", "suffix:dimensions"),
                live("Value loss", "nashdex_value_loss", "none"),
            ],
        ),
        Row(
            "Data",
            [
                live("Advantages: mean", "nashdex_advantage_mean", "none"),
                live("Advantages: standard deviation", "nashdex_advantage_standard_deviation", "none"),
                live("Advantages: share clipped", "nashdex_advantage_clip_ratio", "percentunit"),
                live("Staleness", "nashdex_staleness_updates", "suffix:updates"),
                live("Staleness in versions", "nashdex_staleness_versions", "none"),
                live("Age of a round's weights when it is learned from", "nashdex_staleness_seconds", "s"),
            ],
        ),
        Row(
            "Instability guard",
            [
                increase("Rollbacks", "nashdex_rollbacks_total"),
                alerting(increase("Non-finite updates", "nashdex_nonfinite_updates_total"), above=0),
                fact("Rollbacks in the newest iteration", "nashdex_iteration_rollbacks", "none"),
            ],
        ),
        Row(
            "Cloning, in iteration 0",
            [
                live("Cross-entropy to the teacher", "nashdex_cloning_loss_nats", NATS),
                live("Accuracy", "nashdex_cloning_accuracy_ratio", "percentunit"),
                rate("Updates", "nashdex_updates_total", "suffix:updates/s"),
            ],
        ),
    ],
)
