"""What collect and train say of themselves, for the report and for later steps."""

from typing import Final, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Document, Model
from nashdex.core.ids import PolicyIdField

Oracle = Literal["clone", "ppo", "exact", "q-learning"]
"""How a policy is trained: as a clone of a teacher, or as a best response."""
ORACLES_WITHOUT_BATTLES: Final[frozenset[Oracle]] = frozenset({"exact", "q-learning"})
"""They answer from a tabular game's tree, so that nothing is collected for them."""

COLLECT_RESULT = "result.json"
TRAINING_RESULT = "result.json"


class OpponentCount(Model):
    """The learner's score against one opponent while collecting. Integers only."""

    opponent: PolicyIdField
    wins: NonNegativeInt
    draws: NonNegativeInt
    losses: NonNegativeInt


class CollectResult(Document):
    """One shard of collected battles."""

    learner: PolicyIdField
    battles: NonNegativeInt
    decisions: NonNegativeInt = Field(description="By both seats.")
    recorded_decisions: NonNegativeInt = Field(description="By the learner: what training sees.")
    opponents: tuple[OpponentCount, ...]
    failures: dict[str, NonNegativeInt] = Field(description="Failed tries by cause; each was replayed.")
    rejected_choices: NonNegativeInt
    seconds: NonNegativeFloat
    cpu_seconds: NonNegativeFloat = Field(description="Of all processes, user and system.")
    versions: dict[str, str] = Field(default_factory=dict, description="Of what played the battles, by name.")


class TrainingPoint(Model):
    """What one optimiser step measured."""

    update: NonNegativeInt
    values: dict[str, float] = Field(
        description="policy_loss, value_loss, entropy, kl_behaviour, kl_reference, kl_iteration_start, beta_reference, "
        "beta_multiplier, entropy_coefficient, learning_rate, clip_fraction, gradient_norm, explained_variance; when "
        "cloning: loss, accuracy, validation_loss, validation_accuracy; of Q-learning: value_loss, exploration."
    )


class TrainingResult(Document):
    """One trained policy."""

    policy: PolicyIdField
    parent: PolicyIdField | None = Field(description="Whose weights training began from.")
    oracle: Oracle
    preset: str
    reference: str = Field(
        description="Where the KL reference came from: none, uniform, or a kind and its policies, such as "
        "snapshot:POLICY."
    )
    num_updates: NonNegativeInt
    num_run_updates: NonNegativeInt = Field(
        0, description="Optimiser steps of PPO in the run up to here, along this shard: the clock of its schedules."
    )
    num_decisions: NonNegativeInt
    num_parameters: NonNegativeInt
    rollbacks: NonNegativeInt = Field(description="Times the instability guard restored a checkpoint.")
    curve: tuple[TrainingPoint, ...] = Field(description="At most 500 points, evenly spaced, the last included.")
    summary: dict[str, float] = Field(description="Final values, such as validation_accuracy.")
    seconds: NonNegativeFloat
