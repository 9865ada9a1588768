"""Settings of the train step."""

from typing import Literal

from pydantic import Field

from nashdex.core.section import Section


class CloningSettings(Section):
    """Behaviour cloning of the teacher for the first policy."""

    num_epochs: int = Field(6, ge=1, le=1000, description="Passes over the teacher's decisions.")
    minibatch_decisions: int = Field(256, ge=1, description="Decisions an optimiser step.")
    learning_rate: float = Field(2e-3, gt=0, le=1, description="Adam's step size.")
    validation_share: float = Field(0.1, gt=0, lt=1, description="Share of the battles held out.")
    critic_warmup_epochs: int = Field(2, ge=0, le=100, description="Further epochs, for the critic alone.")


ReferenceKind = Literal["none", "snapshot", "ema", "uniform", "league", "portfolio"]
"""The policy ρ that KL(π‖ρ) holds a policy in training to."""


class DampingSettings(Section):
    """Overrides of the damping preset. A field that is not given keeps the preset's value.

    A schedule is s_k = initial · (1 + k/k₀)^(−power) at optimiser step k.
    """

    reference: ReferenceKind | None = Field(
        None,
        description="ρ, what the policy is held to: where the iteration began (snapshot), a moving average of the "
        "parameters (ema), uniform over the legal actions, the mixture of the opponents (league), or whichever of "
        "several is nearest (portfolio).",
    )
    beta_reference: float | None = Field(None, ge=0, description="Coefficient of KL(policy ‖ reference), at first.")
    beta_power: float | None = Field(None, ge=0, le=10, description="Power of its schedule; 0 for a constant.")
    beta_decay_updates: float | None = Field(None, gt=0, description="k₀ of its schedule, in optimiser steps.")
    beta_floor: float | None = Field(None, ge=0, description="It never falls below this.")
    beta_cap: float | None = Field(None, ge=0, description="It never rises above this.")
    beta_warmup_updates: int | None = Field(None, ge=0, description="Optimiser steps over which it grows from 0.")
    beta_target_nats: float | None = Field(
        None, ge=0, description="KL from the reference that a controller of it aims at; 0 for no controller."
    )
    ema_decay: float | None = Field(None, ge=0, lt=1, description="Share that the ema reference keeps a step.")
    beta_old: float | None = Field(None, ge=0, description="Coefficient of KL(policy ‖ behaviour policy).")
    entropy_coefficient: float | None = Field(None, ge=0, description="Coefficient of the entropy bonus, at first.")
    entropy_power: float | None = Field(None, ge=0, le=10, description="Power of its schedule; 0 for a constant.")
    entropy_decay_updates: float | None = Field(None, gt=0, description="k₀ of its schedule, in optimiser steps.")
    entropy_floor: float | None = Field(None, ge=0, description="It never falls below this.")
    learning_rate_power: float | None = Field(None, ge=0, le=10, description="Power of the step size's schedule.")
    learning_rate_decay_updates: float | None = Field(
        None, gt=0, description="k₀ of the step size's schedule, in optimiser steps."
    )
    learning_rate_target_nats: float | None = Field(
        None, ge=0, description="KL from the behaviour policy that a controller of the step size aims at; 0 for none."
    )
    clock: Literal["iteration", "run"] | None = Field(
        None, description="Whether schedules begin anew each iteration, or count the whole run's optimiser steps."
    )


class QLearningSettings(Section):
    """Tabular Q-learning against the opponents' mixture, for games with a known tree."""

    battles: int = Field(500_000, ge=1, le=10**9, description="Simulated battles.")
    concurrent_battles: int = Field(1000, ge=1, le=1_000_000, description="Battles that step together.")
    exploration: float = Field(0.5, ge=0, le=1, description="ε at first: share of actions drawn uniformly.")
    final_exploration: float = Field(0.05, ge=0, le=1, description="ε at the end; linear in between.")
    step_size_power: float = Field(
        0.7, gt=0.5, le=1, description="ω of the step size n^(−ω) after n visits of a state and action."
    )


class TrainSettings(Section):
    """Training the best response."""

    oracle: Literal["ppo", "exact", "q-learning"] = Field(
        "ppo", description="How a best response is found; exact and q-learning are for tabular games."
    )
    start: Literal["newest", "clone"] = Field(
        "newest",
        description="Whose weights PPO goes on from: the newest network, or always the first iteration's clone, which "
        "still tries everything. A newest network that has become nearly deterministic may not find another answer.",
    )
    preset: Literal["none", "s0-damped", "ppo-clip-kl", "kl-warmup", "adaptive-kl", "ema-magnet", "portfolio"] = Field(
        "ppo-clip-kl", description="Damping preset."
    )
    rounds: int = Field(
        1,
        ge=1,
        le=10_000,
        description="PPO rounds an iteration. The first learns from the collected battles; each further one plays "
        "battles of its own with the newest weights, in the training process.",
    )
    round_battles: int = Field(1000, ge=2, le=10_000_000, description="Battles of each further round.")
    seeds: int = Field(1, ge=1, le=64, description="Oracles trained an iteration, each from its own seed.")
    cloning: CloningSettings = CloningSettings()
    damping: DampingSettings = DampingSettings()
    q_learning: QLearningSettings = QLearningSettings()
    reward: Literal["win-loss", "shaped"] = Field("win-loss", description="Reward that the learner maximises.")
    num_epochs: int = Field(4, ge=1, le=1000, description="Passes over the collected decisions.")
    minibatch_decisions: int = Field(512, ge=1, description="Decisions an optimiser step.")
    learning_rate: float = Field(1e-4, gt=0, le=1, description="Adam's step size.")
    clip_range: float = Field(0.2, gt=0, le=1, description="PPO's ε.")
    discount: float = Field(1.0, gt=0, le=1, description="γ a decision; 1 suits the win/loss reward.")
    gae_lambda: float = Field(0.95, ge=0, le=1, description="λ of generalised advantage estimation.")
    value_coefficient: float = Field(0.5, ge=0, description="Weight of the critic's loss.")
    advantage_clip: float = Field(5.0, gt=0, description="Bound of a normalised advantage.")
    max_gradient_norm: float = Field(0.5, gt=0, description="Global norm that a gradient is scaled down to.")
    checkpoint_every_updates: int = Field(50, ge=1, description="Optimiser steps between checkpoints.")
    device: Literal["cpu", "cuda"] = Field("cpu", description="Where to train; never falls back by itself.")
    num_threads: int = Field(1, ge=1, le=256, description="CPU threads of the trainer.")
