"""The catalogue of every metric, as data. docs/reference/metrics.md is generated from it (`make docs`).

A step sets most metrics by reporting facts to Progress (`fact`); the others are set where the event happens.
"""

from nashdex.telemetry.metric import Metric

# Battles
BATTLES = Metric("nashdex_battles_total", "counter", "Battles finished.", fact="battles")
DECISIONS = Metric("nashdex_decisions_total", "counter", "Decisions made, by both seats.", fact="decisions")
FAILED_BATTLES = Metric(
    "nashdex_failed_battles_total",
    "counter",
    "Failed attempts at a battle; each battle is replayed.",
    labels=("cause",),
)
REJECTED_CHOICES = Metric(
    "nashdex_rejected_choices_total", "counter", "Choices that the simulator rejected; each was chosen again."
)
LEAKED_STATES = Metric(
    "nashdex_leaked_states_total",
    "counter",
    "Memories of finished battles that a policy still held when the seat began another battle; expected to stay 0.",
)
GATEWAY_RECYCLES = Metric(
    "nashdex_gateway_recycles_total", "counter", "Gateway processes replaced because their memory use had grown."
)
GATEWAY_SECONDS = Metric(
    "nashdex_gateway_seconds",
    "histogram",
    "Time from sending a gateway its choices to receiving its next batch of decisions.",
    unit="seconds",
    buckets=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0),
)

# Steps
STEP_PROGRESS = Metric(
    "nashdex_step_progress_ratio",
    "gauge",
    "Share of the shard's work that is completed.",
    labels=("step",),
    unit="ratio",
)
STEP_SECONDS = Metric(
    "nashdex_step_seconds", "gauge", "Wall time of the shard so far, or its total once completed.", ("step",), "seconds"
)
STEP_RETRIES = Metric(
    "nashdex_step_retries",
    "gauge",
    "Failed attempts at the shard before this one, if the runner reports them.",
    ("step",),
)
LAST_ADVANCE = Metric(
    "nashdex_last_advance_timestamp_seconds", "gauge", "Unix time of the last progress.", unit="seconds"
)

# Actors and learner
LEARNER_WAITING = Metric(
    "nashdex_learner_waiting_seconds_total", "counter", "Time that training waited for actors.", unit="seconds"
)
ACTOR_WAITING = Metric(
    "nashdex_actor_waiting_seconds_total", "counter", "Time that an actor waited for a request.", unit="seconds"
)
CHUNKS = Metric("nashdex_chunks_total", "counter", "Chunks that an actor played.")
DROPPED_CHUNKS = Metric(
    "nashdex_dropped_chunks_total", "counter", "Chunks that were dropped, and played again if need be.", ("cause",)
)

# Training
UPDATES = Metric("nashdex_updates_total", "counter", "Optimiser steps.", fact="updates")
POLICY_LOSS = Metric("nashdex_policy_loss", "gauge", "Policy loss of the last update.", fact="policy_loss")
VALUE_LOSS = Metric("nashdex_value_loss", "gauge", "Value loss of the last update.", fact="value_loss")
ENTROPY = Metric(
    "nashdex_policy_entropy_nats",
    "gauge",
    "Mean entropy of the policy over the legal actions.",
    unit="nats",
    fact="entropy",
)
KL_ROUND_START = Metric(
    "nashdex_kl_round_start_nats",
    "gauge",
    "KL of the policy from the policy with which the round began.",
    unit="nats",
    fact="kl_round_start",
)
KL_REFERENCE = Metric(
    "nashdex_kl_reference_nats",
    "gauge",
    "KL of the policy from its reference; controls the coefficient beta.",
    labels=("reference",),
    unit="nats",
)
KL_ITERATION_START = Metric(
    "nashdex_kl_iteration_start_nats",
    "gauge",
    "KL of the policy from its parameters at the start of the iteration.",
    unit="nats",
    fact="kl_iteration_start",
)
BETA_REFERENCE = Metric("nashdex_beta_reference", "gauge", "Coefficient of the reference KL.", fact="beta_reference")
BETA_MULTIPLIER = Metric(
    "nashdex_beta_multiplier",
    "gauge",
    "Factor that the controller applies to the scheduled coefficient of the reference KL.",
    fact="beta_multiplier",
)
ENTROPY_COEFFICIENT = Metric(
    "nashdex_entropy_coefficient", "gauge", "Coefficient of the entropy bonus.", fact="entropy_coefficient"
)
LEARNING_RATE = Metric("nashdex_learning_rate", "gauge", "Step size of the optimiser.", fact="learning_rate")
CLIP_FRACTION = Metric(
    "nashdex_clip_ratio",
    "gauge",
    "Share of decisions whose probability ratio PPO clipped.",
    unit="ratio",
    fact="clip_fraction",
)
GRADIENT_NORM = Metric(
    "nashdex_gradient_norm", "gauge", "Global norm of the gradient before clipping.", fact="gradient_norm"
)
ADVANTAGE_MEAN = Metric("nashdex_advantage_mean", "gauge", "Mean advantage of the batch, before normalisation.")
ADVANTAGE_DEVIATION = Metric(
    "nashdex_advantage_standard_deviation",
    "gauge",
    "Standard deviation of the batch's advantages, before normalisation.",
)
ADVANTAGE_CLIP = Metric(
    "nashdex_advantage_clip_ratio",
    "gauge",
    "Share of the batch's normalised advantages that were clipped.",
    unit="ratio",
)
STALENESS = Metric(
    "nashdex_staleness_updates",
    "gauge",
    "Optimiser steps between the policy that collected the data and the policy that is trained on it.",
)
STALENESS_VERSIONS = Metric(
    "nashdex_staleness_versions",
    "gauge",
    "Rounds between the weights that played a round, on average, and those that it begins with; 0 in lock-step.",
)
STALENESS_SECONDS = Metric(
    "nashdex_staleness_seconds",
    "gauge",
    "Age of the weights that played a round, on average, when its last chunk is read.",
    unit="seconds",
)
EXPLAINED_VARIANCE = Metric(
    "nashdex_explained_variance_ratio",
    "gauge",
    "Share of the returns' variance that the critic explains.",
    unit="ratio",
    fact="explained_variance",
)
CRITIC_RANK = Metric(
    "nashdex_critic_rank",
    "gauge",
    "Dimensions that hold 99 % of the inputs of the critic's last layer, by singular values.",
    fact="critic_rank",
)
CLONING_LOSS = Metric("nashdex_cloning_loss_nats", "gauge", "Cross-entropy to the teacher.", unit="nats", fact="loss")
CLONING_ACCURACY = Metric(
    "nashdex_cloning_accuracy_ratio",
    "gauge",
    "Share of decisions in which the clone's most probable action is the teacher's.",
    unit="ratio",
    fact="accuracy",
)
ROLLBACKS = Metric(
    "nashdex_rollbacks_total", "counter", "Times the instability guard restored a checkpoint.", fact="rollbacks"
)
NONFINITE_UPDATES = Metric(
    "nashdex_nonfinite_updates_total", "counter", "Optimiser steps with a NaN or infinite loss, in whole or in part."
)
EVALUATION_SCORE = Metric(
    "nashdex_evaluation_score",
    "gauge",
    "Score of the network in training against a fixed anchor, at its newest evaluation: 1 a win, ½ a draw.",
    labels=("anchor", "style", "bound"),
)
GPU_MEMORY = Metric("nashdex_gpu_memory_bytes", "gauge", "Peak GPU memory of tensors; 0 on a CPU.", unit="bytes")

# The metagame
EXPLOITABILITY = Metric(
    "nashdex_exploitability",
    "gauge",
    "Exploitability of the meta-strategy: score per battle above ½, or units of a tabular game per game.",
    labels=("estimator", "bound"),
)
NASH_CONV = Metric(
    "nashdex_nash_conv",
    "gauge",
    "NashConv of a tabular game's meta-strategy, in the game's units per game: twice its exact exploitability.",
)
INTRANSITIVITY = Metric(
    "nashdex_intransitivity",
    "gauge",
    "Root mean square difference between payoffs and what ratings predict, in score per battle.",
)
INTRANSITIVITY_BY_CHANCE = Metric(
    "nashdex_intransitivity_by_chance",
    "gauge",
    "95 % quantile of intransitivity in transitive games with the same number of battles.",
)
SUPPORT_STABILITY = Metric(
    "nashdex_support_stability_ratio",
    "gauge",
    "Share of posterior draws whose meta-strategy has the same support (policies above 1 %).",
    unit="ratio",
)
PROGRESS_ELO = Metric(
    "nashdex_progress_elo",
    "gauge",
    "Elo of the best policy minus Elo of the first network, the fixed reference.",
    labels=("bound",),
)
META_STRATEGY_ENTROPY = Metric(
    "nashdex_meta_strategy_entropy_nats", "gauge", "Entropy of the meta-strategy.", unit="nats"
)
META_STRATEGY_SUPPORT = Metric(
    "nashdex_meta_strategy_support_size", "gauge", "Policies that the meta-strategy plays with more than 1 %."
)
POPULATION_SIZE = Metric("nashdex_population_size", "gauge", "Policies in the population.")
POLICY_META_STRATEGY = Metric(
    "nashdex_policy_meta_strategy_ratio",
    "gauge",
    "Share of the meta-strategy, of the policies that it plays most (`nashdex exporter --policies`).",
    labels=("policy",),
    unit="ratio",
)
POLICY_ELO = Metric("nashdex_policy_elo", "gauge", "Elo of the same policies.", labels=("policy",))
OTHER_POLICIES = Metric("nashdex_other_policies", "gauge", "Policies of the population without series of their own.")
OTHER_POLICIES_META_STRATEGY = Metric(
    "nashdex_other_policies_meta_strategy_ratio",
    "gauge",
    "Share of the meta-strategy of all policies without series of their own.",
    unit="ratio",
)
OTHER_POLICIES_ELO = Metric(
    "nashdex_other_policies_elo",
    "gauge",
    "Lowest, median and highest Elo among the policies without series of their own.",
    labels=("statistic",),
)
PAYOFF_COVERAGE = Metric(
    "nashdex_payoff_coverage_ratio", "gauge", "Share of the population's pairs that have played.", unit="ratio"
)
PAYOFF_INTERVAL_WIDTH = Metric(
    "nashdex_payoff_interval_width_ratio",
    "gauge",
    "Width of the widest 95 % interval of a pair's score, in score per battle.",
    unit="ratio",
)

# Facts of iterations from their reports; only the exporter sets them
ITERATIONS = Metric("nashdex_iterations", "gauge", "Iterations that have a report.")
PLANNED_ITERATIONS = Metric("nashdex_planned_iterations", "gauge", "Iterations that the run will have.")
RUN_PHASE = Metric(
    "nashdex_run_phase",
    "gauge",
    "1 for the run's present phase, 0 for the others. A run without a verdict is running.",
    labels=("phase",),
)
ITERATIONS_SINCE_LOWEST = Metric(
    "nashdex_iterations_since_lowest_exploitability",
    "gauge",
    "Iterations since the estimator's value was lowest; 0 if it is lowest now.",
    labels=("estimator",),
)
ITERATION_SECONDS = Metric(
    "nashdex_iteration_step_seconds",
    "gauge",
    "Wall time of the newest iteration's step, by its slowest shard.",
    ("step",),
    "seconds",
)
ITERATION_CPU_SECONDS = Metric(
    "nashdex_iteration_cpu_seconds",
    "gauge",
    "CPU time of the newest iteration's step, over all its shards.",
    ("step",),
    "seconds",
)
ITERATION_GPU_SECONDS = Metric(
    "nashdex_iteration_gpu_seconds",
    "gauge",
    "GPU time of the newest iteration's step: wall time of each shard times its GPUs.",
    ("step",),
    "seconds",
)
ITERATION_STEP_SHARE = Metric(
    "nashdex_iteration_step_share_ratio",
    "gauge",
    "Share of the newest iteration's wall time that the step took, one step after another. The largest is the "
    "bottleneck.",
    ("step",),
    "ratio",
)
ITERATION_BATTLES = Metric(
    "nashdex_iteration_battles", "gauge", "Battles of the newest iteration's step, over all its shards.", ("step",)
)
ITERATION_DECISIONS = Metric(
    "nashdex_iteration_decisions",
    "gauge",
    "Decisions of the newest iteration's step, by both seats, over all its shards.",
    ("step",),
)
RUN_CPU_SECONDS = Metric(
    "nashdex_run_cpu_seconds",
    "gauge",
    "CPU time of the step's own processes over all iterations and shards.",
    ("step",),
    "seconds",
)
RUN_GPU_SECONDS = Metric(
    "nashdex_run_gpu_seconds",
    "gauge",
    "GPU time of the step over all iterations and shards: wall time times GPUs.",
    ("step",),
    "seconds",
)
GAINED_ELO = Metric(
    "nashdex_gained_elo",
    "gauge",
    "Elo that the run gained: its progress, exported only where chance does not explain it.",
)
LOWERED_EXPLOITABILITY = Metric(
    "nashdex_lowered_exploitability",
    "gauge",
    "Fall of exploitability from its first value to its last, exact where it is known, else the best-response gap. "
    "Exported only where chance does not explain the fall.",
)
ITERATION_FAILED_BATTLES = Metric(
    "nashdex_iteration_failed_battles",
    "gauge",
    "Failed attempts at a battle in the newest iteration's step; each battle was replayed.",
    ("step",),
)
ITERATION_ROLLBACKS = Metric(
    "nashdex_iteration_rollbacks", "gauge", "Times the instability guard restored a checkpoint in the newest iteration."
)

# The exporter itself
EXPORTER_RUNS = Metric("nashdex_exporter_runs", "gauge", "Active runs, whose facts the exporter serves.")
EXPORTER_UNREADABLE_RUNS = Metric(
    "nashdex_exporter_unreadable_runs",
    "gauge",
    "Runs with a document that the exporter cannot read; their last facts stay.",
)
EXPORTER_SCANS = Metric("nashdex_exporter_scans_total", "counter", "Completed scans of the store.")
EXPORTER_FAILED_SCANS = Metric(
    "nashdex_exporter_failed_scans_total", "counter", "Scans that the store made fail; the last facts stay."
)
EXPORTER_LAST_SCAN = Metric(
    "nashdex_exporter_last_scan_timestamp_seconds",
    "gauge",
    "Unix time of the last completed scan, which bounds the age of the facts.",
    unit="seconds",
)
EXPORTER_SCAN_SECONDS = Metric(
    "nashdex_exporter_scan_seconds", "gauge", "Duration of the last scan of the store.", unit="seconds"
)

# The store
STORE_SECONDS = Metric(
    "nashdex_store_operation_seconds",
    "histogram",
    "Duration of store operations, failed ones included.",
    labels=("operation",),
    unit="seconds",
    buckets=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0),
)
STORE_BYTES = Metric(
    "nashdex_store_bytes_total",
    "counter",
    "Bytes written to and read from the store.",
    labels=("operation",),
    unit="bytes",
)
STORE_ERRORS = Metric(
    "nashdex_store_errors_total",
    "counter",
    "Store operations that failed after all retries: the store was unreachable or refused.",
    labels=("operation",),
)

CATALOGUE: tuple[Metric, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Metric))
FACTS: dict[str, Metric] = {metric.fact: metric for metric in CATALOGUE if metric.fact}
"""The metrics that steps set through Progress, by fact."""


def observe_store(operation: str, seconds: float, size_bytes: int, failed: bool) -> None:  # noqa: FBT001 - the observer's type
    """Count one operation of a store; an observer for ``nashdex.store.open_store``."""
    STORE_SECONDS.observe(seconds, operation=operation)
    # Add 0 too: Prometheus sees an increase only after the series exists.
    STORE_ERRORS.add(float(failed), operation=operation)
    if size_bytes:
        STORE_BYTES.add(size_bytes, operation=operation)
